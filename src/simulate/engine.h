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

// One simulation; run() may be called once. Keeps references to its arguments. Owned and used by
// one thread.
class Engine {
 public:
  Engine(const schedule::Schedule& schedule, const plan::Plan& plan,
         const profile::Profile& profile, const cluster::Cluster& cluster,
         const Conditions& conditions, const Sink& sink);

  Result run();

 private:
  // A value or gradient that a stage sends for each item. `value`, `user` and `kind` are those of
  // the Send.
  struct Outgoing {
    ValueId value;
    StageId user;
    schedule::Kind kind;
    // The receiver, if replicas share items. Otherwise all receivers get the same number of bytes,
    // and `peer` means nothing.
    WorkerId peer;
    double bytes;  // per item
  };
  // A stage on one worker.
  struct StageRun {
    StageId stage;
    int replica = 0;
    ItemTimes times;
    std::array<Arrivals, 2> arrivals;  // by kind
    std::array<int, 2> wanted{};       // by kind: values of an item that come from other workers
    // True if the worker has several stages. Then another stage of the same worker may make a
    // value, and values_wanted() counts for each item anew instead of `wanted`.
    bool varies = false;
    std::vector<Outgoing> outgoing;
    schedule::Counter counter;
    WeightVersion joined{0};   // the last update whose averaging this replica has joined
    std::int64_t pushed = -1;  // the last minibatch whose gradients it has begun to push
  };
  struct Worker {
    WorkerId id;
    std::vector<StageRun> stages;
    Nanos free{0};                      // end of its last op on the compute lane
    bool blocked = false;               // its next op waits for something
    Nanos fetching{0};                  // time since `free` that it waited for weights
    Nanos reader_free{0};               // when its reader of the data set becomes idle
    std::array<Nanos, 2> read_ahead{};  // when the last two forwards that used data began
    Nanos data_ready{0};                // when the data of the next forward is there
    std::vector<Moment> moments;        // WorkerPeaks::moments so far
  };

  void add_worker(std::size_t program);
  void add_outgoing(StageRun& run);
  // Runs the ops of worker `w` until it computes, waits or has ended. In this class, `w` is the
  // number of the worker's program.
  void run_worker(std::uint32_t w, Nanos now);
  // Runs the worker's next op if it can begin now. Returns whether the worker can go on at once; if
  // not, it computes, waits or has ended.
  bool step(std::uint32_t w, Nanos now);
  // Starts a forward, recomputation or backward. Returns false if a value that it takes is missing.
  bool compute(std::uint32_t w, const schedule::Op& op, Nanos now);
  void load(std::uint32_t w, const schedule::Load& op);
  void send(std::uint32_t w, const schedule::Send& op, Nanos now);
  void reduce(std::uint32_t w, const schedule::Reduce& op, Nanos now);
  void push(std::uint32_t w, const schedule::Push& op, Nanos now);
  void update(std::uint32_t w, const schedule::Update& op, Nanos now);
  // Return whether the worker may pass the op. If not, it has to wait.
  bool await(std::uint32_t w, const schedule::Await& op, Nanos now);
  bool pull(std::uint32_t w, const schedule::Pull& op, Nanos now);
  // Pass an event to the sink: tell() for events on compute lanes, tell_other() for all others.
  void tell(const timeline::Event& event) const {
    if (sink_.compute) sink_.compute(event);
  }
  void tell_other(const timeline::Event& event) const {
    if (sink_.other) sink_.other(event);
  }
  void pass(std::uint32_t w);  // goes to the next op

  // Adds to `worker.moments` what the worker's stages keep as the stage `running` begins a
  // backward.
  static void note_moment(Worker& worker, StageId running);

  // Starts to average or push the gradients that a backward of `run` completes, if the program does
  // so right after the backward (schedule::release_of_backward). The backward runs from `begin` for
  // `duration`.
  void release_gradients(std::uint32_t w, StageRun& run, Nanos begin, Nanos duration, Nanos now);

  // Handles a job that is over: a message, a bucket of an averaging, or traffic of the servers.
  void finished(const Lanes::Finished& job, Nanos now);
  void deliver(const Lanes::Finished& job, Nanos now);
  void averaged(const Averagings::Done& done, Nanos now);
  void served(const ServerTraffic::Done& done, Nanos now);
  void wake(std::uint32_t w, Nanos now) {
    if (workers_[w].blocked) run_worker(w, now);
  }

  [[nodiscard]] static StageRun& run_of(Worker& worker, StageId stage);
  // Returns how many values of an item come from other workers.
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
  ServerTraffic servers_;                  // only for asynchronous schedules; workers by program
  std::vector<Worker> workers_;            // by program
  std::vector<std::uint32_t> program_of_;  // by worker
  std::vector<StageId> producer_;          // by value: the stage that makes it, if it is sent
  std::int64_t ops_ = 0;
};

}  // namespace pipedream::simulate
