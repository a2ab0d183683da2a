// Keeps track of the values that have arrived at a stage on one worker from other workers.
#pragma once

#include <optional>

#include "core/fifo.h"
#include "core/units.h"
#include "schedule/ops.h"

namespace pipedream::simulate {

// The values of one item that have arrived: activations for a forward, or gradients for a backward.
struct ItemArrivals {
  schedule::Item item;
  int values = 0;  // number of values that have arrived
  Nanos sent{0};   // when the value that arrived last was sent
  Nanos last{0};   // when the last value arrived; may be later than now, by the link's latency
};

// All items of one stage on one worker that have some of their values and that no op has taken.
// Owned by the Engine and used by its thread.
class Arrivals {
 public:
  // Adds one value of `item`. `sole` means that each item has only one value, so that this is the
  // first of `item` and no entry has to be searched for.
  void add(const schedule::Item& item, Nanos sent, Nanos arrived, bool sole) {
    ItemArrivals& of = sole ? begin(item) : find_or_begin(item);
    ++of.values;
    if (arrived < of.last) return;
    of.last = arrived;
    of.sent = sent;
  }

  // Returns the arrivals of `item` if at least `wanted` of its values have arrived, else nullopt.
  // With `take`, removes the item.
  [[nodiscard]] std::optional<ItemArrivals> complete(const schedule::Item& item, int wanted,
                                                     bool take) {
    std::size_t i = 0;
    while (i < items_.size() && items_[i].item != item) ++i;
    if (i == items_.size() || items_[i].values < wanted) return std::nullopt;
    const ItemArrivals found = items_[i];
    if (take) items_.remove(i);
    return found;
  }

 private:
  ItemArrivals& begin(const schedule::Item& item) {
    items_.push({.item = item});
    return items_.back();
  }
  // Returns the entry of `item`, which it adds if it is missing. Searches from the end, because a
  // value most likely belongs to the item that was added last.
  ItemArrivals& find_or_begin(const schedule::Item& item) {
    for (std::size_t i = items_.size(); i-- > 0;)
      if (items_[i].item == item) return items_[i];
    return begin(item);
  }

  Fifo<ItemArrivals> items_;
};

}  // namespace pipedream::simulate
