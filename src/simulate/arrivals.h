// The values that a stage on one worker takes from other workers, as they come in.
#pragma once

#include <optional>

#include "core/fifo.h"
#include "core/units.h"
#include "schedule/ops.h"

namespace pipedream::simulate {

// What has come in of one item: its activations for a forward, or its gradients for a backward.
struct ItemArrivals {
  schedule::Item item;
  int values = 0;  // that are here
  Nanos sent{0};   // when the value that came last was sent
  Nanos last{0};   // when it arrived
};

// The items of one stage on one worker of which some value is here and which no op has taken.
class Arrivals {
 public:
  // `sole`: an item has no other value, so that this one is the first of its item.
  void add(const schedule::Item& item, Nanos sent, Nanos arrived, bool sole) {
    ItemArrivals& of = sole ? begin(item) : find_or_begin(item);
    ++of.values;
    if (arrived < of.last) return;
    of.last = arrived;
    of.sent = sent;
  }

  // The item, if at least `wanted` of its values are here. With `take` it is forgotten.
  [[nodiscard]] std::optional<ItemArrivals> complete(const schedule::Item& item, int wanted,
                                                     bool take) {
    std::size_t i = 0;
    while (i < items_.size() && items_[i].item != item) ++i;
    if (i == items_.size() || items_[i].values < wanted) return std::nullopt;
    const ItemArrivals found = items_[i];
    if (take) items_.take(i);
    return found;
  }

 private:
  ItemArrivals& begin(const schedule::Item& item) {
    items_.push({.item = item});
    return items_.back();
  }
  // Searches from the end: a value that comes in most likely belongs to the item begun last.
  ItemArrivals& find_or_begin(const schedule::Item& item) {
    for (std::size_t i = items_.size(); i-- > 0;)
      if (items_[i].item == item) return items_[i];
    return begin(item);
  }

  Fifo<ItemArrivals> items_;
};

}  // namespace pipedream::simulate
