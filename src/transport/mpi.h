// Workers that are processes of one MPI job, on one host or many: worker = rank.
// A build without MPI has all of this too; there the constructor throws CannotMeet.
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

// The number of this process among those that the launcher started, from the environment too; 0
// where there is none.
[[nodiscard]] int launched_rank();
// How many processes the launcher has started; none where it does not say.
[[nodiscard]] std::optional<int> launched_size();
// How many processes the launcher has started on this machine; none where it does not say.
[[nodiscard]] std::optional<int> launched_here();

class MpiEngine;

// MPI in this process: constructing starts it, destroying ends it. Once per process, since MPI
// cannot start again. Outlives its endpoints, and is used by the thread that made it.
//
// A thread of its own makes all MPI calls, so that messages move while workers compute; when
// nothing moves it looks every 200 µs. It receives whatever comes, asked for or not: memory is
// bounded by what the schedule lets others send ahead. Payloads are sent from their owner's memory,
// received once, and start at a multiple of 64 bytes.
//
// When MPI fails underneath (the link to a peer broke), all endpoints are aborted with MPI's text.
// Usually mpirun is quicker: it ends all processes of a job when one dies.
class MpiWorld {
 public:
  // Throws CannotMeet when MPI cannot start.
  MpiWorld();

  // Waits until all that was sent has left and all other ranks end as well; until then messages and
  // aborts from them are still taken. Once there was an abort, waits 5 s more at most: if a rank
  // has not come by then, returns without MPI_Finalize, which would hang. The process should then
  // end with a code other than 0, whereupon mpirun ends the other ranks.
  ~MpiWorld();

  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  // The host of each rank: the lowest rank there.
  [[nodiscard]] const std::vector<int>& hosts() const;
  // How many ranks are on this machine: as the launcher says, or else as MPI found.
  [[nodiscard]] int here() const;

  // One more channel between all ranks: the n-th call here is connected with the n-th call on every
  // other rank. Does not wait for them. Its abort() is heard at the other ranks within about 1 ms;
  // when several ranks abort at once, each rank reports the first that it heard of.
  [[nodiscard]] std::unique_ptr<Transport> connect();

  // Aborts every channel on every rank, also those that are yet to be connected.
  void abort(const std::string& reason);

  // What destroying does, before: ends MPI here. False when it gave up waiting for a rank, which
  // then may never hear of the abort. The last call, and only once.
  [[nodiscard]] bool leave();

 private:
  std::unique_ptr<MpiEngine> engine_;
};

}  // namespace pipedream::transport
