#include "train/same_start.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <nlohmann/json.hpp>
#include <sys/utsname.h>

#include <torch/version.h>

#include "core/build_id.h"
#include "core/document.h"
#include "core/error.h"
#include "core/text.h"
#include "train/together.h"

namespace pipedream::train {
namespace {

nlohmann::ordered_json json_of(const Settings& settings) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [name, value] : settings) list.push_back({any_bytes(name), any_bytes(value)});
  return list;
}

Settings settings_in(const Node& list) {
  Settings settings;
  for (const Node& pair : list.elements()) {
    const std::vector<Node> parts = pair.elements();
    if (parts.size() != 2) pair.fail("wanted a name and a value");
    settings.emplace_back(parts[0].any_bytes(), parts[1].any_bytes());
  }
  return settings;
}

// The beginning of a build's id is enough to tell builds apart.
std::string with_build(const std::string& what, const std::string& build) {
  return build.empty() ? what : what + " (build " + build.substr(0, 12) + ")";
}

std::string program_of(const Identity& identity) {
  return with_build("pipedream " + identity.version, identity.build);
}

std::string libtorch_of(const Identity& identity) {
  return with_build("libtorch " + identity.libtorch, identity.libtorch_build);
}

bool run_the_same(const Identity& a, const Identity& b) {
  return a.version == b.version && (a.build == b.build || a.processor != b.processor);
}

bool use_the_same_libtorch(const Identity& a, const Identity& b) {
  return a.libtorch == b.libtorch &&
         (a.libtorch_build == b.libtorch_build || a.processor != b.processor);
}

// The first name, in alphabetical order, whose value differs, with both values. A name that is not
// there has no value.
struct Difference {
  std::string name;
  std::optional<std::string> first;
  std::optional<std::string> other;
};
std::optional<Difference> difference(const Settings& first, const Settings& other) {
  std::map<std::string, Difference> all;
  for (const auto& [name, value] : first) all[name].first = value;
  for (const auto& [name, value] : other) all[name].other = value;
  for (auto& [name, found] : all) {
    found.name = name;
    if (found.first != found.other) return found;
  }
  return std::nullopt;
}

// "with --batch 8", "with --no-stash" or "without --batch".
std::string flag_text(const std::string& name, const std::optional<std::string>& value) {
  if (!value) return "without " + name;
  return "with " + (value->empty() ? name : name + " " + printable(*value));
}

// Compares all processes with the first one. `say` returns what is wrong with one, or nothing.
// Returns what is wrong with the first that differs, and says how many others differ.
std::optional<std::string> first_difference(
    std::size_t processes, const std::function<std::optional<std::string>(std::size_t)>& say) {
  std::optional<std::string> first;
  std::int64_t more = 0;
  for (std::size_t p = 1; p < processes; ++p) {
    const auto found = say(p);
    if (found && first) ++more;
    if (found && !first) first = found;
  }
  if (more > 0)
    *first += " (" + counted(more, "other worker differs", "other workers differ") + ", too)";
  return first;
}

// Processes that all refuse the same tell it once. If some do, the first of them is named.
std::optional<std::string> refusal_of(std::span<const Identity> processes,
                                      std::span<const std::string> names) {
  const auto has = [](const Identity& identity) { return !identity.refusal.empty(); };
  const auto first = std::find_if(processes.begin(), processes.end(), has);
  if (first == processes.end()) return std::nullopt;
  if (std::all_of(processes.begin(), processes.end(),
                  [&](const Identity& other) { return other.refusal == first->refusal; }))
    return first->refusal;
  return names[static_cast<std::size_t>(first - processes.begin())] + ": " + first->refusal +
         "; other workers have another command line: give all workers the same flags";
}

std::vector<std::string> names_of(const transport::MpiWorld& world) {
  std::vector<std::string> names;
  for (int rank = 0; rank < world.size(); ++rank)
    names.push_back("worker " + std::to_string(rank) + " on " + world.host_name(rank));
  return names;
}

}  // namespace

Identity this_program() {
  ::utsname machine{};
  ::uname(&machine);
  return {.version = PD_VERSION,
          .build = build_id(),
          .libtorch = TORCH_VERSION,
          .libtorch_build = build_id_of_library("libtorch_cpu"),
          .processor = machine.machine};
}

std::string to_text(const Identity& identity) {
  return nlohmann::ordered_json{
      {"version", any_bytes(identity.version)},     {"build", identity.build},
      {"libtorch", any_bytes(identity.libtorch)},   {"libtorch_build", identity.libtorch_build},
      {"processor", any_bytes(identity.processor)}, {"flags", json_of(identity.flags)},
      {"refusal", any_bytes(identity.refusal)}}
      .dump();
}

// Unknown members are ignored: they are another version's.
Identity identity_in(const std::string& text) {
  const Node root = parse_json(text, "what a worker says of itself");
  return {.version = root.at("version").any_bytes(),
          .build = root.at("build").any_bytes(),
          .libtorch = root.at("libtorch").any_bytes(),
          .libtorch_build = root.at("libtorch_build").any_bytes(),
          .processor = root.at("processor").any_bytes(),
          .flags = settings_in(root.at("flags")),
          .refusal = root.at("refusal").any_bytes()};
}

std::optional<Disagreement> disagreement(std::span<const Identity> processes,
                                         std::span<const std::string> names) {
  const Identity& first = processes.front();
  const auto of_programs =
      first_difference(processes.size(), [&](std::size_t p) -> std::optional<std::string> {
        const Identity& other = processes[p];
        if (!run_the_same(first, other))
          return names[p] + " runs " + program_of(other) + ", and " + names[0] + " runs " +
                 program_of(first);
        if (!use_the_same_libtorch(first, other))
          return names[p] + " uses " + libtorch_of(other) + ", and " + names[0] + " uses " +
                 libtorch_of(first);
        return std::nullopt;
      });
  if (of_programs) return Disagreement{true, *of_programs + ": install the same on all hosts"};
  if (const auto refusal = refusal_of(processes, names)) return Disagreement{false, *refusal};
  const auto of_flags =
      first_difference(processes.size(), [&](std::size_t p) -> std::optional<std::string> {
        const auto found = difference(first.flags, processes[p].flags);
        if (!found) return std::nullopt;
        return names[p] + " was started " + flag_text(found->name, found->other) + ", and " +
               names[0] + " " + flag_text(found->name, found->first);
      });
  if (of_flags) return Disagreement{false, *of_flags + ": give all workers the same flags"};
  return std::nullopt;
}

std::optional<std::string> why_not_joined(const transport::Launcher& launcher, int size,
                                          const std::string& mpi) {
  if (!launcher.size || *launcher.size == size) return std::nullopt;
  return launcher.name + " started " + counted(*launcher.size, "process", "processes") +
         ", and MPI has joined " + (size < *launcher.size ? "only " : "") + std::to_string(size) +
         ", so they would train apart from each other: this program uses " + mpi +
         "; start it with pipedream launch, or with the mpirun of that MPI";
}

void want_same_start(transport::MpiWorld& world, const transport::Launcher& launcher,
                     const Identity& own) {
  if (const auto why = why_not_joined(launcher, world.size(), transport::mpi_name()))
    throw BadUsage(*why);
  const std::vector<std::string> texts = gathered_by_first(world, to_text(own));
  (void)made_by_first(&world, [&] {
    std::vector<Identity> processes;
    for (const std::string& text : texts) processes.push_back(identity_in(text));
    const auto found = disagreement(processes, names_of(world));
    if (found && found->of_programs) throw CannotMeet(found->text);
    if (found) throw BadUsage(found->text);
    return "";
  });
}

void want_same_inputs(transport::MpiWorld& world, const Settings& own) {
  const std::vector<std::string> texts = gathered_by_first(world, json_of(own).dump());
  (void)made_by_first(&world, [&] {
    const std::vector<std::string> names = names_of(world);
    const auto found =
        first_difference(texts.size(), [&](std::size_t p) -> std::optional<std::string> {
          const auto differs = difference(own, settings_in(parse_json(texts[p], names[p])));
          if (!differs) return std::nullopt;
          return differs->name + ": " + names[p] + " has " +
                 printable(differs->other.value_or("none")) + ", and " + names[0] + " has " +
                 printable(differs->first.value_or("none"));
        });
    if (found) throw CannotMeet(*found + ": give all hosts the same files");
    return "";
  });
}

std::string start_text(const transport::MpiWorld& world, const transport::Launcher& launcher) {
  const std::set<int> hosts(world.hosts().begin(), world.hosts().end());
  return counted(world.size(), "worker", "workers") + " on " +
         counted(static_cast<std::int64_t>(hosts.size()), "host", "hosts") + ", started by " +
         launcher.name;
}

}  // namespace pipedream::train
