#include "transport/by_lanes.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/thread.h"
#include "transport/frame.h"
#include "transport/inbox.h"

namespace pipedream::transport {
namespace {

constexpr int kNotes = 0;                       // the only tag used on the companion
constexpr std::chrono::microseconds kLook{50};  // between two looks at messages in flight

// What a note says. Stored in Frame::channel.
enum About : std::int32_t {
  kHostMessage,  // the note carries a message in host memory
  kComes,        // a device's message comes on the lane; the note names the lane if it is new
  kTaken,        // the oldest message in flight on the lane has been received
  kGone,         // the sender of the note receives nothing any more
  kStop,         // sent to oneself: the listener is to end
};

// Has two threads. The listener receives the notes of all workers on the companion. The mover makes
// all calls to the lanes; others hand it tasks.
class ByLanes final : public Transport {
 public:
  ByLanes(std::unique_ptr<Transport> companion, std::unique_ptr<Lanes> lanes)
      : companion_(std::move(companion)),
        lanes_(std::move(lanes)),
        peers_(static_cast<std::size_t>(companion_->workers())),
        listener_(start_helper("pd-lane-notes", [this] { listen(); })),
        mover_(start_helper("pd-lanes", [this] { move(); })) {}
  ~ByLanes() override;

  WorkerId me() const override { return companion_->me(); }
  int workers() const override { return companion_->workers(); }
  bool takes_device_memory() const override { return true; }

  void send(WorkerId to, int tag, Message message) override;
  Ticket receive(WorkerId from, int tag) override { return inbox_.receive(from, tag); }
  Message wait(Ticket ticket, Deadline deadline) override { return inbox_.wait(ticket, deadline); }
  Arrival wait_any(std::span<const Ticket> tickets, Deadline deadline) override {
    return inbox_.wait_any(tickets, deadline);
  }
  // Returns when the listener has heard of the abort. From then on every wait throws.
  void abort(const std::string& reason) noexcept override {
    companion_->abort(reason);
    listens_.wait(true);
  }

 private:
  using Task = std::function<void()>;

  // A message in device memory that is to be sent.
  struct Outgoing {
    int tag = 0;
    std::uint64_t number = 0;
    Message message;
  };
  // A message in device memory that is being received, or copied from oneself.
  struct Arriving {
    int tag = 0;
    std::uint64_t number = 0;
    Message message;
    std::shared_ptr<const void> source;  // keeps the source of a copy alive
  };
  // The messages in device memory to and from one worker. Those to oneself are copied on `in`.
  struct Peer {
    std::deque<Outgoing> waiting;   // until a device has written them
    std::deque<Message> under_way;  // sent on `out`, and kept until they are received
    std::deque<Arriving> arriving;  // begun on `in`
    std::uint64_t arrived = 0;      // messages completed on `in`
    bool gone = false;              // nothing is sent to or received from this worker any more
    std::unique_ptr<Lane> out;      // null until first used
    std::unique_ptr<Lane> in;       // null until first used
  };

  // Sends a note that consists of `frame` and the header and bytes of `carried`.
  void note(WorkerId to, About about, Frame frame, Message carried);
  // Hands a task to the mover.
  void give(Task task);

  // Run on the listener's thread.
  void listen();
  [[nodiscard]] bool hear(WorkerId from, Message message);

  // Run on the mover's thread.
  void move();
  [[nodiscard]] bool step();
  [[nodiscard]] std::deque<Task> next_tasks();
  void start_sends(WorkerId to);
  void start_send(WorkerId to, Outgoing outgoing);
  void start_copy(Outgoing outgoing);
  void expect(WorkerId from, const Frame& frame, Message message);
  void deliver(WorkerId from);
  void close(std::span<Peer> peers);
  Peer& peer(WorkerId worker) { return peers_.at(worker.index()); }

  std::unique_ptr<Transport> companion_;
  std::mutex sending_;  // guards sends on the companion
  Inbox inbox_;
  MessageNumbers sent_;

  // Used only by the mover.
  std::unique_ptr<Lanes> lanes_;
  std::vector<Peer> peers_;
  bool is_moving_ = false;  // messages wait to be sent or are in flight

  std::mutex mutex_;  // guards `tasks_`, `ending_` and `aborted_`
  std::condition_variable changed_;
  std::deque<Task> tasks_;  // for the mover
  bool ending_ = false;     // the destructor has begun
  bool aborted_ = false;    // the listener has heard of an abort, or failed

  std::atomic<bool> listens_ = true;  // false when the listener has ended
  std::thread listener_;
  std::thread mover_;
};

ByLanes::~ByLanes() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  mover_.join();
  note(me(), kStop, {}, {});
  listener_.join();
}

void ByLanes::send(WorkerId to, int tag, Message message) {
  PD_CHECK(to.value >= 0 && to.value < workers());
  const std::uint64_t number = sent_.next(to, tag);
  if (!message.on_device)
    return note(to, kHostMessage, {.tag = tag, .number = number}, std::move(message));
  give([this, to, outgoing = Outgoing{tag, number, std::move(message)}] {
    if (!peer(to).gone) peer(to).waiting.push_back(outgoing);
  });
}

void ByLanes::note(WorkerId to, About about, Frame frame, Message carried) {
  frame.channel = about;
  frame.header = std::move(carried.header);
  carried.header = pack(frame);
  const std::lock_guard lock(sending_);
  companion_->send(to, kNotes, std::move(carried));
}

void ByLanes::give(Task task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void ByLanes::listen() {
  try {
    std::vector<Ticket> tickets;
    for (int worker = 0; worker < workers(); ++worker)
      tickets.push_back(companion_->receive(WorkerId{worker}, kNotes));
    for (bool goes_on = true; goes_on;) {
      Arrival arrival = companion_->wait_any(tickets, Deadline::max());
      const auto from = id_at<WorkerId>(arrival.ticket);
      tickets[arrival.ticket] = companion_->receive(from, kNotes);
      goes_on = hear(from, std::move(arrival.message));
    }
  } catch (const std::exception& error) {
    companion_->abort(error.what());  // no effect if it heard of an abort
    inbox_.abort(error.what());
    {
      const std::lock_guard lock(mutex_);
      aborted_ = true;
    }
    changed_.notify_one();
  }
  listens_ = false;
  listens_.notify_all();
}

// Handles one note. Returns false when there is nothing to listen for any more.
bool ByLanes::hear(WorkerId from, Message message) {
  Frame frame = unpack(message.header);
  message.header = std::move(frame.header);
  switch (static_cast<About>(frame.channel)) {
    case kHostMessage:
      inbox_.put(from, frame.tag, frame.number, std::move(message));
      return true;
    case kComes:
      give([this, from, frame, message] { expect(from, frame, message); });
      return true;
    case kTaken:
      give([this, from] { peer(from).under_way.pop_front(); });
      return true;
    case kGone:
      give([this, from] { close({&peer(from), 1}); });
      return true;
    case kStop:
      return false;
  }
  PD_CHECK(false && "a note that nobody writes");
}

void ByLanes::move() {
  try {
    while (step()) {
    }
  } catch (const std::exception& error) {
    abort(error.what());
  }
  // Say so before closing the lanes: the others then close their ends too, and none of them takes
  // a lane that closes for one that broke.
  for (int worker = 0; worker < workers(); ++worker)
    if (WorkerId{worker} != me()) note(WorkerId{worker}, kGone, {}, {});
  close(peers_);
}

// Closes the lanes of `peers` before it lets go of the memory that the lanes work on.
void ByLanes::close(std::span<Peer> peers) {
  std::vector<std::unique_ptr<Lane>> lanes;
  for (Peer& one : peers)
    for (std::unique_ptr<Lane>* lane : {&one.out, &one.in})
      if (*lane) lanes.push_back(std::move(*lane));
  const bool closed = close_together(std::move(lanes));
  for (Peer& one : peers) {
    if (!closed) (void)new auto(std::move(one));  // never freed: devices may still use it
    one = {.gone = true};
  }
}

// Runs the tasks and advances all lanes. Returns false when there is nothing to move any more.
bool ByLanes::step() {
  for (const Task& task : next_tasks()) task();
  is_moving_ = false;
  bool sends = false;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const auto worker = id_at<WorkerId>(i);
    start_sends(worker);
    if (!peers_[i].under_way.empty()) (void)peers_[i].out->done();  // throws if it broke
    deliver(worker);
    sends |= !peers_[i].waiting.empty() || !peers_[i].under_way.empty();
    is_moving_ |= sends || !peers_[i].arriving.empty();
  }
  const std::lock_guard lock(mutex_);
  return !aborted_ && !(ending_ && tasks_.empty() && !sends);
}

// Returns the tasks that have been given. Waits for some while no message is in flight.
std::deque<ByLanes::Task> ByLanes::next_tasks() {
  std::unique_lock lock(mutex_);
  const auto woken = [&] { return !tasks_.empty() || aborted_ || ending_; };
  if (!is_moving_)
    changed_.wait(lock, woken);
  else if (tasks_.empty())
    changed_.wait_for(lock, kLook);
  return std::exchange(tasks_, {});
}

// Starts the sends to one worker that are ready, in the order of send(). One that is not ready
// holds up those behind it: mostly one device writes them all, in that order.
void ByLanes::start_sends(WorkerId to) {
  std::deque<Outgoing>& waiting = peer(to).waiting;
  while (!waiting.empty()) {
    const Readiness& is_ready = waiting.front().message.is_ready;
    if (is_ready && !is_ready()) return;
    Outgoing next = std::move(waiting.front());
    waiting.pop_front();
    if (to == me())
      start_copy(std::move(next));
    else
      start_send(to, std::move(next));
  }
}

void ByLanes::start_send(WorkerId to, Outgoing outgoing) {
  Message carried;
  carried.header = outgoing.message.header;
  const std::span<const std::byte> bytes = outgoing.message.bytes;
  const Frame frame{.tag = outgoing.tag, .number = outgoing.number, .bytes = bytes.size()};
  if (bytes.empty()) return note(to, kComes, frame, std::move(carried));
  std::unique_ptr<Lane>& lane = peer(to).out;
  if (!lane) {
    const auto name = std::make_shared<const std::vector<std::byte>>(lanes_->new_name());
    carried.bytes = *name;
    carried.owner = name;
    lane = lanes_->open(*name, 2, 0);
  }
  note(to, kComes, frame, std::move(carried));
  peer(to).under_way.push_back(std::move(outgoing.message));
  lane->send(bytes);
}

void ByLanes::start_copy(Outgoing outgoing) {
  Peer& self = peer(me());
  const std::span<const std::byte> bytes = outgoing.message.bytes;
  if (bytes.empty()) {
    inbox_.put(me(), outgoing.tag, outgoing.number, std::move(outgoing.message));
    return;
  }
  if (!self.in) self.in = lanes_->open(lanes_->new_name(), 1, 0);
  const DeviceMemory memory = lanes_->allocate(bytes.size());
  Message copy{std::move(outgoing.message.header), memory.bytes, memory.owner, {}, true};
  self.arriving.push_back(
      {outgoing.tag, outgoing.number, std::move(copy), std::move(outgoing.message.owner)});
  self.in->copy(bytes, memory.bytes);
}

void ByLanes::expect(WorkerId from, const Frame& frame, Message message) {
  Peer& sender = peer(from);
  if (!message.bytes.empty()) sender.in = lanes_->open(message.bytes, 2, 1);
  const DeviceMemory memory = lanes_->allocate(frame.bytes);
  Message received{std::move(message.header), memory.bytes, memory.owner, {}, true};
  if (frame.bytes == 0) {
    inbox_.put(from, frame.tag, frame.number, std::move(received));
    return;
  }
  sender.arriving.push_back({frame.tag, frame.number, std::move(received), {}});
  sender.in->receive(memory.bytes);
}

void ByLanes::deliver(WorkerId from) {
  Peer& sender = peer(from);
  if (sender.arriving.empty()) return;
  for (const std::uint64_t done = sender.in->done(); sender.arrived < done; ++sender.arrived) {
    Arriving next = std::move(sender.arriving.front());
    sender.arriving.pop_front();
    inbox_.put(from, next.tag, next.number, std::move(next.message));
    if (from != me()) note(from, kTaken, {}, {});
  }
}

}  // namespace

std::unique_ptr<Transport> connect_by_lanes(std::unique_ptr<Transport> companion,
                                            std::unique_ptr<Lanes> lanes) {
  return std::make_unique<ByLanes>(std::move(companion), std::move(lanes));
}

}  // namespace pipedream::transport
