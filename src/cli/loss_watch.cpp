#include "cli/loss_watch.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <iostream>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "cli/run.h"
#include "core/error.h"
#include "train/trainer.h"

namespace pipedream::cli {
namespace {

std::atomic<int> wakes = -1;  // the writing end of the pipe of the only LossWatch
std::atomic<void (*)(int)> before = SIG_DFL;

// Only calls functions that a signal handler may call.
extern "C" void wake_loss_watch(int) {
  const char byte = 0;
  [[maybe_unused]] const ssize_t written = ::write(wakes, &byte, 1);
}

}  // namespace

LossWatch::LossWatch(transport::MpiWorld& world) : world_(world) {
  if (::pipe2(pipe_, O_CLOEXEC) != 0)
    throw IoError(std::string("cannot make a pipe: ") + std::strerror(errno));
  wakes = pipe_[1];
  thread_ = std::thread([this] { run(); });
  struct sigaction found {};
  if (::sigaction(SIGTERM, nullptr, &found) == 0 && found.sa_handler != SIG_IGN) {
    before = found.sa_handler;
    (void)std::signal(SIGTERM, wake_loss_watch);
  }
}

LossWatch::~LossWatch() {
  struct sigaction found {};
  if (::sigaction(SIGTERM, nullptr, &found) == 0 && found.sa_handler == wake_loss_watch)
    (void)std::signal(SIGTERM, before);
  wakes = -1;
  ::close(pipe_[1]);
  thread_.join();
  ::close(pipe_[0]);
}

void LossWatch::run() {
  char byte = 0;
  if (::read(pipe_[0], &byte, 1) <= 0) return;
  end_if_lost();
  world_.note_end();
  (void)std::signal(SIGTERM, before);
  (void)::kill(::getpid(), SIGTERM);
}

// mpirun has waited for the process that died before it ends the others, so one look is enough.
void LossWatch::end_if_lost() {
  const std::vector<transport::LostProcess> lost = world_.lost_here();
  if (lost.empty()) return;
  // The lowest rank of this host that is left speaks.
  int speaker = -1;
  for (int rank = 0; rank < world_.size() && speaker < 0; ++rank) {
    const bool is_here = world_.hosts().at(static_cast<std::size_t>(rank)) ==
                         world_.hosts().at(static_cast<std::size_t>(world_.rank()));
    const bool is_lost =
        std::any_of(lost.begin(), lost.end(), [&](const auto& each) { return each.rank == rank; });
    if (is_here && !is_lost) speaker = rank;
  }
  world_.note_end();
  if (speaker == world_.rank())
    for (const transport::LostProcess& each : lost)
      std::cerr << "pipedream: " + train::describe(each, world_.host_name(each.rank)) + "\n"
                << std::flush;
  ::_exit(kWorkerLost);
}

}  // namespace pipedream::cli
