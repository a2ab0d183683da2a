#include "cli/run.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <new>
#include <optional>
#include <set>
#include <thread>

#include <CLI/CLI.hpp>

#include <c10/util/Exception.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/network_flags.h"
#include "cli/spelling.h"
#include "cli/start.h"
#include "cli/training.h"
#include "core/error.h"
#include "core/log.h"
#include "model/out_of_memory.h"
#include "transport/launcher.h"

namespace pipedream::cli {
namespace {

// Prints the message and returns `code`. Under mpirun only process 0 prints; it learns of the
// failures of the others.
int report(int code, const std::string& message) {
  std::cout.flush();
  if (transport::this_launcher().rank > 0) return code;
  std::cerr << "pipedream: " << with_flags(message) << "\n";
  return code;
}

// Writes libtorch's warnings to our log, each text once.
class TorchWarnings : public c10::WarningHandler {
 public:
  void process(const c10::Warning& warning) override {
    if (seen_.insert(warning.msg()).second) log_warning("libtorch: " + warning.msg());
  }

 private:
  std::set<std::string> seen_;
};

// The command that was chosen, such as `probe` of `cluster probe`; `app` itself if none was.
const CLI::App& chosen_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : chosen_command(*chosen.front());
}

// The words that call a command, without the program's name and with a space behind them.
std::string words_of(const CLI::App& command) {
  if (command.get_parent() == nullptr) return "";
  return words_of(*command.get_parent()) + command.get_name() + " ";
}

// CLI11's message, or a plainer one: of a flag that is given twice CLI11 says "--model: At Most 1
// required but received 2".
std::string plain_text_of(const CLI::ParseError& error) {
  const std::string text = error.what();
  const std::string at_most = ": At Most 1 required but received ";
  const std::size_t at = text.find(at_most);
  if (at == text.npos) return text;
  const std::string count = text.substr(at + at_most.size());
  return text.substr(0, at) + " is given " + (count == "2" ? "twice" : count + " times");
}

// What is wrong with the command line, for the user.
std::string text_of(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = chosen_command(app);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && &command != &app) {
    try {  // says which flag was meant
      (void)model_options(command.remaining(), {}, flag_names(command));
    } catch (const BadUsage& unknown) {
      return unknown.what();
    }
  }
  return plain_text_of(error) + " ('pipedream " + words_of(command) +
         "--help' shows what there is)";
}

void flush_output() {
  std::cout.flush();
  if (!std::cout) throw IoError("cannot write to standard output");
}

// Prints the message of the exception that is being handled, and returns its exit code.
int report_failure() {
  try {
    throw;
  } catch (const BadUsage& error) {
    return report(kUsage, error.what());
  } catch (const BadValue& error) {
    return report(kUsage, error.what());
  } catch (const BadFile& error) {
    return report(kBadFile, error.what());
  } catch (const TrainingStopped& error) {
    return report(kStopped, error.what());
  } catch (const WorkerLost& error) {
    return report(kWorkerLost, error.what());
  } catch (const IoError& error) {
    return report(kIo, error.what());
  } catch (const CannotMeet& error) {
    return report(kCannotMeet, error.what());
  } catch (const std::bad_alloc&) {
    return report(kCannotMeet, model::kOutOfMemory);
  } catch (const c10::Error& error) {
    if (model::is_out_of_memory(error)) return report(kCannotMeet, model::kOutOfMemory);
    return report(kBug, std::string("a bug, please report it: ") + error.what_without_backtrace());
  } catch (const std::exception& error) {
    return report(kBug, std::string("a bug, please report it: ") + error.what());
  }
}

// CLI11 throws for --help and --version too. These print to stdout and are not errors.
int report(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    (void)app.exit(error, std::cout, std::cerr);
    return std::cout.flush() ? kDone : report(kIo, "cannot write to standard output");
  }
  const std::string text = text_of(app, error);
  try {
    for (const CLI::App* chosen : app.get_subcommands()) tell_refusal(*chosen, text);
  } catch (...) {
    return report_failure();
  }
  return report(kUsage, text);
}

// Formats the help without the lists of flags that exclude each other. If a user gives two such
// flags, the error message names them.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text;
    if (option->get_type_size() != 0 && !option->get_type_name().empty())
      text += " " + get_label(option->get_type_name());
    if (option->get_required()) text += " " + get_label("REQUIRED");
    return text;
  }
};

void add_commands(CLI::App& app) {
  add_models(app);
  add_systems(app);
  add_profile(app);
  add_cluster(app);
  add_plan(app);
  add_schedule(app);
  add_simulate(app);
  add_compare(app);
  add_train(app);
  add_launch(app);
  add_checkpoint(app);
  add_evaluate(app);
  add_generate(app);
  add_report(app);
  add_completion(app);
  add_help(app);
}

// Throws BadUsage if the command was started in a way that cannot work.
void want_right_start(const Words& command) {
  const transport::Launcher& launcher = transport::this_launcher();
  const auto wrong = wrong_start(launcher, command);
  if (!wrong) return;
  // Torchrun and srun end all processes when the first one ends, and rank 0 is to tell why.
  if (launcher.rank > 0) std::this_thread::sleep_for(std::chrono::seconds(1));
  throw BadUsage(*wrong);
}

void parse_and_do(CLI::App& app, int count, const char* const* arguments) {
  // Names the unknown subcommand. CLI11 would only say that a subcommand is missing.
  if (count > 1 && arguments[1][0] != '-') want_command(app, arguments[1]);
  want_right_start(Words(arguments + std::min(count, 1), arguments + count));
  std::optional<WhenInterrupted> note;
  if (transport::this_launcher().rank == 0) note.emplace("interrupted");
  TorchWarnings warnings;
  const c10::WarningUtils::WarningHandlerGuard guard(&warnings);
  app.parse(count, arguments);
  flush_output();
}

}  // namespace

int run(int count, const char* const* arguments) {
  CLI::App app("Pipeline-parallel training of deep networks that plans itself.", "pipedream");
  app.set_version_flag("--version", PD_VERSION);
  app.require_subcommand(1);
  const auto formatter = std::make_shared<HelpFormatter>();
  formatter->column_width(34);
  app.formatter(formatter);
  add_commands(app);
  try {
    parse_and_do(app, count, arguments);
    return kDone;
  } catch (const CLI::ParseError& error) {
    return report(app, error);
  } catch (const EndedWith& ended) {
    return ended.code;
  } catch (...) {
    return report_failure();
  }
}

}  // namespace pipedream::cli
