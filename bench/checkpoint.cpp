// What checkpoints cost. VGG-16 (32 px) is trained by a straight pipeline of two workers, by turns
// without checkpoints and with one every 100 minibatches. The difference is the cost of a
// checkpoint: draining and filling the pipeline, copying the state, and what writing takes from
// training. Then a checkpoint of the same state is written and read, by turns with a plain copy of
// the same bytes (bars: at most 3.5 % of a ten-minute run at the default interval, one per epoch;
// at least 0.8 of the plain copy's speed).
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "checkpoint/folder.h"
#include "core/file.h"
#include "core/median.h"
#include "core/testing.h"
#include "model/keep_memory.h"
#include "model/zoo.h"
#include "report/table.h"
#include "train/profiling.h"
#include "train/resume.h"
#include "training.h"

namespace {

using namespace pipedream;
namespace fs = std::filesystem;

constexpr int kRounds = 3;
constexpr int kCopies = 5;
constexpr std::int64_t kBatch = 16;
constexpr double kTenMinutes = 600;
constexpr double kMostShare = 0.035;
constexpr double kLeastRatio = 0.8;

double seconds_of(const std::function<void()>& action) {
  const auto began = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

struct Sides {
  std::vector<double> without;  // seconds of a whole training
  std::vector<double> with;
};

// Trains without and with checkpoints, by turns. The last training's checkpoints stay in `folder`.
Sides train_by_turns(const model::Network& network, const plan::Plan& plan, const data::Data& data,
                     const fs::path& folder, std::int64_t every) {
  Sides sides;
  checkpoint::Manifest about;
  about.run = train::new_run_id();
  about.batch = kBatch;
  about.data_samples = data.training->samples();
  for (int round = 0; round < kRounds; ++round) {
    bench::RunOptions options{.minibatches = 2 * every};
    sides.without.push_back(bench::trained(network, plan, data, options).measured.seconds.count());
    options.saving.emplace(train::Saving{.folder = folder, .keep = 1, .about = about});
    options.every = every;
    sides.with.push_back(bench::trained(network, plan, data, options).measured.seconds.count());
    std::cerr << "round " << round + 1 << " of " << kRounds << ": " << sides.without.back()
              << " s without, " << sides.with.back() << " s with\n";
  }
  return sides;
}

std::string content_of(const fs::path& checkpoint) {
  std::string all;
  for (const auto& entry : fs::directory_iterator(checkpoint))
    if (entry.path().extension() == ".safetensors") all += read_file(entry.path());
  return all;
}

// Writes and syncs `content` to a new file, as plainly as it can be done.
void write_plainly(const fs::path& file, const std::string& content) {
  const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  std::size_t done = 0;
  while (opened >= 0 && done < content.size()) {
    const ssize_t count = ::write(opened, content.data() + done, content.size() - done);
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  if (opened < 0 || done < content.size() || ::fsync(opened) != 0) {
    std::cerr << "cannot write " << file << "\n";
    std::exit(1);
  }
  ::close(opened);
}

struct Speeds {
  double written = 0;  // bytes per second
  double plain = 0;
  double read = 0;   // with all checksums, and as tensors
  double ratio = 0;  // of `written` to `plain`: the median of the rounds
};

Speeds measure_speeds(const fs::path& checkpoint, const fs::path& scratch) {
  const std::string content = content_of(checkpoint);
  const double bytes = static_cast<double>(content.size());
  std::vector<double> written, plain, read, ratios;
  for (int i = 0; i < kCopies; ++i) {
    const fs::path folder = scratch / ("copy" + std::to_string(i));
    fs::create_directories(folder);
    written.push_back(seconds_of([&] {
      checkpoint::NewCheckpoint made(checkpoint::real_disk(), folder, 1);
      checkpoint::Manifest manifest;
      manifest.run = train::new_run_id();
      manifest.position.step = manifest.batch = manifest.data_samples = 1;
      manifest.files.push_back(
          made.add("worker0.safetensors", std::vector{std::string_view(content)}));
      made.finish(manifest);
    }));
    plain.push_back(seconds_of([&] { write_plainly(folder / "plain", content); }));
    ratios.push_back(plain.back() / written.back());
    read.push_back(seconds_of([&] {
      const train::SoundCheckpoint found = train::one_checkpoint(checkpoint);
      (void)train::weights_of(found);
    }));
    fs::remove_all(folder);
  }
  return {bytes / median(written), bytes / median(plain), bytes / median(read), median(ratios)};
}

}  // namespace

// usage: bench_checkpoint [--json] [--every 100]
int main(int count, char** arguments) {
  model::keep_memory(arguments);
  bool as_json = false;
  std::int64_t every = 100;
  for (int i = 1; i < count; ++i) {
    if (std::string(arguments[i]) == "--json") as_json = true;
    if (std::string(arguments[i]) == "--every" && i + 1 < count)
      every = std::max(1LL, std::atoll(arguments[++i]));
  }
  const model::NetworkEntry& entry = model::zoo_entry("vgg16");
  const model::Network network =
      entry.make(model::Options(entry.options, {{"image-size", "32"}, {"classes", "10"}}), kBatch);
  const data::Data data = data::open_data("", network, {.seed = 1});
  const profile::Profile profile = train::profile_for_training(
      network, {.seed = 1, .budget = std::chrono::duration<double>(5), .workers = 2}, {});
  const plan::Plan plan = bench::straight_plan(profile, 2).plan;
  const test::TemporaryFolder scratch;
  const Sides sides = train_by_turns(network, plan, data, scratch.path(), every);
  std::vector<double> shares;  // of the time of training
  for (std::size_t i = 0; i < sides.with.size(); ++i)
    shares.push_back(sides.with[i] / sides.without[i] - 1);
  const double each = median(shares) * median(sides.without) / 2;
  const double epoch = median(sides.without) / static_cast<double>(2 * every) *
                       static_cast<double>(data.training->samples()) / kBatch;
  const double in_ten_minutes = std::max(1.0, kTenMinutes / epoch);
  const double share = std::max(0.0, in_ten_minutes * each / kTenMinutes);
  const auto newest = train::newest_checkpoint(scratch.path());
  const Speeds speeds = measure_speeds(newest->path, scratch.path());
  const bool within = share <= kMostShare && speeds.ratio >= kLeastRatio;
  constexpr double kMega = 1e6;
  if (as_json) {
    std::cout << nlohmann::ordered_json{{"within", within},
                                        {"every", every},
                                        {"share_of_training", median(shares)},
                                        {"seconds_each", each},
                                        {"epoch_seconds", epoch},
                                        {"share_of_ten_minutes", share},
                                        {"written_mb_per_second", speeds.written / kMega},
                                        {"plain_mb_per_second", speeds.plain / kMega},
                                        {"read_mb_per_second", speeds.read / kMega},
                                        {"ratio_to_plain", speeds.ratio}}
                     .dump(2)
              << "\n";
    return within ? 0 : 1;
  }
  std::cout << "every " << every << " minibatches   " << report::percent(median(shares))
            << " of the training's time, " << report::three_digits(each) << " s each\n"
            << "once per epoch          " << report::percent(share)
            << " of a ten-minute run (an epoch takes " << report::three_digits(epoch)
            << " s; bar 3.5 %)\n"
            << "writing                 " << report::three_digits(speeds.written / kMega)
            << " MB/s, " << report::percent(speeds.ratio) << " of a plain copy's "
            << report::three_digits(speeds.plain / kMega) << " MB/s (bar 80 %)\n"
            << "reading and checking    " << report::three_digits(speeds.read / kMega) << " MB/s\n"
            << "\nmedians of " << kRounds << " and " << kCopies
            << " rounds; bars: " << (within ? "" : "NOT ") << "met\n";
  return within ? 0 : 1;
}
