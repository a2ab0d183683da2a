// Every system on straight pipelines gives, bit for bit, the weights that its update rule gives in
// a plain loop on one thread (docs/systems.md).
#include <gtest/gtest.h>

#include <ATen/ops/allclose.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>

#include "runtime_cases_testing.h"
#include "schedule/schedule_text.h"

namespace pipedream::test {
namespace {

constexpr std::int64_t kMinibatches = 20;

// A system as the command line has it, with its options.
struct Style {
  std::string name;
  std::string system;
  int microbatches = 1;
  bool recompute = false;
  bool vertical_sync = false;
  int stages_per_worker = 1;
};

const Style kModelParallel{"mp", "mp"};
const Style kGpipe{"gpipe", "gpipe", 4};
const Style kGpipeRecompute{"gpipe_recompute", "gpipe", 4, true};
const Style kDapple{"dapple", "dapple", 4};
const Style kInterleaved{"interleaved", "interleaved", 4, false, false, 2};
const Style kPipedream{"pipedream", "pipedream"};
const Style kVerticalSync{"vertical_sync", "pipedream", 1, false, true};
const Style kTwoBuffered{"2bw", "2bw", 4};
const std::vector<Style> kStyles{kModelParallel, kGpipe,     kGpipeRecompute, kDapple,
                                 kInterleaved,   kPipedream, kVerticalSync,   kTwoBuffered};
const std::vector<Style> kSynchronous{kModelParallel, kGpipe, kGpipeRecompute, kDapple,
                                      kInterleaved};

Rule rule_of(const Style& style, int stages) {
  if (style.vertical_sync) return vertical_sync(stages);
  if (style.system == "pipedream") return weight_stashing(stages);
  return style.system == "2bw" ? one_update_behind() : newest_weights();
}

plan::Plan plan_of(const Style& style, const model::Network& network, int workers) {
  plan::Plan plan = cut_straight(network, style.system, workers * style.stages_per_worker);
  if (style.stages_per_worker > 1) deal_out(plan, workers);
  plan.microbatches = style.microbatches;
  for (plan::Stage& stage : plan.stages) stage.recompute = style.recompute;
  return plan;
}

systems::ScheduleOptions training_of(const Style& style, std::int64_t minibatches = kMinibatches) {
  return {.minibatches = minibatches, .vertical_sync = style.vertical_sync};
}

Case case_of(const Style& style, const std::string& network, int workers,
             std::int64_t minibatches = kMinibatches) {
  model::Network made = small_network(network);
  plan::Plan plan = plan_of(style, made, workers);
  return {std::move(made), std::move(plan), training_of(style, minibatches)};
}

// Plain training for case_of() with the same arguments. Results are kept and shared by cases with
// the same weights: the weights of systems that flush, and those of 2bw, do not depend on the cuts.
const Plain& plain_of(const Style& style, const std::string& network, int workers,
                      std::int64_t minibatches = kMinibatches) {
  static std::map<std::tuple<std::string, std::string, int, std::int64_t>, Plain> known;
  std::string rule = style.system == "2bw" ? "one behind" : "newest";
  if (style.system == "pipedream") rule = style.name + " on " + std::to_string(workers);
  const auto key = std::tuple(network, rule, style.microbatches, minibatches);
  if (!known.contains(key))
    known[key] = case_of(style, network, workers, minibatches).plain(rule_of(style, workers));
  return known.at(key);
}

class RuntimeRules : public testing::TestWithParam<std::tuple<std::string, std::size_t>> {};

TEST_P(RuntimeRules, TrainingGivesTheBitsOfTheRule) {
  const auto& [network, index] = GetParam();
  const Style& style = kStyles[index];
  for (const int workers : all_or_last<int>({2, 3, 4})) {
    SCOPED_TRACE(std::to_string(workers) + " workers");
    expect_rule(case_of(style, network, workers), plain_of(style, network, workers));
  }
}

std::string name_of(const testing::TestParamInfo<RuntimeRules::ParamType>& info) {
  std::string network = std::get<0>(info.param);
  std::replace(network.begin(), network.end(), '-', '_');
  return network + "_" + kStyles[std::get<1>(info.param)].name;
}

INSTANTIATE_TEST_SUITE_P(All, RuntimeRules,
                         testing::Combine(testing::ValuesIn(networks({"mlp", "resnet", "gnmt8",
                                                                      "gpt", "awd-lm", "tied"})),
                                          testing::Range<std::size_t>(0, kStyles.size())),
                         name_of);

TEST(RuntimeRules, TheLearningRateMayChangeWithEveryUpdate) {
  for (const Style& style : kStyles) {
    SCOPED_TRACE(style.name);
    Case test = case_of(style, "mlp", 3, 8);
    const runtime::Weights constant = test.run().weights;
    test.rate = changing_rate();
    const runtime::TestRun run = expect_bits(test, rule_of(style, 3));
    EXPECT_FALSE(are_same(run.weights, constant)) << "the rate must matter";
  }
}

// If another rule gave the same bits, the comparisons above would prove nothing.
TEST(RuntimeRulesDiffer, AnyOtherRuleGivesOtherBits) {
  for (const std::string& network : networks({"mlp", "resnet", "gnmt8", "gpt", "awd-lm", "tied"})) {
    const Case test = case_of(kPipedream, network, 3, 6);
    std::vector<runtime::Weights> trained;
    for (const Rule& rule :
         {newest_weights(), weight_stashing(3), vertical_sync(3), one_update_behind()})
      trained.push_back(test.trained_by(rule));
    for (std::size_t i = 0; i < trained.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        EXPECT_FALSE(are_same(trained[i], trained[j]))
            << network << ": rules " << i << " and " << j;
  }
}

// Compares with a plain libtorch loop. It uses nothing of this project except the initial weights
// and the samples.
TEST(RuntimeRules, OneWorkerIsTheBareLibtorchLoop) {
  for (const int microbatches : {1, 4}) {
    Style style = kGpipe;
    style.microbatches = microbatches;
    const Case test = case_of(style, "mlp", 1);
    model::use_threads(1);
    std::vector<at::Tensor> weights;
    std::vector<std::string> names;
    for (int k = 1; k <= 5; ++k) {
      const std::string name = "fc" + std::to_string(k);
      const auto layer =
          make_layer(test.network, test.network.graph.find(name).value(), kSeed, at::kCPU);
      for (const at::Tensor& each : layer->parameters())
        weights.push_back(each.detach().clone().requires_grad_());
      names.push_back(name + ".weight");
      names.push_back(name + ".bias");
    }
    std::vector<at::Tensor> velocities(weights.size());
    for (std::int64_t t = 0; t < kMinibatches; ++t) {
      const at::Tensor features = model::sample_input(test.network.inputs[0], kSeed, t);
      const at::Tensor labels = model::sample_input(test.network.inputs[1], kSeed, t);
      for (std::int64_t m = 0; m < microbatches; ++m) {
        at::Tensor x = features.chunk(microbatches)[static_cast<std::size_t>(m)];
        for (std::size_t k = 0; k < weights.size(); k += 2) {
          x = at::linear(x, weights[k], weights[k + 1]);
          if (k + 2 < weights.size()) x = at::relu(x);
        }
        const at::Tensor loss =
            at::cross_entropy_loss(x, labels.chunk(microbatches)[static_cast<std::size_t>(m)]);
        (loss / microbatches).backward();
      }
      const at::NoGradGuard no_grad;
      for (std::size_t i = 0; i < weights.size(); ++i) {
        at::Tensor& v = velocities[i];
        v = v.defined() ? v * kMomentum + weights[i].grad() : weights[i].grad().clone();
        weights[i].add_(v, -kRate);
        weights[i].mutable_grad().reset();
      }
    }
    std::map<std::string, at::Tensor> expected;
    for (std::size_t i = 0; i < weights.size(); ++i) expected[names[i]] = weights[i].detach();
    expect_same(test.run().weights.parameters, expected);
  }
}

TEST(RuntimeRules, WorkersAndRecomputationChangeNoBitOfASynchronousSystem) {
  for (const std::string& network : networks({"resnet", "gnmt8", "gpt"})) {
    const runtime::Weights one = case_of(kGpipe, network, 1, 8).run().weights;
    for (const Style& style : {kGpipe, kGpipeRecompute, kDapple, kInterleaved})
      for (const int workers : all_or_last<int>({2, 3, 4})) {
        SCOPED_TRACE(network + ", " + style.name + " on " + std::to_string(workers));
        expect_same(case_of(style, network, workers, 8).run().weights, one);
      }
  }
}

TEST(RuntimeRules, FewerMicrobatchesThanStages) {
  for (Style style : kSynchronous) {
    if (style.microbatches == 1) continue;
    style.microbatches = 2;
    for (const std::string& network : networks({"mlp", "resnet", "gnmt8"})) {
      SCOPED_TRACE(network + ", " + style.name);
      expect_rule(case_of(style, network, 4, 6), plain_of(style, network, 4, 6));
    }
  }
  Style style = kTwoBuffered;
  style.microbatches = 3;  // the minimum for four stages
  expect_rule(case_of(style, "resnet", 4), one_update_behind());
}

TEST(RuntimeRules, AShortLastMinibatchCountsEachSampleOnce) {
  for (const Style& style : kStyles)
    for (const int workers : {2, 3}) {
      SCOPED_TRACE(style.name + " on " + std::to_string(workers));
      model::Network network = small_network("resnet");
      plan::Plan plan = plan_of(style, network, workers);
      systems::ScheduleOptions training = training_of(style, 7);
      if (style.microbatches > 1) training.last_microbatches = 3;  // with 1, 2 and 2 samples
      const Case test(std::move(network), std::move(plan), training, 5);
      expect_rule(test, rule_of(style, workers));
    }
}

// An update of K minibatches is the rule with K times fewer updates: minibatch t uses the weights
// after ⌊rule(t)/K⌋ of them or, in 2bw, after one less than ⌊t/K⌋.
Rule accumulating(const Style& style, int workers, int accumulate) {
  return [=, rule = rule_of(style, workers)](std::size_t s, std::int64_t t) {
    if (style.system == "2bw") return t / accumulate - 1;
    return std::max<std::int64_t>(0, rule(s, t)) / accumulate;
  };
}

TEST(RuntimeRules, SeveralMinibatchesPerUpdateGiveTheBitsOfTheirRule) {
  for (const Style& style : kStyles)
    for (const auto& [accumulate, network] : {std::pair{2, "resnet"}, {3, "tied"}}) {
      SCOPED_TRACE(style.name + " on 3 workers, " + std::to_string(accumulate) +
                   " minibatches per update, " + network);
      model::Network made = small_network(network);
      plan::Plan plan = plan_of(style, made, 3);
      plan.accumulate = accumulate;
      systems::ScheduleOptions training = training_of(style, 11);
      if (style.microbatches > 1) training.last_microbatches = 3;
      Case test(std::move(made), std::move(plan), training, 5);
      test.rate = changing_rate();
      expect_rule(test, accumulating(style, 3, accumulate));
    }
}

// The samples of another feed, whose microbatches are minibatches here: four of each.
class QuarterFeed final : public runtime::Feed {
 public:
  explicit QuarterFeed(const runtime::Feed& whole) : whole_(whole) {}

  std::int64_t samples(const schedule::Item& item) const override {
    return whole_.samples(in_whole(item.minibatch));
  }
  std::int64_t minibatch_samples(std::int64_t minibatch) const override {
    return whole_.samples(in_whole(minibatch));
  }
  std::int64_t samples_before(std::int64_t minibatch) const override {
    return minibatch * minibatch_samples(0);
  }
  at::Tensor load(const model::InputSpec& input, const schedule::Item& item, std::int64_t first,
                  std::int64_t count) const override {
    return whole_.load(input, in_whole(item.minibatch), first, count);
  }

 private:
  static schedule::Item in_whole(std::int64_t minibatch) {
    return {minibatch / 4, static_cast<std::int32_t>(minibatch % 4)};
  }
  const runtime::Feed& whole_;
};

TEST(RuntimeRules, SeveralMinibatchesPerUpdateAreOneLargeMinibatchButForRounding) {
  for (const Style& style : kSynchronous) {
    SCOPED_TRACE(style.name);
    const Case large = case_of(style, "mlp", 3, 3);
    const runtime::SampleFeed whole(large.network, {3, 4, 4}, kSeed);
    const QuarterFeed quarters(whole);
    plan::Plan plan = large.plan;
    plan.microbatches = 1;
    plan.accumulate = 4;
    const schedule::Schedule schedule = systems::schedule_for(plan, {.minibatches = 12});
    const runtime::TestRun run =
        runtime::run_schedule(make_job(large.network, plan), schedule, {12, 1, 1}, quarters);
    for (const auto& [name, tensor] : large.run().weights.parameters)
      EXPECT_TRUE(at::allclose(run.weights.parameters.at(name), tensor, 1e-4, 1e-6)) << name;
  }
}

// A feed whose sentences have another length in every minibatch.
class VaryingFeed final : public runtime::Feed {
 public:
  explicit VaryingFeed(const runtime::Feed& whole) : whole_(whole) {}

  std::int64_t samples(const schedule::Item& item) const override { return whole_.samples(item); }
  std::int64_t minibatch_samples(std::int64_t minibatch) const override {
    return whole_.minibatch_samples(minibatch);
  }
  std::int64_t samples_before(std::int64_t minibatch) const override {
    return whole_.samples_before(minibatch);
  }
  at::Tensor load(const model::InputSpec& input, const schedule::Item& item, std::int64_t first,
                  std::int64_t count) const override {
    const std::int64_t length = 1 + item.minibatch * 2 % 3;
    return whole_.load(input, item, first, count).slice(1, 0, length);
  }

 private:
  const runtime::Feed& whole_;
};

TEST(RuntimeRules, ShapesMayChangeFromMinibatchToMinibatch) {
  for (const std::string& network : networks({"gnmt8", "gpt"}))
    for (const Style& style : kStyles) {
      SCOPED_TRACE(network + ", " + style.name);
      const Case test = case_of(style, network, 3, 10);
      const VaryingFeed feed(test.feed);
      const auto run = runtime::run_schedule(make_job(test.network, test.plan), test.schedule,
                                             test.extent, feed);
      Reference plain = test.reference();
      plain.train(feed, test.extent, rule_of(style, 3));
      expect_same(run.weights, plain.weights());
      expect_same_losses(run.losses, plain.losses());
    }
}

// The programs of a schedule as text, with every backward split into the gradient of the inputs and
// the gradient of the weights. The weights' part follows directly or, if `late`, all weights' parts
// of a minibatch come at its end.
std::string in_two_parts(const schedule::Schedule& schedule, bool late) {
  std::string text;
  for (const schedule::Program& program : programs_of(schedule)) {
    text += "worker " + std::to_string(program.worker.value) + ":";
    std::vector<schedule::Op> waiting;
    const auto put = [&](const schedule::Op& op) { text += " " + to_text(op, true); };
    for (const schedule::Op& op : program.ops) {
      if (const auto* backward = std::get_if<schedule::Backward>(&op)) {
        schedule::Backward part = *backward;
        part.part = schedule::BackwardPart::kInput;
        put(part);
        part.part = schedule::BackwardPart::kWeight;
        waiting.push_back(part);
        if (late) continue;
      } else if (!std::holds_alternative<schedule::Update>(op)) {
        put(op);
        continue;
      }
      for (const schedule::Op& each : waiting) put(each);
      waiting.clear();
      if (std::holds_alternative<schedule::Update>(op)) put(op);
    }
    text += "\n";
  }
  return text;
}

TEST(RuntimeRules, BackwardsInTwoPartsGiveTheSameBits) {
  for (const std::string& network : networks({"mlp", "resnet", "gnmt8", "gpt"}))
    for (const Style& style : {kGpipe, kGpipeRecompute, kDapple, kPipedream})
      for (const bool late : {false, true}) {
        SCOPED_TRACE(network + ", " + style.name + (late ? ", late" : ""));
        const Case test = case_of(style, network, 3, 4);
        const schedule::Schedule own =
            schedule::read_schedule_text(in_two_parts(test.schedule, late), "two parts", test.plan);
        const auto run =
            runtime::run_schedule(make_job(test.network, test.plan), own, test.extent, test.feed);
        expect_same(run.weights, plain_of(style, network, 3, 4).weights);
        expect_as_scheduled(run, own, test.network, test.plan);
      }
}

}  // namespace
}  // namespace pipedream::test
