// Says which process of mpirun was lost when mpirun ends the others for it.
#pragma once

#include <thread>

#include "transport/mpi.h"

namespace pipedream::cli {

// When a process of a job dies, mpirun ends the others by SIGTERM, and by SIGKILL a second later.
// While an object of this class exists, SIGTERM looks for processes of this host that are gone. If
// there is one, the lowest rank that is left prints which worker was lost, and in which op, and all
// end with exit code 69. If there is none, SIGTERM does what it did before. At most one object
// exists at a time, inside the life of a WhenInterrupted (cli/interrupt.h).
class LossWatch {
 public:
  // `world` must outlive it.
  explicit LossWatch(transport::MpiWorld& world);
  ~LossWatch();
  LossWatch(const LossWatch&) = delete;
  LossWatch& operator=(const LossWatch&) = delete;

 private:
  void run();
  // Returns if nobody was lost. Otherwise ends the process.
  void end_if_lost();

  transport::MpiWorld& world_;
  int pipe_[2] = {-1, -1};  // a byte means SIGTERM, the end means that the object is destroyed
  std::thread thread_;
};

}  // namespace pipedream::cli
