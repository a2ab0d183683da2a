// The weights of one stage in all versions that are alive (docs/glossary.md: weight version).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "core/ids.h"
#include "model/layer.h"
#include "runtime/optimiser.h"
#include "schedule/schedule.h"

namespace pipedream::runtime {

// Each version is one flat buffer, each tensor at a 64-byte boundary of it; the layers' parameters
// are views that activate() re-points, without a copy. Used by its worker's thread alone.
//  1. As many of the newest versions are alive as the rules keep; an older one while a forward that
//     began on it has not run backward.
//  2. `update` writes over the newest version itself when that is not to stay, else into a free
//     buffer; so peak() never exceeds the number of versions that the schedule needs.
//  3. Without stashing there is one buffer, written over whoever uses it: what autograd kept of the
//     old weights changes with it.
class WeightStore {
 public:
  // Takes the parameters of the stage's layers, which hold version 0.
  explicit WeightStore(model::Tensors parameters);

  // Before a run of a schedule with these rules: the newest version becomes version 0, the only
  // one. Requires that nobody uses any.
  void begin(const schedule::Rules& rules);

  // Points the layers' parameters at a version that is alive.
  void activate(WeightVersion version);

  void acquire(WeightVersion version);  // a forward begins on it
  void release(WeightVersion version);  // its backward is done

  // What an optimiser does with the parameters.
  using Step = std::function<void(const std::vector<ParameterStep>& steps)>;
  // Makes version `to` out of the newest and one gradient per parameter, for the steps to divide by
  // `divisor`; a parameter whose gradient is not defined keeps its value.
  void update(WeightVersion to, const model::Tensors& gradients, const Step& step,
              double divisor = 1);

  // Makes version `to` for somebody else's values: one tensor per parameter, for the caller to
  // write.
  [[nodiscard]] const model::Tensors& renew(WeightVersion to) { return next(to).views; }

  // The parameters' gradients so far, which they lose; those that got none are not defined.
  [[nodiscard]] model::Tensors take_gradients();

  [[nodiscard]] WeightVersion newest() const { return newest_; }
  [[nodiscard]] std::size_t live() const { return versions_.size(); }
  [[nodiscard]] std::size_t peak() const { return peak_; }
  [[nodiscard]] const model::Tensors& parameters() const { return parameters_; }
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
  [[nodiscard]] const Buffer& next(WeightVersion to);
  void drop_if_unused(WeightVersion version);

  schedule::Stash stash_ = schedule::Stash::kForwards;
  int kept_ = 1;
  model::Tensors parameters_;
  std::vector<Buffer> buffers_;
  std::vector<std::size_t> free_;  // indices into buffers_
  std::map<WeightVersion, Version> versions_;
  WeightVersion newest_{0};
  std::size_t active_ = 0;  // the buffer that the parameters point at
  std::size_t peak_ = 1;
};

}  // namespace pipedream::runtime
