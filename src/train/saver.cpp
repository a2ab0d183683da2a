#include "train/saver.h"

#include <algorithm>

#include "checkpoint/folder.h"
#include "core/error.h"
#include "core/log.h"
#include "core/thread.h"
#include "model/memory_meter.h"
#include "model/weights_file.h"
#include "transport/text_message.h"

namespace pipedream::train {
namespace {

using checkpoint::FileEntry;
using checkpoint::Found;
using checkpoint::Manifest;
using checkpoint::NewCheckpoint;

constexpr WorkerId kCollector{0};
constexpr int kParts = 0;  // tag of the messages about parts
// What a message about a part says. kWritten is followed by the bytes of the file, and kSent by the
// number of its pieces, which come as further messages.
enum PartKind : std::int64_t { kNotWritten, kWritten, kSent };

// What a worker tells worker 0 about its file: the entry for the manifest, or why there is none.
struct Part {
  std::optional<FileEntry> entry;
  std::string failure;
};

std::string part_name(WorkerId worker) {
  return "worker" + std::to_string(worker.value) + ".safetensors";
}

transport::Message to_message(const Part& part) {
  if (!part.entry) return transport::text_message(part.failure, {kNotWritten});
  return transport::text_message(part.entry->checksum,
                                 {kWritten, static_cast<std::int64_t>(part.entry->bytes)});
}

// Receives the content of a file from a worker that does not see the folder, and writes it.
Part receive_part(transport::Transport& channel, WorkerId from, std::int64_t count,
                  NewCheckpoint* made) {
  std::vector<transport::Message> messages;
  std::vector<std::string_view> pieces;
  for (std::int64_t i = 0; i < count; ++i) {
    messages.push_back(channel.wait(channel.receive(from, kParts), transport::Deadline::max()));
    const auto& bytes = messages.back().bytes;
    pieces.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  if (made == nullptr) return {};
  try {
    return {made->add(part_name(from), pieces), {}};
  } catch (const Error& error) {
    return {std::nullopt, error.what()};
  }
}

Part to_part(const transport::Message& message, WorkerId from) {
  const std::string text = transport::text_of(message);
  if (message.header.at(0) == kNotWritten) return {std::nullopt, text};
  return {FileEntry{part_name(from), static_cast<std::uint64_t>(message.header.at(1)), text}, {}};
}

// The checkpoint with the lowest held-out loss; of several, the first. Null if none was evaluated.
const Found* best_of(const std::vector<Found>& all) {
  const Found* best = nullptr;
  double best_loss = 0;
  for (const Found& found : all) {
    const auto* manifest = std::get_if<Manifest>(&found.content);
    if (manifest == nullptr || !manifest->held_out_loss) continue;
    if (best != nullptr && *manifest->held_out_loss >= best_loss) continue;
    best = &found;
    best_loss = *manifest->held_out_loss;
  }
  return best;
}

model::WeightsImage image_of(const std::map<std::string, runtime::HostCopies::Copy>& state,
                             const model::WeightsMetadata& metadata) {
  model::NamedTensors tensors;
  for (const auto& [name, copy] : state) tensors.emplace(name, copy.wait());
  return model::image_of(tensors, metadata);
}

// Writes this worker's file.
Part write_part(NewCheckpoint& made, WorkerId me,
                const std::map<std::string, runtime::HostCopies::Copy>& state,
                const model::WeightsMetadata& metadata) {
  return {made.add(part_name(me), image_of(state, metadata).pieces()), {}};
}

}  // namespace

Saver::Saver(const Saving& saving, model::WeightsMetadata metadata, transport::Transport& channel,
             bool sees_folder)
    : saving_(saving),
      disk_(saving.disk != nullptr ? *saving.disk : checkpoint::real_disk()),
      metadata_(std::move(metadata)),
      channel_(channel),
      sees_folder_(sees_folder),
      damaged_(saving.damaged),
      thread_(start_helper("pd-saver", [this] { run(); })) {}

Saver::~Saver() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Saver::save(std::map<std::string, runtime::HostCopies::Copy> state, const SavedStep& step) {
  finish();
  std::int64_t bytes = 0;
  for (const auto& [name, copy] : state) {
    bytes += static_cast<std::int64_t>(copy.tensor.nbytes());
    model::MemoryMeter::give_away(copy.tensor.data_ptr());
  }
  {
    const std::lock_guard lock(mutex_);
    job_.emplace(Job{std::move(state), step, model::MemoryMeter::take_over(bytes)});
  }
  changed_.notify_all();
}

void Saver::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !job_ || aborted_; });
  if (aborted_) std::rethrow_exception(aborted_);
}

std::optional<std::string> Saver::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

int Saver::written() const {
  const std::lock_guard lock(mutex_);
  return written_;
}

void Saver::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || job_; });
    if (!job_) return;
    lock.unlock();
    std::exception_ptr aborted;
    std::optional<std::string> failure;
    try {
      failure = write(*job_);
    } catch (...) {
      aborted = std::current_exception();
    }
    lock.lock();
    job_.reset();
    if (!failure && !aborted) ++written_;
    failure_ = std::move(failure);
    aborted_ = aborted;
    changed_.notify_all();
    if (aborted_) return;
  }
}

void Saver::send_part(const Job& job) {
  const auto image = std::make_shared<const model::WeightsImage>(image_of(job.state, metadata_));
  const std::vector<std::string_view> pieces = image->pieces();
  channel_.send(kCollector, kParts, {{kSent, static_cast<std::int64_t>(pieces.size())}, {}, {}});
  for (const std::string_view piece : pieces)
    channel_.send(kCollector, kParts, {{}, std::as_bytes(std::span(piece)), image});
}

std::optional<std::string> Saver::write(const Job& job) {
  const WorkerId me = channel_.me();
  if (!sees_folder_) {
    send_part(job);
    return std::nullopt;
  }
  std::optional<NewCheckpoint> made;
  Part own;
  try {
    made.emplace(disk_, saving_.folder, job.step.position.step);
    own = write_part(*made, me, job.state, metadata_);
  } catch (const Error& error) {
    own.failure = error.what();
  }
  if (me != kCollector) {
    channel_.send(kCollector, kParts, to_message(own));
    return std::nullopt;
  }
  Manifest manifest = saving_.about;
  std::string failure = own.failure;
  if (own.entry) manifest.files.push_back(*own.entry);
  for (int w = 1; w < channel_.workers(); ++w) {
    // No deadline: a disk may be slow, and a worker that fails aborts this channel.
    const transport::Message message =
        channel_.wait(channel_.receive({w}, kParts), transport::Deadline::max());
    const Part part =
        message.header.at(0) == kSent
            ? receive_part(channel_, {w}, message.header.at(1), made ? &*made : nullptr)
            : to_part(message, {w});
    if (part.entry) manifest.files.push_back(*part.entry);
    if (failure.empty()) failure = part.failure;
  }
  if (failure.empty()) failure = finish_checkpoint(*made, std::move(manifest), job.step);
  if (failure.empty()) return std::nullopt;
  log_warning("the checkpoint of step " + std::to_string(job.step.position.step) +
              " was not written: " + failure + "; training goes on, and tries again later");
  if (made) made->give_up();
  return failure;
}

std::string Saver::finish_checkpoint(NewCheckpoint& made, Manifest manifest,
                                     const SavedStep& step) {
  manifest.position = step.position;
  manifest.loss = step.loss;
  manifest.held_out_loss = step.held_out_loss;
  try {
    made.finish(manifest);
  } catch (const Error& error) {
    return error.what();
  }
  remove_old(step.position.step);
  return {};
}

void Saver::remove_old(std::int64_t step) {
  for (const std::filesystem::path& path : std::exchange(damaged_, {}))
    // The damaged one of this step was replaced by the one that was just written.
    if (path.filename() != checkpoint::folder_name(step)) try_to_remove(path);
  std::vector<Found> all;
  try {
    all = checkpoint::find_checkpoints(saving_.folder);
  } catch (const IoError& error) {
    return log_info(std::string("old checkpoints stay: ") + error.what());
  }
  std::erase_if(all, [&](const Found& found) {
    const auto* damage = std::get_if<checkpoint::Damage>(&found.content);
    return found.step > step || (damage != nullptr && !damage->is_for_good);
  });
  const Found* best = best_of(all);
  const auto kept = static_cast<std::size_t>(saving_.keep);
  for (std::size_t i = 0; i + kept < all.size(); ++i)
    if (&all[i] != best) try_to_remove(all[i].path);
}

// A checkpoint that cannot be removed stays. That is no reason to stop the training, or to warn at
// every step.
void Saver::try_to_remove(const std::filesystem::path& path) {
  try {
    checkpoint::remove_checkpoint(disk_, path);
  } catch (const IoError& error) {
    log_info(std::string("an old checkpoint stays: ") + error.what());
  }
}

}  // namespace pipedream::train
