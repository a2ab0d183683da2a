#include "transport/inbox.h"

#include "core/check.h"

namespace pipedream::transport {

std::uint64_t MessageNumbers::next(WorkerId peer, int tag) {
  PD_CHECK(tag >= 0 && tag < kTagLimit);
  return next_[{peer, tag}]++;
}

void Inbox::put(WorkerId from, int tag, std::uint64_t number, Message message) {
  {
    const std::lock_guard lock(mutex_);
    arrived_.emplace(Place{from, tag, number}, std::move(message));
  }
  changed_.notify_one();
}

bool Inbox::abort(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (aborted_) return false;
    aborted_ = reason;
  }
  changed_.notify_one();
  return true;
}

Ticket Inbox::receive(WorkerId from, int tag) {
  asked_[++last_ticket_] = {from, tag, numbers_.next(from, tag)};
  return {last_ticket_};
}

Message Inbox::wait(Ticket ticket, Deadline deadline) {
  const auto asked = asked_.find(ticket.number);
  PD_CHECK(asked != asked_.end());
  const Place place = asked->second;
  asked_.erase(asked);
  std::unique_lock lock(mutex_);
  const bool woken = changed_.wait_until(
      lock, deadline, [&] { return aborted_.has_value() || arrived_.contains(place); });
  if (aborted_) throw Aborted(*aborted_);
  if (!woken)
    throw WorkerLost("worker " + std::to_string(std::get<0>(place).value) +
                     " sent nothing before the deadline");
  return std::move(arrived_.extract(place).mapped());
}

}  // namespace pipedream::transport
