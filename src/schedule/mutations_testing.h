// Changes one thing in complete programs. Only property tests, slow tests and their *_testing.h
// headers include this.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/match.h"
#include "core/property_testing.h"
#include "schedule/ops.h"

namespace pipedream::schedule {

enum class Change { kDropped, kSwapped, kDoubled, kVersion, kPeer, kMoved, kElsewhere, kItem };
inline constexpr int kChanges = 8;

// Returns all weight versions that an op names.
[[nodiscard]] inline std::vector<WeightVersion*> versions_in(Op& op) {
  using Found = std::vector<WeightVersion*>;
  return std::visit(
      Match{[](Forward& f) { return Found{&f.weights}; },
            [](Recompute& c) { return Found{&c.weights}; },
            [](Backward& b) { return Found{&b.weights}; },
            [](Reduce& r) { return Found{&r.update}; }, [](Await& a) { return Found{&a.update}; },
            [](Pull& p) { return Found{&p.to}; },
            [](Update& u) {
              return Found{&u.from, &u.to};
            },
            [](auto&) { return Found{}; }},
      op);
}

[[nodiscard]] inline Item* item_in(Op& op) {
  return std::visit(
      Match{[](Reduce&) -> Item* { return nullptr; }, [](Await&) -> Item* { return nullptr; },
            [](Pull&) -> Item* { return nullptr; }, [](Update&) -> Item* { return nullptr; },
            [](auto& other) -> Item* { return &other.item; }},
      op);
}

[[nodiscard]] inline WorkerId* peer_in(Op& op) {
  if (auto* send = std::get_if<Send>(&op)) return &send->peer;
  if (auto* recv = std::get_if<Recv>(&op)) return &recv->peer;
  return nullptr;
}

// Returns whether `change` can be applied to the op at index `at`.
[[nodiscard]] inline bool can(Change change, std::vector<Op>& ops, std::size_t at) {
  switch (change) {
    case Change::kSwapped:
      return at + 1 < ops.size() && ops[at] != ops[at + 1];
    case Change::kVersion:
      return !versions_in(ops[at]).empty();
    case Change::kPeer:
      return peer_in(ops[at]) != nullptr;
    case Change::kItem:
      return item_in(ops[at]) != nullptr;
    default:
      return true;
  }
}

// Returns a random number from `least` to `end` − 1 that is not `number`.
template <class Int>
[[nodiscard]] Int any_other(Int number, Int least, Int end) {
  const Int drawn = test::any_of_range<Int>(least, static_cast<Int>(end - 1));
  return static_cast<Int>(drawn < number ? drawn : drawn + 1);
}

// Applies `change` to a random op. Returns a description for people, or nullopt if no op can be
// changed in this way.
[[nodiscard]] inline std::optional<std::string> mutate(Change change,
                                                       std::vector<Program>& programs) {
  using test::any_index;
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (std::size_t p = 0; p < programs.size(); ++p)
    for (std::size_t at = 0; at < programs[p].ops.size(); ++at)
      if (can(change, programs[p].ops, at)) places.emplace_back(p, at);
  if (places.empty() || (change == Change::kElsewhere && programs.size() < 2)) return std::nullopt;
  const auto [p, at] = places[any_index(places.size())];
  std::vector<Op>& ops = programs[p].ops;
  const auto here = ops.begin() + static_cast<std::ptrdiff_t>(at);
  const Op op = *here;
  const auto insert_anywhere = [&](std::vector<Op>& into) {
    const std::size_t to = any_index(into.size() + 1);
    into.insert(into.begin() + static_cast<std::ptrdiff_t>(to), op);
    return " moved to " + std::to_string(to);
  };
  std::string what = "worker " + std::to_string(programs[p].worker.value) + ", op " +
                     std::to_string(at) + ", " + to_text(op, true);
  switch (change) {
    case Change::kDropped:
      ops.erase(here);
      return what + " dropped";
    case Change::kSwapped:
      std::swap(ops[at], ops[at + 1]);
      return what + " swapped with its next";
    case Change::kDoubled:
      ops.insert(here, op);
      return what + " doubled";
    case Change::kMoved:
      ops.erase(here);
      return what + insert_anywhere(ops);
    case Change::kElsewhere: {
      ops.erase(here);
      Program& other = programs[any_other<std::size_t>(p, 0, programs.size())];
      return what + insert_anywhere(other.ops) + " of worker " + std::to_string(other.worker.value);
    }
    case Change::kVersion: {
      const auto versions = versions_in(*here);
      std::int64_t& version = versions[any_index(versions.size())]->value;
      version = any_other(version, version - 3, version + 4);
      break;
    }
    case Change::kPeer: {
      std::int32_t& peer = peer_in(*here)->value;
      peer = any_other(peer, 0, static_cast<std::int32_t>(programs.size()) + 1);
      break;
    }
    case Change::kItem: {
      Item& item = *item_in(*here);
      if (test::any_of_range(0, 2) == 0)
        item.minibatch = any_other(item.minibatch, item.minibatch - 2, item.minibatch + 3);
      else
        item.microbatch = any_other(item.microbatch, item.microbatch - 2, item.microbatch + 3);
      break;
    }
  }
  return what + " became " + to_text(*here, true);
}

}  // namespace pipedream::schedule
