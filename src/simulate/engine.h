// The discrete events behind simulate(): workers that run their programs, one op after another.
// Messages, averagings and parameter servers are in files of their own (wires.h, averagings.h,
// server_traffic.h).
#pragma once

#include <array>

#include "schedule/complete.h"
#include "simulate/arrivals.h"
#include "simulate/averagings.h"
#include "simulate/durations.h"
#include "simulate/lanes.h"
#include "simulate/server_traffic.h"
#include "simulate/simulate.h"
#include "simulate/wires.h"

namespace pipedream::simulate {

// Runs once. Keeps references to its arguments.
class Engine {
 public:
  Engine(const schedule::Schedule& schedule, const plan::Plan& plan,
         const profile::Profile& profile, const cluster::Cluster& cluster,
         const Conditions& conditions, const Sink& sink);

  Result run();

 private:
  // What one item of a stage sends to one replica that takes a part of it.
  struct Outgoing {
    ValueId value;
    StageId user;
    schedule::Kind kind;
    WorkerId peer;  // only where replicas share items: else the bytes are the same for every peer
    double bytes;
  };
  // A stage on one worker.
  struct StageRun {
    StageId stage;
    int replica = 0;
    ItemTimes times;
    std::array<Arrivals, 2> arrivals;  // by kind
    std::array<int, 2> wanted{};       // values of an item from other workers, by kind
    // `wanted` differs from item to item: another stage of the same worker makes some of them.
    bool varies = false;
    std::vector<Outgoing> outgoing;
    schedule::Counter counter;
    WeightVersion joined{0};   // the last update whose averaging it has joined
    std::int64_t pushed = -1;  // the last minibatch that it has begun to push
  };
  struct Worker {
    WorkerId id;
    std::vector<StageRun> stages;
    Nanos free{0};                      // when its last compute op was over
    bool blocked = false;               // its next op waits for something
    Nanos fetching{0};                  // time since `free` that it waited for weights
    Nanos reader_free{0};               // when its reader of the data set is idle
    std::array<Nanos, 2> read_ahead{};  // when the last two ops that used data began
    Nanos data_ready{0};                // for the next forward
    std::vector<Moment> moments;
  };

  void add_worker(std::size_t program);
  void add_outgoing(StageRun& run);
  void run_worker(std::uint32_t w, Nanos now);
  // Runs the next op of the worker if it can begin now. False: the worker computes, waits or has
  // ended.
  bool step(std::uint32_t w, Nanos now);
  // Starts a compute op once its values are here. False: they are not.
  bool compute(std::uint32_t w, const schedule::Op& op, Nanos now);
  void load(std::uint32_t w, const schedule::Load& op);
  void send(std::uint32_t w, const schedule::Send& op, Nanos now);
  void reduce(std::uint32_t w, const schedule::Reduce& op, Nanos now);
  void push(std::uint32_t w, const schedule::Push& op, Nanos now);
  void update(std::uint32_t w, const schedule::Update& op, Nanos now);
  // Whether the worker may pass the op; false: it has to wait.
  bool await(std::uint32_t w, const schedule::Await& op, Nanos now);
  bool pull(std::uint32_t w, const schedule::Pull& op, Nanos now);
  void tell(const timeline::Event& event) const {
    if (sink_.compute) sink_.compute(event);
  }
  void tell_other(const timeline::Event& event) const {
    if (sink_.other) sink_.other(event);
  }
  void pass(std::uint32_t w);  // goes to the next op

  // Remembers what the worker's stages keep as the stage `running` begins a backward.
  static void note_moment(Worker& worker, StageId running);

  // If the backward that runs from `begin` completes gradients that are averaged or pushed: starts
  // that.
  void release_gradients(std::uint32_t w, StageRun& run, Nanos begin, Nanos duration, Nanos now);

  // A transfer is over.
  void finished(const Lanes::Finished& job, Nanos now);
  void deliver(const Lanes::Finished& job, Nanos now);
  void averaged(const Averagings::Done& done, Nanos now);
  void served(const ServerTraffic::Done& done, Nanos now);
  void wake(std::uint32_t w, Nanos now) {
    if (workers_[w].blocked) run_worker(w, now);
  }

  [[nodiscard]] static StageRun& run_of(Worker& worker, StageId stage);
  // The values of an item that come from other workers.
  [[nodiscard]] int values_wanted(const Worker& worker, const StageRun& run, schedule::Item item,
                                  schedule::Kind kind) const;
  [[nodiscard]] Result result() const;

  const schedule::Schedule& schedule_;
  const profile::Profile& profile_;
  const cluster::Cluster& cluster_;
  const Conditions& conditions_;
  const Sink& sink_;
  schedule::Routes routes_;
  schedule::Complete programs_;
  cost::Links links_;
  Clock clock_;
  Lanes lanes_;
  Wires wires_;
  Averagings averagings_;
  ServerTraffic servers_;                  // of asynchronous schedules; workers by program
  std::vector<Worker> workers_;            // by program
  std::vector<std::uint32_t> program_of_;  // by worker
  std::vector<StageId> producer_;          // of each value that crosses stages
  std::int64_t ops_ = 0;
};

}  // namespace pipedream::simulate
