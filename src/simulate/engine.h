// The discrete events behind simulate().
#pragma once

#include <array>
#include <unordered_map>

#include "core/fifo.h"
#include "cost/buckets.h"
#include "schedule/complete.h"
#include "simulate/durations.h"
#include "simulate/lanes.h"
#include "simulate/simulate.h"

namespace pipedream::simulate {

// Runs once. Keeps references to its arguments.
class Engine {
 public:
  Engine(const schedule::Schedule& schedule, const plan::Plan& plan,
         const profile::Profile& profile, const cluster::Cluster& cluster,
         const Conditions& conditions, const Sink& sink);

  Result run();

 private:
  // The values that one op takes, as they come in.
  struct Slot {
    schedule::Item item;
    int arrived = 0;
    Nanos sent{0};  // when the last of them left, and when it is here
    Nanos last{0};
  };
  // What one item of a stage sends to one replica that takes part of it.
  struct Outgoing {
    ValueId value;
    StageId user;
    schedule::Kind kind;
    WorkerId peer;
    double bytes;
  };
  // A stage on one worker.
  struct Part {
    StageId stage;
    int replica = 0;
    ItemTimes times;
    std::array<Fifo<Slot>, 2> slots;  // by kind
    std::array<int, 2> wanted{};      // values of an item from other workers, by kind
    bool varies = false;              // from item to item: another stage of the worker makes some
    std::vector<Outgoing> outgoing;
    schedule::Counter counter;
    WeightVersion posted{0};   // the last update whose averaging it takes part in
    std::int64_t pushed = -1;  // the last minibatch it has begun to push
  };
  struct Worker {
    WorkerId id;
    std::vector<Part> parts;
    std::unordered_map<std::int32_t, LaneId> wires;  // to other workers
    struct Known {
      WorkerId peer{-1};
      LaneId lane = 0;
    };
    std::array<Known, 2> recent;  // of the wires: most workers have two neighbours
    Nanos free{0};                // when its last compute op was over
    bool blocked = false;
    Nanos fetching{0};                  // since `free`, waited for weights
    Nanos reader_free{0};               // the reader of the data set
    std::array<Nanos, 2> read_ahead{};  // when the last two that read data began
    Nanos data_ready{0};                // for the next forward
    std::vector<Moment> moments;
  };
  // A value on its way.
  struct Message {
    schedule::Send send;
    Nanos sent;
  };
  // Averages that a stage's replicas have begun.
  struct Averaging {
    WeightVersion update;
    std::vector<Nanos> ready;  // by bucket: when the last member so far had its gradients
    int members = 0;           // so far
    int passed = 0;            // that have gone on
    std::size_t buckets_done = 0;
    Nanos began{0};
    std::optional<Nanos> done;
  };
  struct Group {
    LaneId lane = 0;
    std::vector<Path> paths;  // one after another
    std::vector<cost::Bucket> buckets;
    Fifo<Averaging> averagings;
  };
  // What a worker of an asynchronous schedule exchanges with the servers.
  struct Servers {
    LaneId lane = 0;
    Path push;
    Path pull;
    std::vector<cost::Bucket> buckets;
    struct Job {
      bool is_pull;
      bool is_last;
    };
    Fifo<Job> jobs;
    Nanos pull_began{0};
    Nanos push_began{-1};  // −1: none is under way
    schedule::Push pushing;
    bool pulling = false;  // weights were asked for, and are there
    bool pulled = false;
  };
  // What a lane is for.
  struct Owner {
    enum class Kind { kWire, kGroup, kServers } kind;
    std::uint32_t index;  // sending program, stage, program
  };

  void add_worker(std::size_t program);
  void run_worker(std::uint32_t w, Nanos now);
  bool step(std::uint32_t w, Nanos now);
  // Starts a compute op once its values are there; false: they are not.
  bool compute(std::uint32_t w, const schedule::Op& op, Nanos now);
  void load(std::uint32_t w, const schedule::Load& op);
  void send(std::uint32_t w, const schedule::Send& op, Nanos now);
  bool await(std::uint32_t w, const schedule::Await& op, Nanos now);
  bool pull(std::uint32_t w, const schedule::Pull& op, Nanos now);
  void tell(const timeline::Event& event) const {
    if (sink_.compute) sink_.compute(event);
  }
  void pass(std::uint32_t w);  // goes to the next op
  void add_outgoing(Part& part);

  // Remembers what the worker's stages keep as that one begins a backward.
  static void note_moment(Worker& worker, StageId runs);

  // If the backward that runs from `begin` completes gradients that are averaged or pushed: says
  // when which of them are there.
  void release_gradients(std::uint32_t w, Part& part, Nanos begin, Nanos duration, Nanos now);
  void join_averaging(Part& part, WeightVersion update, Nanos begin, Nanos duration, Nanos now);
  void start_push(std::uint32_t w, Part& part, const schedule::Push& push, Nanos begin,
                  Nanos duration, Nanos now);

  void finished(const Lanes::Finished& job, Nanos now);
  void deliver(std::uint32_t from, const Lanes::Finished& job, Nanos now);
  void averaged(StageId stage, const Lanes::Finished& job, Nanos now);
  void served(std::uint32_t w, const Lanes::Finished& job, Nanos now);

  [[nodiscard]] Slot& slot_for(Part& part, schedule::Kind kind, schedule::Item item);
  [[nodiscard]] Part& part_of(Worker& worker, StageId stage);
  // The values of an item that come from other workers.
  [[nodiscard]] int values_wanted(const Worker& worker, const Part& part, schedule::Item item,
                                  schedule::Kind kind) const;
  LaneId wire(std::uint32_t w, WorkerId peer);
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
  std::vector<Worker> workers_;               // by program
  std::vector<std::uint32_t> program_of_;     // by worker
  std::vector<StageId> producer_;             // of each value that crosses stages
  std::vector<Owner> owners_;                 // by lane
  std::vector<Fifo<Message>> messages_;       // by lane
  std::vector<std::unique_ptr<Path>> paths_;  // of wires, by lane
  std::vector<Group> groups_;                 // by stage
  std::vector<Servers> servers_;              // by program, in asynchronous schedules
  std::int64_t ops_ = 0;
};

}  // namespace pipedream::simulate
