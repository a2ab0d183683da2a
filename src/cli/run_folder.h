// --out: what a training leaves behind (docs/formats.md#run-folder).
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "train/trainer.h"

namespace pipedream::cli {

// metrics.jsonl: one JSON object a line, on disk as soon as it is written. Throws IoError.
class Metrics {
 public:
  explicit Metrics(const std::filesystem::path& file);
  void add(const train::Step& step);
  void add(const train::Evaluation& evaluation);

 private:
  void write(const std::string& line);

  std::string name_;
  std::ofstream file_;
};

// Makes the folder. One that has the results of a training that ended is refused: they are not to
// be mixed.
void make_run_folder(const std::filesystem::path& folder);

// A training begins: removes what one that failed has left there, and writes what this one was made
// of, by file name. All that the folder was read for must have been read: its configuration may be
// the one in use.
void begin_run_folder(const std::filesystem::path& folder,
                      const std::map<std::string, std::string>& files);

// The last thing that a training writes: with it the run is complete.
void end_run_folder(const std::filesystem::path& folder, const std::string& summary);

}  // namespace pipedream::cli
