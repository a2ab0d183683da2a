// Memory that the processes of one host share. Each notes in it what it does, so that the others
// can still read it after the process was killed. Only mpi_engine.cpp includes it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <mpi.h>

#include "transport/mpi.h"

namespace pipedream::transport {

// Made, and freed, by the engine's thread. The other functions may be called from any thread, but
// note() from one at a time.
class MpiBoard {
 public:
  // `here` has the ranks of this host, and `rank` is this process's rank in the whole world. Called
  // by all of them. If MPI has no shared memory to give, the board stays empty.
  MpiBoard(MPI_Comm here, int rank);
  ~MpiBoard();
  MpiBoard(const MpiBoard&) = delete;
  MpiBoard& operator=(const MpiBoard&) = delete;

  void note(std::span<const std::byte> what);
  void note_end();
  [[nodiscard]] std::vector<LostProcess> lost() const;
  // Gives the memory back. Called by all ranks of the host, or by none.
  void free();

 private:
  // What one process notes, in words, because the words of a process that is being killed may be
  // read while they are written: the reader then sees the old or the new word.
  struct Slot {
    std::atomic<std::int64_t> rank;
    std::atomic<std::int64_t> process;
    std::atomic<bool> has_ended;  // the process has ended, or is about to, for a reason of its own
    std::atomic<std::int64_t> bytes;
    std::atomic<std::uint64_t> words[kMostNoted / sizeof(std::uint64_t)];
  };

  MPI_Comm here_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<Slot*> slots_;  // of all ranks of this host
  Slot* mine_ = nullptr;
};

}  // namespace pipedream::transport
