#include "schedule/schedule_text.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/error.h"
#include "core/file.h"
#include "core/nearest.h"
#include "core/text.h"
#include "schedule/rounds.h"

namespace pipedream::schedule {
namespace {

constexpr std::int64_t kHighestMinibatch = 1'000'000'000;
constexpr std::int64_t kHighestMicrobatch = 1'000'000;
// The update of the highest minibatch gives the highest version.
constexpr std::int64_t kHighestVersion = kHighestMinibatch + 1;
constexpr WeightVersion kLeftOut{-1};  // the text leaves the version out

std::string shown(std::string_view text) { return "\"" + printable(text) + "\""; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// A stage that a worker runs, and the worker's index among the replicas of the stage.
struct Role {
  StageId stage;
  std::int64_t replica;
};
using Roles = std::map<WorkerId, std::vector<Role>>;

Roles roles_of(const plan::Plan& plan) {
  Roles roles;
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const auto& workers = plan.stages[s].workers;
    for (std::size_t r = 0; r < workers.size(); ++r)
      roles[workers[r]].push_back({id_at<StageId>(s), static_cast<std::int64_t>(r)});
  }
  return roles;
}

std::string list_of(const std::vector<Role>& roles) {
  constexpr std::size_t kMany = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(roles.size(), kMany); ++i)
    list += (i == 0 ? "" : ", ") + std::to_string(roles[i].stage.value);
  return roles.size() > kMany ? list + ", …" : list;
}

// One line of the text without its comment, read from left to right.
class Line {
 public:
  Line(std::string_view text, std::size_t number, const std::string& file)
      : text_(text), number_(number), file_(file) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\0' : text_[at_]; }
  [[nodiscard]] std::string_view since(std::size_t begin) const {
    return text_.substr(begin, at_ - begin);
  }
  // Returns the text from the current place to the next space.
  [[nodiscard]] std::string_view word() const {
    std::size_t end = at_;
    while (end < text_.size() && !is_space(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }

  void skip_spaces() {
    while (!at_end() && is_space(text_[at_])) ++at_;
  }
  void skip(std::size_t count) { at_ += count; }
  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::int64_t number(std::string_view what, std::int64_t highest) {
    const std::size_t begin = at_;
    while (is_digit(peek())) ++at_;
    const std::string_view digits = since(begin);
    std::int64_t number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (read.ec == std::errc{} && number <= highest) return number;
    at_ = begin;
    const std::string wanted = fmt::format("{} from 0 to {}", what, highest);
    fail(begin, wanted, digits.empty() ? found() : shown(digits));
  }

  // Describes what stands at the current place, for a message.
  [[nodiscard]] std::string found() const {
    return at_end() ? "the end of the line" : is_space(peek()) ? "a space" : shown(word());
  }
  [[noreturn]] void fail(std::size_t at, std::string_view wanted, std::string_view found) const {
    throw BadFile(
        fmt::format("{}:{}:{}: wanted {}, found {}", file_, number_, at + 1, wanted, found));
  }
  [[noreturn]] void fail(std::string_view wanted) const { fail(at_, wanted, found()); }

 private:
  std::string_view text_;
  std::size_t number_;
  const std::string& file_;
  std::size_t at_ = 0;
};

// The ops of a file as they are written. A version that was left out is kLeftOut.
struct File {
  std::map<WorkerId, std::vector<Op>> programs;
  std::int64_t minibatches = 0;
  bool asynchronous = false;
};

class Reader {
 public:
  Reader(const std::string& name, const plan::Plan& plan, const Roles& roles)
      : name_(name), plan_(plan), roles_(roles) {}

  File read(std::string_view text) {
    for (std::size_t number = 1; !text.empty(); ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      read_line(Line(line.substr(0, line.find('#')), number, name_));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    for (const auto& [worker, ops] : file_.programs)
      if (!ops.empty()) return std::move(file_);
    throw BadFile(name_ + ": wanted at least one op, as in \"worker 0: F0 B0\", found none");
  }

 private:
  void read_line(Line line) {
    line.skip_spaces();
    if (line.at_end()) return;
    if (line.word() != "worker") {
      const std::vector<std::string> known{"worker"};
      const bool near = !nearest(line.word(), known).empty();
      line.fail(line.at(), "a line as \"worker 0: F0 B0\"",
                line.found() + (near ? suggestion(line.word(), known) : ""));
    }
    line.skip(line.word().size());
    line.skip_spaces();
    const std::size_t begin = line.at();
    const WorkerId worker{
        static_cast<std::int32_t>(line.number("a worker", plan::worker_count(plan_) - 1))};
    const auto roles = roles_.find(worker);
    if (roles == roles_.end())
      line.fail(begin, "a worker to which the plan gives a stage", shown(line.since(begin)));
    line.skip_spaces();
    if (!line.take(':')) line.fail("\":\" after the worker's number");
    std::vector<Op>& ops = file_.programs[worker];
    for (line.skip_spaces(); !line.at_end(); line.skip_spaces())
      ops.push_back(read_op(line, worker, roles->second));
  }

  Op read_op(Line& line, WorkerId worker, const std::vector<Role>& roles) {
    const std::size_t begin = line.at();
    const std::string_view word = line.word();
    std::optional<StageId> stage;
    if (is_digit(line.peek())) stage = read_stage(line, worker, roles);
    const std::size_t letter = line.at();
    check_letter(line, begin, word);
    if (!stage) {
      if (roles.size() > 1)
        line.fail(begin,
                  fmt::format("a stage, as in {}:{}, as worker {} has several ({})",
                              roles[0].stage.value, printable(word), worker.value, list_of(roles)),
                  shown(word));
      stage = roles[0].stage;
    }
    line.skip(1);
    const Op op = read_rest(line, word[letter - begin], *stage);
    if (!line.at_end() && !is_space(line.peek()))
      line.fail("a space after " + shown(line.since(begin)));
    return op;
  }

  StageId read_stage(Line& line, WorkerId worker, const std::vector<Role>& roles) const {
    const std::size_t begin = line.at();
    const StageId stage{static_cast<std::int32_t>(
        line.number("a stage", static_cast<std::int64_t>(plan_.stages.size()) - 1))};
    if (std::none_of(roles.begin(), roles.end(), [&](const Role& r) { return r.stage == stage; }))
      line.fail(begin, fmt::format("a stage of worker {} ({})", worker.value, list_of(roles)),
                shown(line.since(begin)));
    if (!line.take(':')) line.fail("\":\" after the stage");
    return stage;
  }

  static void check_letter(const Line& line, std::size_t begin, std::string_view word) {
    static const std::vector<std::string> kLetters{"F", "C", "B", "b", "w",
                                                   "U", "X", "A", "P", "G"};
    const std::string letter = line.word().empty() ? "" : std::string(line.word().substr(0, 1));
    if (std::find(kLetters.begin(), kLetters.end(), letter) != kLetters.end()) return;
    if (letter == "L" || letter == "S" || letter == "R")
      line.fail(
          begin, "an op of compute or weights",
          shown(word) + ": loads (L), sends (S) and receives (R) are added later: leave them out");
    const std::string wanted = "an op: F, C, B, b, w, U, X, A, P or G";
    const std::string other = nearest(letter, kLetters);  // the same letter in upper or lower case
    if (letter.empty() || other.empty()) line.fail(wanted);
    std::string meant(word);
    meant[line.at() - begin] = other[0];
    line.fail(line.at(), wanted,
              fmt::format("{} (did you mean '{}'?)", line.found(), printable(meant)));
  }

  // Reads what follows the letter of an op.
  Op read_rest(Line& line, char letter, StageId stage) {
    switch (letter) {
      case 'U': {
        const WeightVersion from = read_version(line);
        if (!line.take('>')) line.fail("\">\" and the version that the update gives");
        return Update{stage, from, read_version(line)};
      }
      case 'X':
        return Reduce{stage, read_version(line)};
      case 'A':
        return Await{stage, read_version(line)};
      case 'P':
        file_.asynchronous = true;
        return Push{stage, read_item(line)};
      case 'G':
        file_.asynchronous = true;
        return Pull{stage, read_version(line)};
      default:
        break;
    }
    const Item item = read_item(line);
    const WeightVersion weights = line.take('@') ? read_version(line) : kLeftOut;
    switch (letter) {
      case 'F':
        return Forward{stage, item, weights};
      case 'C':
        return Recompute{stage, item, weights};
      case 'b':
        return Backward{stage, item, weights, BackwardPart::kInput};
      case 'w':
        return Backward{stage, item, weights, BackwardPart::kWeight};
      default:
        return Backward{stage, item, weights};
    }
  }

  Item read_item(Line& line) {
    Item item{line.number("a minibatch", kHighestMinibatch), 0};
    if (line.take('.'))
      item.microbatch = static_cast<std::int32_t>(line.number("a microbatch", kHighestMicrobatch));
    file_.minibatches = std::max(file_.minibatches, item.minibatch + 1);
    return item;
  }

  static WeightVersion read_version(Line& line) {
    return {line.number("a weight version", kHighestVersion)};
  }

  const std::string& name_;
  const plan::Plan& plan_;
  const Roles& roles_;
  File file_;
};

bool completes(const Op& op) {
  const auto* backward = std::get_if<Backward>(&op);
  return backward != nullptr && backward->part != BackwardPart::kInput;
}

template <class... Kinds>
bool has_any(const std::vector<Op>& ops) {
  return std::any_of(ops.begin(), ops.end(),
                     [](const Op& op) { return (std::holds_alternative<Kinds>(op) || ...); });
}

void add_recomputations(const plan::Plan& plan, std::vector<Op>& ops) {
  if (has_any<Recompute>(ops)) return;
  std::vector<Op> all;
  for (const Op& op : ops) {
    const auto* backward = std::get_if<Backward>(&op);
    if (backward != nullptr && backward->part != BackwardPart::kWeight &&
        plan.stage(backward->stage).recompute)
      all.push_back(Recompute{backward->stage, backward->item, backward->weights});
    all.push_back(op);
  }
  ops = std::move(all);
}

// Adds the updates, and the averagings that they need, to the program of one worker.
class FileUpdates {
 public:
  FileUpdates(const plan::Plan& plan, std::int64_t minibatches)
      : plan_(plan), minibatches_(minibatches) {}

  void add_to(std::vector<Op>& ops, const std::vector<Role>& roles) {
    const bool finished = find_places(ops);
    if (finished)
      for (const Role& role : roles) take_part_in_last_round(role, ops.size());
    if (added_.empty()) return;
    std::vector<Op> all;
    all.reserve(ops.size() + added_.size());
    std::size_t i = 0;
    for (const Added& added : added_) {
      for (; i < added.place; ++i) all.push_back(ops[i]);
      all.push_back(added.op);
    }
    all.insert(all.end(), ops.begin() + static_cast<std::ptrdiff_t>(i), ops.end());
    ops = std::move(all);
  }

 private:
  struct Added {
    std::size_t place;  // number of the program's ops that stand before `op`
    Op op;
  };
  // The place right after the last backward, by minibatch and stage. 0: there is no backward.
  using Done = std::map<std::pair<std::int64_t, StageId>, std::size_t>;

  static Done done_in(const std::vector<Op>& ops) {
    Done done;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (const auto* forward = std::get_if<Forward>(&ops[i]))
        done.try_emplace({forward->item.minibatch, forward->stage}, 0);
      if (const auto* backward = std::get_if<Backward>(&ops[i])) {
        std::size_t& place = done[{backward->item.minibatch, backward->stage}];
        if (completes(ops[i])) place = i + 1;
      }
    }
    return done;
  }

  // Adds updates in the order of minibatches. Returns false if a minibatch has no backward on one
  // of its stages; it then has no update, and no later minibatch has one.
  bool find_places(const std::vector<Op>& ops) {
    const Done done = done_in(ops);
    std::size_t place = 0;
    for (auto first = done.begin(); first != done.end();) {
      const std::int64_t minibatch = first->first.first;
      auto last = first;
      for (; last != done.end() && last->first.first == minibatch; ++last) {
        if (last->second == 0) return false;
        place = std::max(place, last->second);
      }
      for (; first != last; ++first) {
        const StageId stage = first->first.second;
        add(place, stage, minibatch / rounds_of(stage).replicas);
      }
    }
    return true;
  }

  void take_part_in_last_round(const Role& role, std::size_t place) {
    const Rounds rounds = rounds_of(role.stage);
    const std::int64_t last = rounds.count() - 1;
    if (last < 0 || rounds.has(last, role.replica)) return;
    const auto before = rounds_.find(role.stage);
    if ((before == rounds_.end() ? -1 : before->second) == last - 1) add(place, role.stage, last);
  }

  void add(std::size_t place, StageId stage, std::int64_t round) {
    const Rounds rounds = rounds_of(stage);
    rounds_[stage] = round;
    if (!rounds.ends_update(round)) return;
    const std::int64_t update = rounds.update_of(round);
    if (rounds.replicas > 1) {
      added_.push_back({place, Reduce{stage, {update + 1}}});
      added_.push_back({place, Await{stage, {update + 1}}});
    }
    added_.push_back({place, Update{stage, {update}, {update + 1}}});
  }

  [[nodiscard]] Rounds rounds_of(StageId stage) const {
    return {static_cast<std::int64_t>(plan_.stage(stage).workers.size()), minibatches_,
            plan_.accumulate};
  }

  const plan::Plan& plan_;
  std::int64_t minibatches_;
  std::vector<Added> added_;
  std::map<StageId, std::int64_t> rounds_;  // the last round added, by stage
};

// Fills in the weight versions that were left out.
void fill_versions(std::vector<Op>& ops) {
  std::map<StageId, WeightVersion> newest;
  std::map<std::pair<StageId, Item>, WeightVersion> forwards;
  const auto of_forward = [&](StageId stage, Item item, WeightVersion& weights) {
    if (weights != kLeftOut) return;
    const auto found = forwards.find({stage, item});
    weights = found == forwards.end() ? WeightVersion{0} : found->second;
  };
  for (Op& op : ops) {
    if (auto* forward = std::get_if<Forward>(&op)) {
      if (forward->weights == kLeftOut) forward->weights = newest[forward->stage];
      forwards[{forward->stage, forward->item}] = forward->weights;
    } else if (auto* recompute = std::get_if<Recompute>(&op)) {
      of_forward(recompute->stage, recompute->item, recompute->weights);
    } else if (auto* backward = std::get_if<Backward>(&op)) {
      of_forward(backward->stage, backward->item, backward->weights);
    } else if (const auto* update = std::get_if<Update>(&op)) {
      newest[update->stage] = update->to;
    } else if (const auto* pull = std::get_if<Pull>(&op)) {
      newest[pull->stage] = pull->to;
    }
  }
}

// Fills in which minibatches each update applies.
void fill_ranges(const plan::Plan& plan, std::int64_t minibatches, std::vector<Op>& ops) {
  for (Op& op : ops) {
    auto* update = std::get_if<Update>(&op);
    if (update == nullptr) continue;
    const auto replicas = static_cast<std::int64_t>(plan.stage(update->stage).workers.size());
    update->first = update->last = update->from.value;
    if (replicas == 1 && plan.accumulate == 1) continue;
    const Rounds rounds{replicas, minibatches, plan.accumulate};
    const Update whole = rounds.update(update->stage, update->from.value);
    update->first = whole.first;
    update->last = whole.last;
  }
}

bool flushes(const std::vector<Op>& ops) {
  std::int64_t in_flight = 0;
  for (const Op& op : ops) {
    if (std::holds_alternative<Forward>(op)) ++in_flight;
    if (completes(op)) --in_flight;
    const bool renews = std::holds_alternative<Update>(op) || std::holds_alternative<Pull>(op);
    if (renews && in_flight != 0) return false;
  }
  return true;
}

}  // namespace

Schedule read_schedule_text(std::string_view text, const std::string& name,
                            const plan::Plan& plan) {
  const Roles roles = roles_of(plan);
  File file = Reader(name, plan, roles).read(text);
  std::vector<Program> programs;
  bool all_flush = true;
  for (const auto& [worker, its_roles] : roles) {
    std::vector<Op> ops = std::move(file.programs[worker]);
    add_recomputations(plan, ops);
    if (!file.asynchronous && !has_any<Update, Reduce, Await>(ops))
      FileUpdates(plan, file.minibatches).add_to(ops, its_roles);
    fill_versions(ops);
    fill_ranges(plan, file.minibatches, ops);
    all_flush = all_flush && flushes(ops);
    if (!ops.empty()) programs.push_back({worker, std::move(ops)});
  }
  Schedule schedule = schedule_of(std::move(programs));
  schedule.rules.traits = {.flushes = all_flush,
                           .replicas = Replicas::kTakeTurns,
                           .asynchronous = file.asynchronous,
                           .versions = WeightVersions::kStashed};
  schedule.rules.accumulate = plan.accumulate;
  return schedule;
}

Schedule read_schedule_file(const std::filesystem::path& path, const plan::Plan& plan) {
  return read_schedule_text(read_file(path), path.string(), plan);
}

}  // namespace pipedream::schedule
