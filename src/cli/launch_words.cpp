#include "cli/launch_words.h"

#include <charconv>
#include <set>

#include "cli/starting_point.h"
#include "core/error.h"
#include "core/text.h"
#include "train/request.h"
#include "train/resume.h"
#include "transport/launcher.h"

namespace pipedream::cli {
namespace {

[[noreturn]] void refuse_hosts(const std::string& text) {
  throw BadUsage("--hosts: wanted hosts and their numbers of processes, such as a:2,b:2, found '" +
                 printable(text) + "'");
}

HostSlots parse_host(const std::string& part, const std::string& text) {
  const std::size_t colon = part.find(':');
  HostSlots host{part.substr(0, colon)};
  if (host.name.empty()) refuse_hosts(text);
  if (colon == part.npos) return host;
  const char* end = part.data() + part.size();
  const auto [stop, error] = std::from_chars(part.data() + colon + 1, end, host.slots);
  if (error != std::errc{} || stop != end || host.slots < 1 || host.slots > train::kMostThreads)
    refuse_hosts(text);
  return host;
}

bool is_flag(const std::string& word, const std::string& name) {
  return word == name || word.starts_with(name + "=");
}

}  // namespace

std::vector<HostSlots> parse_hosts(const std::string& text) {
  std::vector<HostSlots> hosts;
  std::set<std::string> names;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    hosts.push_back(parse_host(text.substr(at, comma - at), text));
    if (!names.insert(hosts.back().name).second) refuse_hosts(text);
    at = comma + 1;
  }
  return hosts;
}

std::optional<std::string> value_of(const Words& command, const std::string& name) {
  std::optional<std::string> value;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i] == name && i + 1 < command.size()) value = command[i + 1];
    if (command[i].starts_with(name + "=")) value = command[i].substr(name.size() + 1);
  }
  return value;
}

Words without(const Words& command, const std::string& name, bool has_value) {
  Words rest;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (!is_flag(command[i], name))
      rest.push_back(command[i]);
    else if (has_value && command[i] == name)
      ++i;  // and its value
  }
  return rest;
}

std::string run_folder_of(const Words& training) {
  if (const auto out = value_of(training, "--out")) return *out;
  const auto resumed = value_of(training, "--resume");
  return resumed && *resumed != kResumeIfThere ? *resumed : "";
}

Words continued(const Words& training, bool has_checkpoint) {
  const std::string folder = run_folder_of(training);
  Words words = without(training, "--overwrite", /*has_value=*/false);
  if (!has_checkpoint) {
    if (!folder.empty() && value_of(training, "--out")) words.push_back("--overwrite");
    return words;
  }
  for (const char* flag : {"--resume", "--out", "--weights", "--fresh"})
    words = without(words, flag);
  words = without(words, "--force", /*has_value=*/false);
  words.insert(words.end(), {"--resume", kResumeIfThere, "--out", folder});
  return words;
}

Words for_other_workers(const Words& training) {
  Words words = training;
  for (const char* flag : {"--workers", "--plan", "--cluster", "--stages", "--split", "--schedule"})
    words = without(words, flag);
  return words;
}

Words mpirun_words(const Mpirun& mpirun, int processes, const std::vector<HostSlots>& hosts,
                   const Words& program) {
  Words words{"mpirun", "-n", std::to_string(processes)};
  if (!hosts.empty()) {
    std::string list;
    for (const HostSlots& host : hosts)
      list += (list.empty() ? "" : ",") + host.name + ":" + std::to_string(host.slots);
    words.insert(words.end(), {mpirun.is_open_mpi ? "--host" : "-hosts", list});
  }
  // Workers share cores as they are told to, not as mpirun counts them. Each has threads of its
  // own, so none is bound to one core.
  if (mpirun.is_open_mpi) words.insert(words.end(), {"--oversubscribe", "--bind-to", "none"});
  // Other mpiruns pass on all variables by themselves.
  if (mpirun.is_open_mpi) words.insert(words.end(), {"-x", transport::kLaunchVariable});
  // On one host the processes say themselves which of them was lost. From several hosts, mpirun's
  // own report may be the only one.
  if (mpirun.is_open_mpi && hosts.empty() && mpirun.passed.empty()) words.push_back("--quiet");
  words.insert(words.end(), mpirun.passed.begin(), mpirun.passed.end());
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

}  // namespace pipedream::cli
