#include "transport/inbox.h"

#include <vector>

#include "core/check.h"
#include "core/text.h"

namespace pipedream::transport {
namespace {

// Waits until `has_come` returns true, and returns true then. Returns false at the deadline. Time
// in which this process was stopped (SIGSTOP, Ctrl-Z) does not count. To notice such time, the
// function waits for short periods. If a period lasts much longer than it should, the process was
// stopped, and the deadline moves by the length of that period.
template <class HasCome>
bool wait_while_running(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                        Deadline deadline, HasCome has_come) {
  constexpr auto kSlice = std::chrono::seconds(1);
  constexpr auto kLate = std::chrono::milliseconds(500);
  while (true) {
    const Deadline now = std::chrono::steady_clock::now();
    const Deadline end = std::min(deadline, now + kSlice);
    if (changed.wait_until(lock, end, has_come)) return true;
    const Deadline woken = std::chrono::steady_clock::now();
    if (woken - end > kLate && deadline != Deadline::max()) deadline += woken - now;
    if (woken >= deadline) return false;
  }
}

}  // namespace

std::string sent_nothing(const std::set<WorkerId>& workers) {
  const auto number = [](WorkerId worker) { return std::to_string(worker.value); };
  return (workers.size() == 1 ? "worker " : "workers ") + joined(workers, number) +
         " sent nothing before the deadline";
}

std::uint64_t MessageNumbers::next(WorkerId peer, int tag) {
  PD_CHECK(tag >= 0 && tag < kTagLimit);
  return next_[{peer, tag}]++;
}

void Inbox::put(WorkerId from, int tag, std::uint64_t number, Message message) {
  {
    const std::lock_guard lock(mutex_);
    arrived_.emplace(Place{from, tag, number}, Arrived{++put_, std::move(message)});
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

Inbox::Place Inbox::place_of(Ticket ticket) const {
  const auto asked = asked_.find(ticket.number);
  PD_CHECK(asked != asked_.end());
  return asked->second;
}

Message Inbox::wait(Ticket ticket, Deadline deadline) {
  try {
    return wait_any({&ticket, 1}, deadline).message;
  } catch (...) {
    asked_.erase(ticket.number);
    throw;
  }
}

Arrival Inbox::wait_any(std::span<const Ticket> tickets, Deadline deadline) {
  std::vector<Place> places;
  for (const Ticket ticket : tickets) places.push_back(place_of(ticket));
  PD_CHECK(!places.empty());
  std::unique_lock lock(mutex_);
  // Of the messages waited for, the one that arrived first, and the index of its ticket.
  auto first = arrived_.end();
  std::size_t index = 0;
  const auto has_come = [&] {
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto found = arrived_.find(places[i]);
      if (found == arrived_.end()) continue;
      if (first != arrived_.end() && first->second.number < found->second.number) continue;
      first = found;
      index = i;
    }
    return aborted_.has_value() || first != arrived_.end();
  };
  const bool woken = wait_while_running(changed_, lock, deadline, has_come);
  if (aborted_) throw Aborted(*aborted_);
  if (!woken) {
    std::set<WorkerId> workers;
    for (const Place& place : places) workers.insert(std::get<0>(place));
    throw WorkerLost(sent_nothing(workers));
  }
  Arrival arrival{index, std::move(first->second.message)};
  arrived_.erase(first);
  asked_.erase(tickets[index].number);
  return arrival;
}

}  // namespace pipedream::transport
