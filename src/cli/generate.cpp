// pipedream generate: texts and translations that a trained network writes.
#include "generate/generate.h"

#include <iostream>
#include <sstream>

#include <nlohmann/json.hpp>

#include <ATen/ops/full.h>

#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/train_request.h"
#include "cli/trained_network.h"
#include "core/document.h"
#include "core/error.h"
#include "core/file.h"
#include "core/log.h"
#include "core/text.h"
#include "generate/codec.h"
#include "model/threads.h"

namespace pipedream::cli {
namespace {

using Json = nlohmann::ordered_json;

struct GenerateFlags : TrainedFlags {
  std::optional<std::string> prompt;
  std::string prompt_file;
  std::int64_t tokens = 200;
  generate::Sampling sampling{.temperature = 0.8};
  std::vector<std::string> drawing;  // the flags of `sampling` and `tokens` that the user gave
  bool as_json = false;
};

// A trained network that is ready to write. `predictor` refers to `network`, so a Writer stays
// where it was made.
struct Writer {
  model::Network network;
  TrainedWeights weights;
  generate::Codec codec;
  generate::Predictor predictor;

  Writer(model::Network made, TrainedWeights found, const runtime::Computing& computing)
      : network(std::move(made)),
        weights(std::move(found)),
        codec(weights.metadata),
        predictor(network, weights.find, computing.device, computing.precision) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
};

std::string standard_input() {
  std::ostringstream text;
  text << std::cin.rdbuf();
  return std::move(text).str();
}

// What the user wants continued or translated; nullopt if nothing is named.
std::optional<std::string> prompt_of(const GenerateFlags& flags) {
  if (flags.prompt) return flags.prompt;
  if (flags.prompt_file.empty()) return std::nullopt;
  return flags.prompt_file == "-" ? standard_input() : read_file(flags.prompt_file);
}

// Text may have line breaks, and generated text need not be UTF-8.
Json in_json(const std::string& text) { return is_utf8(text) ? Json(text) : any_bytes(text); }

Json json_of(const Writer& writer) {
  return {{"format", "pipedream-text"},
          {"version", 1},
          {"model", writer.network.name},
          {"weights", any_bytes(writer.weights.name)}};
}

void continue_prompt(const GenerateFlags& flags, Writer& writer, const data::LanguageModel& task) {
  const std::string prompt = prompt_of(flags).value_or(writer.codec.usual_beginning());
  const generate::Words words = writer.codec.encode(prompt);
  if (words.empty())
    throw BadUsage("generate: the prompt is empty: give it at least one character");
  std::string text;
  if (!flags.as_json) std::cout << prompt;
  generate::continue_text(writer.predictor, task, words, flags.tokens, flags.sampling,
                          writer.codec.writable(), [&](std::int64_t word) {
                            const std::string piece = writer.codec.decode({word});
                            text += piece;
                            if (!flags.as_json) std::cout << piece << std::flush;
                          });
  if (!flags.as_json) {
    std::cout << "\n";
    return;
  }
  Json json = json_of(writer);
  json["prompt"] = in_json(prompt);
  json["text"] = in_json(text);
  json["tokens"] = flags.tokens;
  std::cout << json.dump(2) << "\n";
}

// The lines of a text, without line breaks of any kind.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  for (std::string& line : lines)
    if (line.ends_with('\r')) line.pop_back();
  return lines;
}

// The sentences as the network reads them: tokens, the end, and padding.
at::Tensor source_of(const std::vector<std::string>& sentences, const generate::Codec& codec,
                     std::int64_t length) {
  at::Tensor source = at::full({static_cast<std::int64_t>(sentences.size()), length},
                               std::int64_t{text::kPadding}, at::kLong);
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    generate::Words words = codec.encode(sentences[i]);
    words.push_back(text::kEnd);
    if (const auto count = static_cast<std::int64_t>(words.size()); count > length) {
      log_warning("sentence " + std::to_string(i + 1) + " has " + std::to_string(count - 1) +
                  " tokens, and the network reads " + std::to_string(length - 1) +
                  ": its end is left out");
      words.resize(static_cast<std::size_t>(length));
      words.back() = text::kEnd;
    }
    for (std::size_t t = 0; t < words.size(); ++t)
      source[static_cast<std::int64_t>(i)][static_cast<std::int64_t>(t)] = words[t];
  }
  return source;
}

// Throws BadUsage for flags that say how words are drawn: translations take the likeliest.
void want_no_drawing(const std::vector<std::string>& drawing) {
  if (drawing.empty()) return;
  throw BadUsage(
      "generate: " + joined(drawing) + (drawing.size() == 1 ? " is" : " are") +
      " for texts to continue; a translation takes the likeliest words, up to the end of "
      "the sentence");
}

void translate_prompt(const GenerateFlags& flags, Writer& writer, const data::Translation& task) {
  want_no_drawing(flags.drawing);
  const std::optional<std::string> prompt = prompt_of(flags);
  if (!prompt)
    throw BadUsage("generate: wanted sentences to translate: give --prompt, or --prompt-file");
  if (!writer.codec.has_special())
    throw CannotMeet(
        "the network was not trained on sentences with an end: train it with "
        "--data pairs:SOURCE,TARGET");
  const std::vector<std::string> sentences = lines_of(*prompt);
  if (sentences.empty()) throw BadUsage("generate: the prompt is empty: give it a sentence");
  const at::Tensor source = source_of(sentences, writer.codec, task.source.shape[1]);
  Json list = Json::array();
  const std::int64_t batch = writer.network.batch;
  for (std::int64_t first = 0; first < source.size(0); first += batch) {
    const auto part = source.slice(0, first, std::min(first + batch, source.size(0)));
    for (const generate::Words& words :
         generate::translate(writer.predictor, task, part, writer.codec.writable(),
                             {.begin = text::kBeginning, .end = text::kEnd})) {
      const bool is_empty = sentences[list.size()].empty();  // stays so, to keep lines in step
      const std::string text = is_empty ? "" : writer.codec.decode(words);
      if (!flags.as_json) std::cout << text << "\n" << std::flush;
      list.push_back({{"source", in_json(sentences[list.size()])}, {"text", in_json(text)}});
    }
  }
  if (!flags.as_json) return;
  Json json = json_of(writer);
  json["translations"] = std::move(list);
  std::cout << json.dump(2) << "\n";
}

void execute(const GenerateFlags& given, const std::vector<std::string>& rest) {
  TrainedSettings settings = trained_settings(given, rest, "generate");
  model::Network network = network_of(settings.flags, settings.entry);
  TrainedWeights weights = trained_weights(given, network, "generate");
  check_threads(settings.flags.threads);
  const runtime::Computing computing = computing_of(settings.flags, network);
  const auto task = data::task_of(network);
  if (!task || (!std::holds_alternative<data::LanguageModel>(*task) &&
                !std::holds_alternative<data::Translation>(*task)))
    throw CannotMeet("'" + network.name +
                     "' does not write texts alone: choose a language model, or a network that "
                     "translates");
  model::use_threads(settings.flags.threads);
  Writer writer(std::move(network), std::move(weights), computing);
  if (const auto* language = std::get_if<data::LanguageModel>(&*task))
    continue_prompt(given, writer, *language);
  else
    translate_prompt(given, writer, std::get<data::Translation>(*task));
}

}  // namespace

void add_generate(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "generate", "Let a trained network continue a text, or translate sentences");
  const auto flags = std::make_shared<GenerateFlags>();
  add_trained_flags(*command, flags);
  CLI::Option* prompt = command->add_option(
      "--prompt", flags->prompt,
      "The text to continue [a line break, if the network knows it], or a sentence to translate");
  command
      ->add_option("--prompt-file", flags->prompt_file,
                   "File with that text, or with a sentence a line; - is standard input")
      ->excludes(prompt);
  command->add_option("--tokens", flags->tokens, "How many tokens to add to a text [200]")
      ->check(range<std::int64_t>(1, kMostSamples, kWholeNumber));
  command
      ->add_option("--temperature", flags->sampling.temperature,
                   "How freely words of a text are drawn; 0 always takes the likeliest [0.8]")
      ->check(range<double>(0, 1e6, "a number"));
  command
      ->add_option("--top", flags->sampling.top,
                   "Draw only from this many of the likeliest tokens [all]")
      ->check(range<std::int64_t>(1, kMostSamples, kWholeNumber));
  command->add_option("--seed", flags->sampling.seed, "Of the words that are drawn [0]")
      ->check(range<std::int64_t>(0, kMostSeed, kWholeNumber));
  add_setting(*command, flags, "--threads", "CPU threads [the run's]");
  add_setting(*command, flags, "--device", "cpu, cuda or cuda:1 [the run's]");
  add_setting(*command, flags, "--precision", "fp32 or bf16 [the run's]");
  command->add_flag("--json", flags->as_json, "Print one JSON object instead of the text");
  command->callback([flags, command] {
    for (const char* flag : {"--tokens", "--temperature", "--top", "--seed"})
      if (command->count(flag) > 0) flags->drawing.emplace_back(flag);
    execute(*flags, command->remaining());
  });
}

}  // namespace pipedream::cli
