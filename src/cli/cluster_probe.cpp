#include "cli/cluster_probe.h"

#include <array>
#include <ctime>
#include <iostream>
#include <optional>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/flags.h"
#include "cli/loss_watch.h"
#include "cli/network_flags.h"
#include "cli/progress.h"
#include "cli/under_mpirun.h"
#include "core/error.h"
#include "core/file.h"
#include "core/machine.h"
#include "core/text.h"
#include "model/device.h"
#include "model/threads.h"
#include "probe/probe_text.h"
#include "profiler/fixed_work.h"
#include "runtime/run.h"
#include "train/request.h"

namespace pipedream::cli {
namespace {

// The longest silence of another process. No measurement queues messages for longer than a few
// seconds, and signs of life overtake them.
constexpr std::chrono::seconds kPatience{20};

struct ProbeFlags {
  std::optional<int> workers;
  std::string device = "cpu";
  int threads = 1;
  double seconds = 1;
  std::string output;
  bool as_json = false;
};

// Where the workers are: the number of each worker's host, and the host's name.
struct Places {
  std::vector<int> host_of;
  std::vector<std::string> names;
  [[nodiscard]] int workers() const { return static_cast<int>(host_of.size()); }
};

Places places_of(const transport::MpiWorld& world) {
  Places places{world.hosts(), {}};
  for (int rank = 0; rank < world.size(); ++rank) places.names.push_back(world.host_name(rank));
  return places;
}

Places places_of_threads(int workers) {
  std::array<char, 256> name{};
  (void)::gethostname(name.data(), name.size() - 1);
  const auto count = static_cast<std::size_t>(workers);
  return {std::vector<int>(count, 0), std::vector<std::string>(count, name.data())};
}

// Each worker gets an equal part of its host's memory, or of its GPU's.
Bytes memory_of(at::Device device, int workers_here) {
  return model::memory_of_worker(device, workers_here)
      .value_or(Bytes{physical_memory().count / workers_here});
}

// Probes as one worker. `progress` is shown by worker 0 only.
probe::Probed probe_as_worker(const ProbeFlags& flags, const Places& places,
                              const runtime::Seat& seat, bool threads) {
  const probe::Hosts hosts = probe::hosts_of(places.host_of, places.names);
  const at::Device asked = model::device_named(flags.device);
  model::use_threads(flags.threads);
  std::vector<std::string> names;
  for (const int first : hosts.first)
    names.push_back(places.names[static_cast<std::size_t>(first)]);
  PhaseProgress bars;
  return probe::probe({.hosts = hosts,
                       .names = names,
                       .time = from_seconds(flags.seconds),
                       .memory = memory_of(asked, hosts.workers_each),
                       .work = profiler::fixed_work(
                           model::device_of_worker(asked, seat.me.value % hosts.workers_each)),
                       .threads = threads,
                       .progress =
                           [&](double share, const std::string& what) {
                             if (seat.me == WorkerId{0})
                               bars.bar("measuring", kQuietPhase).show(share, what);
                           }},
                      {seat.channels.values, seat.channels.control});
}

// What can be refused before anything is measured.
void check(const ProbeFlags& flags, const Places& places, bool speaks) {
  (void)probe::hosts_of(places.host_of, places.names);
  model::require_device(model::device_named(flags.device));
  if (speaks && !flags.output.empty()) prepare_to_write(flags.output);
}

std::string origin(const ProbeFlags& flags, const Places& places, bool threads) {
  std::array<char, 64> when{};
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  (void)std::strftime(when.data(), when.size(), "%Y-%m-%d %H:%M UTC", ::gmtime_r(&now, &utc));
  return std::string("Measured by pipedream " PD_VERSION " on ") + when.data() +
         ": cluster probe with " + std::to_string(places.workers()) +
         (threads ? " threads" : " processes of mpirun") + ", device " + flags.device +
         ", threads " + std::to_string(flags.threads) + ", seconds " + brief_number(flags.seconds) +
         ".";
}

void show(const ProbeFlags& flags, const probe::Probed& probed, const std::string& origin) {
  std::cout << (flags.as_json ? probe::probe_json(probed).dump(2) + "\n"
                              : probe::probe_table(probed));
  for (const std::string& remark : probe::remarks(probed.measured, probed.averaged))
    std::cerr << remark << "\n";
  if (flags.output.empty()) return;
  write_file_atomically(flags.output, probe::cluster_file(probed, origin));
  std::cerr << "written to " << flags.output << "\n";
}

void probe_processes(const ProbeFlags& flags) {
  transport::MpiWorld world;
  world.set_patience(kPatience);
  const LossWatch watch(world);
  run_under_mpirun(world, [&] {
    const Places places = places_of(world);
    const bool speaks = world.rank() == 0;
    if (flags.workers && *flags.workers != world.size())
      throw BadUsage("--workers " + std::to_string(*flags.workers) + ": mpirun started " +
                     counted(world.size(), "process", "processes") + ", and each is one worker");
    train::agree(&world, [&] { check(flags, places, speaks); });
    std::optional<probe::Probed> probed;
    runtime::run_as_process(world, {}, std::nullopt, [&](const runtime::Seat& seat) {
      probed = probe_as_worker(flags, places, seat, /*threads=*/false);
    });
    train::agree(&world, [&] {
      if (speaks) show(flags, *probed, origin(flags, places, /*threads=*/false));
    });
  });
}

void probe_threads(const ProbeFlags& flags) {
  if (!flags.workers)
    throw BadUsage(
        "cluster probe: wanted workers to measure: start them with mpirun (mpirun -n 4 pipedream "
        "cluster probe), or measure threads of this machine with --workers N");
  const Places places = places_of_threads(*flags.workers);
  check(flags, places, /*speaks=*/true);
  std::optional<probe::Probed> probed;
  runtime::run_on_threads(places.workers(), std::nullopt, [&](const runtime::Seat& seat) {
    probe::Probed found = probe_as_worker(flags, places, seat, /*threads=*/true);
    if (seat.me == WorkerId{0}) probed = std::move(found);
  });
  show(flags, *probed, origin(flags, places, /*threads=*/true));
}

}  // namespace

void add_cluster_probe(CLI::App& cluster) {
  CLI::App* command = cluster.add_subcommand(
      "probe", "Measure workers and links under mpirun, and write the cluster file");
  const auto flags = std::make_shared<ProbeFlags>();
  const auto count = range<int>(1, train::kMostThreads, kWholeNumber);
  command->add_option("-o,--output", flags->output, "Write the cluster to this file (TOML)")
      ->check(check_output_name);
  command
      ->add_option("--workers", flags->workers, "Without mpirun: measure so many threads instead")
      ->check(count);
  command->add_option("--device", flags->device,
                      "What workers compute on: cpu, cuda or cuda:0 [cpu]");
  command->add_option("--threads", flags->threads, "Threads of one worker on CPU [1]")
      ->check(count);
  command
      ->add_option("--seconds", flags->seconds,
                   "Each figure is the median of three rounds of about this length [1]")
      ->check(range<double>(0.01, 600, "a number"));
  command->add_flag("--json", flags->as_json, "Print one JSON object instead of tables");
  command->callback([flags] {
    check_threads(flags->threads);
    if (transport::launched_by_mpirun())
      probe_processes(*flags);
    else
      probe_threads(*flags);
  });
}

}  // namespace pipedream::cli
