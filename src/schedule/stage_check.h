// The rules of the validator (schedule/validate.h) about one stage on one worker.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "schedule/routes.h"
#include "schedule/schedule.h"

namespace pipedream::schedule {

// A value or gradient that one worker hands to another, or to another stage of its own. The fields
// are those of Send and Recv.
struct Handed {
  ValueId value;
  StageId user;
  Item item;
  Kind kind;
  WorkerId peer;  // worker at the other end
  friend auto operator<=>(const Handed&, const Handed&) = default;
};

// What a worker holds for all its stages.
struct Shelf {
  std::multiset<Handed> received;  // received, or made by another stage of the worker, and not used
  std::multiset<Handed> unsent;    // made for other workers and not sent
};

// Checks the ops of one stage on one worker. Requires them in the order of the program. Each call
// appends what is wrong with the op to `problems`. Keeps references to `rules` and `routes`.
class StageCheck {
 public:
  StageCheck(const Rules& rules, const Routes& routes, StageId stage, WorkerId worker, int replica)
      : rules_(rules), routes_(routes), stage_(stage), worker_(worker), replica_(replica) {}

  using Problems = std::vector<std::string>;
  void run(const Load& load, Shelf& shelf, Problems& problems);
  void run(const Forward& forward, Shelf& shelf, Problems& problems);
  void run(const Recompute& recompute, Shelf& shelf, Problems& problems);
  void run(const Backward& backward, Shelf& shelf, Problems& problems);
  void run(const Reduce& reduce, Shelf& shelf, Problems& problems);
  void run(const Await& await, Shelf& shelf, Problems& problems);
  void run(const Push& push, Shelf& shelf, Problems& problems);
  void run(const Pull& pull, Shelf& shelf, Problems& problems);
  void run(const Update& update, Shelf& shelf, Problems& problems);

  // Appends what is missing at the program's end.
  void end(Problems& problems) const;

 private:
  // What happened to an item last. kInput: the input part of a split backward.
  enum class State { kForward, kRecomputed, kInput, kBackward, kReduced };
  // An item between its forward and the update or push that applies it.
  struct Life {
    WeightVersion weights;  // version that its forward used
    State state;
    WeightVersion update{0};  // for kReduced: the update that it was averaged for
  };

  [[nodiscard]] bool exists(WeightVersion version) const;
  // Adds `by` to the number of items that use `version`.
  void use(WeightVersion version, int by);
  // Takes what the item needs from other stages off the shelf. With `keep`, only checks that it is
  // there.
  void take(Item item, Kind kind, bool keep, Shelf& shelf, Problems& problems) const;
  // Puts what the item makes for other stages on the shelf.
  void make(Item item, Kind kind, Shelf& shelf) const;
  // Returns nullptr, and appends a problem, if the item has not run forward.
  Life* living(Item item, Problems& problems);
  void check_part(Item item, Problems& problems) const;
  void apply(const Update& update, Problems& problems);

  const Rules& rules_;
  const Routes& routes_;
  StageId stage_;
  WorkerId worker_;
  int replica_;
  WeightVersion newest_{0};
  std::map<WeightVersion, int> users_;  // number of items in flight that use a version
  std::map<Item, Life> items_;          // items that have run forward and are not applied
  std::set<Item> loaded_;               // items whose data is loaded and not used
  int in_flight_ = 0;
  std::int64_t applied_ = -1;  // the last minibatch that was applied or pushed
  WeightVersion reduced_{0};   // the last update that an averaging began for
  WeightVersion awaited_{0};   // the last update whose averaging was awaited
  bool pull_due_ = false;      // the last Push has no Pull yet
};

}  // namespace pipedream::schedule
