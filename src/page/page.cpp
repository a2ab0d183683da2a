#include "page/page.h"

#include "core/check.h"
#include "page/assets.h"

namespace pipedream::page {
namespace {

using nlohmann::ordered_json;

// `text` as a part of HTML.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else
      safe += c;
  }
  return safe;
}

// JSON inside of HTML. Nothing in it may end the element that it is in: a "<" can only be in a
// string, where JSON has another spelling for it.
std::string embedded(const ordered_json& json) {
  const std::string text = json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

std::string head_of(const std::string& title, const std::string& policy) {
  return std::string(kFirstLines) +
         "<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; " +
         policy + "\">\n<title>" + escaped(title) + "</title>\n";
}

}  // namespace

std::string html(const std::string& title, const std::vector<Run>& runs,
                 const std::string& training) {
  PD_CHECK(!runs.empty());
  const bool is_live = !training.empty();
  ordered_json list = ordered_json::array();
  for (const Run& run : runs) list.push_back(to_json(run));
  const ordered_json data{
      {"title", title}, {"version", PD_VERSION}, {"training", training}, {"runs", list}};
  return head_of(title, std::string("style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                                    "img-src data:") +
                            (is_live ? "; connect-src 'self'" : "")) +
         "<style>\n" + kStyle + "</style>\n</head>\n<body>\n" +
         "<noscript>This page draws its pictures with JavaScript.</noscript>\n</body>\n" +
         "<script id=\"data\" type=\"application/json\">" + embedded(data) +
         "</script>\n<script>\n" + kScript + "</script>\n</html>\n";
}

std::string waiting_html(const std::string& title) {
  return head_of(title, "style-src 'unsafe-inline'") +
         "<meta http-equiv=\"refresh\" content=\"1\">\n<style>\n" + kStyle +
         "</style>\n</head>\n<body>\n<h1>" + escaped(title) +
         "</h1>\n<p>The training is being prepared: profile and plan.</p>\n</body>\n</html>\n";
}

std::string to_line(const News& news) {
  return embedded({{"training", news.training},
                   {"result", news.result},
                   {"curves", news.curves},
                   {"share", news.share},
                   {"words", news.words},
                   {"last", news.is_last}});
}

}  // namespace pipedream::page
