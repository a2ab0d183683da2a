// Brings the losses of a run to worker 0 while the other workers continue (docs/runtime.md).
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <optional>
#include <thread>

#include "runtime/job.h"
#include "schedule/routes.h"
#include "train/speed_reports.h"
#include "transport/transport.h"

namespace pipedream::train {

// Sends `loss` of the current segment to worker 0. Called by the worker that computed it.
void send_loss(transport::Transport& news, const runtime::Loss& loss);

// Tells worker 0 that no further losses of the current segment come from this worker, because the
// segment ends early. To be called by all workers that compute the loss.
void send_end_of_losses(transport::Transport& news);

// Reads the losses of one segment at worker 0, on a thread of its own, and passes them to `on_loss`
// in the order of minibatches. If replicas computed parts of a loss, their sum is passed. Owned by
// worker 0's thread, which alone calls finish() and check().
class NewsReader {
 public:
  // `loss_stage` is the stage that computes the loss. `reports` takes the workers' reports of their
  // speed, and outlives the reader. `on_loss` is called by the reader's thread.
  // If it throws, `values` is aborted with that reason, so that all workers stop.
  NewsReader(transport::Transport& news, transport::Transport& values, SpeedReports& reports,
             const schedule::Routes& routes, StageId loss_stage, std::int64_t minibatches,
             std::function<void(const runtime::Loss&)> on_loss);
  // If finish() was not called: aborts the channel `news` and joins the thread.
  ~NewsReader();
  NewsReader(const NewsReader&) = delete;
  NewsReader& operator=(const NewsReader&) = delete;

  // Waits until all losses were read. Throws what `on_loss` threw, or Aborted if another worker
  // failed.
  void finish();

  // Throws Aborted, with the reason, if `on_loss` threw. A worker that waits for no other worker
  // learns of the failure only by calling this.
  void check() const;

 private:
  void read(const schedule::Routes& routes, StageId loss_stage, std::int64_t minibatches);
  // Returns nullopt if no further losses come from that worker.
  [[nodiscard]] std::optional<runtime::Loss> next(WorkerId from);

  transport::Transport& news_;
  SpeedReports& reports_;
  std::function<void(const runtime::Loss&)> on_loss_;
  std::exception_ptr failure_;  // other threads read it after `failed_` is true or the join
  std::atomic<bool> failed_ = false;
  std::thread thread_;
};

}  // namespace pipedream::train
