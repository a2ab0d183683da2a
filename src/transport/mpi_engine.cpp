#include "transport/mpi_engine.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <new>
#include <optional>

#include <unistd.h>

#include "core/check.h"
#include "core/error.h"
#include "core/thread.h"
#include "transport/process_memory.h"
#include "transport/text_message.h"

namespace pipedream::transport {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

// MPI's tags.
constexpr int kFrames = 0;
constexpr int kPayloads = 1;

constexpr std::int32_t kAbort = -1;       // in a frame's tag: the payload is the reason of an abort
constexpr std::int32_t kSignOfLife = -2;  // in a frame's tag: there is no payload
constexpr std::uint64_t kLast = 1;        // in the number of a sign of life: no other follows
constexpr std::int32_t kAllChannels = -1;  // in a frame's channel: the abort is for all of them

constexpr std::size_t kPiece = 1 << 20;  // largest piece of a payload, in bytes
constexpr int kMostSends = 256;          // limit of send requests in progress (frames and pieces)
constexpr auto kAlert = 20us;            // how long it looks on without a nap after a movement
constexpr auto kShortestNap = 50us;
constexpr auto kLongestNap = 2ms;
constexpr auto kLongestNapForDevice = 200us;  // while a message waits for a device to write it
constexpr int kNapsInSilence = 4;             // a nap takes this part of the time since a movement
constexpr auto kPatienceAfterAbort = 5s;
constexpr auto kBetweenSigns = 1s;

std::string text_of_mpi_error(int code) {
  std::string text(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return text.substr(0, static_cast<std::size_t>(length));
}

void check(int code) {
  if (code != MPI_SUCCESS) throw WorkerLost("MPI failed: " + text_of_mpi_error(code));
}

// Over TCP, Open MPI announces a message that is larger than a limit and waits until the receiver
// asks for it. Announcements queue behind the data being sent, so that messages in opposite
// directions hold each other up: a ring took 1.6 times as long. So the limit is set above the size
// of a piece, which is then sent at once. Settings that the environment already has are kept.
//
// Except one: if Open MPI yields the core whenever nothing moves, as `mpirun --oversubscribe` tells
// it to, this thread waits for milliseconds at every look until it gets the core back from the
// thread that computes. This thread sleeps by itself instead (step()).
void prefer_settings() {
  const std::string piece_and_header = std::to_string(kPiece + 4096);
  for (const char* name : {"OMPI_MCA_btl_tcp_eager_limit", "OMPI_MCA_btl_tcp_rndv_eager_limit",
                           "OMPI_MCA_btl_tcp_max_send_size"})
    setenv(name, piece_and_header.c_str(), /*overwrite=*/0);
  // Only send and receive (1), straight from the memory of the message (8).
  setenv("OMPI_MCA_btl_tcp_flags", "9", /*overwrite=*/0);
  setenv("OMPI_MCA_mpi_yield_when_idle", "0", /*overwrite=*/1);
}

// Memory of `blocks`, which the result keeps alive.
std::shared_ptr<std::byte> allocate(const std::shared_ptr<KeptBlocks>& blocks, std::size_t bytes) {
  void* const memory = blocks->take(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return {static_cast<std::byte*>(memory), [blocks](std::byte* taken) { blocks->give(taken); }};
}

}  // namespace

MpiEngine::MpiEngine() {
  prefer_settings();
  thread_ = start_helper("pd-messages", [this] { run(); });
  try {
    started_.get_future().get();
  } catch (...) {
    thread_.join();
    throw;
  }
}

MpiEngine::~MpiEngine() {
  if (thread_.joinable()) (void)leave();
}

bool MpiEngine::leave() {
  board_->note_end();
  closing_ = true;
  thread_.join();
  return left_together_;
}

Inbox& MpiEngine::inbox(std::int32_t channel) {
  const std::lock_guard lock(mutex_);
  while (inboxes_.size() <= static_cast<std::size_t>(channel)) {
    inboxes_.push_back(std::make_unique<Inbox>());
    if (!failure_.empty()) inboxes_.back()->abort(failure_);
  }
  return *inboxes_[static_cast<std::size_t>(channel)];
}

void MpiEngine::send(WorkerId to, const Frame& frame, Message message) {
  PD_CHECK(to.value >= 0 && to.value < size_);
  auto transfer = std::make_shared<Transfer>();
  transfer->peer = to;
  transfer->urgent = frame.tag == kAbort || frame.tag == kSignOfLife;
  transfer->packed = pack(frame);
  transfer->message = std::move(message);
  {
    const std::lock_guard lock(mutex_);
    if (transfer->urgent)
      outbox_.push_front(std::move(transfer));
    else
      outbox_.push_back(std::move(transfer));
  }
  queued_.notify_one();
}

void MpiEngine::abort(std::int32_t channel, const std::string& reason) {
  aborted_ = true;
  if (inbox(channel).abort(reason)) send_abort(channel, reason);
}

void MpiEngine::abort_all(const std::string& reason) {
  fail(reason);
  send_abort(kAllChannels, reason);
}

void MpiEngine::send_abort(std::int32_t channel, const std::string& reason) {
  for (int other = 0; other < size_; ++other)
    if (other != rank_)
      send(WorkerId{other}, {.channel = channel, .tag = kAbort, .bytes = reason.size()},
           text_message(reason));
}

void MpiEngine::run() {
  try {
    start();
  } catch (...) {
    started_.set_exception(std::current_exception());
    return;
  }
  started_.set_value();
  try {
    while (!closing_) step();
    left_together_ = leave_with_the_others();
    if (left_together_) {
      board_->free();
      MPI_Finalize();
    } else {
      abandon();
    }
  } catch (const std::exception& error) {
    fail(error.what());
    abandon();
  }
}

void MpiEngine::start() {
  int before = 0, after = 0, threads = 0;
  MPI_Initialized(&before);
  MPI_Finalized(&after);
  if (before || after)
    throw CannotMeet("MPI starts once in a process, and has been started before");
  const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &threads);
  if (code != MPI_SUCCESS)
    throw CannotMeet("MPI did not start (its code " + std::to_string(code) + ")");
  check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_));
  check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
  check(MPI_Comm_rank(comm_, &rank_));
  check(MPI_Comm_size(comm_, &size_));
  if (threads < MPI_THREAD_FUNNELED)
    throw CannotMeet("this MPI cannot be used by a program with threads");
  find_hosts();
}

void MpiEngine::find_hosts() {
  MPI_Comm here = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &here));
  int lowest = rank_;
  check(MPI_Comm_set_errhandler(here, MPI_ERRORS_RETURN));
  check(MPI_Bcast(&lowest, 1, MPI_INT, 0, here));
  hosts_.resize(static_cast<std::size_t>(size_));
  check(MPI_Allgather(&lowest, 1, MPI_INT, hosts_.data(), 1, MPI_INT, comm_));
  find_host_names();
  find_readable_processes(here);
  board_ = std::make_unique<MpiBoard>(here, rank_);
}

void MpiEngine::find_host_names() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> mine{};
  int length = 0;
  check(MPI_Get_processor_name(mine.data(), &length));
  std::vector<char> all(mine.size() * static_cast<std::size_t>(size_));
  check(MPI_Allgather(mine.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, all.data(),
                      MPI_MAX_PROCESSOR_NAME, MPI_CHAR, comm_));
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(size_); ++rank)
    host_names_.emplace_back(all.data() + rank * mine.size());
}

// Each process tries to read a word of every other process on its host. If one of them cannot, none
// of the host may.
void MpiEngine::find_readable_processes(MPI_Comm here) {
  constexpr std::int64_t kWord = 0x70697065;  // any that is unlikely to be found by accident
  let_others_read();
  const std::int64_t word = kWord + rank_;
  const std::array<std::int64_t, 2> mine{
      ::getpid(), static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(&word))};
  std::vector<std::int64_t> all(mine.size() * static_cast<std::size_t>(size_));
  check(MPI_Allgather(mine.data(), 2, MPI_INT64_T, all.data(), 2, MPI_INT64_T, comm_));
  processes_.assign(static_cast<std::size_t>(size_), 0);
  int can_read_all = 1;
  for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
    if (hosts_[rank] != hosts_[static_cast<std::size_t>(rank_)]) continue;
    processes_[rank] = all[2 * rank];
    std::int64_t read = 0;
    const bool was_read = read_process(all[2 * rank], static_cast<std::uint64_t>(all[2 * rank + 1]),
                                       std::as_writable_bytes(std::span(&read, 1)));
    if (!was_read || read != kWord + static_cast<std::int64_t>(rank)) can_read_all = 0;
  }
  // Also keeps `word` alive until all have read it.
  check(MPI_Allreduce(MPI_IN_PLACE, &can_read_all, 1, MPI_INT, MPI_MIN, here));
  if (can_read_all == 0) processes_.assign(processes_.size(), 0);
}

// Returns true when all ranks are leaving, so that MPI_Finalize will not wait for any. Returns
// false if that has not happened some time after an abort.
bool MpiEngine::leave_with_the_others() {
  std::optional<steady_clock::time_point> give_up;
  MPI_Request barrier = MPI_REQUEST_NULL;
  bool entered = false;
  int all_here = 0;
  while (!all_here) {
    if (aborted_ && !give_up) give_up = steady_clock::now() + kPatienceAfterAbort;
    if (give_up && steady_clock::now() > *give_up) return false;
    step();
    if (!entered && nothing_under_way()) {
      // The last sign of life goes first, so that the next rank does not miss those to come.
      if (!leaves_ && size_ > 1) {
        send(WorkerId{(rank_ + 1) % size_}, {.tag = kSignOfLife, .number = kLast}, {});
        leaves_ = true;
        continue;
      }
      check(MPI_Ibarrier(comm_, &barrier));
      entered = true;
    }
    if (entered) check(MPI_Test(&barrier, &all_here, MPI_STATUS_IGNORE));
  }
  return true;
}

bool MpiEngine::nothing_under_way() {
  const std::lock_guard lock(mutex_);
  return outbox_.empty() && requests_.empty();
}

// Looks once at everything that may move. When nothing has moved for kAlert, it naps. If all cores
// compute, each look interrupts a thread that computes. So naps grow with the silence: what comes
// after a silence is noticed a quarter of it later at most. During a transfer, no more than a
// quarter of a piece comes or goes in a nap, whatever the link's speed.
void MpiEngine::step() {
  give_sign_of_life();
  watch_rank_before();
  bool moved = post_sends();
  moved |= take_frames();
  moved |= finish_transfers();
  if (moved) moved_ = steady_clock::now();
  const auto silence = stepped_ - moved_;
  if (moved || silence < kAlert) return;
  std::unique_lock lock(mutex_);
  const Time::duration longest = outbox_.empty() ? kLongestNap : kLongestNapForDevice;
  const auto nap = std::clamp<Time::duration>(silence / kNapsInSilence, kShortestNap, longest);
  queued_.wait_for(lock, nap, [&] { return next_in_outbox() < outbox_.size(); });
}

// The signs go round in a ring: each rank hears one other, and is heard by one.
void MpiEngine::give_sign_of_life() {
  const Time now = steady_clock::now();
  if (size_ == 1 || leaves_ || now - given_sign_ < kBetweenSigns) return;
  given_sign_ = now;
  send(WorkerId{(rank_ + 1) % size_}, {.tag = kSignOfLife}, {});
}

void MpiEngine::watch_rank_before() {
  const Time now = steady_clock::now();
  // If this thread did not run for a second, the process was stopped. It may have missed signs.
  if (stepped_ == Time{} || now - stepped_ > kBetweenSigns) heard_ = now;
  stepped_ = now;
  if (size_ == 1 || aborted_ || before_leaves_ || now - heard_ <= patience_.load()) return;
  const int before = (rank_ + size_ - 1) % size_;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - heard_).count();
  abort_all("worker " + std::to_string(before) + " on " + host_name(before) +
            " has given no sign of life for " + std::to_string(seconds) +
            " s: its process is stopped, or the link to it is dead");
}

void MpiEngine::note_sign_of_life(int rank) {
  if (rank == (rank_ + size_ - 1) % size_) heard_ = steady_clock::now();
}

bool MpiEngine::post_sends() {
  for (bool moved = false;; moved = true) {
    const std::shared_ptr<Transfer> transfer = next_to_send();
    if (!transfer) return moved;
    const int to = transfer->peer.value;
    check(MPI_Isend(transfer->packed.data(), static_cast<int>(transfer->packed.size()), MPI_INT64_T,
                    to, kFrames, comm_, new_request(transfer)));
    // MPI does not write into what it sends.
    in_pieces(transfer, const_cast<std::byte*>(transfer->message.bytes.data()),
              [&](std::byte* piece, int count, MPI_Request* request) {
                check(MPI_Isend(piece, count, MPI_BYTE, to, kPayloads, comm_, request));
              });
  }
}

std::shared_ptr<Transfer> MpiEngine::next_to_send() {
  const std::lock_guard lock(mutex_);
  const std::size_t place = next_in_outbox();
  if (place == outbox_.size()) return nullptr;
  std::shared_ptr<Transfer> transfer = std::move(outbox_[place]);
  outbox_.erase(outbox_.begin() + static_cast<std::ptrdiff_t>(place));
  return transfer;
}

// At kMostSends requests in progress only aborts and signs of life are sent, because each look at
// the requests takes longer the more there are. A message that a device is still writing is
// overtaken by those behind it, which is allowed because receivers go by the numbers of messages.
std::size_t MpiEngine::next_in_outbox() const {
  if (sending_ >= kMostSends && (outbox_.empty() || !outbox_.front()->urgent))
    return outbox_.size();
  const auto next = std::find_if(outbox_.begin(), outbox_.end(), [](const auto& transfer) {
    return !transfer->message.is_ready || transfer->message.is_ready();
  });
  return static_cast<std::size_t>(next - outbox_.begin());
}

bool MpiEngine::take_frames() {
  for (bool moved = false;; moved = true) {
    int there = 0, words = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, kFrames, comm_, &there, &status));
    if (!there) return moved;
    check(MPI_Get_count(&status, MPI_INT64_T, &words));
    std::vector<std::int64_t> packed(static_cast<std::size_t>(words));
    check(MPI_Recv(packed.data(), words, MPI_INT64_T, status.MPI_SOURCE, kFrames, comm_,
                   MPI_STATUS_IGNORE));
    note_sign_of_life(status.MPI_SOURCE);
    expect_payload(WorkerId{status.MPI_SOURCE}, unpack(packed));
  }
}

void MpiEngine::expect_payload(WorkerId from, Frame frame) {
  auto transfer = std::make_shared<Transfer>();
  transfer->peer = from;
  transfer->incoming = true;
  const std::shared_ptr<std::byte> memory = allocate(memory_, frame.bytes);
  transfer->message = {std::move(frame.header), {memory.get(), frame.bytes}, memory};
  transfer->frame = std::move(frame);
  in_pieces(transfer, memory.get(), [&](std::byte* piece, int count, MPI_Request* request) {
    check(MPI_Irecv(piece, count, MPI_BYTE, from.value, kPayloads, comm_, request));
  });
  if (transfer->requests == 0) deliver(*transfer);  // no payload
}

template <class Post>
void MpiEngine::in_pieces(const std::shared_ptr<Transfer>& transfer, std::byte* bytes, Post post) {
  const std::size_t size = transfer->message.bytes.size();
  for (std::size_t at = 0; at < size; at += kPiece)
    post(bytes + at, static_cast<int>(std::min(kPiece, size - at)), new_request(transfer));
}

// Adds a request to `transfer`. The pointer is valid until the next call.
MPI_Request* MpiEngine::new_request(const std::shared_ptr<Transfer>& transfer) {
  ++transfer->requests;
  if (!transfer->incoming) ++sending_;
  transfers_.push_back(transfer);
  return &requests_.emplace_back(MPI_REQUEST_NULL);
}

bool MpiEngine::finish_transfers() {
  if (requests_.empty()) return false;
  std::vector<int> indices(requests_.size());
  int done = 0;
  check(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &done, indices.data(),
                     MPI_STATUSES_IGNORE));
  if (done == 0) return false;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) {
      finish_request(*transfers_[i]);
    } else {
      requests_[kept] = requests_[i];
      transfers_[kept++] = std::move(transfers_[i]);
    }
  }
  requests_.resize(kept);
  transfers_.resize(kept);
  return true;
}

void MpiEngine::finish_request(Transfer& transfer) {
  --transfer.requests;
  if (transfer.incoming) note_sign_of_life(transfer.peer.value);
  if (!transfer.incoming) --sending_;
  if (transfer.incoming && transfer.requests == 0) deliver(transfer);
}

void MpiEngine::deliver(Transfer& transfer) {
  const Frame& frame = transfer.frame;
  Message& message = transfer.message;
  if (frame.tag == kSignOfLife) {
    before_leaves_ |= frame.number == kLast;
    return;
  }
  if (frame.tag != kAbort) {
    inbox(frame.channel).put(transfer.peer, frame.tag, frame.number, std::move(message));
    return;
  }
  const std::string reason = text_of(message);
  aborted_ = true;
  if (frame.channel == kAllChannels)
    fail(reason);
  else
    inbox(frame.channel).abort(reason);
}

void MpiEngine::fail(const std::string& reason) {
  aborted_ = true;
  const std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = reason;
  for (const std::unique_ptr<Inbox>& inbox : inboxes_) inbox->abort(reason);
}

// Never frees the messages in flight: MPI was not ended, so other ranks may still read or write
// their memory.
void MpiEngine::abandon() { (void)new auto(std::move(transfers_)); }

}  // namespace pipedream::transport
