// The weights of one stage in all versions that are alive (docs/glossary.md: weight version).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "core/ids.h"
#include "model/layer.h"

namespace pipedream::runtime {

// Each version is one flat buffer, each tensor at a 64-byte boundary of it; the layers' parameters
// are views that activate() re-points, without a copy. Used by its worker's thread alone.
//  1. The newest version is always alive; an older one while a forward that began on it has not run
//     backward.
//  2. `update` writes into the newest buffer itself when nobody uses it, else into a free one; so
//     peak() never exceeds the number of versions that the schedule needs.
class WeightStore {
 public:
  // Takes the parameters of the stage's layers, which hold version 0.
  explicit WeightStore(model::Tensors parameters);

  // Points the layers' parameters at a version that is alive.
  void activate(WeightVersion version);

  void acquire(WeightVersion version);  // a forward begins on it
  void release(WeightVersion version);  // its backward is done

  // What an optimiser does with one parameter: reads `from` and `gradient`, writes `to`, which may
  // be the same memory as `from`.
  using Step = std::function<void(std::size_t parameter, const at::Tensor& from,
                                  const at::Tensor& gradient, const at::Tensor& to)>;
  // Makes version `to` out of the newest and the parameters' gradients, which are used up. A
  // parameter without a gradient keeps its value.
  void update(WeightVersion to, const Step& step);

  [[nodiscard]] WeightVersion newest() const { return newest_; }
  [[nodiscard]] std::size_t live() const { return versions_.size(); }
  [[nodiscard]] std::size_t peak() const { return peak_; }
  // The newest weights, one tensor per parameter.
  [[nodiscard]] const model::Tensors& newest_weights() const;

 private:
  struct Buffer {
    at::Tensor flat;
    model::Tensors views;  // one per parameter
  };
  struct Version {
    std::size_t buffer = 0;
    int users = 0;
  };
  [[nodiscard]] std::size_t take_buffer();
  void drop_if_unused(WeightVersion version);

  model::Tensors parameters_;
  std::vector<Buffer> buffers_;
  std::vector<std::size_t> free_;  // indices into buffers_
  std::map<WeightVersion, Version> versions_;
  WeightVersion newest_{0};
  std::size_t active_ = 0;  // the buffer that the parameters point at
  std::size_t peak_ = 1;
};

}  // namespace pipedream::runtime
