#include "train/data_set.h"

#include <vector>

#include "core/error.h"
#include "core/nearest.h"
#include "core/text.h"
#include "train/idx.h"
#include "train/synthetic.h"
#include "train/tensor_files.h"
#include "train/text.h"

namespace pipedream::train {

namespace {

// A kind of data, what its name is followed by, and how it is opened.
struct DataKind {
  const char* name;
  const char* argument;
  Data (*open)(const std::string& argument, const model::Network& network);
};

std::vector<std::filesystem::path> files_in(const std::string& list) {
  const auto names = split(list, ',');
  return {names.begin(), names.end()};
}

constexpr DataKind kDataKinds[] = {
    {"idx", "DIR",
     [](const std::string& path, const model::Network& n) { return open_idx(path, n); }},
    {"text", "FILE",
     [](const std::string& path, const model::Network& n) { return open_text(path, n); }},
    {"safetensors", "FILE",
     [](const std::string& list, const model::Network& n) {
       return open_safetensors(files_in(list), n);
     }},
    {"npy", "FILE,FILE",
     [](const std::string& list, const model::Network& n) { return open_npy(files_in(list), n); }}};

}  // namespace

Data open_data(const std::string& spec, const model::Network& network, std::uint64_t seed) {
  if (spec.empty() || spec == "synthetic") return open_synthetic(network, seed);
  const std::size_t colon = spec.find(':');
  const std::string kind = spec.substr(0, colon);
  const std::string path = colon == std::string::npos ? "" : spec.substr(colon + 1);
  std::vector<std::string> names{"synthetic"};
  for (const DataKind& known : kDataKinds) {
    names.emplace_back(known.name);
    if (kind != known.name) continue;
    if (path.empty())
      throw BadUsage("the data set '" + kind + "' needs a " +
                     (known.argument == std::string("DIR") ? "folder" : "file") + ": write " +
                     kind + ":" + known.argument);
    return known.open(path, network);
  }
  throw BadUsage("there is no data set '" + printable(spec) + "'" + suggestion(kind, names));
}

}  // namespace pipedream::train
