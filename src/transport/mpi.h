// A transport between the processes of one MPI job, on one host or many (docs/runtime.md). A
// worker's number is its rank. A build without MPI declares the same; there MpiWorld's constructor
// throws CannotMeet.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transport/transport.h"

namespace pipedream::transport {

// Whether mpirun or another MPI launcher started this process. Reads the environment only, so that
// a program that was started plainly never starts MPI.
[[nodiscard]] bool launched_by_mpirun();

// The rank of this process according to the launcher's environment variables; 0 if there are none.
[[nodiscard]] int launched_rank();
// How many processes the launcher has started; nullopt if its environment variables do not say.
[[nodiscard]] std::optional<int> launched_size();
// How many processes the launcher has started on this machine; nullopt if its environment variables
// do not say.
[[nodiscard]] std::optional<int> launched_here();

class MpiEngine;

// MPI in this process: the constructor starts it, the destructor ends it. Only one can be made in a
// process, since MPI cannot start again. It must outlive the endpoints that it connects, and is
// used by the thread that made it.
//
// A thread of its own makes all MPI calls, so that messages move while workers compute. While
// nothing moves, it looks every 200 µs. It receives every message that comes, whether or not a
// worker has asked for it; the schedule bounds what others send ahead, and so the memory for it.
// Payloads are sent from their owner's memory. They are received straight into the memory that the
// worker gets, which begins at a multiple of 64 bytes.
//
// When MPI fails underneath (the link to a peer broke), all endpoints are aborted with MPI's text.
// Usually mpirun is quicker: it ends all processes of a job when one dies.
class MpiWorld {
 public:
  // Throws CannotMeet if MPI cannot start, and WorkerLost if its first calls fail.
  MpiWorld();

  // Waits until all messages have been sent and all other ranks end MPI as well. Until then it
  // still receives messages and aborts from them. After an abort it waits 5 s more at most. If a
  // rank has not come by then, it returns without MPI_Finalize, which would hang. The process
  // should then exit with a code other than 0, whereupon mpirun ends the other ranks.
  ~MpiWorld();

  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  // For each rank its host, named by the lowest rank on that host.
  [[nodiscard]] const std::vector<int>& hosts() const;
  // How many ranks are on this machine, by the launcher's environment variables or else by MPI.
  [[nodiscard]] int here() const;

  // Returns the endpoint of a new channel between all ranks. The n-th call on one rank is connected
  // with the n-th call on every other rank. Does not wait for the other ranks. An abort() reaches
  // them within about 1 ms; if several ranks abort at once, each reports the first abort that it
  // heard of.
  [[nodiscard]] std::unique_ptr<Transport> connect();

  // Aborts every channel on every rank, including channels that are connected later.
  void abort(const std::string& reason);

  // Ends MPI in this process now, as the destructor would. Returns false if it gave up waiting for
  // a rank, which then may never hear of the abort. Called at most once, and as the last call.
  [[nodiscard]] bool leave();

 private:
  std::unique_ptr<MpiEngine> engine_;
};

}  // namespace pipedream::transport
