// One worker of a training run: `Worker` interprets the worker's program op by op. docs/runtime.md
// says what a run promises, ARCHITECTURE.md how the parts of the runtime work together.
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "model/device.h"
#include "runtime/asynchronous.h"
#include "runtime/clipping.h"
#include "runtime/host_copies.h"
#include "runtime/job.h"
#include "runtime/mailbox.h"
#include "runtime/read_ahead.h"
#include "runtime/recorder.h"
#include "runtime/replicas.h"
#include "runtime/score.h"
#include "runtime/stage.h"
#include "schedule/lower.h"

namespace pipedream::runtime {

// One worker's endpoints of the channels that join all workers. Each purpose has a channel of its
// own, because a worker has several threads and a channel allows only one thread that sends and one
// thread, the same or another, that receives (transport/transport.h).
struct Channels {
  // Activations from stage to stage, and their gradients back.
  transport::Transport& values;
  // Weight gradients within a replica group: the messages of an all-reduce or, in asynchronous data
  // parallelism, the gradients sent to the parameter servers.
  transport::Transport& collectives;
  // Asynchronous data parallelism only: the weights that parameter servers answer with.
  transport::Transport& served;
  // Gradient norms for clipping, results, and what workers agree on (runtime/tags.h).
  transport::Transport& control;
  // Losses, sent to worker 0 as they become known.
  transport::Transport& news;
  // What workers tell each other about the checkpoints that they write.
  transport::Transport& saves;
  // Where workers agree to end a training early.
  transport::Transport& stops;
  // The all-reduce of weight gradients in device memory, which uses `collectives` to coordinate. If
  // empty, weight gradients are copied to the host and summed there.
  transport::Sum device_sums = {};
};

// One worker: the stages that the plan gives to it, with their layers, weight versions and
// optimiser state, and the interpreter that runs its program on them. An op is one step of a
// program (schedule/ops.h). An item is what a forward runs on: a minibatch or a microbatch. The
// replicas of one stage are its replica group. A training run is a list of segments, and run()
// executes one: it derives this worker's program from the segment's schedule and executes the ops
// one after another, in program order. The worker chooses nothing itself: the schedule fixes the
// order of ops and the weight version of every forward and backward.
//
// The work of an op is done by:
//   Load                          the segment's Feed, which reads samples from the data set, called
//                                 by ReadAhead before the worker needs them
//   Forward, Recompute, Backward  Stage, which runs the layers and autograd for one item. Some
//                                 schedules have two Backwards per item: for the gradients of its
//                                 inputs, and for those of its weights (BackwardPart)
//   Send, Recv                    Mailbox, which passes values and gradients between stages
//   Reduce, Await                 ReplicaGradients, which all-reduces a replica group's gradients
//   Push, Pull                    AsynchronousWeights, which talks to the parameter servers
//   Update                        Clipper, Optimiser and WeightStore: makes a new weight version
// Recorder keeps the events of the timeline and the last ops begun.
//
// Transfers and all-reduces run beside compute. Send, Recv, Reduce and Push start them and return
// at once; the op that needs the result waits for it: Forward for its inputs, Recompute or Backward
// for the gradients of its outputs, Await for an all-reduce, Pull for the servers' weights, and
// Update, where gradients are clipped, for the gradient norms of the other stages. On a GPU,
// compute ops only queue work on the worker's stream, so this thread runs ahead of its device.
//
// The thread that runs the worker (`Body` in run.h) owns it: it constructs, uses and destroys it.
// All-reduces, the parameter server, ReadAhead and autograd have threads of their own. ReadAhead's
// calls read() while the worker runs a segment; what that reads does not change. Autograd's threads
// use `replica_gradients_` and `served_` while this thread waits for a backward; no other member is
// shared. The job and the transports behind `channels` outlive the worker. These rules hold:
//  1. Between two calls of run() this worker has no item in flight and no all-reduce under way.
//  2. Weights, optimiser state and layers' buffers stay from one segment to the next. Only the
//     numbering restarts: the newest weight version becomes version 0 of the next segment.
//  3. After run() has thrown, the worker can only be destroyed.
class Worker {
 public:
  // Builds the layers of this worker's stages, with their initial weights, on its device. The
  // calling thread computes with `Job::threads` threads from now on and, while the worker lives, on
  // a stream of its own. `on_loss` may be empty. If this worker has the stage that computes the
  // loss, run() calls `on_loss` once per minibatch that it trains, on this thread. Where replicas
  // share items, it gets this worker's contribution to the minibatch's mean loss: the contributions
  // of all replicas add up to the mean. Throws what making the layers throws.
  Worker(const Job& job, WorkerId me, const Channels& channels, const Clock& clock,
         std::function<void(const Loss&)> on_loss);

  // Executes this worker's program of the segment's schedule, to train or to evaluate
  // (`Rules::trains`). Requires that the schedule validates against the plan and that all workers
  // run the same segments in the same order. Returns when this worker's part is done; other workers
  // may still be busy. Exception: at the end of an asynchronous schedule, all workers wait for each
  // other, and then have equal weights.
  //
  // Throws TrainingStopped if a training loss is not finite. On a GPU this is noticed up to eight
  // items later, by a later op; losses of evaluations are not checked. Throws WorkerLost if another
  // worker keeps this one waiting for longer than `Job::patience`, or if the connection to it
  // fails. Any other failure is thrown as the kind of Error that it is (runtime/failure.h). The
  // message of a failure in an op begins with the worker, the op, its stage and, if it has one, its
  // minibatch; that of a failure after the last op begins with the worker. transport::Aborted,
  // which reports another worker's failure, passes unchanged.
  void run(const Segment& segment);

  [[nodiscard]] WorkerId id() const { return me_; }
  [[nodiscard]] const Recorder& recorder() const { return recorder_; }
  // The stages that this worker has a replica of.
  [[nodiscard]] std::map<StageId, Stage>& stages() { return stages_; }
  // What this worker has for one of its stages besides the Stage itself.
  struct StageReplica {
    int replica = 0;   // this worker's index in the stage's replica group
    int replicas = 1;  // size of the replica group
    std::unique_ptr<Optimiser> optimiser;
  };
  [[nodiscard]] const StageReplica& replica_of(StageId stage) const {
    return replica_of_stage_.at(stage);
  }
  // The parameter servers of asynchronous training, which have the optimisers then. Null for other
  // systems, and before begin_averaging().
  [[nodiscard]] AsynchronousWeights* servers() { return served_.get(); }
  [[nodiscard]] const HostCopies& copies() const { return copies_; }

  // Prepares the exchange of weight gradients, unless an earlier call did: all-reduces for
  // replicated stages, or a parameter server where the schedule is asynchronous. run() calls it;
  // others need it only to set the state of a parameter server before the first segment.
  void begin_averaging(const schedule::Rules& rules);
  // The sum over all items evaluated here since the last training segment; zero on workers that do
  // not compute the loss.
  [[nodiscard]] const Score& score() const { return score_; }
  // Bytes sent in all training segments so far: values, their gradients and weight gradients, and
  // the weights that parameter servers sent to this worker. Losses, norms and results do not count.
  [[nodiscard]] Bytes sent() const;
  // The staleness of gradients in asynchronous data parallelism; all zero for other systems.
  [[nodiscard]] Lateness lateness() const { return served_ ? served_->lateness() : Lateness{}; }

 private:
  // The loss of one item, which the device may not have computed or copied to the host yet.
  struct PendingLoss {
    schedule::Forward forward;
    HostCopies::Copy loss;
  };
  // Sums over those items of one minibatch whose losses this worker has read.
  struct LossSum {
    double loss = 0;           // of each item's loss times its loss_weight()
    std::int64_t samples = 0;  // that this worker had
    int items = 0;
  };

  void run_program();
  // Calls `what`, which is work left over when the program has ended. If it throws, the message
  // gets this worker's number.
  void end_segment(const std::function<void()>& what);
  // Has the samples read that the next ops of the program load.
  void read_ahead(schedule::OwnProgram& program);
  // Reads this worker's samples of an item, for one of its stages. Called from several threads.
  [[nodiscard]] Values read(StageId stage, const schedule::Item& item) const;
  void run_op(const schedule::Op& op);
  // Called before a backward of `stage`. If the stage's Reduce or Push follows in the program with
  // only sends and receives between, this backward completes the gradients: they may then leave,
  // bucket by bucket, while it still runs.
  void expect_release(StageId stage, schedule::OwnProgram& program);
  void run(const schedule::Load& load);            // takes the item's samples into `loaded_`
  void run(const schedule::Forward& forward);      // waits for inputs, computes, posts activations
  void run(const schedule::Recompute& recompute);  // waits for gradients, runs the forward again
  // Waits for gradients, computes and posts gradients. For BackwardPart::kWeight, only computes.
  void run(const schedule::Backward& backward);
  void run(const schedule::Send& send);      // sends what a stage of this worker posted
  void run(const schedule::Recv& recv);      // asks for a message and does not wait
  void run(const schedule::Reduce& reduce);  // starts an all-reduce and does not wait
  void run(const schedule::Await& await);    // waits until the all-reduce is done
  void run(const schedule::Push& push);      // sends gradients to the parameter servers
  void run(const schedule::Pull& pull);      // waits for the servers' weights
  void run(const schedule::Update& update);  // clips and applies the gradients

  // The samples of `item` that this worker computes in `stage`: all of them where replicas take
  // items in turn, and an even part where replicas share items.
  [[nodiscard]] Range share(StageId stage, const schedule::Item& item) const;
  // The samples of share() as a fraction of all samples of the item's minibatch.
  [[nodiscard]] double loss_weight(StageId stage, const schedule::Item& item) const;
  // The number of samples that gradients are weighted by in the backwards of `minibatch`: their sum
  // over this many samples is the gradient of the mean loss. These are the samples of the minibatch
  // or, if an update has several minibatches, those of the segment's first one.
  [[nodiscard]] std::int64_t samples_of_unit(std::int64_t minibatch) const;
  // The samples of share() as a fraction of samples_of_unit().
  [[nodiscard]] double gradient_weight(StageId stage, const schedule::Item& item) const;
  // What the summed gradients of `update` must be divided by to be a mean: over the minibatches of
  // a round or, if an update has several rounds, over all its samples.
  [[nodiscard]] double divisor_of(const schedule::Update& update) const;
  // Hands the mailbox what a forward (kActivation) or backward (kGradient) of `stage` made for
  // other stages. `made` is empty if this worker has no samples of the item.
  void post(StageId stage, schedule::Kind kind, const schedule::Item& item, const Values& made);
  // Reads losses from the front of `pending_losses_` as long as they have reached the host, and
  // waits for further ones until at most `most` are left.
  void take_losses(std::size_t most);
  // Adds one item's loss to its minibatch. After the last item of the minibatch, calls `on_loss_`.
  // Throws TrainingStopped if the loss is not finite.
  void add_loss(const schedule::Forward& forward, double loss);
  // The gradients that the backward of an item needs from later stages; waits for them unless the
  // item's recomputation has taken them already.
  [[nodiscard]] Gradients take_gradients(StageId stage, const schedule::Item& item);
  // Records an op of the compute lane that began at `start` and ends now, with the waiting time
  // since the last such op.
  void record(const schedule::Op& op, const Recorder::Moment& start);
  // The factor on the learning rate of an update that applies the minibatches `first` to `last` of
  // the segment.
  [[nodiscard]] double rate_of(std::int64_t first, std::int64_t last) const;
  [[nodiscard]] double rate_of(const schedule::Push& push) const {
    return rate_of(push.item.minibatch, push.item.minibatch);
  }
  // Sleeps if the job holds this worker back. `start`: when its op of compute began.
  void hold_back(Nanos start) const;
  // Divides `gradients`, those of `update`, by `divisor`, and then scales them so that the norm
  // over all stages is at most `Job::clip_norm`.
  void clip(const schedule::Update& update, double divisor, model::Tensors& gradients);
  [[nodiscard]] OpPlace place_of(const schedule::Op& op) const;
  // Called in a catch block: throws the same kind of failure again, with this worker and `place`
  // before its message, unless it is transport::Aborted. After a stall, calls note_stall(). Aborts
  // the all-reduces of this worker's replica groups, so that the other replicas learn the reason.
  [[noreturn]] void fail(const std::string& place);
  // Writes the last ops begun to a file in `Job::stall_folder`. Does not throw.
  void note_stall() const;

  const Job& job_;
  WorkerId me_;
  Channels channels_;
  at::Device device_;
  model::UseStream stream_;  // while it lives, this thread's work goes to the worker's own stream
  HostCopies copies_;
  std::function<void(const Loss&)> on_loss_;
  schedule::Routes routes_;
  GradientOrder order_;
  Recorder recorder_;
  double held_back_ = 0;  // the time that it sleeps after an op of compute, over that of the op
  Mailbox mailbox_;
  std::optional<Clipper> clipper_;
  WeightVersion clipped_{0};  // `to` of the last update for which `clip_factor_` was computed
  double clip_factor_ = 1;
  std::map<StageId, Stage> stages_;
  std::map<StageId, StageReplica> replica_of_stage_;
  ReplicaGradients replica_gradients_;
  // For each Reduce that has no Await yet: the index of its event in the recorder.
  std::map<std::pair<StageId, WeightVersion>, std::size_t> reduces_;
  std::unique_ptr<AsynchronousWeights> served_;  // null until a schedule is asynchronous
  const Segment* segment_ = nullptr;             // the segment that run() executes
  // Samples that a Load has read and whose Forward has not run.
  std::map<std::pair<StageId, schedule::Item>, Values> loaded_;
  std::size_t looked_ahead_ = 0;  // ops from the program's next one on that read_ahead() has seen
  // Gradients that a Recompute has waited for and whose Backward has not run.
  std::map<std::pair<StageId, schedule::Item>, Gradients> gradients_ahead_;
  std::deque<PendingLoss> pending_losses_;  // not read yet, in the order of forwards
  std::map<std::int64_t, LossSum> losses_;  // by minibatch of the segment
  Score score_;
  Bytes sent_in_evaluations_;
  // Time waited since the last op of the compute lane (timeline::on_compute_lane), for
  // timeline::Event.
  Nanos transit_wait_{0};  // for data in transit, or for parameter servers
  Nanos other_wait_{0};    // for the data set, or for other replicas to begin an all-reduce
  ReadAhead reader_;       // the last member: its thread uses the others
};

}  // namespace pipedream::runtime
