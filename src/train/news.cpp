#include "train/news.h"

#include <cstring>

#include "core/thread.h"
#include "runtime/failure.h"
#include "runtime/tags.h"

namespace pipedream::train {

using runtime::Loss;

namespace {

constexpr std::int64_t kEndOfLosses = -1;  // in place of a minibatch

}  // namespace

void send_loss(transport::Transport& news, const Loss& loss) {
  std::int64_t bits = 0;
  std::memcpy(&bits, &loss.loss, sizeof(bits));
  news.send(WorkerId{0}, runtime::kLosses, {{loss.minibatch, bits, loss.samples}, {}, nullptr});
}

void send_end_of_losses(transport::Transport& news) {
  news.send(WorkerId{0}, runtime::kLosses, {{kEndOfLosses, 0, 0}, {}, nullptr});
}

NewsReader::NewsReader(transport::Transport& news, transport::Transport& values,
                       SpeedReports& reports, const schedule::Routes& routes, StageId loss_stage,
                       std::int64_t minibatches, std::function<void(const Loss&)> on_loss)
    : news_(news),
      reports_(reports),
      on_loss_(std::move(on_loss)),
      thread_(start_helper("pd-news", [=, this, &values, &routes] {
        try {
          read(routes, loss_stage, minibatches);
        } catch (const transport::Aborted&) {
          failure_ = std::current_exception();
        } catch (...) {
          failure_ = std::current_exception();
          failed_ = true;
          values.abort(runtime::to_reason(failure_));
        }
      })) {}

NewsReader::~NewsReader() {
  if (!thread_.joinable()) return;
  news_.abort("worker 0 stopped reading");
  thread_.join();
}

std::optional<Loss> NewsReader::next(WorkerId from) {
  // No deadline is needed here: the workers that compute have deadlines, and a worker that fails
  // aborts this channel too.
  const transport::Message message = reports_.wait(news_.receive(from, runtime::kLosses));
  if (message.header.at(0) == kEndOfLosses) return std::nullopt;
  Loss loss{message.header.at(0), 0, message.header.at(2)};
  std::memcpy(&loss.loss, &message.header.at(1), sizeof(loss.loss));
  return loss;
}

void NewsReader::read(const schedule::Routes& routes, StageId loss_stage,
                      std::int64_t minibatches) {
  for (std::int64_t minibatch = 0; minibatch < minibatches; ++minibatch) {
    Loss whole;
    for (int replica = 0; replica < routes.replicas(loss_stage); ++replica) {
      if (!routes.has_part(loss_stage, replica, minibatch)) continue;
      const std::optional<Loss> part = next(routes.worker(loss_stage, replica));
      if (!part) return;
      whole.minibatch = part->minibatch;
      whole.loss += part->loss;
      whole.samples += part->samples;
    }
    on_loss_(whole);
  }
}

void NewsReader::check() const {
  if (failed_) throw transport::Aborted(runtime::to_reason(failure_));
}

void NewsReader::finish() {
  thread_.join();
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace pipedream::train
