#include "runtime/clipping.h"

#include <cmath>
#include <cstring>

#include <ATen/ops/stack.h>

#include "core/check.h"
#include "runtime/tags.h"

namespace pipedream::runtime {
namespace {

struct Entry {
  std::int64_t layer;
  double norm;
};

transport::Message to_message(const SquaredNorms& norms) {
  auto entries = std::make_shared<std::vector<Entry>>();
  for (const auto& [layer, norm] : norms) entries->push_back({layer.value, norm});
  const auto bytes = std::as_bytes(std::span<const Entry>(*entries));
  return {{}, bytes, std::move(entries)};
}

void add(const transport::Message& message, SquaredNorms& norms) {
  std::vector<Entry> entries(message.bytes.size() / sizeof(Entry));
  std::memcpy(entries.data(), message.bytes.data(), message.bytes.size());
  for (const Entry& entry : entries)
    norms[LayerId{static_cast<std::int32_t>(entry.layer)}] = entry.norm;
}

}  // namespace

void add_norms(const model::Network& network, const std::vector<LayerId>& layers,
               const model::Tensors& gradients, SquaredNorms& norms) {
  std::size_t next = 0;
  std::vector<LayerId> owners;
  model::Tensors found;
  for (const LayerId layer : layers)
    for (std::size_t i = 0; i < network.spec(layer).parameters.size(); ++i) {
      const at::Tensor& gradient = gradients.at(next++);
      if (!gradient.defined()) continue;
      owners.push_back(layer);
      found.push_back(gradient.norm(2, at::kDouble));
    }
  PD_CHECK(next == gradients.size());
  if (found.empty()) return;
  const at::Tensor all = at::stack(found).cpu();  // waits for the device once, not once per norm
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const double norm = all.const_data_ptr<double>()[i];
    norms[owners[i]] += norm * norm;
  }
}

Clipper::Clipper(double most, const plan::Plan& plan, transport::Transport& control,
                 std::chrono::milliseconds patience)
    : most_(most), control_(control), patience_(patience) {
  for (const plan::Stage& stage : plan.stages) {
    speakers_.insert(stage.workers.front());
    listeners_.insert(stage.workers.begin(), stage.workers.end());
  }
  listeners_.erase(control.me());
}

double Clipper::factor(const SquaredNorms& own) {
  if (speakers_.contains(control_.me()))
    for (const WorkerId listener : listeners_) control_.send(listener, kNorms, to_message(own));
  SquaredNorms all = own;
  for (const WorkerId speaker : speakers_) {
    if (speaker == control_.me()) continue;
    add(next_message(control_, speaker, kNorms, patience_), all);
  }
  double sum = 0;
  for (const auto& [layer, norm] : all) sum += norm;
  constexpr double kTiny = 1e-6;  // as in torch's clip_grad_norm_
  return std::min(1.0, most_ / (std::sqrt(sum) + kTiny));
}

}  // namespace pipedream::runtime
