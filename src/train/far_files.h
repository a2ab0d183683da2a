// Checkpoints of workers on machines that do not see the run folder: worker 0's machine writes and
// reads the files for them.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/state.h"
#include "transport/transport.h"

namespace pipedream::train {

// Finds out whether this worker's machine sees `folder` of worker 0's: worker 0 writes a token
// file, and the others look for it. Must be called by all workers. `control` is used for messages.
// Throws WorkerLost after `patience`. If worker 0 cannot write the token, all workers take the
// folder for the same one: the failure shows when checkpoints are written.
[[nodiscard]] bool sees_folder(transport::Transport& control, const std::filesystem::path& folder,
                               std::chrono::milliseconds patience);

// Gives workers that do not see a checkpoint its tensors, on a thread of worker 0. Nobody else may
// use `channel` meanwhile. The destructor waits until all `clients` have called TensorClient's
// destructor.
class TensorServer {
 public:
  TensorServer(transport::Transport& channel, runtime::FindTensor find,
               std::vector<WorkerId> clients);
  ~TensorServer();
  TensorServer(const TensorServer&) = delete;
  TensorServer& operator=(const TensorServer&) = delete;

 private:
  void serve(std::vector<WorkerId> clients);
  transport::Transport& channel_;
  runtime::FindTensor find_;
  std::thread thread_;
};

// Fetches tensors of the checkpoint from worker 0's TensorServer. Used by one worker's thread.
class TensorClient {
 public:
  TensorClient(transport::Transport& channel, std::chrono::milliseconds patience)
      : channel_(channel), patience_(patience) {}
  ~TensorClient();
  TensorClient(const TensorClient&) = delete;
  TensorClient& operator=(const TensorClient&) = delete;

  // Throws WorkerLost after `patience`, and what worker 0 threw when it read the tensor, as
  // BadFile.
  [[nodiscard]] std::optional<at::Tensor> find(const std::string& name);

 private:
  transport::Transport& channel_;
  std::chrono::milliseconds patience_;
};

}  // namespace pipedream::train
