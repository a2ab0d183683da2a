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

// As many samples of another data set as whole minibatches have.
class WholeMinibatches final : public DataSet {
 public:
  WholeMinibatches(std::unique_ptr<const DataSet> of, std::int64_t batch)
      : of_(std::move(of)), samples_(of_->samples() / batch * batch) {
    if (samples_ == 0)
      throw CannotMeet("the data, or its held-out part, has " +
                       counted(of_->samples(), "sample", "samples") +
                       ", and every minibatch must have " + std::to_string(batch));
  }
  std::int64_t samples() const override { return samples_; }
  at::Tensor load(const model::InputSpec& input,
                  std::span<const std::int64_t> samples) const override {
    return of_->load(input, samples);
  }

 private:
  std::unique_ptr<const DataSet> of_;
  std::int64_t samples_;
};

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

Data open_any(const std::string& spec, const model::Network& network, std::uint64_t seed) {
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

}  // namespace

Data open_data(const std::string& spec, const model::Network& network, std::uint64_t seed) {
  Data data = open_any(spec, network, seed);
  if (!network.has_fixed_batch) return data;
  data.training = std::make_unique<WholeMinibatches>(std::move(data.training), network.batch);
  data.held_out = std::make_unique<WholeMinibatches>(std::move(data.held_out), network.batch);
  return data;
}

}  // namespace pipedream::train
