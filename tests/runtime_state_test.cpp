// The state of a training between two segments: it can be saved, and any plan of any system can go
// on from it (runtime/state.h).
#include <gtest/gtest.h>

#include "core/error.h"
#include "runtime/state.h"
#include "runtime_cases_testing.h"

namespace pipedream::test {
namespace {

constexpr std::int64_t kLength = 6;  // minibatches of a segment; whole rounds of all plans below

struct PlanCase {
  std::string name;
  std::string system;
  std::vector<int> replicas;
  int microbatches = 1;
  int workers = 0;  // if not 0, deal_out() assigns the stages to them
};

const std::vector<PlanCase> kPlans{{"mp", "mp", {1, 1}},
                                   {"gpipe", "gpipe", {1, 1, 1}, 4},
                                   {"dapple", "dapple", {2, 3, 1}, 2},
                                   {"interleaved", "interleaved", {1, 1, 1, 1}, 4, 2},
                                   {"pipedream", "pipedream", {1, 1, 1}},
                                   {"replicated", "pipedream", {2, 1}},
                                   {"two_buffered", "2bw", {2, 2}, 4},
                                   {"dp_bsp", "dp-bsp", {3}},
                                   {"dp_asp", "dp-asp", {3}}};

using State = std::map<std::string, at::Tensor>;

runtime::FindTensor finder_of(const State& state) {
  return [&state](const std::string& name) -> std::optional<at::Tensor> {
    const auto found = state.find(name);
    return found == state.end() ? std::nullopt : std::optional(found->second);
  };
}

class Trained {
 public:
  explicit Trained(const PlanCase& of) : plan_(cut_in_order(network_, of.system, of.replicas)) {
    plan_.microbatches = of.microbatches;
    if (of.workers > 0) deal_out(plan_, of.workers);
  }

  // Loads `state`, if it is not empty, trains the segments [from, to), and returns the state after
  // them.
  [[nodiscard]] State run(const State& state, int from, int to) const {
    const schedule::Extent extent = schedule::whole_minibatches(plan_, kLength);
    const schedule::Schedule schedule = systems::schedule_for(plan_, {.minibatches = kLength});
    runtime::Job job = make_job(network_, plan_);
    job.replicas = schedule.rules.traits.replicas;
    job.averaging.buckets = {Bytes{256}, Bytes{1024}};
    State saved;
    std::mutex mutex;
    runtime::run_on_threads(plan::worker_count(plan_), {}, [&](const runtime::Seat& seat) {
      runtime::Worker worker(job, seat.me, seat.channels, seat.clock, {});
      if (!state.empty())
        runtime::load_state(worker, schedule.rules, finder_of(state), seat.channels.control);
      for (int i = from; i < to; ++i) {
        const runtime::SampleFeed feed(network_, extent, kSeed, i * kLength);
        worker.run({schedule, extent, feed, i * kLength});
      }
      for (const auto& [name, copy] : runtime::copy_state(worker, seat.channels.control)) {
        const std::lock_guard lock(mutex);
        EXPECT_TRUE(saved.emplace(name, copy.wait()).second) << name << " is written twice";
      }
    });
    return saved;
  }

  [[nodiscard]] const model::Network& network() const { return network_; }

 private:
  model::Network network_ = small_network("resnet");
  plan::Plan plan_;
};

// The tensors of replicas other than the first.
bool is_of_replica(const std::string& name) { return name.starts_with("replica."); }

class RuntimeState : public testing::TestWithParam<PlanCase> {};

TEST_P(RuntimeState, HasEveryTensorOnceAndByThePlainNames) {
  const Trained trained(GetParam());
  const State state = trained.run({}, 0, 1);
  std::size_t wanted = 0;
  for (const model::LayerSpec& spec : trained.network().specs) {
    for (const model::TensorSpec& parameter : spec.parameters) {
      EXPECT_TRUE(state.contains(parameter.name)) << parameter.name;
      EXPECT_TRUE(state.contains("optimiser.momentum." + parameter.name)) << parameter.name;
      wanted += 2;
    }
    for (const model::TensorSpec& buffer : spec.buffers) {
      EXPECT_TRUE(state.contains(buffer.name)) << buffer.name;
      ++wanted;
    }
  }
  for (const auto& [name, tensor] : state) wanted += is_of_replica(name) ? 1 : 0;
  EXPECT_EQ(state.size(), wanted);
}

TEST_P(RuntimeState, ThoseWhoLoadItTrainAsThoseWhoMadeIt) {
  if (GetParam().system == "dp-asp") return;  // its bits depend on timing
  const Trained trained(GetParam());
  const State halfway = trained.run({}, 0, 1);
  const State wanted = trained.run({}, 0, 2);
  const State found = trained.run(halfway, 1, 2);
  expect_same(found, wanted);
}

// Each plan loads the state of each other plan, and has the same state then.
TEST_P(RuntimeState, IsTheSameUnderAnyOtherPlan) {
  const State saved = Trained(GetParam()).run({}, 0, 1);
  for (const PlanCase& other : kPlans) {
    SCOPED_TRACE("loaded by " + other.name);
    const State loaded = Trained(other).run(saved, 1, 1);
    for (const auto& [name, tensor] : loaded)
      if (!is_of_replica(name)) {
        EXPECT_TRUE(at::equal(tensor, saved.at(name))) << name;
      }
    for (const auto& [name, tensor] : saved)
      if (!is_of_replica(name)) {
        EXPECT_TRUE(loaded.contains(name)) << name;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Plans, RuntimeState, testing::ValuesIn(kPlans),
                         [](const auto& of) { return of.param.name; });

TEST(RuntimeStateErrors, WhatIsMissingOrDoesNotFitIsNamed) {
  const Trained trained(kPlans[0]);
  const State sound = trained.run({}, 0, 1);
  const std::string name = trained.network().specs.at(1).parameters.at(0).name;
  const auto refusal = [&](const State& state) {
    return message_of<BadFile>([&] { (void)trained.run(state, 1, 1); });
  };
  State without = sound;
  without.erase(name);
  EXPECT_NE(refusal(without).find("no tensor '" + name + "'"), std::string::npos);
  State other = sound;
  other[name] = at::zeros({3});
  EXPECT_NE(refusal(other).find("'" + name + "' is Float [3], and this network wants Float ["),
            std::string::npos);
  State state = sound;
  state["optimiser.momentum." + name] = at::zeros({3});
  EXPECT_NE(refusal(state).find("'optimiser.momentum." + name +
                                "' is Float [3], and this network wants Float ["),
            std::string::npos);
}

}  // namespace
}  // namespace pipedream::test
