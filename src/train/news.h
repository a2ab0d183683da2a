// The losses of a run, brought to worker 0 while the others go on.
#pragma once

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
  // `loss_stage`: the one that computes the loss.
  NewsReader(transport::Transport& news, const schedule::Routes& routes, StageId loss_stage,
             std::int64_t minibatches, std::function<void(const runtime::Loss&)> on_loss);
  // Stops reading, by aborting the channel, if there is more to come.
  ~NewsReader();
  NewsReader(const NewsReader&) = delete;
  NewsReader& operator=(const NewsReader&) = delete;

  // Waits until all were read; throws what on_loss threw.
  void finish();

 private:
  void read(const schedule::Routes& routes, StageId loss_stage, std::int64_t minibatches);
  [[nodiscard]] runtime::Loss next(WorkerId from);

  transport::Transport& news_;
  std::function<void(const runtime::Loss&)> on_loss_;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace pipedream::train
