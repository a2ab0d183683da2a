#include "train/learning_rate.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/text.h"

namespace pipedream::train {
namespace {

constexpr double kMostSpan = 1e12;

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The number that `text` gives before its unit.
std::optional<Span> span_in(std::string_view text) {
  for (const std::string_view unit : {"epochs", "epoch"})
    if (text.ends_with(unit)) {
      const auto count = number_in(text.substr(0, text.size() - unit.size()));
      if (count && *count > 0 && *count <= kMostSpan) return Span{*count, true};
      return std::nullopt;
    }
  const auto count = number_in(text);
  if (count && *count >= 1 && *count <= kMostSpan && *count == std::floor(*count))
    return Span{*count, false};
  return std::nullopt;
}

[[noreturn]] void fail_decay(const std::string& text) {
  throw BadValue(
      "wanted none, cosine, cosine:SHARE with the share of the learning rate that is left at the "
      "end (such as cosine:0.1), or step:SPAN:FACTOR (such as step:30epochs:0.1), found '" +
      printable(text) + "'");
}

}  // namespace

Span parse_span(const std::string& text) {
  if (const auto span = span_in(text)) return *span;
  throw BadValue("wanted updates such as 500, or epochs such as 2epochs, found '" +
                 printable(text) + "'");
}

Decay parse_decay(const std::string& text) {
  const std::vector<std::string> parts = pipedream::split(text, ':');
  if (parts == std::vector<std::string>{"none"}) return {};
  if (parts[0] == "cosine" && parts.size() <= 2) {
    const auto end = parts.size() == 2 ? number_in(parts[1]) : 0.0;
    if (!end || !(*end >= 0 && *end <= 1)) fail_decay(text);
    return {.kind = Decay::Kind::kCosine, .end = *end};
  }
  if (parts[0] == "step" && parts.size() == 3) {
    const auto every = span_in(parts[1]);
    const auto factor = number_in(parts[2]);
    if (!every || !factor || !(*factor > 0 && *factor <= 1)) fail_decay(text);
    return {.kind = Decay::Kind::kStep, .every = *every, .factor = *factor};
  }
  fail_decay(text);
}

RateCurve::RateCurve(const RateOptions& options, const RateFacts& facts)
    : options_(options),
      facts_(facts),
      warm_up_(options.warm_up ? samples_of(*options.warm_up) : 0) {}

double RateCurve::samples_of(const Span& span) const {
  return span.count * (span.in_epochs ? static_cast<double>(facts_.epoch) : facts_.update);
}

double RateCurve::operator()(std::int64_t samples, std::int64_t minibatches) const {
  return factor(static_cast<double>(samples),
                static_cast<double>(minibatches * facts_.minibatches));
}

double RateCurve::of_first_stage(std::int64_t samples) const {
  return factor(static_cast<double>(samples), facts_.update / static_cast<double>(facts_.batch));
}

double RateCurve::factor(double samples, double batches) const {
  return (options_.scales ? batches : 1) * warmth(samples) * decayed(samples);
}

// The first update already has the rate that one update of warm-up gives: with a rate of 0 it would
// change nothing.
double RateCurve::warmth(double samples) const {
  if (samples + facts_.update >= warm_up_) return 1;
  return (samples + facts_.update) / warm_up_;
}

double RateCurve::decayed(double samples) const {
  const Decay& decay = options_.decay;
  switch (decay.kind) {
    case Decay::Kind::kNone:
      return 1;
    case Decay::Kind::kStep:
      return std::pow(decay.factor, std::floor(samples / samples_of(decay.every)));
    case Decay::Kind::kCosine: {
      const double length = static_cast<double>(facts_.all) - warm_up_;
      const double done = length > 0 ? std::clamp((samples - warm_up_) / length, 0.0, 1.0) : 1;
      return decay.end + (1 - decay.end) * (1 + std::cos(std::numbers::pi * done)) / 2;
    }
  }
  return 1;
}

}  // namespace pipedream::train
