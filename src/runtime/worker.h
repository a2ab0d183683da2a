// One worker: interprets its program, op by op (ARCHITECTURE: a schedule exists once, as data).
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
#include "runtime/recorder.h"
#include "runtime/replicas.h"
#include "runtime/score.h"
#include "runtime/stage.h"
#include "schedule/lower.h"

namespace pipedream::runtime {

// One worker's ends of the channels to all others. Each is used by one thread at a time.
struct Channels {
  transport::Transport& values;       // between stages
  transport::Transport& collectives;  // among replicas: sums, or gradients to their servers
  transport::Transport& served;       // weights from servers
  transport::Transport& control;      // norms, results
  transport::Transport& news;         // losses as they come
  // How gradients are summed that lie in a device's memory, by the collectives' channel; empty: by
  // way of the host.
  transport::Sum device_sums = {};
};

// Owned and used by one thread. The job and the channels outlive it.
class Worker {
 public:
  // `on_loss` may be empty.
  Worker(const Job& job, WorkerId me, const Channels& channels, const Clock& clock,
         std::function<void(const Loss&)> on_loss);

  // Interprets the worker's program of the segment's schedule, which validates against the plan. An
  // exception names worker, stage, op and minibatch. The worker's state, such as its weights and
  // its optimisers', stays for the next segment.
  void run(const Segment& segment);

  [[nodiscard]] WorkerId id() const { return me_; }
  [[nodiscard]] const Recorder& recorder() const { return recorder_; }
  [[nodiscard]] std::map<StageId, Stage>& stages() { return stages_; }
  // Of all that was evaluated since the last segment that trained.
  [[nodiscard]] const Score& score() const { return score_; }
  // By all training so far; evaluation does not count.
  [[nodiscard]] Bytes sent() const;
  // Of asynchronous data parallelism; none (zero) elsewhere.
  [[nodiscard]] Lateness lateness() const { return served_ ? served_->lateness() : Lateness{}; }

 private:
  struct Part {  // of a stage
    int replica = 0;
    int replicas = 1;
    std::unique_ptr<Optimiser> optimiser;
  };
  struct ToCome {  // a loss on its way to the host
    schedule::Forward forward;
    HostCopies::Copy loss;
  };
  struct Running {  // of one minibatch's loss
    double loss = 0;
    std::int64_t samples = 0;
    int items = 0;
  };

  void begin_averaging(const schedule::Rules& rules);
  void run_program();
  // Does what is left when the program has ended; a failure names the worker.
  void end_segment(const std::function<void()>& what);
  void run_op(const schedule::Op& op);
  void expect_release(StageId stage, schedule::OwnProgram& program);
  void run(const schedule::Load& load);
  void run(const schedule::Forward& forward);
  void run(const schedule::Recompute& recompute);
  void run(const schedule::Backward& backward);
  void run(const schedule::Send& send);
  void run(const schedule::Recv& recv);
  void run(const schedule::Reduce& reduce);
  void run(const schedule::Await& await);
  void run(const schedule::Push& push);
  void run(const schedule::Pull& pull);
  void run(const schedule::Update& update);

  [[nodiscard]] Range share(StageId stage, const schedule::Item& item) const;
  [[nodiscard]] double loss_weight(StageId stage, const schedule::Item& item) const;
  void post(StageId stage, schedule::Kind kind, const schedule::Item& item, const Values& made);
  // Takes the losses that have come; waits for the oldest where more than `most` have not.
  void take_losses(std::size_t most);
  void add_loss(const schedule::Forward& forward, double loss);
  // Of a backward, which its recomputation may have taken before.
  [[nodiscard]] Gradients take_gradients(StageId stage, const schedule::Item& item);
  void record(const schedule::Op& op, const Recorder::Moment& start);
  void clip(const schedule::Update& update, model::Tensors& gradients);
  [[nodiscard]] std::string place_of(const schedule::Op& op) const;
  // In a catch block: throws the same again, with worker and place before its message.
  [[noreturn]] void fail(const std::string& place);
  void note_stall() const;

  const Job& job_;
  WorkerId me_;
  Channels channels_;
  at::Device device_;
  model::UseStream stream_;  // of compute
  HostCopies copies_;
  std::function<void(const Loss&)> on_loss_;
  schedule::Routes routes_;
  GradientOrder order_;
  Recorder recorder_;
  Mailbox mailbox_;
  std::optional<Clipper> clipper_;
  WeightVersion clipped_{0};  // the last update that the factor was found for
  double clip_factor_ = 1;
  std::map<StageId, Stage> stages_;
  std::map<StageId, Part> parts_;
  ReplicaGradients replicas_;
  std::map<std::pair<StageId, WeightVersion>, std::size_t> reduces_;  // places of their events
  std::unique_ptr<AsynchronousWeights> served_;  // once a schedule is asynchronous
  const Segment* segment_ = nullptr;
  std::map<std::pair<StageId, schedule::Item>, Values> loaded_;
  std::map<std::pair<StageId, schedule::Item>, Gradients> gradients_ahead_;  // for their backwards
  std::deque<ToCome> to_come_;
  std::map<std::int64_t, Running> losses_;
  Score score_;
  Bytes untrained_;  // sent in evaluation
  Nanos came_{0};    // since the last compute: waited for what was on its way
  Nanos waited_{0};  // and for the data set
};

}  // namespace pipedream::runtime
