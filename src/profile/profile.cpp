#include "profile/profile.h"

#include "core/error.h"

namespace pipedream::profile {

void check_totals(const Profile& profile) {
  Nanos time{0};
  Bytes bytes;
  // Checks after each addition. Every single cost is within the limits, so the sums cannot overflow
  // before a check.
  const auto check = [&] {
    if (time > kLongestInAll)
      throw BadValue("all layers together take more than " + to_text(kLongestInAll) +
                     " for one minibatch: is a unit wrong?");
    if (bytes > kLargestInAll)
      throw BadValue("all layers together hold more than " + to_text(kLargestInAll) +
                     ": is a unit wrong?");
  };
  for (const LayerCost& cost : profile.costs) {
    time += cost.longest();
    bytes +=
        cost.weights + cost.stash + cost.working.value_or(Working{}).all + cost.forward_working.all;
    check();
  }
  for (const graph::Value& value : profile.graph.values()) {
    bytes += value.bytes;
    check();
  }
}

namespace {

Nanos total(const Profile& profile, Nanos LayerCost::*time) {
  Nanos sum{0};
  for (const LayerCost& cost : profile.costs) sum += cost.*time;
  return sum;
}

}  // namespace

Nanos total_forward(const Profile& profile) { return total(profile, &LayerCost::forward); }
Nanos total_backward(const Profile& profile) { return total(profile, &LayerCost::backward); }
Nanos total_update(const Profile& profile) { return total(profile, &LayerCost::update); }
Nanos total_averaging(const Profile& profile) { return total(profile, &LayerCost::averaging); }

Nanos total_time(const Profile& profile) {
  return total_forward(profile) + total_backward(profile) + total_update(profile);
}

bool was_unsteady(const Profile& profile) {
  constexpr double kMostSpread = 0.1;
  constexpr Nanos kLongEnough = std::chrono::milliseconds(5);
  return profile.spread.value_or(0) > kMostSpread && total_time(profile) >= kLongEnough;
}

Nanos total_fixed(const Profile& profile) {
  Nanos sum{0};
  for (const LayerCost& cost : profile.costs) sum += cost.fixed_forward + cost.fixed_backward;
  return sum;
}

Bytes total_weights(const Profile& profile) {
  Bytes sum;
  for (const LayerCost& cost : profile.costs) sum += cost.weights;
  return sum;
}

Bytes total_weights(const Profile& profile, std::span<const LayerId> layers) {
  Bytes sum;
  for (const LayerId layer : layers) sum += profile.cost(layer).weights;
  return sum;
}

namespace {

// Returns `flags[at]`, or `unknown` if `flags` is empty.
bool flag(const std::vector<bool>& flags, std::size_t at, bool unknown) {
  return flags.empty() ? unknown : flags.at(at);
}

bool a_consumer_keeps(const Profile& profile, ValueId id) {
  for (const LayerId user : profile.graph.value(id).consumers) {
    const auto& inputs = profile.graph.layer(user).inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i] == id && flag(profile.cost(user).keeps_input, i, false)) return true;
  }
  return false;
}

}  // namespace

bool knows_working(const Profile& profile) {
  const auto& layers = profile.graph.layers();
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (!layers[i].is_input && !profile.costs[i].working) return false;
  return true;
}

Bytes held_bytes(const Profile& profile, LayerId layer) {
  const LayerCost& cost = profile.cost(layer);
  Bytes held = cost.stash;
  const auto& outputs = profile.graph.layer(layer).outputs;
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const graph::Value& output = profile.graph.value(outputs[o]);
    if (output.is_weight) continue;  // already counted in `weights`
    if (flag(cost.keeps_output, o, true) || a_consumer_keeps(profile, outputs[o]))
      held += output.bytes;
  }
  return held;
}

}  // namespace pipedream::profile
