// Strong ids: a StageId can never be passed where a WorkerId is wanted. All count from 0.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace pipedream {

template <class Tag, class Int = std::int32_t>
struct Id {
  Int value = 0;
  friend auto operator<=>(Id, Id) = default;
  // The id as an index into a vector that has one entry per id.
  [[nodiscard]] std::size_t index() const { return static_cast<std::size_t>(value); }
};

using LayerId = Id<struct LayerTag>;    // a layer of a graph, in order of declaration
using ValueId = Id<struct ValueTag>;    // one output of one layer
using StageId = Id<struct StageTag>;    // a stage of a plan
using WorkerId = Id<struct WorkerTag>;  // a worker of a cluster
using WeightVersion = Id<struct WeightVersionTag, std::int64_t>;  // updates applied so far

// Returns the id whose index() is `index`.
template <class AnyId>
[[nodiscard]] AnyId id_at(std::size_t index) {
  return AnyId{static_cast<decltype(AnyId::value)>(index)};
}

}  // namespace pipedream

template <class Tag, class Int>
struct std::hash<pipedream::Id<Tag, Int>> {
  std::size_t operator()(pipedream::Id<Tag, Int> id) const { return std::hash<Int>{}(id.value); }
};
