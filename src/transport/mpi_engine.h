// The thread that makes all MPI calls for mpi.h. Only mpi.cpp and mpi_engine.cpp include it, and
// with it MPI's own header.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <mpi.h>

#include "core/kept_blocks.h"
#include "transport/frame.h"
#include "transport/inbox.h"
#include "transport/mpi_board.h"

namespace pipedream::transport {

// A message in flight to or from another process. Keeps the memory that MPI reads or writes alive
// and in place.
struct Transfer {
  WorkerId peer;
  bool incoming = false;
  bool urgent = false;               // is sent before all others
  Frame frame;                       // only of an incoming message
  std::vector<std::int64_t> packed;  // the frame of an outgoing message
  Message message;
  int requests = 0;  // MPI requests that have not completed
};

// Makes all MPI calls, on a thread of its own. Owned by MpiWorld, whose thread alone calls
// next_channel() and leave(); inbox(), send(), abort() and abort_all() may be called from any
// thread.
//
// A message is sent as its frame, with one MPI tag, and the pieces of its payload, with another.
// MPI keeps the order of messages with the same tag, so the pieces can be matched to their frame.
class MpiEngine {
 public:
  // Starts MPI. Throws CannotMeet if MPI cannot start, and WorkerLost if its first calls fail.
  MpiEngine();
  // Calls leave() unless it has been called.
  ~MpiEngine();

  MpiEngine(const MpiEngine&) = delete;
  MpiEngine& operator=(const MpiEngine&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] const std::vector<int>& hosts() const { return hosts_; }
  [[nodiscard]] const std::string& host_name(int rank) const {
    return host_names_.at(static_cast<std::size_t>(rank));
  }
  // The number of a rank's process, if its memory can be read from here and that of this process
  // from there; 0 if not.
  [[nodiscard]] std::int64_t readable_process(int rank) const {
    return processes_.at(static_cast<std::size_t>(rank));
  }
  [[nodiscard]] MpiBoard& board() { return *board_; }
  void set_patience(std::chrono::milliseconds patience) { patience_ = patience; }

  [[nodiscard]] std::int32_t next_channel() { return next_channel_++; }
  // The inbox of a channel, which need not be connected yet on this rank.
  [[nodiscard]] Inbox& inbox(std::int32_t channel);
  void send(WorkerId to, const Frame& frame, Message message);
  void abort(std::int32_t channel, const std::string& reason);
  void abort_all(const std::string& reason);  // every channel, also later ones
  // Ends MPI and the thread, as MpiWorld::leave() says. Returns true if all ranks left together.
  bool leave();

 private:
  // May be called from any thread.
  void send_abort(std::int32_t channel, const std::string& reason);
  void fail(const std::string& reason);
  // Run on the engine's thread.
  void run();
  void start();
  void find_hosts();
  void find_host_names();
  void find_readable_processes(MPI_Comm here);
  [[nodiscard]] bool leave_with_the_others();
  [[nodiscard]] bool nothing_under_way();
  void step();
  bool post_sends();
  [[nodiscard]] std::shared_ptr<Transfer> next_to_send();
  // The index into `outbox_` of the next message to send; its size if none may be sent now.
  // Requires `mutex_` to be locked.
  [[nodiscard]] std::size_t next_in_outbox() const;
  bool take_frames();
  bool finish_transfers();
  void give_sign_of_life();
  void watch_rank_before();
  void note_sign_of_life(int rank);
  void expect_payload(WorkerId from, Frame frame);
  void finish_request(Transfer& transfer);
  void deliver(Transfer& transfer);
  void abandon();

  // Calls post(first byte, count, request) for each piece of the payload, which is at `bytes`.
  template <class Post>
  void in_pieces(const std::shared_ptr<Transfer>& transfer, std::byte* bytes, Post post);
  MPI_Request* new_request(const std::shared_ptr<Transfer>& transfer);

  std::int32_t next_channel_ = 0;
  int rank_ = 0;
  int size_ = 0;
  std::vector<int> hosts_;               // for each rank, the lowest rank on its host
  std::vector<std::string> host_names_;  // for each rank
  std::vector<std::int64_t> processes_;  // for each rank, what readable_process() returns
  std::unique_ptr<MpiBoard> board_;

  std::shared_ptr<KeptBlocks> memory_ = std::make_shared<KeptBlocks>();  // of incoming messages

  // Used only by the engine's thread.
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<MPI_Request> requests_;
  std::vector<std::shared_ptr<Transfer>> transfers_;  // for each request, its message
  int sending_ = 0;                                   // outgoing requests in `requests_`
  using Time = std::chrono::steady_clock::time_point;
  Time stepped_;                // when step() was called last
  Time moved_;                  // when a step() last found that something had moved
  Time given_sign_;             // when the last sign of life was sent
  Time heard_;                  // when the rank before gave the last sign of life
  bool leaves_ = false;         // this rank has sent its last sign of life
  bool before_leaves_ = false;  // the rank before has sent its last sign of life

  std::mutex mutex_;  // guards `outbox_`, `inboxes_` and `failure_`
  std::condition_variable queued_;
  std::deque<std::shared_ptr<Transfer>> outbox_;
  std::vector<std::unique_ptr<Inbox>> inboxes_;  // by channel; made when first needed
  std::string failure_;                          // why all channels failed; empty if they have not

  std::atomic<std::chrono::milliseconds> patience_{std::chrono::seconds(60)};
  std::atomic<bool> aborted_ = false;  // some rank aborted a channel, or MPI failed
  std::atomic<bool> closing_ = false;  // leave() has been called
  bool left_together_ = false;         // written by the engine's thread, read when that has ended
  std::promise<void> started_;
  std::thread thread_;
};

}  // namespace pipedream::transport
