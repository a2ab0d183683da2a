#include "imported/bounds.h"

#include <algorithm>
#include <optional>
#include <set>

#include "imported/operators.h"
#include "imported/schema.h"
#include "pt2/calls.h"

namespace pipedream::imported {
namespace {

using pt2::Call;
using pt2::TensorId;

// The number of rows of an embedding's table; nullopt if the table is no matrix.
std::optional<std::int64_t> rows_of(const pt2::Program& program, const Call& call,
                                    std::int64_t batch) {
  const auto* weight = argument_of(call, "weight");
  const auto* table = weight == nullptr ? nullptr : std::get_if<TensorId>(weight);
  if (table == nullptr) return std::nullopt;
  const auto& sizes = program.tensors[table->index()].sizes;
  return sizes.size() == 2 ? std::optional(sizes.front().at(batch)) : std::nullopt;
}

bool looks_up(const std::string& name) { return name == "embedding" || name == "embedding_bag"; }

// Whether the result of the operator has all numbers of its argument.
bool keeps_all(const std::string& name) {
  static const std::set<std::string> names{"view",   "reshape",   "flatten", "clone",
                                           "to",     "_to_copy",  "permute", "transpose",
                                           "detach", "unsqueeze", "squeeze", "contiguous"};
  return names.contains(name);
}

// Follows an input through a program.
class Followed {
 public:
  Followed(const pt2::Program& program, TensorId input, std::int64_t batch) {
    whole_.insert(input);
    for (const Call& call : program.calls) {
      const auto reads = reads_of(call);
      const bool is_whole = any_in(reads, whole_);
      if (!is_whole && !any_in(reads, parts_)) continue;
      const std::string name = plain_name(call.op);
      if (looks_up(name)) {
        note(rows_of(program, call, batch), is_whole);
      } else if (keeps_all(name) || !viewed_by(call).empty() || name == "cat") {
        auto& into = is_whole && keeps_all(name) ? whole_ : parts_;
        for (const TensorId made : makes_of(call)) into.insert(made);
      }
    }
  }

  // The number of rows that bounds all numbers of the input; nullopt if none does.
  [[nodiscard]] std::optional<std::int64_t> rows() const {
    if (!of_whole_.empty()) return *of_whole_.begin();
    return of_parts_.size() == 1 ? std::optional(*of_parts_.begin()) : std::nullopt;
  }

 private:
  static bool any_in(const std::vector<TensorId>& tensors, const std::set<TensorId>& set) {
    return std::any_of(tensors.begin(), tensors.end(), [&](TensorId t) { return set.contains(t); });
  }
  void note(const std::optional<std::int64_t>& rows, bool is_whole) {
    if (rows) (is_whole ? of_whole_ : of_parts_).insert(*rows);
  }

  std::set<TensorId> whole_;         // the whole input, in other shapes or types
  std::set<TensorId> parts_;         // parts of it, and what is joined from them
  std::set<std::int64_t> of_whole_;  // rows of the tables that tensors of `whole_` are looked up in
  std::set<std::int64_t> of_parts_;  // the same for `parts_`
};

}  // namespace

std::int64_t bound_of(const pt2::Program& program, const pt2::Input& input, std::int64_t batch) {
  const pt2::Type type = program.tensors[input.tensor.index()].type;
  if (pt2::is_real(type)) return 0;
  if (type == pt2::Type::kBool) return 2;
  return std::max<std::int64_t>(1, Followed(program, input.tensor, batch).rows().value_or(1));
}

}  // namespace pipedream::imported
