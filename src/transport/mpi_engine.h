// The thread behind mpi.h. Of this project only mpi.cpp and mpi_engine.cpp see MPI's own header.
#pragma once

#include <atomic>
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

#include "transport/frame.h"
#include "transport/inbox.h"

namespace pipedream::transport {

// A message on its way between two processes; what MPI reads and writes stays in place meanwhile.
struct Transfer {
  WorkerId peer;
  bool incoming = false;
  bool urgent = false;               // before others
  Frame frame;                       // when incoming
  std::vector<std::int64_t> packed;  // the frame, when outgoing
  Message message;
  int requests = 0;  // not done
};

// Makes all MPI calls, in a thread of its own. Each message is a frame and, under another of MPI's
// tags, the pieces of its payload. MPI keeps the order under each, so that pieces find their frame.
// next_channel() is its owner's; inbox(), send(), abort() and abort_all() may come from any thread.
class MpiEngine {
 public:
  MpiEngine();   // as MpiWorld's
  ~MpiEngine();  // as MpiWorld's; leaves, unless that was done

  MpiEngine(const MpiEngine&) = delete;
  MpiEngine& operator=(const MpiEngine&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] const std::vector<int>& hosts() const { return hosts_; }

  [[nodiscard]] std::int32_t next_channel() { return next_channel_++; }
  [[nodiscard]] Inbox& inbox(std::int32_t channel);
  void send(WorkerId to, const Frame& frame, Message message);
  void abort(std::int32_t channel, const std::string& reason);
  void abort_all(const std::string& reason);  // all channels, also those to come
  // Ends the thread; true when all ranks left together. Once.
  bool leave();

 private:
  // From any thread.
  void send_abort(std::int32_t channel, const std::string& reason);
  void fail(const std::string& reason);
  // All on the thread.
  void run();
  void start();
  void find_hosts();
  [[nodiscard]] bool leave_with_the_others();
  [[nodiscard]] bool nothing_under_way();
  void step();
  bool post_sends();
  [[nodiscard]] std::shared_ptr<Transfer> next_to_send();
  // The place of the next in the outbox; its size when nothing may go. With the lock.
  [[nodiscard]] std::size_t next_in_outbox() const;
  bool take_frames();
  bool finish_transfers();
  void expect_payload(WorkerId from, Frame frame);
  void finish_request(Transfer& transfer);
  void deliver(Transfer& transfer);
  void abandon();

  // Calls post(first byte, count, request) for each piece of the payload.
  template <class Post>
  void in_pieces(const std::shared_ptr<Transfer>& transfer, std::byte* bytes, Post post);
  MPI_Request* new_request(const std::shared_ptr<Transfer>& transfer);

  std::int32_t next_channel_ = 0;
  int rank_ = 0;
  int size_ = 0;
  std::vector<int> hosts_;  // by rank: the lowest rank on its host

  // The thread's.
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::vector<MPI_Request> requests_;
  std::vector<std::shared_ptr<Transfer>> transfers_;  // one per request
  int sending_ = 0;                                   // requests of messages to others
  int quiet_looks_ = 0;                               // since something moved

  std::mutex mutex_;  // of the four below
  std::condition_variable queued_;
  std::deque<std::shared_ptr<Transfer>> outbox_;
  std::vector<std::unique_ptr<Inbox>> inboxes_;  // by channel; made when first named
  std::string failure_;                          // of all channels: MPI's, or by abort_all()

  std::atomic<bool> aborted_ = false;
  std::atomic<bool> closing_ = false;
  bool left_together_ = false;  // the thread's, until it is joined
  std::promise<void> started_;
  std::thread thread_;
};

}  // namespace pipedream::transport
