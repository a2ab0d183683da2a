#include "page/curves.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <vector>

#include <nlohmann/json.hpp>

namespace pipedream::page {
namespace {

using nlohmann::ordered_json;

struct Point {
  double samples = 0;
  double seconds = 0;
  double loss = 0;
};

std::optional<double> number(const nlohmann::json& line, const char* key) {
  const auto found = line.find(key);
  if (found == line.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

// Turns the times of metrics, which include evaluations and count anew when a training goes on, into
// times of training alone.
class Clock {
 public:
  double training(double seconds) { return last_ = before_ + seconds - evaluating_; }
  void evaluated(double seconds, std::optional<double> training) {
    if (training) evaluating_ = seconds - *training;
  }
  void resumed() {
    before_ = last_;
    evaluating_ = 0;
  }

 private:
  double before_ = 0;      // training in earlier runs
  double evaluating_ = 0;  // in this run
  double last_ = 0;
};

// At most `most` points: the means of neighbours, at the place of the last of them.
std::vector<Point> thinned(const std::vector<Point>& points, std::size_t most) {
  const std::size_t each = (points.size() + most - 1) / most;
  if (each <= 1) return points;
  std::vector<Point> means;
  for (std::size_t first = 0; first < points.size(); first += each) {
    const std::size_t end = std::min(points.size(), first + each);
    Point mean = points[end - 1];
    mean.loss = 0;
    for (std::size_t i = first; i < end; ++i)
      mean.loss += points[i].loss / static_cast<double>(end - first);
    means.push_back(mean);
  }
  return means;
}

ordered_json evaluation_json(const nlohmann::json& line, double seconds) {
  ordered_json json{{"samples", line.value("samples", 0.0)}, {"seconds", seconds}};
  for (const char* key : {"held_out_loss", "accuracy", "perplexity"})
    if (const auto value = number(line, key)) json[key] = *value;
  return json;
}

}  // namespace

ordered_json curves_of(const std::string& metrics) {
  constexpr std::size_t kMostSteps = 2000;
  std::vector<Point> steps;
  ordered_json evaluations = ordered_json::array();
  Clock clock;
  std::istringstream lines(metrics);
  for (std::string text; std::getline(lines, text);) {
    const auto line = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!line.is_object()) continue;
    if (line.contains("resumed")) clock.resumed();
    const auto seconds = number(line, "seconds");
    if (!seconds) continue;
    if (const auto loss = number(line, "loss")) {
      steps.push_back({number(line, "samples").value_or(0), clock.training(*seconds), *loss});
    } else if (line.contains("held_out_loss")) {
      clock.evaluated(*seconds, number(line, "training_seconds"));
      evaluations.push_back(evaluation_json(line, clock.training(*seconds)));
    }
  }
  ordered_json points = ordered_json::array();
  for (const Point& step : thinned(steps, kMostSteps))
    points.push_back({{"samples", step.samples}, {"seconds", step.seconds}, {"loss", step.loss}});
  return {{"steps", points}, {"evaluations", evaluations}};
}

}  // namespace pipedream::page
