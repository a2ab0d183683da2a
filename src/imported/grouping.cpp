#include "imported/grouping.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/text.h"
#include "imported/operators.h"
#include "imported/schema.h"
#include "imported/special.h"
#include "pt2/calls.h"

namespace pipedream::imported {
namespace {

using pt2::Call;
using pt2::TensorId;

constexpr std::size_t kNoCall = static_cast<std::size_t>(-1);

class Grouping {
 public:
  Grouping(const SafeProgram& safe, const std::vector<bool>& is_trained)
      : program_(safe.program), safe_(safe), is_trained_(is_trained) {}

  std::vector<LayerCalls> run() {
    find_producers();
    find_repeated();
    divide();
    merge_views();
    add_repeated();
    name_layers();
    return std::move(layers_);
  }

 private:
  using Group = std::vector<std::size_t>;

  void find_producers();
  void find_repeated();
  void divide();
  void merge_views();
  void add_repeated();
  void name_layers();
  [[nodiscard]] const Call& call(std::size_t number) const { return program_.calls[number]; }
  [[nodiscard]] bool only_views(std::size_t number) const;
  [[nodiscard]] bool begins_layer(std::size_t number, const Group& group) const;
  // Whether a call of `group` reads what a call of `from` makes.
  [[nodiscard]] bool reads_from(const Group& group, const Group& from) const;
  [[nodiscard]] std::string path_of(const Group& group) const;
  // The operator that the layer is about: the heavy one, or else the last that does not only view.
  [[nodiscard]] std::string main_operator(const Group& group) const;
  [[nodiscard]] std::string kind_of(const Group& group, bool is_whole_module) const;

  const pt2::Program& program_;
  const SafeProgram& safe_;
  const std::vector<bool>& is_trained_;
  std::vector<std::size_t> producer_;  // by tensor: the call that makes it, or kNoCall
  std::vector<std::size_t> last_use_;  // by tensor: the last call that reads it; 0 if none does
  std::vector<bool> is_repeated_;      // by call
  std::vector<bool> is_joined_;        // by call: whether it must be with the call before
  std::vector<Group> groups_;
  std::vector<LayerCalls> layers_;
};

std::string path_of_call(const Call& call) {
  return call.modules.empty() ? "" : call.modules.back().path;
}

void Grouping::find_producers() {
  producer_.assign(program_.tensors.size(), kNoCall);
  last_use_.assign(program_.tensors.size(), 0);
  for (std::size_t c = 0; c < program_.calls.size(); ++c) {
    for (const TensorId made : makes_of(call(c))) producer_[made.index()] = c;
    for (const TensorId read : reads_of(call(c))) last_use_[read.index()] = c;
  }
}

void Grouping::find_repeated() {
  is_joined_.assign(program_.calls.size(), false);
  std::vector<bool> in_region(program_.calls.size(), false);
  for (const Together& region : safe_.together)
    for (std::size_t c = region.first; c <= region.last; ++c) {
      in_region[c] = true;
      is_joined_[c] = c > region.first;
    }
  // Tensors that depend on trained weights, on random numbers, on what other calls change, or on
  // much computation.
  std::vector<bool> is_costly = is_trained_;
  for (std::size_t t = 0; t < is_costly.size(); ++t)
    if (safe_.uses[t] != BufferUse::kUnchanged) is_costly[t] = true;
  is_repeated_.assign(program_.calls.size(), false);
  for (std::size_t c = 0; c < program_.calls.size(); ++c) {
    const auto reads = reads_of(call(c));
    is_repeated_[c] =
        !in_region[c] && !is_heavy(call(c).op) && !draws(call(c)) && writes_of(call(c)).empty() &&
        std::none_of(reads.begin(), reads.end(), [&](TensorId t) { return is_costly[t.index()]; });
    if (is_repeated_[c]) continue;
    for (const TensorId made : makes_of(call(c))) is_costly[made.index()] = true;
  }
}

bool Grouping::only_views(std::size_t number) const {
  return !is_heavy(call(number).op) && !draws(call(number)) && !viewed_by(call(number)).empty() &&
         writes_of(call(number)).empty();
}

bool Grouping::begins_layer(std::size_t number, const Group& group) const {
  if (is_joined_[number]) return false;
  if (path_of_call(call(number)) != path_of_call(call(group.back()))) return true;
  if (!is_heavy(call(number).op) ||
      std::none_of(group.begin(), group.end(),
                   [&](std::size_t other) { return is_heavy(call(other).op); }))
    return false;
  // Counts results of this module's calls since its last submodule that this call or later ones
  // read.
  std::int64_t crossing = 0;
  for (std::size_t other = number; other-- > 0;) {
    if (is_repeated_[other]) continue;
    if (path_of_call(call(other)) != path_of_call(call(number))) break;
    for (const TensorId made : makes_of(call(other)))
      crossing += last_use_[made.index()] >= number ? 1 : 0;
  }
  return crossing <= 1;
}

void Grouping::divide() {
  for (std::size_t c = 0; c < program_.calls.size(); ++c) {
    if (is_repeated_[c]) continue;
    if (groups_.empty() || begins_layer(c, groups_.back())) groups_.emplace_back();
    groups_.back().push_back(c);
  }
}

bool Grouping::reads_from(const Group& group, const Group& from) const {
  for (const std::size_t reader : group)
    for (const TensorId tensor : reads_of(call(reader)))
      if (std::binary_search(from.begin(), from.end(), producer_[tensor.index()])) return true;
  return false;
}

void Grouping::merge_views() {
  std::vector<Group> merged;
  std::vector<bool> views;  // by group of `merged`: whether it has views alone
  for (Group& group : groups_) {
    const bool is_view = std::all_of(group.begin(), group.end(),
                                     [&](std::size_t number) { return only_views(number); });
    const bool joins =
        !merged.empty() && (is_view || views.back()) && reads_from(group, merged.back());
    if (!joins) {
      merged.push_back(std::move(group));
      views.push_back(is_view);
      continue;
    }
    merged.back().insert(merged.back().end(), group.begin(), group.end());
    views.back() = views.back() && is_view;
  }
  groups_ = std::move(merged);
}

// Adds to each group the repeated calls that it needs.
void Grouping::add_repeated() {
  for (Group& group : groups_) {
    std::set<std::size_t> all(group.begin(), group.end());
    std::vector<std::size_t> open(group.begin(), group.end());
    while (!open.empty()) {
      const std::size_t number = open.back();
      open.pop_back();
      for (const TensorId tensor : reads_of(call(number))) {
        const std::size_t producer = producer_[tensor.index()];
        if (producer != kNoCall && is_repeated_[producer] && all.insert(producer).second)
          open.push_back(producer);
      }
    }
    group.assign(all.begin(), all.end());
  }
}

std::string Grouping::path_of(const Group& group) const {
  // The module of the group's first call that is not repeated.
  for (const std::size_t number : group)
    if (!is_repeated_[number]) return path_of_call(call(number));
  return "";
}

std::string Grouping::main_operator(const Group& group) const {
  std::string last;
  for (const std::size_t number : group) {
    if (is_repeated_[number]) continue;
    if (is_heavy(call(number).op)) return plain_name(call(number).op);
    if (last.empty() || !only_views(number)) last = plain_name(call(number).op);
  }
  return last;
}

std::string Grouping::kind_of(const Group& group, bool is_whole_module) const {
  std::string kind = main_operator(group);
  for (const std::size_t number : group) {
    if (is_repeated_[number]) continue;
    const auto& modules = call(number).modules;
    if (is_whole_module && !modules.empty() && !modules.back().path.empty())
      kind = modules.back().type.substr(modules.back().type.rfind('.') + 1);
    for (const TensorId tensor : reads_of(call(number))) {
      if (!is_trained_[tensor.index()]) continue;
      std::string sizes;
      for (const pt2::Size& size : program_.tensors[tensor.index()].sizes)
        sizes += (sizes.empty() ? "" : ", ") + std::to_string(size.at(0));
      return kind + " [" + sizes + "]";
    }
  }
  return kind;
}

void Grouping::name_layers() {
  std::map<std::string, int> layers_of;  // by path
  for (const Group& group : groups_) ++layers_of[path_of(group)];
  std::set<std::string> taken;
  for (Group& group : groups_) {
    const std::string path = path_of(group);
    const bool is_whole = layers_of[path] == 1 && !path.empty();
    std::string name = is_whole       ? path
                       : path.empty() ? main_operator(group)
                                      : path + "." + main_operator(group);
    const std::string first = name;
    for (int i = 2; !taken.insert(name).second; ++i) name = first + "_" + std::to_string(i);
    layers_.push_back({name, kind_of(group, is_whole), std::move(group)});
  }
}

}  // namespace

std::vector<LayerCalls> group_calls(const SafeProgram& safe, const std::vector<bool>& is_trained) {
  return Grouping(safe, is_trained).run();
}

}  // namespace pipedream::imported
