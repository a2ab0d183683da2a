#include "runtime/writers.h"

#include <algorithm>
#include <numeric>

namespace pipedream::runtime {

// The largest goes first, each to the replica that has least so far.
std::vector<std::size_t> writers_of(const model::Tensors& parameters, std::size_t replicas) {
  std::vector<std::size_t> order(parameters.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return parameters[a].nbytes() > parameters[b].nbytes();
  });
  std::vector<std::size_t> writers(parameters.size());
  std::vector<std::size_t> bytes(replicas);
  for (const std::size_t i : order) {
    const auto least = std::min_element(bytes.begin(), bytes.end());
    writers[i] = static_cast<std::size_t>(least - bytes.begin());
    *least += parameters[i].nbytes();
  }
  return writers;
}

}  // namespace pipedream::runtime
