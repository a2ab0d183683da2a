// One call of an exported program, prepared once and run in every forward.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "imported/special.h"
#include "pt2/program.h"

namespace pipedream::imported {

// The tensors that a layer has at hand while it runs, by slot. A slot is empty before its tensor is
// made and after its last use.
using Slots = std::vector<at::Tensor>;
using SlotOf = std::function<std::size_t(pt2::TensorId)>;

// Immutable, so any thread may run it.
class Step {
 public:
  // Makes one argument of the call.
  using Maker = std::function<c10::IValue(const Slots& slots, std::int64_t samples,
                                          const at::Device& device)>;

  // `slot_of` says where the layer keeps each tensor that the call reads or makes. Throws BadFile
  // if the arguments do not fit the operator. Requires that libtorch has the operator.
  Step(const pt2::Call& call, const SlotOf& slot_of, Kernels kernels, const std::string& file);

  // Makes the call for `samples` samples: reads its arguments from `slots` and puts its results
  // there. Throws what libtorch throws.
  void run(Slots& slots, std::int64_t samples, Surroundings& surroundings) const;

  // Slots whose tensors no later step reads. Set once all steps of the layer are made.
  std::vector<std::size_t> last_uses;

  [[nodiscard]] const std::string& name() const { return name_; }
  // The slots that the step reads and fills.
  [[nodiscard]] const std::vector<std::size_t>& reads() const { return reads_; }
  [[nodiscard]] const std::vector<std::size_t>& makes() const { return makes_; }

 private:
  void add_results(const pt2::Call& call, const SlotOf& slot_of);
  void compute(std::vector<c10::IValue>& stack, Surroundings& surroundings) const;

  std::string name_;
  std::string file_;
  c10::OperatorHandle op_;
  Special special_;
  bool writes_first_ = false;  // whether the operator writes into its first argument
  bool without_gradient_ = false;
  std::optional<pt2::Autocast> autocast_;
  std::vector<Maker> arguments_;  // in the order of the schema
  // For each result, its slots: one for a tensor, several for a list, none if it is not used.
  std::vector<std::vector<std::size_t>> results_;
  std::vector<bool> is_list_;
  std::vector<std::size_t> reads_;
  std::vector<std::size_t> makes_;
};

// The libtorch type for a type of a program.
[[nodiscard]] at::ScalarType to_torch(pt2::Type type);

}  // namespace pipedream::imported
