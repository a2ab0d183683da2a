// The losses of a run, brought to worker 0 while the others go on.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <thread>

#include "runtime/job.h"
#include "schedule/routes.h"
#include "transport/transport.h"

namespace pipedream::train {

// Tells worker 0 about a loss of the segment that is being trained. Called by the worker that has
// it.
void send_loss(transport::Transport& news, const runtime::Loss& loss);

// Reads the losses of one segment on a thread of its own, at worker 0, and hands them on in the
// order of minibatches; parts that replicas computed are put together.
class NewsReader {
 public:
  // `loss_stage`: the one that computes the loss. When on_loss throws, `values` is aborted with
  // that reason, so that nobody trains on.
  NewsReader(transport::Transport& news, transport::Transport& values,
             const schedule::Routes& routes, StageId loss_stage, std::int64_t minibatches,
             std::function<void(const runtime::Loss&)> on_loss);
  // Stops reading, by aborting the channel, if there is more to come.
  ~NewsReader();
  NewsReader(const NewsReader&) = delete;
  NewsReader& operator=(const NewsReader&) = delete;

  // Waits until all were read; throws what on_loss threw, or Aborted when others failed.
  void finish();

  // Throws Aborted, with the reason, when on_loss threw: a worker that waits for nobody has to ask.
  void check() const;

 private:
  void read(const schedule::Routes& routes, StageId loss_stage, std::int64_t minibatches);
  [[nodiscard]] runtime::Loss next(WorkerId from);

  transport::Transport& news_;
  std::function<void(const runtime::Loss&)> on_loss_;
  std::exception_ptr failure_;  // the thread's, until it has failed or is joined
  std::atomic<bool> failed_ = false;
  std::thread thread_;
};

}  // namespace pipedream::train
