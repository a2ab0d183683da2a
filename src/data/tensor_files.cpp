#include "data/tensor_files.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>

#include <ATen/ops/empty.h>

#include "core/error.h"
#include "core/mapped_file.h"
#include "core/npy.h"
#include "core/safetensors.h"
#include "core/text.h"
#include "data/task.h"
#include "model/padding.h"
#include "model/weights_file.h"
#include "text/vocabulary.h"

namespace pipedream::data {
namespace {

// A tensor of samples in a file.
struct Column {
  std::shared_ptr<const MappedFile> file;
  std::string name;  // for messages: the file, and the tensor in it
  at::ScalarType type = at::kFloat;
  model::Shape shape;  // the first number counts the samples
  const char* data = nullptr;
  bool may_be_padding = false;  // the labels of sentences: model::kPaddingLabel is no bad label
  // What a decoder reads, made from the labels: the token text::kBeginning, then all but the last.
  bool is_shifted = false;
};
using Columns = std::map<std::string, Column>;  // by the name of the input

std::size_t bytes_of_sample(const Column& column) {
  std::size_t bytes = c10::elementSize(column.type);
  for (std::size_t d = 1; d < column.shape.size(); ++d)
    bytes *= static_cast<std::size_t>(column.shape[d]);
  return bytes;
}

// The samples from number `first` on. Immutable.
class TensorSet final : public DataSet {
 public:
  TensorSet(Columns columns, std::int64_t first, std::int64_t samples)
      : columns_(std::move(columns)), first_(first), samples_(samples) {}

  std::int64_t samples() const override { return samples_; }
  at::Tensor load(const model::InputSpec& input,
                  std::span<const std::int64_t> samples) const override;

 private:
  // Throws BadFile if one of `values`, whole numbers of 64 bits, is not below the input's bound:
  // the network could not look it up.
  void want_below_bound(const model::InputSpec& input, const Column& column,
                        std::span<const std::int64_t> samples, const at::Tensor& values) const;

  Columns columns_;
  std::int64_t first_;
  std::int64_t samples_;
};

// What a decoder reads to predict `labels`, [N, T].
at::Tensor shifted(const at::Tensor& labels) {
  const at::Tensor read = labels.roll(1, 1);
  read.select(1, 0).fill_(std::int64_t{text::kBeginning});
  return read.masked_fill_(read.eq(model::kPaddingLabel), std::int64_t{text::kPadding});
}

at::Tensor TensorSet::load(const model::InputSpec& input,
                           std::span<const std::int64_t> samples) const {
  const Column& column = columns_.at(input.name);
  model::Shape shape = column.shape;
  shape[0] = static_cast<std::int64_t>(samples.size());
  const at::Tensor stacked = at::empty(shape, at::TensorOptions().dtype(column.type));
  const std::size_t bytes = bytes_of_sample(column);
  char* to = static_cast<char*>(stacked.mutable_data_ptr());
  for (const std::int64_t sample : samples) {
    std::memcpy(to, column.data + static_cast<std::size_t>(first_ + sample) * bytes, bytes);
    to += bytes;
  }
  // Before the conversion, which may turn a number that is too large into a small one.
  if (input.bound > 1) want_below_bound(input, column, samples, stacked.to(at::kLong));
  return (column.is_shifted ? shifted(stacked.to(at::kLong)) : stacked).to(input.type);
}

void TensorSet::want_below_bound(const model::InputSpec& input, const Column& column,
                                 std::span<const std::int64_t> samples,
                                 const at::Tensor& values) const {
  at::Tensor outside = values.lt(0).logical_or(values.ge(input.bound));
  if (column.may_be_padding) outside = outside.logical_and(values.ne(model::kPaddingLabel));
  if (values.numel() == 0 || !outside.any().item<bool>()) return;
  const auto place = outside.flatten().to(at::kByte).argmax().item<std::int64_t>();
  const auto each = values.numel() / static_cast<std::int64_t>(samples.size());
  throw BadFile(column.name + ": sample " +
                std::to_string(first_ + samples[static_cast<std::size_t>(place / each)]) + " has " +
                std::to_string(values.flatten()[place].item<std::int64_t>()) +
                "; wanted whole numbers from 0 to " + std::to_string(input.bound - 1) +
                (column.may_be_padding ? ", or -100 for padding" : ""));
}

// Whether numbers of the type `found` may be given where `wanted` is taken.
bool converts(at::ScalarType found, at::ScalarType wanted) {
  if (at::isFloatingType(wanted)) return at::isFloatingType(found) || found == at::kByte;
  return at::isIntegralType(found, /*includeBool=*/true);
}

// What may help with a column that does not fit the input; empty if nothing is known.
std::string hint_for(const model::InputSpec& input, const Column& column) {
  const bool takes_classes = !at::isFloatingType(input.type) && input.bound > 1;
  const auto& wanted = input.shape;
  const auto& found = column.shape;
  if (found.size() == wanted.size() + 1 && found.back() == 1)
    return "; squeeze(-1) removes the last dimension";
  if (takes_classes && found.size() == wanted.size() + 1 &&
      std::find(found.begin() + 1, found.end(), input.bound) != found.end())
    return "; it wants class numbers, which argmax() makes from one-hot vectors";
  if (!takes_classes && wanted.size() == found.size() + 1 && wanted.back() == 1)
    return "; unsqueeze(-1) adds the last dimension";
  if (takes_classes && input.name == "target" && at::isFloatingType(column.type))
    return "; it wants class numbers, and the `loss` mse is for real numbers";
  return "";
}

// What is wrong with a column; empty if nothing is.
std::string fault_of(const model::InputSpec& input, const Column& column) {
  model::Shape wanted = input.shape;
  model::Shape found = column.shape;
  if (found.empty()) return column.name + " has no dimension of samples";
  if (wanted.empty())
    return "the network's input '" + input.name + "' has no dimension that counts samples";
  wanted[0] = found[0] = 0;
  if (wanted != found)
    return column.name + " has the shape " + shape_text(column.shape) +
           ", and the network's input '" + input.name + "' has " + shape_text(input.shape) +
           " for a minibatch of " + std::to_string(input.shape[0]) + hint_for(input, column);
  if (!converts(column.type, input.type))
    return column.name + " has numbers of the type " + c10::toString(column.type) +
           ", and the network's input '" + input.name + "' wants " + c10::toString(input.type) +
           hint_for(input, column);
  return "";
}

// The number of samples, which must be the same for all columns. Throws CannotMeet with all faults.
std::int64_t checked_samples(const Columns& columns, const model::Network& network) {
  std::string faults;
  const auto add = [&](const std::string& fault) {
    if (!fault.empty()) faults += "\n  " + fault;
  };
  std::optional<std::int64_t> samples;
  for (const model::InputSpec& input : network.inputs) {
    const auto found = columns.find(input.name);
    if (found == columns.end()) {
      std::vector<std::string> names;
      for (const auto& [name, column] : columns) names.push_back(printable(name));
      add("there is no tensor '" + input.name + "' (there is " + joined(names) + ")");
      continue;
    }
    const Column& column = found->second;
    if (column.is_shifted) continue;  // as good as the labels
    add(fault_of(input, column));
    if (column.shape.empty()) continue;
    if (samples && *samples != column.shape[0])
      add(column.name + " has " + std::to_string(column.shape[0]) + " samples, and others have " +
          std::to_string(*samples));
    samples = column.shape[0];
  }
  if (samples && *samples == 0) add("there are no samples");
  if (!faults.empty())
    throw CannotMeet("the data does not fit '" + network.name + "', which reads " +
                     inputs_text(network) + ":" + faults);
  return samples.value_or(0);
}

Columns columns_of(const std::filesystem::path& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  const std::string_view content = file->content();
  const SafetensorsHead head = parse_safetensors_head(content, content.size(), path.string());
  Columns columns;
  for (const SafetensorsEntry& entry : head.entries)
    columns.emplace(entry.name,
                    Column{file, path.string() + ": the tensor '" + printable(entry.name) + "'",
                           model::safetensors_type(entry.type), entry.shape,
                           content.data() + head.size + entry.begin});
  return columns;
}

Data divided(const Columns& columns, std::int64_t samples, double share) {
  const std::int64_t held_out = held_out_of(samples, share);
  return {std::make_unique<TensorSet>(columns, 0, samples - held_out),
          std::make_unique<TensorSet>(columns, samples - held_out, held_out)};
}

// The inputs of a network that describes films: what its decoder reads, and its labels.
std::optional<Captioning> captioning(const model::Network& network) {
  const auto task = task_of(network);
  if (!task || !std::holds_alternative<Captioning>(*task)) return std::nullopt;
  return std::get<Captioning>(*task);
}

// Lets the labels of captions be padding, and makes the words from them if there are none.
void complete_captions(Columns& columns, const model::Network& network) {
  const auto task = captioning(network);
  const auto labels = task ? columns.find(task->labels.name) : columns.end();
  if (labels == columns.end()) return;
  labels->second.may_be_padding = true;
  Column words = labels->second;
  words.is_shifted = true;
  columns.emplace(task->words.name, std::move(words));  // stays as it is if it is there
}

// Whether a label of the samples is padding. Reads all of them.
bool has_padding(const DataSet& set, const model::InputSpec& labels) {
  constexpr std::int64_t kAtOnce = 4096;
  for (std::int64_t first = 0; first < set.samples(); first += kAtOnce) {
    std::vector<std::int64_t> samples(
        static_cast<std::size_t>(std::min(kAtOnce, set.samples() - first)));
    std::iota(samples.begin(), samples.end(), first);
    if (set.load(labels, samples).eq(model::kPaddingLabel).any().item<bool>()) return true;
  }
  return false;
}

// Says whether captions have padding.
Data with_padding_found(Data data, const model::Network& network) {
  const auto task = captioning(network);
  if (!task) return data;
  data.has_padding =
      has_padding(*data.training, task->labels) || has_padding(*data.held_out, task->labels);
  return data;
}

}  // namespace

Data open_safetensors(const std::vector<std::filesystem::path>& files,
                      const model::Network& network, std::optional<double> held_out_share) {
  if (files.size() > 2)
    throw BadUsage("safetensors: wanted one file, or two of which the second is held out");
  const auto columns_for = [&](const std::filesystem::path& file) {
    Columns columns = columns_of(file);
    complete_captions(columns, network);
    return columns;
  };
  const Columns training = columns_for(files.front());
  const std::int64_t samples = checked_samples(training, network);
  if (files.size() == 1)
    return with_padding_found(divided(training, samples, held_out_share.value_or(kHeldOutShare)),
                              network);
  want_no_share(held_out_share, files.front().string());
  const Columns held_out = columns_for(files[1]);
  const std::int64_t others = checked_samples(held_out, network);
  return with_padding_found({std::make_unique<TensorSet>(training, 0, samples),
                             std::make_unique<TensorSet>(held_out, 0, others)},
                            network);
}

Data open_npy(const std::vector<std::filesystem::path>& files, const model::Network& network,
              double held_out_share) {
  if (files.size() != network.inputs.size())
    throw CannotMeet("npy: '" + network.name + "' reads " + inputs_text(network) + ", so " +
                     counted(static_cast<std::int64_t>(network.inputs.size()), "file", "files") +
                     " in this order are wanted, found " + std::to_string(files.size()));
  Columns columns;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto file = std::make_shared<const MappedFile>(files[i]);
    const NpyHead head = parse_npy_head(file->content(), files[i].string());
    columns.emplace(network.inputs[i].name,
                    Column{file, files[i].string(), model::safetensors_type(head.type), head.shape,
                           file->content().data() + head.size});
  }
  return divided(columns, checked_samples(columns, network), held_out_share);
}

}  // namespace pipedream::data
