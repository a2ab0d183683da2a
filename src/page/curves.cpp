#include "page/curves.h"

#include <optional>
#include <sstream>

namespace pipedream::page {
namespace {

using nlohmann::ordered_json;

std::optional<double> number(const nlohmann::json& line, const char* key) {
  const auto found = line.find(key);
  if (found == line.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

ordered_json evaluation_json(const nlohmann::json& line, double seconds) {
  ordered_json json{{"samples", number(line, "samples").value_or(0)}, {"seconds", seconds}};
  for (const char* key : {"held_out_loss", "accuracy", "perplexity"})
    if (const auto value = number(line, key)) json[key] = *value;
  return json;
}

}  // namespace

void Curves::add(std::string_view text) {
  const auto line = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!line.is_object()) return;
  if (line.contains("resumed")) {
    before_ = last_;
    evaluating_ = 0;
  }
  const auto seconds = number(line, "seconds");
  if (!seconds) return;
  if (const auto loss = number(line, "loss")) {
    add_step({number(line, "samples").value_or(0), training_time(*seconds), *loss, 1});
  } else if (line.contains("held_out_loss")) {
    if (const auto training = number(line, "training_seconds")) evaluating_ = *seconds - *training;
    add_evaluation(evaluation_json(line, training_time(*seconds)));
  }
}

void Curves::add_lines(const std::string& metrics) {
  std::istringstream lines(metrics);
  for (std::string line; std::getline(lines, line);) add(line);
}

void Curves::add_step(const Point& step) {
  const auto join = [](const Point& a, const Point& b) {
    const std::int64_t steps = a.steps + b.steps;
    const double loss =
        (a.loss * static_cast<double>(a.steps) + b.loss * static_cast<double>(b.steps)) /
        static_cast<double>(steps);
    return Point{b.samples, b.seconds, loss, steps};
  };
  if (!points_.empty() && points_.back().steps < in_one_)
    points_.back() = join(points_.back(), step);
  else
    points_.push_back(step);
  if (points_.size() <= kMostSteps) return;
  in_one_ *= 2;
  for (std::size_t i = 0; i < points_.size(); i += 2)
    points_[i / 2] = i + 1 < points_.size() ? join(points_[i], points_[i + 1]) : points_[i];
  points_.resize((points_.size() + 1) / 2);
}

void Curves::add_evaluation(ordered_json evaluation) {
  evaluations_.push_back(std::move(evaluation));
  if (evaluations_.size() <= kMostEvaluations) return;
  ordered_json every_second = ordered_json::array();
  for (std::size_t i = evaluations_.size() % 2 == 0 ? 1 : 0; i < evaluations_.size(); i += 2)
    every_second.push_back(std::move(evaluations_[i]));
  evaluations_ = std::move(every_second);
}

ordered_json Curves::json() const {
  ordered_json steps = ordered_json::array();
  for (const Point& point : points_)
    steps.push_back({{"samples", point.samples}, {"seconds", point.seconds}, {"loss", point.loss}});
  return {{"steps", steps}, {"evaluations", evaluations_}};
}

ordered_json curves_of(const std::string& metrics) {
  Curves curves;
  curves.add_lines(metrics);
  return curves.json();
}

}  // namespace pipedream::page
