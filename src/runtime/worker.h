// One worker: interprets its program, op by op (DESIGN: the schedule exists once, as data).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>

#include "runtime/optimiser.h"
#include "runtime/stage.h"
#include "timeline/timeline.h"
#include "transport/transport.h"

namespace pipedream::runtime {

// What workers are given besides their programs. The functions are called from all workers'
// threads.
struct RunOptions {
  std::uint64_t seed = 0;
  at::Device device{at::kCPU};
  std::chrono::milliseconds patience{60'000};  // the longest wait for another worker
  // The values of one input of the network for one item, on any device.
  std::function<at::Tensor(const model::InputSpec& input, const schedule::Item& item)> load;
  // A fresh optimiser for a stage.
  std::function<std::unique_ptr<Optimiser>()> make_optimiser;
};

// Owned and used by one thread. Collaborators outlive it.
class Worker {
 public:
  Worker(const schedule::Program& program, const model::Network& network, const plan::Plan& plan,
         const RunOptions& options, transport::Transport& transport,
         std::chrono::steady_clock::time_point run_began);

  // Interprets the whole program. An exception names worker, stage, op and minibatch.
  void run();

  [[nodiscard]] const std::vector<timeline::Event>& events() const { return events_; }
  [[nodiscard]] const std::map<schedule::Item, double>& losses() const { return losses_; }
  [[nodiscard]] std::map<StageId, Stage>& stages() { return stages_; }

 private:
  using Key = std::pair<schedule::Kind, schedule::Item>;

  void run_op(const schedule::Op& op);
  void run_op(const schedule::Load& load);
  void run_op(const schedule::Forward& forward);
  void run_op(const schedule::Backward& backward);
  void run_op(const schedule::Send& send);
  void run_op(const schedule::Recv& recv);
  void run_op(const schedule::Update& update);
  template <class Other>
  void run_op(const Other& other);  // not yet: throws CannotMeet
  // The value, waited for if it is still on its way; leaves the store.
  [[nodiscard]] at::Tensor take(schedule::Kind kind, const schedule::Item& item, ValueId value);

  const schedule::Program& program_;
  const model::Network& network_;
  const RunOptions& options_;
  transport::Transport& transport_;
  std::chrono::steady_clock::time_point run_began_;
  std::map<StageId, Stage> stages_;
  std::map<StageId, std::unique_ptr<Optimiser>> optimisers_;
  std::map<Key, Values> values_;  // made or loaded here and not used yet
  std::map<Key, std::map<ValueId, transport::Ticket>> coming_;
  std::map<schedule::Item, double> losses_;
  std::vector<timeline::Event> events_;
};

}  // namespace pipedream::runtime
