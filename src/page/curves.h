// The curves of a training, from the lines of its metrics (docs/formats.md#run-folder).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace pipedream::page {

// The curves of a training, built from its metrics line by line. At most kMostSteps points of
// training steps are kept: beyond that, neighbouring points are averaged. Of more than
// kMostEvaluations evaluations, every second one is kept, and the last.
class Curves {
 public:
  static constexpr std::size_t kMostSteps = 2000;
  static constexpr std::size_t kMostEvaluations = 2000;

  // Takes over a line of the metrics. A line that cannot be read, such as the last one of a
  // training that still runs, changes nothing.
  void add(std::string_view line);
  // Takes over the lines of a file.
  void add_lines(const std::string& metrics);

  // Returns {"steps": [{"samples", "seconds", "loss"}], "evaluations": [{"samples", "seconds",
  // "held_out_loss", "accuracy", "perplexity"}]}. Seconds are those of training, without
  // evaluations, over all runs of the training.
  [[nodiscard]] nlohmann::ordered_json json() const;

 private:
  // The mean of some neighbouring steps, at the place of the last of them.
  struct Point {
    double samples = 0;
    double seconds = 0;
    double loss = 0;
    std::int64_t steps = 0;
  };
  void add_step(const Point& step);
  void add_evaluation(nlohmann::ordered_json evaluation);
  // Turns the time of a line, which includes evaluations and counts anew when a training goes on,
  // into time of training alone.
  double training_time(double seconds) { return last_ = before_ + seconds - evaluating_; }

  std::vector<Point> points_;  // each of `in_one_` steps, but for the last one
  std::int64_t in_one_ = 1;    // steps
  nlohmann::ordered_json evaluations_ = nlohmann::ordered_json::array();
  double before_ = 0;      // seconds of training in earlier runs
  double evaluating_ = 0;  // seconds of evaluations in this run
  double last_ = 0;        // training_time() of the newest line
};

// The curves of a whole file of metrics.
[[nodiscard]] nlohmann::ordered_json curves_of(const std::string& metrics);

}  // namespace pipedream::page
