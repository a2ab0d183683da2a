// The validator's rules about one stage on one worker.
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

// A value that one worker hands to another, or keeps for another stage of its own.
struct Handed {
  ValueId value;
  StageId user;
  Item item;
  Kind kind;
  WorkerId peer;  // the other end
  friend auto operator<=>(const Handed&, const Handed&) = default;
};

// What a worker has received or made and not passed on yet, for all its stages.
struct Shelf {
  std::multiset<Handed> received;
  std::multiset<Handed> unsent;
};

// Takes the ops of one stage on one worker in their order; each returns what is wrong with it.
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

  // What should have come before the program's end.
  void end(Problems& problems) const;

 private:
  enum class State { kForward, kRecomputed, kInput, kBackward, kReduced };  // what happened last
  struct Life {
    WeightVersion weights;  // of its forward
    State state;
    WeightVersion update{0};  // that it was averaged for
  };

  [[nodiscard]] bool exists(WeightVersion version) const;
  void use(WeightVersion version, int by);
  // Takes the values that the item needs off the shelf, or looks whether they are there.
  void take(Item item, Kind kind, bool keep, Shelf& shelf, Problems& problems) const;
  void make(Item item, Kind kind, Shelf& shelf) const;
  Life* living(Item item, Problems& problems);
  void check_part(Item item, Problems& problems) const;
  void apply(const Update& update, Problems& problems);

  const Rules& rules_;
  const Routes& routes_;
  StageId stage_;
  WorkerId worker_;
  int replica_;
  WeightVersion newest_{0};
  std::map<WeightVersion, int> users_;
  std::map<Item, Life> items_;  // begun and not applied
  std::set<Item> loaded_;
  int in_flight_ = 0;
  std::int64_t applied_ = -1;  // the last minibatch
  WeightVersion reduced_{0};   // the last update that averaging began for
  WeightVersion awaited_{0};   // the last that was waited for
  bool pull_due_ = false;
};

}  // namespace pipedream::schedule
