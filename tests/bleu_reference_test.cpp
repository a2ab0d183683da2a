// Our BLEU is that of sacrebleu, for sentences of the documents and for made-up ones.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <sstream>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "core/file.h"
#include "core/testing.h"
#include "core/text.h"
#include "text/bleu.h"

namespace pipedream::text {
namespace {

constexpr int kNotInstalled = 77;

struct SentencePair {
  std::string translation;
  std::string reference;
};

using Random = std::mt19937;

std::size_t below(Random& random, std::size_t end) { return random() % end; }

// A sentence of pieces that the rules of tokens are about.
std::string made_up(Random& random) {
  const char* pieces[] = {"a",  "the", "cat", "Cat", " ", " ",      " ",      " ",      ".",
                          ",",  "-",   "1",   "23",  "'", "&amp;",  "&lt;",   "&quot;", "<skipped>",
                          "!?", "ü",   "中",  "(",   "]", "\u00a0", "\u2003", "—",      "\x1f"};
  std::string sentence;
  for (std::size_t i = below(random, 25); i > 0; --i)
    sentence += pieces[below(random, std::size(pieces))];
  return sentence;
}

// The lines of a document, each with a copy in which words are missing, doubled or swapped.
std::vector<SentencePair> pairs_of_document(Random& random) {
  std::vector<SentencePair> pairs;
  for (const std::string& line : split(read_file(PD_SOURCE_DIR "/docs/glossary.md"), '\n')) {
    if (line.find('\t') != line.npos) continue;
    std::string copy;
    for (const std::string& word : split(line, ' ')) {
      const std::size_t change = below(random, 10);
      if (change == 0) continue;
      copy = change == 1 ? word + " " + copy : copy + " " + word;
      if (change == 2) copy += " " + word;
    }
    pairs.push_back({copy, line});
  }
  return pairs;
}

std::vector<SentencePair> all_pairs() {
  Random random(1);
  std::vector<SentencePair> pairs = pairs_of_document(random);
  for (int i = 0; i < 300; ++i) pairs.push_back({made_up(random), made_up(random)});
  return pairs;
}

std::string line_of(const BleuSums& sums) {
  std::ostringstream line;
  for (const auto count : sums.matches) line << count << ' ';
  for (const auto count : sums.totals) line << count << ' ';
  line << sums.length << ' ' << sums.reference_length << ' ';
  return line.str();
}

TEST(BleuReference, IsThatOfSacrebleu) {
  const test::TemporaryFolder folder;
  const auto input = folder.path() / "pairs";
  const auto output = folder.path() / "scores";
  const auto pairs = all_pairs();
  write_file_atomically(input, joined(
                                   pairs,
                                   [](const SentencePair& pair) {
                                     return pair.translation + "\t" + pair.reference + "\n";
                                   },
                                   ""));
  const std::string command = PD_PYTHON " '" PD_SOURCE_DIR "/tests/reference/bleu_reference.py' '" +
                              input.string() + "' > '" + output.string() + "'";
  const int status = WEXITSTATUS(std::system(command.c_str()));
  if (status == kNotInstalled) GTEST_SKIP() << "sacrebleu is not installed for " << PD_PYTHON;
  ASSERT_EQ(status, 0) << command;
  const auto lines = split(read_file(output), '\n');
  ASSERT_EQ(lines.size(), pairs.size() + 2);  // and the corpus, and nothing after the last line
  BleuSums all;
  const auto expect = [&](const BleuSums& sums, const std::string& line, const std::string& what) {
    const std::size_t score = line.rfind(' ') + 1;
    EXPECT_EQ(line_of(sums), line.substr(0, score)) << what;
    EXPECT_NEAR(bleu(sums), std::stod(line.substr(score)), 1e-9) << what;
  };
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const BleuSums sums = bleu_sums(pairs[i].translation, pairs[i].reference);
    expect(sums, lines[i], pairs[i].translation + " | " + pairs[i].reference);
    all += sums;
  }
  expect(all, lines[pairs.size()], "the corpus");
}

}  // namespace
}  // namespace pipedream::text
