// Writes the checkpoints of a training while it goes on (docs/checkpoints.md).
#pragma once

#include <condition_variable>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "checkpoint/disk.h"
#include "checkpoint/folder.h"
#include "checkpoint/manifest.h"
#include "model/weights_file.h"
#include "runtime/host_copies.h"
#include "transport/transport.h"

namespace pipedream::train {

inline constexpr int kMostKept = 1'000'000;

// Where checkpoints go, and what their manifests say at every step alike.
struct Saving {
  std::filesystem::path folder;  // of all checkpoints; must exist
  // How many of the newest to keep. The one with the lowest held-out loss is kept, too.
  int keep = 3;
  // Everything but the position, the losses and the files.
  checkpoint::Manifest about;
  // Checkpoints that were found to be damaged. They are removed when a newer one is written.
  std::vector<std::filesystem::path> damaged{};
  checkpoint::Disk* disk = nullptr;  // null: the disk of this machine
};

// What a manifest says of one step.
struct SavedStep {
  checkpoint::Position position;
  double loss = 0;
  std::optional<double> held_out_loss;
};

// One worker's part in writing checkpoints, on a thread of its own. Every worker writes one file,
// or sends its content to worker 0 if it does not see the folder. Worker 0 writes the manifest when
// all files are on the disk. Owned by the worker's thread.
//  1. One checkpoint is written at a time: save() waits until the one before is done, so that there
//     is at most one copy of the state.
//  2. A failure to write is logged as a warning, and the checkpoint is given up by all workers. The
//     training goes on, and the next checkpoint is tried again.
class Saver {
 public:
  // `channel` is for this class alone. `saving` must outlive it. `metadata` goes into every file of
  // tensors. `sees_folder`: whether this worker's machine sees the folder.
  Saver(const Saving& saving, model::WeightsMetadata metadata, transport::Transport& channel,
        bool sees_folder);
  // Waits until the checkpoint under way is written.
  ~Saver();
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;

  // Takes over this worker's part of the state (runtime/state.h) and has it written. Must be called
  // by all workers, for the same steps. Only worker 0 uses `step` beyond its number.
  void save(std::map<std::string, runtime::HostCopies::Copy> state, const SavedStep& step);
  // Waits until everything is written. Throws what has ended the writing thread: Aborted if another
  // worker has failed.
  void finish();

  // Why the newest checkpoint could not be written; only at worker 0. nullopt if it could.
  [[nodiscard]] std::optional<std::string> failure() const;
  // How many checkpoints were written; only at worker 0.
  [[nodiscard]] int written() const;

 private:
  struct Job {
    std::map<std::string, runtime::HostCopies::Copy> state;
    SavedStep step;
    // Counts the bytes of `state` for the worker (model/memory_meter.h), whose thread does not free
    // them.
    std::shared_ptr<void> counted;
  };
  void run();
  // Writes this worker's file and, at worker 0, the manifest. Returns why the checkpoint was given
  // up; at other workers nullopt. Throws Aborted if another worker has failed.
  [[nodiscard]] std::optional<std::string> write(const Job& job);
  // Sends this worker's file to worker 0, which writes it.
  void send_part(const Job& job);
  // Returns why the manifest was not written; empty if it was.
  [[nodiscard]] std::string finish_checkpoint(checkpoint::NewCheckpoint& made,
                                              checkpoint::Manifest manifest, const SavedStep& step);
  // Removes damaged and old checkpoints. The newest `Saving::keep` of those up to `step` stay, and
  // the one with the lowest held-out loss.
  void remove_old(std::int64_t step);
  void try_to_remove(const std::filesystem::path& path);

  const Saving& saving_;
  checkpoint::Disk& disk_;
  model::WeightsMetadata metadata_;
  transport::Transport& channel_;
  bool sees_folder_;
  std::vector<std::filesystem::path> damaged_;  // Saving::damaged that were not removed yet
  mutable std::mutex mutex_;                    // guards what follows
  std::condition_variable changed_;
  std::optional<Job> job_;  // the checkpoint that is written, or is to be written next
  bool ends_ = false;
  std::optional<std::string> failure_;
  int written_ = 0;
  std::exception_ptr aborted_;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace pipedream::train
