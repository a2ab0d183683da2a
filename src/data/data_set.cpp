#include "data/data_set.h"

#include <vector>

#include "core/error.h"
#include "core/nearest.h"
#include "core/text.h"
#include "data/augment.h"
#include "data/cifar.h"
#include "data/idx.h"
#include "data/image_folder.h"
#include "data/pairs.h"
#include "data/synthetic.h"
#include "data/tensor_files.h"
#include "data/text.h"
#include "data/tokeniser.h"
#include "data/tokens.h"
#include "text/vocabulary_file.h"

namespace pipedream::data {

namespace {

// A kind of data, what its name is followed by, and how it is opened.
struct DataKind {
  const char* name;
  const char* argument;
  Data (*open)(const std::string& argument, const model::Network& network,
               const DataOptions& options);
};

std::vector<std::filesystem::path> files_in(const std::string& list) {
  const auto names = split(list, ',');
  return {names.begin(), names.end()};
}

// The samples of another data set that fill whole minibatches. A short last one is left out.
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
  at::Tensor load_for_epoch(std::int64_t epoch, const model::InputSpec& input,
                            std::span<const std::int64_t> samples) const override {
    return of_->load_for_epoch(epoch, input, samples);
  }

 private:
  std::unique_ptr<const DataSet> of_;
  std::int64_t samples_;
};

// Pictures of these kinds are changed by `augment`.
bool has_pictures(const std::string& kind) {
  return kind == "idx" || kind == "cifar" || kind == "images";
}

// Throws BadUsage for picture options that data of this kind does not have.
void check_picture_options(const std::string& kind, const PictureOptions& options) {
  if (!options.augment.empty() && !has_pictures(kind))
    throw BadUsage("`augment` changes pictures: it is for idx:DIR, cifar:DIR and images:DIR");
  const auto want_files = [&](bool is_given, const char* option) {
    if (is_given && kind != "images")
      throw BadUsage(std::string(option) + " is for pictures in files: for images:DIR");
  };
  want_files(options.skip_bad, "`skip_bad`");
  want_files(!options.pixel_mean.empty(), "`pixel_mean`");
  want_files(!options.pixel_deviation.empty(), "`pixel_deviation`");
}

Augmenter augmenter_of(const DataOptions& options) {
  return {parse_augmentation(options.pictures.augment), options.seed};
}

constexpr DataKind kDataKinds[] = {
    {"idx", "DIR",
     [](const std::string& path, const model::Network& n, const DataOptions& o) {
       return open_idx(path, n, o.held_out, augmenter_of(o));
     }},
    {"cifar", "DIR",
     [](const std::string& path, const model::Network& n, const DataOptions& o) {
       return open_cifar(path, n, o.held_out, augmenter_of(o));
     }},
    {"images", "DIR",
     [](const std::string& path, const model::Network& n, const DataOptions& o) {
       return open_image_folder(path, n, o);
     }},
    {"tokens", "FILE",
     [](const std::string& list, const model::Network& n, const DataOptions& o) {
       return open_tokens(files_in(list), n, o.held_out);
     }},
    {"text", "FILE",
     [](const std::string& path, const model::Network& n, const DataOptions& o) {
       return open_text(path, n, o.held_out.value_or(kHeldOutShare), o.tokeniser);
     }},
    {"pairs", "FILE,FILE",
     [](const std::string& list, const model::Network& n, const DataOptions& o) {
       return open_pairs(files_in(list), n, o.held_out, o.tokeniser);
     }},
    {"safetensors", "FILE",
     [](const std::string& list, const model::Network& n, const DataOptions& o) {
       return open_safetensors(files_in(list), n, o.held_out);
     }},
    {"npy", "FILE,FILE",
     [](const std::string& list, const model::Network& n, const DataOptions& o) {
       return open_npy(files_in(list), n, o.held_out.value_or(kHeldOutShare));
     }}};

Data open_any(const std::string& spec, const model::Network& network, const DataOptions& options) {
  if (!options.tokeniser.empty() && !takes_tokeniser(spec))
    throw BadUsage("`tokeniser` is for text:FILE and pairs:FILE,FILE, and the data is " +
                   (spec.empty() ? "made up" : printable(spec)) + ": leave it out");
  if (spec.empty() || spec == "synthetic") {
    want_no_share(options.held_out, "made-up data");
    check_picture_options("synthetic", options.pictures);
    return open_synthetic(network, options.seed);
  }
  const std::size_t colon = spec.find(':');
  const std::string kind = spec.substr(0, colon);
  const std::string path = colon == std::string::npos ? "" : spec.substr(colon + 1);
  std::vector<std::string> names{"synthetic"};
  for (const DataKind& known : kDataKinds) {
    names.emplace_back(known.name);
    if (kind != known.name) continue;
    check_picture_options(kind, options.pictures);
    if (path.empty())
      throw BadUsage("the data set '" + kind + "' needs a " +
                     (known.argument == std::string("DIR") ? "folder" : "file") + ": write " +
                     kind + ":" + known.argument);
    return known.open(path, network, options);
  }
  std::string suggested = suggestion(kind, names);
  for (const auto& [ending, prefix] : {std::pair(".safetensors", "safetensors:"),
                                       {".npy", "npy:"},
                                       {".txt", "text:"},
                                       {".u32", "tokens:"}})
    if (colon == std::string::npos && spec.ends_with(ending))
      suggested = " (did you mean '" + printable(prefix + spec) + "'?)";
  throw BadUsage("there is no data set '" + printable(spec) + "'" + suggested);
}

}  // namespace

std::int64_t share_of(std::int64_t all, double share) {
  return static_cast<std::int64_t>(static_cast<double>(all) * share);
}

std::int64_t held_out_of(std::int64_t all, double share) {
  const std::int64_t count = share_of(all, share);
  if (share > 0 && count == 0)
    throw CannotMeet("the data has " + counted(all, "sample", "samples") + ", and the share " +
                     brief_number(share) +
                     " of them, which is less than one, would be held out: `held_out` 0 holds "
                     "none out");
  return count;
}

void want_no_share(std::optional<double> held_out, const std::string& data) {
  if (held_out.value_or(0) > 0)
    throw BadUsage("`held_out`: " + data + " has held-out samples of its own");
}

void Data::set_vocabulary(std::shared_ptr<const text::Vocabulary> used) {
  vocabulary = std::move(used);
  facts["vocabulary"] = text::to_json(*vocabulary);
}

Data open_data(const std::string& spec, const model::Network& network, const DataOptions& options) {
  Data data = open_any(spec, network, options);
  if (options.held_out && *options.held_out == 0) data.held_out.reset();
  if (!network.has_fixed_batch) return data;
  for (auto* set : {&data.training, &data.held_out})
    if (*set != nullptr) *set = std::make_unique<WholeMinibatches>(std::move(*set), network.batch);
  return data;
}

}  // namespace pipedream::data
