#include "data/pairs.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "core/error.h"
#include "core/file.h"
#include "core/log.h"
#include "core/text.h"
#include "data/stacked.h"
#include "data/task.h"
#include "data/tokeniser.h"
#include "model/padding.h"
#include "text/encoder.h"

namespace pipedream::data {
namespace {

namespace fs = std::filesystem;

// The lines of a file. Not copied, because the lines are views of the content.
class Lines {
 public:
  explicit Lines(const fs::path& path) : path_(path), content_(read_file(path)) {
    std::string_view rest = content_;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      lines_.push_back(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
    }
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] std::span<const std::string_view> lines() const { return lines_; }

 private:
  fs::path path_;
  std::string content_;
  std::vector<std::string_view> lines_;
};

// Two files with the same number of lines.
class PairOfFiles {
 public:
  PairOfFiles(const fs::path& source, const fs::path& target) : source_(source), target_(target) {
    if (source_.lines().size() != target_.lines().size())
      throw BadFile(source.string() + " has " + lines_of(source_) + ", and " + target.string() +
                    " has " + lines_of(target_) +
                    ": wanted as many, each line the translation of the other file's");
    if (source_.lines().empty()) throw CannotMeet(source.string() + " has no lines");
  }

  [[nodiscard]] std::size_t count() const { return source_.lines().size(); }
  [[nodiscard]] const Lines& source() const { return source_; }
  [[nodiscard]] const Lines& target() const { return target_; }
  [[nodiscard]] std::string names() const {
    return source_.path().string() + " and " + target_.path().string();
  }

 private:
  static std::string lines_of(const Lines& file) {
    return counted(static_cast<std::int64_t>(file.lines().size()), "line", "lines");
  }
  Lines source_;
  Lines target_;
};

// The tokens of sentences, one after the other.
class TokenRows {
 public:
  void add(std::span<const text::Token> sentence) {
    tokens_.insert(tokens_.end(), sentence.begin(), sentence.end());
    ends_.push_back(tokens_.size());
  }
  [[nodiscard]] std::size_t count() const { return ends_.size(); }
  [[nodiscard]] std::span<const text::Token> operator[](std::int64_t number) const {
    const auto i = static_cast<std::size_t>(number);
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::span(tokens_).subspan(begin, ends_[i] - begin);
  }

 private:
  std::vector<text::Token> tokens_;
  std::vector<std::size_t> ends_;
};

// Pairs that fit the network.
class PairSet final : public DataSet {
 public:
  explicit PairSet(Translation task) : task_(std::move(task)) {}

  void add(std::span<const text::Token> source, std::span<const text::Token> target) {
    sources_.add(source);
    targets_.add(target);
  }
  // Whether a pair fits the network with the token that is added to each row.
  [[nodiscard]] bool fits(std::size_t source, std::size_t target) const {
    return static_cast<std::int64_t>(source) < task_.source.shape[1] &&
           static_cast<std::int64_t>(target) < task_.labels.shape[1];
  }

  std::int64_t samples() const override { return static_cast<std::int64_t>(sources_.count()); }

  at::Tensor load(const model::InputSpec& input,
                  std::span<const std::int64_t> samples) const override {
    const bool begins = input.name == task_.target.name;
    const bool is_label = input.name == task_.labels.name;
    const TokenRows& rows = input.name == task_.source.name ? sources_ : targets_;
    return stacked<std::int64_t>(input, samples, [&](std::int64_t sample, auto out) {
      std::fill(out.begin(), out.end(),
                is_label ? model::kPaddingLabel : std::int64_t{text::kPadding});
      const auto tokens = rows[sample];
      if (begins) out[0] = text::kBeginning;
      std::copy(tokens.begin(), tokens.end(), out.begin() + (begins ? 1 : 0));
      if (!begins) out[tokens.size()] = text::kEnd;
    });
  }

 private:
  Translation task_;
  TokenRows sources_;
  TokenRows targets_;
};

// Pairs [begin, end) of two files.
struct Stretch {
  const PairOfFiles& files;
  std::size_t begin;
  std::size_t end;
  std::string purpose;  // for messages: "to train on"

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(end - begin); }
};

// Says how many pairs are left out because they are too long or empty.
std::string left_out_text(const Stretch& stretch, const Translation& task, std::int64_t too_long,
                          std::int64_t empty) {
  return stretch.files.names() + ": pairs " + stretch.purpose + ": " +
         std::to_string(stretch.count()) + ", left out: " + std::to_string(too_long + empty) +
         " (longer than " + std::to_string(task.source.shape[1] - 1) + " tokens, or than " +
         std::to_string(task.labels.shape[1] - 1) +
         " in the translation: " + std::to_string(too_long) +
         "; with an empty line: " + std::to_string(empty) + ")";
}

std::unique_ptr<const DataSet> encoded_pairs(const Stretch& stretch,
                                             const text::Vocabulary& vocabulary,
                                             const Translation& task) {
  auto set = std::make_unique<PairSet>(task);
  text::Encoder encoder(vocabulary);
  std::vector<text::Token> source;
  std::vector<text::Token> target;
  std::int64_t empty = 0;
  for (std::size_t i = stretch.begin; i < stretch.end; ++i) {
    source.clear();
    target.clear();
    encoder.append(stretch.files.source().lines()[i], source);
    encoder.append(stretch.files.target().lines()[i], target);
    if (source.empty() || target.empty())
      ++empty;
    else if (set->fits(source.size(), target.size()))
      set->add(source, target);
  }
  const std::int64_t left_out = stretch.count() - set->samples();
  if (left_out == 0) return set;
  const std::string what = left_out_text(stretch, task, left_out - empty, empty);
  if (set->samples() == 0) throw CannotMeet(what + ": choose a longer `length`, or other data");
  log_info(what);
  return set;
}

Translation translation(const model::Network& network) {
  const auto task = task_of(network);
  if (!task || !std::holds_alternative<Translation>(*task))
    throw CannotMeet("pairs are for networks that translate; '" + network.name + "' reads " +
                     inputs_text(network) + ": choose other data, or another network");
  return std::get<Translation>(*task);
}

// The lines to train on of both languages.
std::vector<std::string_view> lines_to_learn_from(const PairOfFiles& files, std::size_t count) {
  std::vector<std::string_view> lines;
  for (const Lines* language : {&files.source(), &files.target()}) {
    const auto part = language->lines().first(count);
    lines.insert(lines.end(), part.begin(), part.end());
  }
  return lines;
}

}  // namespace

Data open_pairs(const std::vector<fs::path>& files, const model::Network& network,
                std::optional<double> held_out_share, const std::string& tokeniser,
                const std::map<std::string, std::string>& earlier) {
  if (files.size() != 2 && files.size() != 4)
    throw BadUsage("pairs: wanted two files, or four of which the last two are held out, found " +
                   std::to_string(files.size()) + ": write pairs:SOURCE,TRANSLATION");
  const Translation task = translation(network);
  const PairOfFiles first(files[0], files[1]);
  std::optional<PairOfFiles> second;
  if (files.size() == 4) {
    want_no_share(held_out_share, "pairs:FILE,FILE,FILE,FILE");
    second.emplace(files[2], files[3]);
  }
  const auto all = static_cast<std::int64_t>(first.count());
  const double share = second ? 0 : held_out_share.value_or(kHeldOutShare);
  const auto training = first.count() - static_cast<std::size_t>(held_out_of(all, share));
  const std::int64_t known = std::min({task.source.bound, task.target.bound, task.labels.bound});
  const std::string name = tokeniser.empty() ? default_tokeniser(known, network) : tokeniser;
  const Vocabulary vocabulary =
      vocabulary_for(name, earlier, lines_to_learn_from(first, training), known, network);
  Data data{encoded_pairs({first, 0, training, "to train on"}, *vocabulary, task), nullptr};
  if (second)
    data.held_out = encoded_pairs({*second, 0, second->count(), "to hold out"}, *vocabulary, task);
  else if (share > 0)
    data.held_out =
        encoded_pairs({first, training, first.count(), "to hold out"}, *vocabulary, task);
  data.set_vocabulary(vocabulary);
  data.has_padding = true;
  return data;
}

}  // namespace pipedream::data
