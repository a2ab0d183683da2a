// Buffers as earlier forwards found them, for layers that read what they also write.
#pragma once

#include <map>
#include <utility>

#include "model/layer.h"

namespace pipedream::model {

// A recomputation must read the buffers that its forward read. By then, the forwards of later items
// may have changed them. Owned by a layer and used from its worker's thread alone.
class BufferHistory {
 public:
  // Keeps copies of `buffers` as the forward of `pass` finds them, if the forward will be run again
  // (Pass::will_be_repeated).
  void note(const Pass& pass, const Tensors& buffers) {
    if (pass.will_be_repeated && !buffers.empty()) kept_[item_of(pass)] = copies_of(buffers);
  }

  // Returns copies of `buffers`. If `pass` is a recomputation, returns what note() kept for its
  // item instead, and forgets it.
  [[nodiscard]] Tensors take(const Pass& pass, const Tensors& buffers) {
    if (!pass.training || pass.update_statistics) return copies_of(buffers);
    auto found = kept_.extract(item_of(pass));
    return found.empty() ? copies_of(buffers) : std::move(found.mapped());
  }

 private:
  using Item = std::pair<std::int64_t, std::int64_t>;  // minibatch and microbatch
  [[nodiscard]] static Item item_of(const Pass& pass) {
    return {pass.random.minibatch, pass.random.microbatch};
  }
  [[nodiscard]] static Tensors copies_of(const Tensors& buffers) {
    Tensors copies;
    for (const at::Tensor& buffer : buffers) copies.push_back(buffer.detach().clone());
    return copies;
  }

  std::map<Item, Tensors> kept_;
};

}  // namespace pipedream::model
