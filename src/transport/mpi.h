// A transport between the processes of one MPI job, on one host or many (docs/runtime.md). A
// worker's number is its rank. A build without MPI declares the same; there MpiWorld's constructor
// throws CannotMeet.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/transport.h"

namespace pipedream::transport {

// What transport/launcher.h knows of this process. Whether a launcher has started it whose
// processes MPI joins:
[[nodiscard]] bool launched_by_mpirun();
// The rank of this process according to its launcher, of MPI or not; 0 if there is none.
[[nodiscard]] int launched_rank();
// How many processes the launcher has started, in all and on this machine; nullopt if its variables
// do not say.
[[nodiscard]] std::optional<int> launched_size();
[[nodiscard]] std::optional<int> launched_here();

// The name and version of this build's MPI, such as "Open MPI v4.1.4". May be called before MPI
// starts. Empty in a build without MPI.
[[nodiscard]] std::string mpi_name();

class MpiEngine;

// The most bytes of a note (MpiWorld::note).
inline constexpr std::size_t kMostNoted = 96;

// A process of this host that is gone and did not end by itself: it was killed, or it crashed.
struct LostProcess {
  int rank = 0;
  std::int64_t process = 0;      // its number
  std::vector<std::byte> noted;  // what it noted last
};

// MPI in this process: the constructor starts it, the destructor ends it. Only one can be made in a
// process, since MPI cannot start again. It must outlive the endpoints that it connects, and is
// used by the thread that made it.
//
// A thread of its own makes all MPI calls, so that messages move while workers compute. It looks
// every 50 µs to 2 ms whether something has come, and the less often the longer nothing has moved.
// It receives every message that comes, whether or not a worker has asked for it; the schedule
// bounds what others send ahead, and so the memory for it. Payloads are sent from their owner's
// memory. They are received straight into the memory that the worker gets, which begins at a
// multiple of 64 bytes.
//
// When MPI fails underneath (the link to a peer broke), all endpoints are aborted with MPI's text.
// Usually mpirun is quicker: it ends all processes of a job when one dies.
//
// The thread also sends a sign of life to the next rank every second, and watches that of the rank
// before. If that rank is silent for longer than `set_patience`, because it is stopped or its link
// is dead, all endpoints of all ranks are aborted, with its number and host in the reason. Time in
// which this process itself was stopped does not count. So a wait on an endpoint may have no
// deadline: it ends when the process that is waited for is lost.
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
  // The name of a rank's host.
  [[nodiscard]] const std::string& host_name(int rank) const;
  // How many ranks are on this machine, by the launcher's environment variables or else by MPI.
  [[nodiscard]] int here() const;

  // Returns the endpoint of a new channel between all ranks. The n-th call on one rank is connected
  // with the n-th call on every other rank. Does not wait for the other ranks. An abort() reaches
  // them within about 1 ms; if several ranks abort at once, each reports the first abort that it
  // heard of.
  [[nodiscard]] std::unique_ptr<Transport> connect();

  // The longest silence of another process. 60 seconds until this is called.
  void set_patience(std::chrono::milliseconds patience);

  // Notes what this process does, in at most kMostNoted bytes. The other processes of this host can
  // read it when this one was killed.
  void note(std::span<const std::byte> what);
  // Says that this process is about to end by itself. Until then, and until leave() was called, it
  // counts as killed when it is gone.
  void note_end();
  // The processes of this host that were killed or crashed. May be called from any thread.
  [[nodiscard]] std::vector<LostProcess> lost_here() const;

  // Aborts every channel on every rank, including channels that are connected later.
  void abort(const std::string& reason);

  // Ends MPI in this process now, as the destructor would. Returns false if it gave up waiting for
  // a rank, which then may never hear of the abort. Called at most once, and as the last call.
  [[nodiscard]] bool leave();

 private:
  std::unique_ptr<MpiEngine> engine_;
};

}  // namespace pipedream::transport
