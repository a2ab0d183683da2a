#include "cli/live_page.h"

#include <iostream>
#include <sstream>

#include "cli/spelling.h"
#include "core/text.h"
#include "page/live_address.h"
#include "report/table.h"
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
  std::istringstream lines(run.metrics);
  for (std::string line; std::getline(lines, line);) curves_.add(line);
  news_ = {};
  told_ = Seconds(-1);
  server_.show(page::html(title, {std::move(run)}, page::Use::kLive));
}

void LivePage::add(const train::Step& step) {
  curves_.add(train::metrics_line(step));
  if (told_ >= Seconds(0) && step.seconds - told_ < kBetweenNews) return;
  told_ = step.seconds;
  const double here = static_cast<double>(step.samples - step.resumed_from);
  news_.result["samples_per_second"] = here / step.training_seconds.count();
  news_.result["loss"] = step.loss;
  news_.result["learning_rate"] = step.learning_rate;
  news_.share = static_cast<double>(step.minibatch + 1) / static_cast<double>(step.minibatches);
  news_.words = "minibatch " + std::to_string(step.minibatch + 1) + " of " +
                std::to_string(step.minibatches) +
                (step.slow_cause.empty() ? "" : "; slow: " + step.slow_cause);
  tell(/*is_last=*/false);
}

void LivePage::add(const train::Evaluation& evaluation) {
  curves_.add(train::metrics_line(evaluation));
  news_.result["held_out_loss"] = evaluation.score.mean_loss();
  if (const auto accuracy = evaluation.accuracy()) news_.result["accuracy"] = *accuracy;
  if (const auto perplexity = evaluation.perplexity()) news_.result["perplexity"] = *perplexity;
  tell(/*is_last=*/false);
}

void LivePage::end(const nlohmann::ordered_json& result, bool was_stopped) {
  news_.result = result;
  if (!was_stopped) news_.share = 1;
  news_.words = was_stopped ? "The training was stopped." : "The training has ended.";
  tell(/*is_last=*/true);
}

void LivePage::tell(bool is_last) {
  news_.curves = curves_.json();
  news_.is_last = is_last;
  if (is_last)
    server_.end(page::to_line(news_));
  else
    server_.tell(page::to_line(news_));
}

}  // namespace pipedream::cli
