#include "imported/functional.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "imported/operators.h"
#include "imported/schema.h"
#include "pt2/calls.h"

namespace pipedream::imported {
namespace {

using pt2::Call;
using pt2::Input;
using pt2::TensorId;

constexpr std::size_t kAtEnd = std::numeric_limits<std::size_t>::max();

void rename(Call& call, TensorId from, TensorId to) {
  for (pt2::NamedArgument& each : call.arguments) {
    if (auto* one = std::get_if<TensorId>(&each.value); one != nullptr && *one == from) *one = to;
    if (auto* list = std::get_if<pt2::Tensors>(&each.value))
      for (auto& tensor : *list)
        if (tensor == from) tensor = to;
  }
}

// Groups of tensors that may share memory.
class AliasGroups {
 public:
  explicit AliasGroups(std::size_t tensors) : parent_(tensors) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  void join(TensorId a, TensorId b) { parent_[root(a.index())] = root(b.index()); }
  [[nodiscard]] std::size_t group(TensorId tensor) { return root(tensor.index()); }

 private:
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  std::vector<std::size_t> parent_;
};

class Safety {
 public:
  Safety(pt2::Program program, const std::vector<TensorId>& same, const std::string& file)
      : program_(std::move(program)), same_(same), file_(file) {}

  SafeProgram run() {
    unify_weights();
    remove_unused();
    take_out_copies_of_buffers();
    copy_written_inputs();
    make_functional();
    remove_unused();
    SafeProgram safe;
    safe.uses = buffer_uses();
    safe.together = regions();
    safe.program = std::move(program_);
    return safe;
  }

 private:
  void unify_weights();
  void remove_unused();
  void take_out_copies_of_buffers();
  void copy_written_inputs();
  void make_functional();
  [[nodiscard]] std::vector<BufferUse> buffer_uses() const;
  [[nodiscard]] std::vector<Together> regions() const;
  // Replaces `from` by `to` in all calls from number `call` on, and among the outputs.
  void rename_from(std::size_t call, TensorId from, TensorId to);
  // For each tensor, the number of the last call that reads it; kAtEnd for outputs.
  [[nodiscard]] std::vector<std::size_t> last_uses() const;
  [[nodiscard]] const Input* input_of(TensorId tensor) const;
  [[nodiscard]] bool is_buffer(TensorId tensor) const {
    const Input* input = input_of(tensor);
    return input != nullptr && input->kind == Input::Kind::kBuffer;
  }
  // Which groups of tensors share memory after all calls.
  [[nodiscard]] AliasGroups groups_after_all() const;
  // The groups that some call writes into.
  [[nodiscard]] std::set<std::size_t> written_groups(AliasGroups& shared) const;

  pt2::Program program_;
  const std::vector<TensorId>& same_;
  const std::string& file_;
};

const Input* Safety::input_of(TensorId tensor) const {
  for (const Input& input : program_.inputs)
    if (input.tensor == tensor) return &input;
  return nullptr;
}

void Safety::rename_from(std::size_t call, TensorId from, TensorId to) {
  for (std::size_t i = call; i < program_.calls.size(); ++i) rename(program_.calls[i], from, to);
  for (TensorId& output : program_.outputs)
    if (output == from) output = to;
  for (pt2::NewBuffer& each : program_.new_buffers)
    if (each.tensor == from) each.tensor = to;
}

void Safety::unify_weights() {
  for (std::size_t t = 0; t < same_.size(); ++t)
    if (same_[t].index() != t) rename_from(0, id_at<TensorId>(t), same_[t]);
}

std::vector<std::size_t> Safety::last_uses() const {
  std::vector<std::size_t> last(program_.tensors.size(), 0);
  for (std::size_t c = 0; c < program_.calls.size(); ++c)
    for (const TensorId tensor : reads_of(program_.calls[c])) last[tensor.index()] = c;
  for (const TensorId output : program_.outputs) last[output.index()] = kAtEnd;
  for (const pt2::NewBuffer& each : program_.new_buffers) last[each.tensor.index()] = kAtEnd;
  return last;
}

// Also removes checks. A call that writes into something is used.
void Safety::remove_unused() {
  std::vector<bool> used(program_.tensors.size(), false);
  for (const TensorId output : program_.outputs) used[output.index()] = true;
  for (const pt2::NewBuffer& each : program_.new_buffers) used[each.tensor.index()] = true;
  std::vector<Call> kept;
  for (std::size_t c = program_.calls.size(); c-- > 0;) {
    Call& call = program_.calls[c];
    if (only_checks(call.op)) continue;
    const auto makes = makes_of(call);
    const bool is_used = std::any_of(makes.begin(), makes.end(),
                                     [&](TensorId tensor) { return used[tensor.index()]; });
    if (!is_used && writes_of(call).empty()) continue;
    for (const TensorId tensor : reads_of(call)) used[tensor.index()] = true;
    kept.push_back(std::move(call));
  }
  std::reverse(kept.begin(), kept.end());
  program_.calls = std::move(kept);
}

// torch.export writes the new content of a buffer at the end of the program, wherever the model
// does. Such a call becomes an entry of new_buffers, so that it does not join all calls between. If
// the new content is the buffer itself, which was written in place, nothing needs to be done.
void Safety::take_out_copies_of_buffers() {
  AliasGroups shared = groups_after_all();
  std::map<std::size_t, std::size_t> last_write;  // by group: the last call that writes into it
  for (std::size_t c = 0; c < program_.calls.size(); ++c)
    for (const TensorId tensor : writes_of(program_.calls[c])) last_write[shared.group(tensor)] = c;
  std::vector<Call> kept;
  const auto last = last_uses();
  for (std::size_t c = 0; c < program_.calls.size(); ++c) {
    Call& call = program_.calls[c];
    const auto* target = argument_of(call, "self");
    const auto* source = argument_of(call, "src");
    if (call.op == "aten::copy_" && target != nullptr && source != nullptr) {
      const auto* into = std::get_if<TensorId>(target);
      const auto* from = std::get_if<TensorId>(source);
      const auto makes = makes_of(call);
      const bool is_last =
          std::all_of(makes.begin(), makes.end(), [&](TensorId t) { return last[t.index()] <= c; });
      // The tensor that is copied must keep its content until the end of the program.
      const bool stays = from != nullptr && last_write[shared.group(*from)] <= c;
      if (into != nullptr && stays && is_buffer(*into) && is_last && last[into->index()] == c) {
        if (shared.group(*into) != shared.group(*from))
          program_.new_buffers.push_back({*from, input_of(*into)->name});
        continue;
      }
    }
    kept.push_back(std::move(call));
  }
  program_.calls = std::move(kept);
}

// A user's input that is written into is copied first.
void Safety::copy_written_inputs() {
  AliasGroups shared = groups_after_all();
  const auto written = written_groups(shared);
  for (const Input& input : program_.inputs) {
    if (!written.contains(shared.group(input.tensor))) continue;
    if (input.kind == Input::Kind::kParameter)
      throw CannotMeet(file_ + ": the model writes into its parameter '" + printable(input.name) +
                       "', which only an optimiser may do here");
    if (input.kind == Input::Kind::kBuffer) continue;
    const auto copied = id_at<TensorId>(program_.tensors.size());
    program_.tensors.push_back(program_.tensors[input.tensor.index()]);
    rename_from(0, input.tensor, copied);
    Call clone;
    clone.op = "aten::clone";
    clone.arguments = {{"self", input.tensor}};
    clone.results = {copied};
    clone.modules = program_.calls.front().modules;
    program_.calls.insert(program_.calls.begin(), std::move(clone));
  }
}

AliasGroups Safety::groups_after_all() const {
  AliasGroups shared(program_.tensors.size());
  for (const Call& call : program_.calls)
    for (const TensorId viewed : viewed_by(call))
      for (const TensorId made : makes_of(call)) shared.join(made, viewed);
  return shared;
}

std::set<std::size_t> Safety::written_groups(AliasGroups& shared) const {
  std::set<std::size_t> groups;
  for (const Call& call : program_.calls)
    for (const TensorId tensor : writes_of(call)) groups.insert(shared.group(tensor));
  return groups;
}

void Safety::make_functional() {
  AliasGroups shared(program_.tensors.size());
  std::map<std::size_t, std::vector<TensorId>> members;  // of groups, from the tensors seen so far
  for (const Input& input : program_.inputs) members[input.tensor.index()] = {input.tensor};
  const auto join = [&](TensorId made, TensorId viewed) {
    const std::size_t a = shared.group(made);
    const std::size_t b = shared.group(viewed);
    if (a == b) return;
    auto moved = std::move(members[a]);
    members.erase(a);
    shared.join(made, viewed);
    auto& all = members[shared.group(made)];
    all.insert(all.end(), moved.begin(), moved.end());
  };
  auto last = last_uses();
  for (std::size_t c = 0; c < program_.calls.size(); ++c) {
    const auto writes = writes_of(program_.calls[c]);
    const auto other = out_of_place(program_.calls[c]);
    const auto made = makes_of(program_.calls[c]);
    bool is_alone = writes.size() == 1 && other && made.size() == 1;
    if (is_alone)
      for (const TensorId tensor : members[shared.group(writes[0])])
        is_alone =
            is_alone && !is_buffer(tensor) && (tensor == writes[0] || last[tensor.index()] <= c);
    if (is_alone) {
      program_.calls[c] = *other;
      rename_from(c + 1, writes[0], made[0]);
      last[made[0].index()] = std::max(last[made[0].index()], last[writes[0].index()]);
      last[writes[0].index()] = c;
    }
    for (const TensorId tensor : made) members[shared.group(tensor)].push_back(tensor);
    for (const TensorId viewed : viewed_by(program_.calls[c]))
      for (const TensorId tensor : made) join(tensor, viewed);
  }
}

std::vector<BufferUse> Safety::buffer_uses() const {
  std::vector<BufferUse> uses(program_.tensors.size(), BufferUse::kUnchanged);
  AliasGroups shared = groups_after_all();
  const auto written = written_groups(shared);
  std::map<std::size_t, int> calls;  // by group: how many calls read or make a tensor of it
  for (const Call& call : program_.calls) {
    std::set<std::size_t> touched;
    for (const auto& tensors : {reads_of(call), makes_of(call)})
      for (const TensorId tensor : tensors) touched.insert(shared.group(tensor));
    for (const std::size_t group : touched) ++calls[group];
  }
  std::set<std::string> renewed;
  for (const pt2::NewBuffer& each : program_.new_buffers) renewed.insert(each.buffer);
  for (const Input& input : program_.inputs) {
    if (input.kind != Input::Kind::kBuffer) continue;
    const std::size_t group = shared.group(input.tensor);
    if (!written.contains(group) && !renewed.contains(input.name)) continue;
    const int others = calls[group] - (written.contains(group) ? 1 : 0);
    uses[input.tensor.index()] = others > 0 ? BufferUse::kState : BufferUse::kChanged;
  }
  return uses;
}

// All calls that use memory which some call writes into stay together, from the one that makes it
// to the last that uses it.
std::vector<Together> Safety::regions() const {
  AliasGroups shared = groups_after_all();
  std::map<std::string, TensorId> renewed;
  for (const pt2::NewBuffer& each : program_.new_buffers) renewed.emplace(each.buffer, each.tensor);
  std::vector<TensorId> changed;  // buffers that get new content after the calls
  for (const Input& input : program_.inputs)
    if (const auto found = renewed.find(input.name);
        input.kind == Input::Kind::kBuffer && found != renewed.end()) {
      shared.join(found->second, input.tensor);
      changed.push_back(input.tensor);
    }
  std::set<std::size_t> written = written_groups(shared);
  for (const TensorId tensor : changed) written.insert(shared.group(tensor));
  std::map<std::size_t, Together> spans;
  for (std::size_t c = 0; c < program_.calls.size(); ++c) {
    std::vector<TensorId> touched = reads_of(program_.calls[c]);
    for (const TensorId made : makes_of(program_.calls[c])) touched.push_back(made);
    for (const TensorId tensor : touched) {
      const std::size_t group = shared.group(tensor);
      if (!written.contains(group)) continue;
      spans.emplace(group, Together{c, c}).first->second.last = c;
    }
  }
  std::vector<Together> sorted;
  for (const auto& [group, span] : spans) sorted.push_back(span);
  std::sort(sorted.begin(), sorted.end(),
            [](const Together& a, const Together& b) { return a.first < b.first; });
  std::vector<Together> merged;
  for (const Together& span : sorted)
    if (!merged.empty() && span.first <= merged.back().last)
      merged.back().last = std::max(merged.back().last, span.last);
    else
      merged.push_back(span);
  return merged;
}

}  // namespace

SafeProgram make_safe(pt2::Program program, const std::vector<TensorId>& same,
                      const std::string& file) {
  return Safety(std::move(program), same, file).run();
}

}  // namespace pipedream::imported
