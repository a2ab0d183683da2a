#include "cli/watcher.h"

#include "core/log.h"
#include "report/score_words.h"
#include "report/table.h"

namespace pipedream::cli {

Watcher::Watcher(std::string model, std::string system, std::optional<train::Metrics> metrics,
                 std::string* lines, std::optional<TensorBoard> board, LivePage* live)
    : model_(std::move(model)),
      system_(std::move(system)),
      metrics_(std::move(metrics)),
      lines_(lines),
      board_(std::move(board)),
      live_(live) {}

void Watcher::see(const train::Step& step) {
  keep(step);
  last_ = step;
  const double speed = step.samples_per_second();
  // The time that all samples so far would have taken at this speed.
  const Seconds used(static_cast<double>(step.samples) / speed);
  progress_.bar("training " + model_ + " with " + system_)
      .show(static_cast<double>(step.minibatch + 1) / static_cast<double>(step.minibatches),
            "loss " + report::four_decimals(step.loss) + ", " + report::three_digits(speed) +
                " samples/s" + (step.slow_cause.empty() ? "" : " (" + step.slow_cause + ")"),
            used);
}

void Watcher::see(const train::EvaluationStep& step) {
  progress_
      .bar("evaluating " + model_ + " after epoch " + std::to_string(step.epoch + 1), kQuietPhase)
      .show(static_cast<double>(step.done) / static_cast<double>(step.minibatches), "held-out data",
            step.seconds);
}

void Watcher::see(const train::Evaluation& evaluation) {
  keep(evaluation);
  const runtime::Score& score = evaluation.score;
  progress_.end();
  const std::string when = evaluation.ends_epoch
                               ? "epoch " + std::to_string(evaluation.epoch + 1)
                               : "minibatch " + std::to_string(evaluation.minibatches);
  log_info(model_ + ", " + when + ": held-out loss " +
           report::score_words({score.mean_loss(), evaluation.accuracy(), evaluation.top5(),
                                evaluation.perplexity()}));
}

void Watcher::see(const train::OddWorkers& odd) {
  for (const train::OddWorker& worker : odd.found) {
    const train::OddWorkerSeen seen{worker, odd.lasted, last_.samples, last_.seconds};
    if (metrics_) metrics_->add(seen);
    if (lines_ != nullptr) *lines_ += train::metrics_line(seen) + "\n";
  }
}

}  // namespace pipedream::cli
