// The weights of one stage, in all versions that are still needed (docs/glossary.md: weight
// version; docs/runtime.md: Which weights are used).
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

// Each weight version is one flat buffer, in which every tensor begins at a 64-byte boundary. The
// layers' parameters are views of one of the buffers; activate() points them at another without a
// copy. Owned by a Stage and used from its worker's thread alone.
//  1. A version is alive while it is among the newest versions that the schedule's rules keep, or
//     while an item whose forward used it has not finished its backward.
//  2. An update writes over the newest version in place if nothing keeps that version alive, and
//     into a free buffer otherwise. So peak() is never larger than the number of versions that the
//     schedule needs.
//  3. Without weight stashing there is one buffer, and updates write over it even if items in
//     flight use it. What autograd kept of the old weights then changes too.
class WeightStore {
 public:
  // `parameters` are those of the stage's layers. Their content becomes version 0, and they become
  // views of its buffer.
  explicit WeightStore(model::Tensors parameters);

  // Must be called before a schedule with these rules is run. The newest version becomes version 0
  // and is the only one alive. Requires that no version is in use.
  void begin(const schedule::Rules& rules);

  // Points the layers' parameters at `version`, which must be alive.
  void activate(WeightVersion version);

  void acquire(WeightVersion version);  // a forward begins to use `version`, which must be alive
  void release(WeightVersion version);  // the backward of such a forward is done

  // Computes new weights: executes all steps of an update.
  using Step = std::function<void(const std::vector<ParameterStep>& steps)>;
  // What the steps of an update have in common (ParameterStep).
  struct Scale {
    double divisor = 1;
    double rate = 1;
  };
  // Makes version `to` from the newest version by calling `step`. `gradients` has one entry per
  // parameter; a parameter whose gradient is not defined keeps its value.
  void update(WeightVersion to, const model::Tensors& gradients, const Step& step,
              const Scale& scale);

  // Makes version `to` with undefined content. Returns its tensors, one per parameter, for the
  // caller to fill with weights from elsewhere.
  [[nodiscard]] const model::Tensors& renew(WeightVersion to) { return next(to).views; }

  // Moves the accumulated gradients out of the parameters, one tensor per parameter. The tensor of
  // a parameter that got no gradient is not defined.
  [[nodiscard]] model::Tensors take_gradients();

  [[nodiscard]] WeightVersion newest() const { return newest_; }
  // The number of versions alive now.
  [[nodiscard]] std::size_t live() const { return versions_.size(); }
  // The largest number of versions that were alive at once, over all schedules.
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
    std::size_t buffer = 0;  // index into `buffers_`
    int users = 0;           // items between acquire() and release()
  };
  // The index of a buffer that no version uses; allocates one if there is none.
  [[nodiscard]] std::size_t take_buffer();
  // Makes `to` the newest version and returns its buffer.
  [[nodiscard]] const Buffer& next(WeightVersion to);
  void drop_if_unused(WeightVersion version);

  bool stashes_ = true;
  int kept_ = 1;  // how many of the newest versions stay alive even if no item uses them
  model::Tensors parameters_;
  std::vector<Buffer> buffers_;
  std::vector<std::size_t> free_;              // indices into `buffers_`; the last is taken first
  std::map<WeightVersion, Version> versions_;  // those alive
  WeightVersion newest_{0};
  std::size_t active_ = 0;  // index into `buffers_` of the buffer that the parameters point at
  std::size_t peak_ = 1;
};

}  // namespace pipedream::runtime
