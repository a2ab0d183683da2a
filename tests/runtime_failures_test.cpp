// If something goes wrong in one worker, the run ends soon, with one message that says where.
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include <ATen/ops/full_like.h>
#include <ATen/ops/zeros.h>

#include "core/error.h"
#include "core/testing.h"
#include "runtime_cases_testing.h"

namespace pipedream::test {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

Case replicated(const std::string& system, int microbatches) {
  model::Network network = small_network("mlp");
  plan::Plan plan = cut_in_order(network, system, {2, 1, 2});
  plan.microbatches = microbatches;
  for (plan::Stage& stage : plan.stages) stage.recompute = true;
  return {std::move(network), std::move(plan), {.minibatches = 6}};
}

// The place of an op as error messages name it. Requires that the worker has one stage.
std::string place_of(const plan::Plan& plan, WorkerId worker, const schedule::Op& op) {
  std::string place = "worker " + std::to_string(worker.value) + ", " + to_text(op, true);
  for (std::size_t s = 0; s < plan.stages.size(); ++s)
    if (const auto& workers = plan.stages[s].workers;
        std::find(workers.begin(), workers.end(), worker) != workers.end())
      place += " (stage " + std::to_string(s);
  if (const auto minibatch = schedule::minibatch_of(op))
    place += ", minibatch " + std::to_string(*minibatch);
  return place + ")";
}

// The message of the exception that the run throws if `worker` fails just before its op number
// `index`.
std::string message_of_failure_at(const Case& test, WorkerId worker, std::size_t index) {
  runtime::Job job = make_job(test.network, test.plan);
  std::size_t seen = 0;  // used only by the thread of `worker`
  job.before_op = [&](WorkerId me, const schedule::Op&) {
    if (me == worker && seen++ == index) throw std::runtime_error("the disk is on fire");
  };
  return message_of<Error>(
      [&] { (void)runtime::run_schedule(job, test.schedule, test.extent, test.feed); });
}

constexpr int kTimes = kSanitized ? 1 : 3;  // threads run in another order each time

// Lets every worker fail at one op of each kind, near the middle of its program. Expects the
// message to name the op. `kinds_of_ops` is the number of kinds that must occur.
void expect_every_failure_to_be_told(const Case& test, std::size_t kinds_of_ops) {
  int runs = 0;
  double longest = 0;
  std::set<std::size_t> kinds;
  for (const auto& program : schedule::lower(test.schedule, test.plan, test.network.graph)) {
    std::map<std::size_t, std::size_t> found;  // kind of op → index in the program
    for (std::size_t i = 0; i < program.ops.size(); ++i)
      if (!found.contains(program.ops[i].index()) || i <= program.ops.size() / 2)
        found[program.ops[i].index()] = i;
    for (const auto& [kind, index] : found)
      for (int i = 0; i < kTimes; ++i) {
        const auto start = steady_clock::now();
        EXPECT_EQ(
            message_of_failure_at(test, program.worker, index),
            place_of(test.plan, program.worker, program.ops[index]) + ": the disk is on fire");
        longest = std::max(longest, seconds_since(start));
        kinds.insert(kind);
        ++runs;
      }
  }
  std::printf("%d failures in %zu kinds of op, the slowest told after %.3f s\n", runs, kinds.size(),
              longest);
  EXPECT_EQ(kinds.size(), kinds_of_ops);
  EXPECT_LT(longest, 20);
}

TEST(RuntimeFailures, AtAnyOpOfAnyWorkerEndTheRunWithTheirPlace) {
  expect_every_failure_to_be_told(replicated("dapple", 4), 9);
}

TEST(RuntimeFailures, WithoutAFlushToo) {
  expect_every_failure_to_be_told(replicated("pipedream", 1), 9);
}

TEST(RuntimeFailures, WhereNobodyWaitsForAnybodyToo) {
  model::Network network = small_network("mlp");
  const plan::Plan plan = cut_in_order(network, "dp-asp", {3});
  expect_every_failure_to_be_told({std::move(network), plan, {.minibatches = 12}}, 5);
}

// Averagings that are in progress when their worker fails must not report failures of their own.
TEST(RuntimeFailures, WhileReplicasAverageTheFirstFailureIsStillTheOneTold) {
  model::Network network = small_network("mlp");
  plan::Plan plan = cut_in_order(network, "pipedream", {3});
  const Case test(std::move(network), plan, {.minibatches = 12});
  const auto programs = schedule::lower(test.schedule, test.plan, test.network.graph);
  for (int i = 0; i < 17 * kTimes; ++i)
    for (const schedule::Program& program : programs) {
      std::size_t index = program.ops.size() / 2;  // becomes the index of the op after a Reduce
      while (!std::holds_alternative<schedule::Reduce>(program.ops[index - 1])) ++index;
      ASSERT_EQ(message_of_failure_at(test, program.worker, index),
                place_of(test.plan, program.worker, program.ops[index]) + ": the disk is on fire");
    }
}

TEST(RuntimeFailures, KeepTheirKind) {
  const Case test = replicated("dapple", 2);
  runtime::Job job = make_job(test.network, test.plan);
  const auto run = [&] { (void)runtime::run_schedule(job, test.schedule, test.extent, test.feed); };
  const auto failing_with = [&](auto error) {
    job.before_op = [error](WorkerId me, const schedule::Op& op) {
      if (me == WorkerId{2} && std::holds_alternative<schedule::Update>(op)) throw error;
    };
  };
  const std::string place = "worker 2, 1:U0>1 (stage 1, minibatch 0): ";
  failing_with(IoError("the disk is full"));
  EXPECT_EQ(message_of<IoError>(run), place + "the disk is full");
  failing_with(CannotMeet("no such device"));
  EXPECT_EQ(message_of<CannotMeet>(run), place + "no such device");
  failing_with(TrainingStopped("enough"));
  EXPECT_EQ(message_of<TrainingStopped>(run), place + "enough");
  failing_with(std::bad_alloc());
  EXPECT_EQ(message_of<CannotMeet>(run),
            place + "there is not enough memory: try a smaller `batch` or model");
}

// Passes on the samples of another feed, with a change that the test chooses.
class ChangedFeed final : public runtime::Feed {
 public:
  using Change = std::function<at::Tensor(const schedule::Item&, const at::Tensor&)>;
  ChangedFeed(const runtime::Feed& whole, Change change)
      : whole_(whole), change_(std::move(change)) {}

  std::int64_t samples(const schedule::Item& item) const override { return whole_.samples(item); }
  std::int64_t minibatch_samples(std::int64_t minibatch) const override {
    return whole_.minibatch_samples(minibatch);
  }
  std::int64_t samples_before(std::int64_t minibatch) const override {
    return whole_.samples_before(minibatch);
  }
  at::Tensor load(const model::InputSpec& input, const schedule::Item& item, std::int64_t first,
                  std::int64_t count) const override {
    const at::Tensor samples = whole_.load(input, item, first, count);
    return input.name == "features" ? change_(item, samples) : samples;
  }

 private:
  const runtime::Feed& whole_;
  Change change_;
};

TEST(RuntimeFailures, ALossThatIsNotFiniteStopsTrainingAndNamesTheMinibatch) {
  for (const std::string system : {"gpipe", "pipedream", "interleaved"})
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
      model::Network network = small_network("mlp");
      plan::Plan plan = cut_straight(network, system, system == "interleaved" ? 4 : 3);
      if (system == "interleaved") deal_out(plan, 2);
      const Case test(std::move(network), plan, {.minibatches = 8});
      const ChangedFeed feed(test.feed, [&](const schedule::Item& item, const at::Tensor& x) {
        return item.minibatch == 4 ? at::full_like(x, bad) : x;
      });
      const std::string message = message_of<TrainingStopped>([&] {
        (void)runtime::run_schedule(make_job(test.network, test.plan), test.schedule, test.extent,
                                    feed);
      });
      EXPECT_TRUE(
          message.find(", minibatch 4): the loss of minibatch 4 is nan") != std::string::npos ||
          message.find(", minibatch 4): the loss of minibatch 4 is inf") != std::string::npos)
          << message;
    }
}

TEST(RuntimeFailures, LibtorchsOwnAreToldWithTheirPlaceAndWithoutItsStack) {
  const Case test = replicated("dapple", 2);
  const ChangedFeed feed(test.feed, [](const schedule::Item& item, const at::Tensor& x) {
    return item.minibatch == 2 ? at::zeros({x.size(0), 3}) : x;
  });
  const std::string message = message_of<Error>([&] {
    (void)runtime::run_schedule(make_job(test.network, test.plan), test.schedule, test.extent,
                                feed);
  });
  EXPECT_TRUE(message.starts_with("worker 0, 0:F2@2 (stage 0, minibatch 2): ") ||
              message.starts_with("worker 1, 0:F2@2 (stage 0, minibatch 2): "))
      << message;
  EXPECT_EQ(message.find("frame #"), std::string::npos) << message;
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The message of a run in which a worker sleeps for longer than the patience of the others.
std::string message_of_stall(runtime::Job job, const Case& test,
                             const std::filesystem::path& folder) {
  job.patience = 1500ms;
  job.stall_folder = folder;
  const auto start = steady_clock::now();
  const std::string message = message_of<WorkerLost>(
      [&] { (void)runtime::run_schedule(job, test.schedule, test.extent, test.feed); });
  std::printf("%s (after %.3f s)\n", message.c_str(), seconds_since(start));
  EXPECT_LT(seconds_since(start), 20);
  return message;
}

// The second of three workers stops for four seconds.
TEST(RuntimeFailures, AWorkerThatStandsStillIsNamedByThoseWhoWaitedForIt) {
  const TemporaryFolder folder;
  model::Network network = small_network("mlp");
  const plan::Plan plan = cut_straight(network, "pipedream", 3);
  const Case test(std::move(network), plan, {.minibatches = 60});
  runtime::Job job = make_job(test.network, test.plan);
  job.before_op = [&](WorkerId me, const schedule::Op& op) {
    const auto* backward = std::get_if<schedule::Backward>(&op);
    if (me != WorkerId{1} || backward == nullptr || backward->item.minibatch != 40) return;
    std::this_thread::sleep_for(4s);
  };
  const std::string message = message_of_stall(job, test, folder.path());
  EXPECT_TRUE(message.starts_with("worker 0, 0:B40@") || message.starts_with("worker 2, 2:F"))
      << message;
  EXPECT_NE(message.find(": worker 1 sent nothing before the deadline"), std::string::npos)
      << message;
  for (const std::string file : {"worker0-last-ops.txt", "worker2-last-ops.txt"}) {
    const auto lines = lines_of(folder.path() / file);
    EXPECT_EQ(lines.size(), 1u + 100u) << file;
    ASSERT_FALSE(lines.empty());
  }
  EXPECT_NE(lines_of(folder.path() / "worker0-last-ops.txt").back().find("0:B40@"),
            std::string::npos);
}

TEST(RuntimeFailures, AReplicaThatStandsStillIsMissedByTheOthers) {
  const TemporaryFolder folder;
  model::Network network = small_network("mlp");
  const plan::Plan plan = cut_in_order(network, "dp-bsp", {3});
  const Case test(std::move(network), plan, {.minibatches = 12});
  runtime::Job job = make_job(test.network, test.plan);
  job.before_op = [&](WorkerId me, const schedule::Op& op) {
    const auto* forward = std::get_if<schedule::Forward>(&op);
    if (me == WorkerId{1} && forward != nullptr && forward->item.minibatch == 7)
      std::this_thread::sleep_for(4s);
  };
  const std::string message = message_of_stall(job, test, folder.path());
  EXPECT_NE(message.find("0:A3 (stage 0): "), std::string::npos) << message;
  EXPECT_FALSE(lines_of(folder.path() / "worker0-last-ops.txt").empty());
  EXPECT_FALSE(lines_of(folder.path() / "worker2-last-ops.txt").empty());
}

}  // namespace
}  // namespace pipedream::test
