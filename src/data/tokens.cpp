#include "data/tokens.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "core/error.h"
#include "core/mapped_file.h"
#include "core/text.h"
#include "data/token_set.h"

namespace pipedream::data {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "files have the lowest byte first");

// A mapped file of tokens. A mapping begins at a page, so its tokens are aligned.
template <class Token>
struct TokenFile {
  fs::path path;
  std::shared_ptr<const MappedFile> file;

  explicit TokenFile(const fs::path& from)
      : path(from), file(std::make_shared<const MappedFile>(from)) {
    const std::size_t size = file->content().size();
    if (size % sizeof(Token) != 0)
      throw BadFile(path.string() + ": byte " +
                    std::to_string(size / sizeof(Token) * sizeof(Token)) +
                    ": wanted whole tokens of " + std::to_string(sizeof(Token)) + " bytes, found " +
                    std::to_string(size) + " bytes in all");
  }

  [[nodiscard]] std::span<const Token> tokens() const {
    return {reinterpret_cast<const Token*>(file->content().data()),
            file->content().size() / sizeof(Token)};
  }
};

template <class Token>
void check_tokens(const TokenFile<Token>& file, const LanguageModel& task,
                  const model::Network& network) {
  const auto highest = std::max_element(file.tokens().begin(), file.tokens().end());
  if (highest == file.tokens().end()) return;
  const auto wanted = static_cast<std::int64_t>(*highest) + 1;
  want_vocabulary(
      wanted,
      file.path.string() + " has token " + std::to_string(wanted - 1) + " at byte " +
          std::to_string(static_cast<std::size_t>(highest - file.tokens().begin()) * sizeof(Token)),
      task, network);
}

template <class Token>
Data open_as(const std::vector<fs::path>& files, const model::Network& network,
             const LanguageModel& task, std::optional<double> share) {
  const TokenFile<Token> first(files[0]);
  check_tokens(first, task, network);
  std::span<const Token> training = first.tokens();
  std::span<const Token> held_out;
  std::shared_ptr<const MappedFile> owner = first.file;
  std::string held_out_name = "the held-out end of " + files[0].string();
  if (files.size() > 1) {
    want_no_share(share, files[1].string());
    const TokenFile<Token> second(files[1]);
    check_tokens(second, task, network);
    held_out = second.tokens();
    owner = second.file;
    held_out_name = files[1].string();
  } else {
    const auto count = static_cast<std::size_t>(
        share_of(static_cast<std::int64_t>(training.size()), share.value_or(kHeldOutShare)));
    held_out = training.last(count);
    training = training.first(training.size() - count);
  }
  if (share.value_or(1) > 0) want_enough(held_out.size(), held_out_name, "tokens", task);
  want_enough(training.size(), "the part of " + files[0].string() + " to train on", "tokens", task);
  return {std::make_unique<TokenSet<Token>>(training, first.file, task),
          std::make_unique<TokenSet<Token>>(held_out, owner, task)};
}

}  // namespace

Data open_tokens(const std::vector<fs::path>& files, const model::Network& network,
                 std::optional<double> held_out_share) {
  if (files.size() > 2)
    throw BadUsage("tokens: wanted a file to train on and perhaps one to hold out, found " +
                   counted(static_cast<std::int64_t>(files.size()), "file", "files"));
  const LanguageModel task = language_model(network, "token files are");
  const auto is_wide = [](const fs::path& file) { return file.extension() == ".u32"; };
  if (files.size() > 1 && is_wide(files[0]) != is_wide(files[1]))
    throw BadUsage("tokens: " + files[0].string() + " and " + files[1].string() +
                   " have tokens of different sizes (.u32 or not): give both the same");
  return is_wide(files[0]) ? open_as<std::uint32_t>(files, network, task, held_out_share)
                           : open_as<std::uint16_t>(files, network, task, held_out_share);
}

}  // namespace pipedream::data
