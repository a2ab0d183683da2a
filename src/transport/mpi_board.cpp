#include "transport/mpi_board.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <new>
#include <string>

#include <unistd.h>

#include "core/check.h"

namespace pipedream::transport {
namespace {

// Whether there is a process of that number, and it is not a zombie: one that has ended and whose
// parent has not asked for its status yet.
bool is_alive(std::int64_t process) {
  if (::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH) return false;
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string stat;
  if (!std::getline(file, stat)) return true;
  const std::size_t name_end = stat.rfind(')');  // the name may hold anything
  return name_end == std::string::npos || stat.substr(name_end).find(" Z ") == std::string::npos;
}

}  // namespace

MpiBoard::MpiBoard(MPI_Comm here, int rank) : here_(here) {
  int ranks = 0;
  int own = 0;
  MPI_Comm_size(here_, &ranks);
  MPI_Comm_rank(here_, &own);
  void* memory = nullptr;
  if (MPI_Win_allocate_shared(sizeof(Slot), sizeof(Slot), MPI_INFO_NULL, here_, &memory,
                              &window_) != MPI_SUCCESS) {
    window_ = MPI_WIN_NULL;
    return;
  }
  mine_ = new (memory) Slot{};
  mine_->rank = rank;
  mine_->process = ::getpid();
  MPI_Barrier(here_);
  for (int each = 0; each < ranks; ++each) {
    MPI_Aint size = 0;
    int unit = 0;
    void* slot = nullptr;
    MPI_Win_shared_query(window_, each, &size, &unit, &slot);
    slots_.push_back(static_cast<Slot*>(slot));
  }
}

MpiBoard::~MpiBoard() = default;

void MpiBoard::free() {
  slots_.clear();
  mine_ = nullptr;
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
  MPI_Comm_free(&here_);
}

void MpiBoard::note(std::span<const std::byte> what) {
  PD_CHECK(what.size() <= kMostNoted);
  if (mine_ == nullptr) return;
  for (std::size_t at = 0; at < what.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, what.data() + at, std::min(sizeof(word), what.size() - at));
    mine_->words[at / sizeof(word)].store(word, std::memory_order_relaxed);
  }
  mine_->bytes.store(static_cast<std::int64_t>(what.size()), std::memory_order_relaxed);
}

void MpiBoard::note_end() {
  if (mine_ != nullptr) mine_->has_ended = true;
}

std::vector<LostProcess> MpiBoard::lost() const {
  std::vector<LostProcess> lost;
  for (const Slot* slot : slots_) {
    // In this order: a process that ends for a reason of its own notes it first.
    if (is_alive(slot->process) || slot->has_ended) continue;
    LostProcess& found =
        lost.emplace_back(LostProcess{static_cast<int>(slot->rank), slot->process, {}});
    found.noted.resize(kMostNoted);
    for (std::size_t i = 0; i < std::size(slot->words); ++i) {
      const std::uint64_t word = slot->words[i];
      std::memcpy(found.noted.data() + i * sizeof(word), &word, sizeof(word));
    }
    found.noted.resize(static_cast<std::size_t>(slot->bytes));
  }
  return lost;
}

}  // namespace pipedream::transport
