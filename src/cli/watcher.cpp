#include "cli/watcher.h"

#include "report/table.h"

namespace pipedream::cli {

void Watcher::see(const train::Step& step) {
  if (metrics_) metrics_->add(step);
  const double speed = static_cast<double>(step.samples) / step.seconds.count();
  progress_.show(
      static_cast<double>(step.minibatch + 1) / static_cast<double>(step.minibatches),
      "loss " + report::four_digits(step.loss) + ", " + report::three_digits(speed) + " samples/s");
}

void Watcher::see(const train::EvaluationStep& step) {
  progress_.show(static_cast<double>(step.done) / static_cast<double>(step.minibatches),
                 "evaluating after epoch " + std::to_string(step.epoch + 1), step.seconds);
}

void Watcher::see(const train::Evaluation& evaluation) {
  if (metrics_) metrics_->add(evaluation);
  const runtime::Score& score = evaluation.score;
  progress_.say("epoch " + std::to_string(evaluation.epoch + 1) + ": held-out loss " +
                report::four_digits(score.mean_loss()) +
                (score.predictions > 0 ? ", " + report::percent(score.accuracy()) + " right" : ""));
}

}  // namespace pipedream::cli
