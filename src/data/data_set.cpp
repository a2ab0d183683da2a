#include "data/data_set.h"

#include <algorithm>
#include <filesystem>
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
#include "data/token_set.h"
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

// Options that not all data has: which kinds have them, and how a message names these.
struct OfSomeKinds {
  const char* option;
  std::vector<std::string> kinds;
  const char* purpose;
};

const std::vector<OfSomeKinds>& of_some_kinds() {
  static const char* kFiles = "is for pictures in files: for images:DIR";
  static const std::vector<OfSomeKinds> options{
      {"tokeniser",
       {"text", "tokens", "pairs"},
       "is for text:FILE, tokens:FILE and pairs:FILE,FILE"},
      {"augment",
       {"idx", "cifar", "images"},
       "changes pictures: it is for idx:DIR, cifar:DIR and images:DIR"},
      {"skip_bad", {"images"}, kFiles},
      {"pixel_mean", {"images"}, kFiles},
      {"pixel_deviation", {"images"}, kFiles}};
  return options;
}

// Throws BadUsage for options that the data does not have.
void check_options(const std::string& spec, const DataOptions& options) {
  const std::map<std::string, bool> given{
      {"tokeniser", !options.tokeniser.empty()},
      {"augment", !options.pictures.augment.empty()},
      {"skip_bad", options.pictures.skip_bad},
      {"pixel_mean", !options.pictures.pixel_mean.empty()},
      {"pixel_deviation", !options.pictures.pixel_deviation.empty()}};
  for (const OfSomeKinds& some : of_some_kinds())
    if (given.at(some.option) && !takes_option(spec, some.option))
      throw BadUsage("`" + std::string(some.option) + "` " + some.purpose + ", and the data is " +
                     (spec.empty() ? "made up" : printable(spec)) + ": leave it out");
}

Augmenter augmenter_of(const DataOptions& options) {
  return {parse_augmentation(options.pictures.augment), options.seed};
}

// Token files with the vocabulary that their tokens are of, if the user names it.
Data with_vocabulary(Data data, const model::Network& network, const DataOptions& options) {
  if (options.tokeniser.empty() && !options.earlier.contains("vocabulary")) return data;
  if (!options.tokeniser.empty() && !is_vocabulary_file(options.tokeniser))
    throw BadUsage(
        "`tokeniser` of tokens:FILE: wanted the file of the vocabulary that made the "
        "tokens, found " +
        printable(options.tokeniser));
  const LanguageModel task = language_model(network, "token files are");
  data.set_vocabulary(vocabulary_for(options.tokeniser, options.earlier, {},
                                     std::min(task.tokens.bound, task.labels.bound), network));
  return data;
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
       return with_vocabulary(open_tokens(files_in(list), n, o.held_out), n, o);
     }},
    {"text", "FILE",
     [](const std::string& path, const model::Network& n, const DataOptions& o) {
       return open_text(path, n, o.held_out.value_or(kHeldOutShare), o.tokeniser, o.earlier);
     }},
    {"pairs", "FILE,FILE",
     [](const std::string& list, const model::Network& n, const DataOptions& o) {
       return open_pairs(files_in(list), n, o.held_out, o.tokeniser, o.earlier);
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
  check_options(spec, options);
  if (spec.empty() || spec == "synthetic") {
    want_no_share(options.held_out, "made-up data");
    return open_synthetic(network, options.seed);
  }
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
    return known.open(path, network, options);
  }
  std::string suggested = suggestion(kind, names);
  for (const auto& [ending, prefix] : {std::pair(".safetensors", "safetensors:"),
                                       {".npy", "npy:"},
                                       {".txt", "text:"},
                                       {".u32", "tokens:"}})
    if (colon == std::string::npos && spec.ends_with(ending))
      suggested = " (did you mean '" + printable(prefix + spec) + "'?)";
  std::error_code ignored;
  if (std::filesystem::is_directory(spec, ignored))
    suggested = " (pictures of a folder are 'images:" + printable(spec) + "')";
  throw BadUsage("there is no data set '" + printable(spec) + "'" + suggested);
}

}  // namespace

bool takes_option(const std::string& spec, const std::string& option) {
  const std::string kind = spec.substr(0, spec.find(':'));
  for (const OfSomeKinds& some : of_some_kinds())
    if (option == some.option)
      return std::find(some.kinds.begin(), some.kinds.end(), kind) != some.kinds.end();
  return true;
}

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
