#include "cli/live_page.h"

#include <iostream>

#include "cli/spelling.h"
#include "core/text.h"
#include "page/live_address.h"
#include "report/table.h"
#include "train/resume.h"
#include "train/run_folder.h"

namespace pipedream::cli {
namespace {

constexpr Seconds kBetweenNews{1};

}  // namespace

LivePage::LivePage(const std::string& address, const std::string& model)
    : server_(page::parse_live_address(address), page::waiting_html(model)) {
  const std::string url = page::url_of(server_.address());
  std::cerr << with_flags("the training is shown at " + url +
                          (page::is_loopback(server_.address())
                               ? ""
                               : ", to everybody who can reach that address"))
            << "\n";
}

void LivePage::begin(const std::string& title, page::Run run) {
  curves_ = {};
  curves_.add_lines(run.metrics);
  news_ = {.training = train::new_run_id()};
  told_.reset();
  server_.show(page::html(title, {std::move(run)}, news_.training));
}

void LivePage::add(const train::Step& step) {
  curves_.add(train::metrics_line(step));
  news_.result["samples_per_second"] = step.samples_per_second();
  news_.result["loss"] = step.loss;
  news_.result["learning_rate"] = step.learning_rate;
  news_.share = static_cast<double>(step.minibatch + 1) / static_cast<double>(step.minibatches);
  news_.words = "minibatch " + std::to_string(step.minibatch + 1) + " of " +
                std::to_string(step.minibatches) +
                (step.slow_cause.empty() ? "" : "; slow: " + step.slow_cause);
  tell_at(step.seconds);
}

void LivePage::add(const train::Evaluation& evaluation) {
  curves_.add(train::metrics_line(evaluation));
  news_.result["held_out_loss"] = evaluation.score.mean_loss();
  if (const auto accuracy = evaluation.accuracy()) news_.result["accuracy"] = *accuracy;
  if (const auto perplexity = evaluation.perplexity()) news_.result["perplexity"] = *perplexity;
  tell_at(evaluation.seconds);
}

void LivePage::end(const nlohmann::ordered_json& result, bool was_stopped) {
  news_.result = result;
  if (!was_stopped) news_.share = 1;
  news_.words = was_stopped ? "The training was stopped." : "The training has ended.";
  news_.is_last = true;
  server_.end(line());
}

void LivePage::tell_at(Seconds now) {
  if (told_ && now - *told_ < kBetweenNews) return;
  told_ = now;
  server_.tell(line());
}

std::string LivePage::line() {
  news_.curves = curves_.json();
  return page::to_line(news_);
}

}  // namespace pipedream::cli
