// pipedream launch: starts a training under mpirun, watches it, and starts it again from its newest
// checkpoint if a worker is lost.
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <numeric>

#include <unistd.h>

#include "cli/child.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/launch_words.h"
#include "cli/run.h"
#include "core/error.h"
#include "core/text.h"
#include "train/request.h"
#include "train/resume.h"
#include "transport/launcher.h"

namespace pipedream::cli {
namespace {

using namespace std::chrono_literals;

struct LaunchFlags {
  int processes = 0;
  std::string hosts;
  int restarts = 3;
  int least = 1;
};

void say(const std::string& line) { std::cerr << "pipedream: " + line + "\n" << std::flush; }

bool is_open_mpi() {
  std::FILE* answer = ::popen("mpirun --version 2>/dev/null", "r");
  if (answer == nullptr) return true;
  std::string text;
  std::array<char, 256> part{};
  while (std::fgets(part.data(), part.size(), answer) != nullptr) text += part.data();
  ::pclose(answer);
  if (text.empty())
    throw CannotMeet("launch: there is no mpirun: install openmpi-bin, or train without launch");
  return text.find("Open MPI") != text.npos || text.find("OpenRTE") != text.npos;
}

std::filesystem::path program() { return std::filesystem::read_symlink("/proc/self/exe"); }

// One training that is launched, as often as it takes.
class Launch {
 public:
  Launch(const LaunchFlags& flags, Mpirun mpirun, Words training);
  // Returns the exit code.
  [[nodiscard]] int run();

 private:
  // Starts the training once and waits for its end. Returns mpirun's exit status.
  [[nodiscard]] int run_once(const Words& training);
  void pass_on_signal(Child& child, bool& told);
  // The checkpoint to go on from, or nothing if there is none. Throws BadFile if none is sound:
  // they must not be overwritten.
  [[nodiscard]] std::optional<train::SoundCheckpoint> checkpoint() const;
  // Leaves out the hosts that do not answer. Returns whether there were any. Throws WorkerLost if
  // too few workers are left.
  [[nodiscard]] bool drop_lost_hosts();
  [[nodiscard]] bool answers(const HostSlots& host) const;

  LaunchFlags flags_;
  Mpirun mpirun_;
  Words training_;
  std::vector<HostSlots> hosts_;
  std::string folder_;  // the run folder; empty if there is none
};

Launch::Launch(const LaunchFlags& flags, Mpirun mpirun, Words training)
    : flags_(flags),
      mpirun_(std::move(mpirun)),
      training_(std::move(training)),
      hosts_(flags.hosts.empty() ? std::vector<HostSlots>{} : parse_hosts(flags.hosts)),
      folder_(run_folder_of(training_)) {
  const int slots = std::accumulate(hosts_.begin(), hosts_.end(), 0,
                                    [](int sum, const auto& host) { return sum + host.slots; });
  if (flags_.processes == 0) flags_.processes = slots;
  if (flags_.processes == 0)
    throw BadUsage("launch: wanted -n PROCESSES or --hosts a:2,b:2, found neither");
  if (slots > 0 && flags_.processes != slots)
    throw BadUsage("launch: -n " + std::to_string(flags_.processes) + " and --hosts with " +
                   std::to_string(slots) + " processes: leave -n out, or let them agree");
}

std::optional<train::SoundCheckpoint> Launch::checkpoint() const {
  return folder_.empty() ? std::nullopt : train::find_checkpoint(folder_);
}

// A first signal becomes SIGUSR1, which mpirun passes on. It stops a training at a checkpoint, and
// ends one that writes none. A second signal ends all.
void Launch::pass_on_signal(Child& child, bool& told) {
  if (!told && StopOnSignal::was_asked()) {
    child.signal(SIGUSR1);
    // Some settings of mpirun pass nothing on (Open MPI's plm `isolated`). A process that gets the
    // signal twice stops as it does after one.
    child.signal_started(SIGUSR1, program());
    told = true;
  }
}

int Launch::run_once(const Words& training) {
  Words words{program().string()};
  words.insert(words.end(), training.begin(), training.end());
  Child child(mpirun_words(mpirun_, flags_.processes, hosts_, words));
  for (bool told = false; !child.ends_within(100ms);) pass_on_signal(child, told);
  return *child.status();
}

bool Launch::answers(const HostSlots& host) const {
  Child child(mpirun_words(mpirun_, 1, {{host.name, 1}}, {"true"}), /*quiet=*/true);
  return child.ends_within(20s) && child.status() == 0;
}

bool Launch::drop_lost_hosts() {
  std::vector<HostSlots> left;
  std::vector<std::string> lost;
  for (const HostSlots& host : hosts_) {
    if (answers(host))
      left.push_back(host);
    else
      lost.push_back(host.name);
  }
  if (lost.empty()) return false;
  int workers = 0;
  for (const HostSlots& host : left) workers += host.slots;
  const std::string said = joined(lost) + (lost.size() == 1 ? " does" : " do") +
                           " not answer, and " + counted(workers, "worker is", "workers are") +
                           " left";
  if (workers < flags_.least)
    throw WorkerLost(said + "; --min-workers wants " + std::to_string(flags_.least));
  say(said + ": planning anew for " + (workers == 1 ? "it" : "them"));
  hosts_ = std::move(left);
  flags_.processes = workers;
  training_ = for_other_workers(training_);
  return true;
}

// Whether the training itself has ended so, whatever the hosts do.
bool is_an_answer(int status) {
  for (const int code : {kDone, kUsage, kBadFile, kBug, kIo, kInterrupted, kCannotMeet})
    if (status == code) return true;
  return false;
}

// Whether a training that ended so may succeed if it is started again: a worker was lost, or a
// signal ended a process.
bool may_go_on(int status) { return status == kWorkerLost || status > 128; }

int Launch::run() {
  if (folder_.empty())
    say("without --out there are no checkpoints: if a worker is lost, the training begins anew");
  Words training = training_;
  for (int restart = 0;; ++restart) {
    const int status = run_once(training);
    if (is_an_answer(status) || StopOnSignal::was_asked()) return status;
    // A host that is gone ends mpirun with a code that means other things, too.
    if (!drop_lost_hosts() && !may_go_on(status)) return status;
    const std::string lost = "mpirun ended with " + std::to_string(status);
    if (restart == flags_.restarts)
      throw WorkerLost(lost + ", and " +
                       (flags_.restarts == 0
                            ? "no restart is left (--restarts)"
                            : counted(flags_.restarts, "restart was", "restarts were") +
                                  " made: a worker is lost again and again"));
    const auto from = checkpoint();
    say(lost + "; restart " + std::to_string(restart + 1) + " of " +
        std::to_string(flags_.restarts) + ", " +
        (from ? "from " + from->path.string() : std::string("from the beginning")));
    training = continued(training_, from.has_value());
  }
}

// Open MPI refuses to run as root unless it is told that this is meant. Whoever starts this program
// as root means it.
void allow_root() {
  if (::geteuid() != 0) return;
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", /*overwrite=*/0);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", /*overwrite=*/0);
}

void launch(const LaunchFlags& flags, const CLI::App& command) {
  const Words rest = command.remaining();
  const auto train = std::find(rest.begin(), rest.end(), "train");
  if (!rest.empty() && rest.front() != "--mpirun" && train != rest.begin())
    throw BadUsage("launch: there is no option " + rest.front() +
                   " ('pipedream launch --help' shows what there is)");
  if (train == rest.end())
    throw BadUsage("launch: wanted the training after the options: launch -n 4 train …");
  Mpirun mpirun{is_open_mpi(), {}};
  if (train != rest.begin()) mpirun.passed.assign(rest.begin() + 1, train);
  allow_root();
  ::setenv(transport::kLaunchVariable, "1", /*overwrite=*/1);
  const StopOnSignal stop("stopping the training; a second signal ends it at once",
                          /*only_user_signal=*/false);
  const int status = Launch(flags, std::move(mpirun), Words(train, rest.end())).run();
  if (status != kDone) throw EndedWith{status};
}

}  // namespace

void add_launch(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "launch", "Train under mpirun, and go on from the newest checkpoint if a worker is lost");
  const auto flags = std::make_shared<LaunchFlags>();
  const auto count = range<int>(1, train::kMostThreads, kWholeNumber);
  command->add_option("-n", flags->processes, "Processes, each of which is one worker")
      ->check(count);
  command->add_option("--hosts", flags->hosts, "Where they run, e.g. a:2,b:2 [where mpirun says]");
  command
      ->add_option("--restarts", flags->restarts, "How often a lost training is started again [3]")
      ->check(range<int>(0, 1'000'000, kWholeNumber));
  command
      ->add_option("--min-workers", flags->least,
                   "Give up if hosts no longer answer and fewer workers are left [1]")
      ->check(count);
  command->prefix_command();
  command->footer(
      "Then follow, if you like, --mpirun and words that are passed on to it, and then 'train' "
      "with "
      "its flags:\n  pipedream launch -n 4 --restarts 5 --mpirun --mca btl tcp,self train --model "
      "gpt --out run");
  command->callback([flags, command] { launch(*flags, *command); });
}

}  // namespace pipedream::cli
