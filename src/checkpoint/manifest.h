// The manifest of a checkpoint (docs/formats.md#checkpoint): what was trained so far, and which
// files hold its state. A checkpoint without a manifest does not exist.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace pipedream::checkpoint {

// One file beside the manifest.
struct FileEntry {
  std::string name;  // without folders
  std::uint64_t bytes = 0;
  std::string checksum;  // core/checksum.h
  friend bool operator==(const FileEntry&, const FileEntry&) = default;
};

// How far a training has come.
struct Position {
  std::int64_t step = 0;     // minibatches of `Manifest::batch` samples trained, over all epochs
  std::int64_t samples = 0;  // samples trained, over all epochs
  std::int64_t epoch = 0;    // the epoch that the next sample belongs to, from 0
  std::int64_t samples_of_epoch = 0;  // samples of that epoch that were trained
  // Minibatches of the schedule trained so far. Such a minibatch can be larger than
  // `Manifest::batch` (dapple). Dropout is seeded with this number. A resumed run counts on from
  // it, with any plan, so no dropout mask repeats.
  std::int64_t minibatch = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

// All numbers are at most 2^53, so that JSON holds them exactly.
struct Manifest {
  std::string run;  // 32 hexadecimal digits: the same for all checkpoints of a run and its resumes
  Position position;
  double loss = 0;                      // of the last minibatch
  std::optional<double> held_out_loss;  // of an evaluation of exactly this state
  std::uint64_t seed = 0;
  std::string model;
  std::map<std::string, std::string> model_options;
  // What else tells one network from another, such as a digest of an exported program.
  std::map<std::string, std::string> model_facts;
  std::string data;               // as --data says it, with an absolute path
  std::int64_t data_samples = 0;  // of the training data
  std::int64_t batch = 0;
  std::string precision;
  std::string optimiser;
  double learning_rate = 0;
  std::string plan;  // a plan file (plan/plan_file.h), as text
  std::vector<FileEntry> files;
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

// The size of all files beside the manifest.
[[nodiscard]] std::uint64_t bytes_of(const Manifest& manifest);

// Returns the content of the file. Its last member is a checksum of everything before it.
[[nodiscard]] std::string to_json(const Manifest& manifest);

// A manifest that another version of the program has written: it is sound, and not for this one.
class OtherVersion : public BadFile {
 public:
  using BadFile::BadFile;
};

// Parses what to_json() returned. Throws OtherVersion, and BadFile, which names `file` and the
// place, if a byte was changed, if a member is missing or unknown, or if a file's name is not a
// plain name: letters, digits, '.', '-' and '_', not beginning with '.'.
[[nodiscard]] Manifest parse_manifest(std::string_view content, const std::string& file);

}  // namespace pipedream::checkpoint
