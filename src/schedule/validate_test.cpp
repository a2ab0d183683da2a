#include "schedule/validate.h"

#include <gtest/gtest.h>

#include "schedule/lower.h"
#include "schedule/schedule_testing.h"

namespace pipedream::schedule {
namespace {

using Texts = std::vector<std::string>;
using Ops = std::vector<Op>;

// Ops of one stage. update(from) applies minibatch `from`.
Op load(std::int64_t minibatch, int stage = 0) { return Load{StageId{stage}, {minibatch, 0}}; }
Op forward(std::int64_t minibatch, std::int64_t version = 0, int stage = 0) {
  return Forward{StageId{stage}, {minibatch, 0}, {version}};
}
Op recompute(std::int64_t minibatch, std::int64_t version = 0) {
  return Recompute{StageId{0}, {minibatch, 0}, {version}};
}
Op backward(std::int64_t minibatch, std::int64_t version = 0, int stage = 0) {
  return Backward{StageId{stage}, {minibatch, 0}, {version}};
}
Op part(BackwardPart which, std::int64_t minibatch) {
  return Backward{StageId{0}, {minibatch, 0}, {0}, which};
}
Op reduce(std::int64_t update) { return Reduce{StageId{0}, {update}}; }
Op await(std::int64_t update) { return Await{StageId{0}, {update}}; }
Op update(std::int64_t from, int stage = 0) {
  return Update{StageId{stage}, {from}, {from + 1}, from, from};
}
Op update(std::int64_t from, std::int64_t first, std::int64_t last) {
  return Update{StageId{0}, {from}, {from + 1}, first, last};
}
Op push(std::int64_t minibatch) { return Push{StageId{0}, {minibatch, 0}}; }
Op pull(std::int64_t to) { return Pull{StageId{0}, {to}}; }

Texts violations(const std::vector<Program>& programs, const Rules& rules,
                 const Pipeline& pipeline) {
  Texts texts;
  for (const Violation& v : validate(programs, rules, pipeline.plan, pipeline.graph))
    texts.push_back("worker " + std::to_string(v.worker.value) + ", op " +
                    std::to_string(v.op_index) + ": " + v.what);
  return texts;
}

// Returns the violations of programs; program i runs on worker i.
Texts violations(const std::vector<Ops>& ops, const Rules& rules, const Pipeline& pipeline) {
  std::vector<Program> programs;
  for (std::size_t w = 0; w < ops.size(); ++w) programs.push_back({id_at<WorkerId>(w), ops[w]});
  return violations(programs, rules, pipeline);
}

// Returns the violations of one program, of a worker with one stage that reads no data.
Texts violations(const Ops& ops, const Rules& rules = {}) {
  return violations(std::vector<Ops>{ops}, rules, chain(plan_of({1})));
}

// 1F1B over two minibatches on two stages, lowered. The numbers above the ops are their indices:
//
//   0    1    2       3    4    5       6       7    8    9       10   11
//   L0   F0@0 SA0#0>1 L1   F1@0 SA0#1>1 RG0#0<1 B0@0 U0>1 RG0#1<1 B1@0 U1>2
//
//   0       1    2    3       4    5       6    7    8    9    10      11
//   RA0#0<0 L0   F0@0 RA0#1<0 B0@0 SG0#0>0 U0>1 L1   F1@1 B1@1 SG0#1>0 U1>2
struct TwoStages {
  Pipeline pipeline = straight_pipeline(2);
  Schedule schedule = one_f_one_b(pipeline, 2);
  std::vector<Program> programs = lower(schedule, pipeline);

  Op& op(std::size_t worker, std::size_t at) { return programs[worker].ops.at(at); }
  void drop(std::size_t worker, std::size_t at) {
    programs[worker].ops.erase(programs[worker].ops.begin() + static_cast<std::ptrdiff_t>(at));
  }
  void insert(std::size_t worker, std::size_t at, const Op& op) {
    programs[worker].ops.insert(programs[worker].ops.begin() + static_cast<std::ptrdiff_t>(at), op);
  }
  [[nodiscard]] Texts found() const { return violations(programs, schedule.rules, pipeline); }
};

TEST(Validate, AcceptsProgramsThatKeepAllRules) {
  EXPECT_EQ(violations(std::vector<Ops>{}, {}, chain(plan_of({1}))), Texts{});
  EXPECT_EQ(violations(Ops{}), Texts{});
  EXPECT_EQ(TwoStages{}.found(), Texts{});
  EXPECT_EQ(to_text(TwoStages{}.programs[0]),
            "L0 F0@0 SA0#0>1 L1 F1@0 SA0#1>1 RG0#0<1 B0@0 U0>1 RG0#1<1 B1@0 U1>2");
  EXPECT_EQ(to_text(TwoStages{}.programs[1]),
            "RA0#0<0 L0 F0@0 RA0#1<0 B0@0 SG0#0>0 U0>1 L1 F1@1 B1@1 SG0#1>0 U1>2");
}

TEST(Validate, TakesProgramsAlsoAsTheyAreMade) {
  const TwoStages two;
  const Routes routes(two.pipeline.plan, two.pipeline.graph, Replicas::kTakeTurns);
  Lowering lowering(two.schedule, routes);
  EXPECT_EQ(validate(lowering, two.schedule.rules, routes), std::vector<Violation>{});
}

// ---- 1: transfers meet, and nobody waits for ever ----

TEST(ValidateTransfers, FindsAMissingSend) {
  TwoStages two;
  two.drop(0, 5);
  EXPECT_EQ(two.found(), (Texts{"worker 0, op 5: RG0#0<1 waits for ever",
                                "worker 0, op 11: value 0 of minibatch 1 was not sent",
                                "worker 1, op 3: RA0#1<0 waits for ever"}));
}

TEST(ValidateTransfers, FindsAMissingRecv) {
  TwoStages two;
  two.drop(1, 3);
  EXPECT_EQ(two.found(), (Texts{"worker 0, op 5: SA0#1>1 waits for ever",
                                "worker 1, op 4: SG0#0>0 waits for ever",
                                "worker 1, op 7: 1:F1@1: value 0 is not there"}));
}

TEST(ValidateTransfers, FindsAPeerThatDoesNotExistOrIsTheWorkerItself) {
  TwoStages two;
  std::get<Send>(two.op(1, 10)).peer = WorkerId{9};
  EXPECT_EQ(
      two.found(),
      (Texts{"worker 0, op 9: RG0#1<1 waits for ever", "worker 1, op 10: SG0#1>9 waits for ever",
             "worker 1, op 10: SG0#1>9: there is no such value to send",
             "worker 1, op 12: the gradient of value 0 of minibatch 1 was not sent"}));
  std::get<Send>(two.op(1, 10)).peer = WorkerId{1};
  EXPECT_EQ(
      two.found(),
      (Texts{"worker 0, op 9: RG0#1<1 waits for ever", "worker 1, op 10: SG0#1>1 waits for ever",
             "worker 1, op 10: SG0#1>1: there is no such value to send",
             "worker 1, op 12: the gradient of value 0 of minibatch 1 was not sent"}));
}

TEST(ValidateTransfers, ASendAndARecvMeetOnlyWithTheSameValueUserItemAndKind) {
  const auto change = [](auto how) {
    TwoStages two;
    how(std::get<Recv>(two.op(0, 9)));
    return two.found();
  };
  EXPECT_EQ(change([](Recv& r) { r.value = ValueId{1}; }),
            (Texts{"worker 0, op 9: RG1#1<1 waits for ever",
                   "worker 0, op 10: 0:B1@0: the gradient of value 0 is not there",
                   "worker 0, op 12: the gradient of value 1 of minibatch 1 was not used",
                   "worker 1, op 10: SG0#1>0 waits for ever"}));
  EXPECT_EQ(change([](Recv& r) { r.user = StageId{0}; }),
            (Texts{"worker 0, op 9: RG0#1<1 waits for ever",
                   "worker 0, op 10: 0:B1@0: the gradient of value 0 is not there",
                   "worker 0, op 12: the gradient of value 0 of minibatch 1 was not used",
                   "worker 1, op 10: SG0#1>0 waits for ever"}));
  EXPECT_EQ(change([](Recv& r) { r.item.microbatch = 1; }),
            (Texts{"worker 0, op 9: RG0#1.1<1 waits for ever",
                   "worker 0, op 10: 0:B1@0: the gradient of value 0 is not there",
                   "worker 0, op 12: the gradient of value 0 of minibatch 1 was not used",
                   "worker 1, op 10: SG0#1>0 waits for ever"}));
  EXPECT_EQ(change([](Recv& r) { r.kind = Kind::kActivation; }),
            (Texts{"worker 0, op 9: RA0#1<1 waits for ever",
                   "worker 0, op 10: 0:B1@0: the gradient of value 0 is not there",
                   "worker 0, op 12: value 0 of minibatch 1 was not used",
                   "worker 1, op 10: SG0#1>0 waits for ever"}));
}

// A program that receives, computes and sends for each op looks harmless. But here both workers
// send at the same time, and each waits for the other to receive.
TEST(ValidateTransfers, FindsTheCycleOfReceiveComputeSend) {
  TwoStages two;
  const Op next = two.op(1, 3);
  two.drop(1, 3);
  two.insert(1, 6, next);
  EXPECT_EQ(two.found(), (Texts{"worker 0, op 5: SA0#1>1 waits for ever",
                                "worker 1, op 4: SG0#0>0 waits for ever"}));
}

TEST(ValidateTransfers, FindsTwoRecvsInTheWrongOrder) {
  TwoStages two;
  std::swap(two.op(1, 0), two.op(1, 3));
  EXPECT_EQ(two.found(), (Texts{"worker 0, op 2: SA0#0>1 waits for ever",
                                "worker 1, op 0: RA0#1<0 waits for ever",
                                "worker 1, op 2: 1:F0@0: value 0 is not there",
                                "worker 1, op 12: value 0 of minibatch 0 was not used"}));
}

TEST(ValidateTransfers, EveryReplicaMustJoinAnAveraging) {
  const Pipeline pipeline = chain(plan_of({2}));
  const Ops first{forward(0), backward(0), reduce(1), await(1), update(0, 0, 1)};
  EXPECT_EQ(violations({first, {forward(1), backward(1), reduce(1), await(1), update(0, 0, 1)}}, {},
                       pipeline),
            Texts{});
  EXPECT_EQ(violations({first, {forward(1), backward(1)}}, {}, pipeline),
            (Texts{"worker 0, op 3: 0:A1 waits for ever", "worker 1, op 2: 0:B1@0 has no update"}));
  EXPECT_EQ(violations({first}, {}, pipeline), Texts{"worker 0, op 3: 0:A1 waits for ever"});
}

// ---- 2: own stages and items ----

TEST(ValidatePlaces, FindsAStageOfAnotherWorkerOrOfNone) {
  const Pipeline pipeline = chain(plan_of({1, 1}));
  EXPECT_EQ(violations({{forward(0, 0, 1)}, {}}, {}, pipeline),
            Texts{"worker 0, op 0: 1:F0@0: the plan does not give that stage to this worker"});
  EXPECT_EQ(violations({{forward(0, 0, 2), update(0, -1)}, {}}, {}, pipeline),
            (Texts{"worker 0, op 0: 2:F0@0: the plan does not give that stage to this worker",
                   "worker 0, op 1: -1:U0>1: the plan does not give that stage to this worker"}));
}

TEST(ValidatePlaces, FindsAMinibatchThatIsAnotherReplicasTurn) {
  const Pipeline pipeline = straight_pipeline(1);
  plan::Plan plan = pipeline.plan;
  plan.stages[0].workers = {WorkerId{0}, WorkerId{1}};
  EXPECT_EQ(violations({{load(1), forward(1), backward(1), reduce(1), await(1), update(0, 0, 1)},
                        {load(1), forward(1), backward(1), reduce(1), await(1), update(0, 0, 1)}},
                       {}, {pipeline.graph, plan}),
            (Texts{"worker 0, op 0: 0:L1: another replica's turn",
                   "worker 0, op 1: 0:F1@0: another replica's turn",
                   "worker 0, op 5: 0:U0>1: minibatch 0 has not run backward"}));
}

TEST(ValidatePlaces, TogetherEveryReplicaHasAPartInEveryItem) {
  const Pipeline pipeline = chain(plan_of({2}));
  const Ops both{forward(0), backward(0), reduce(1), await(1), update(0)};
  EXPECT_EQ(
      violations({both, both}, Rules{.traits = {.replicas = Replicas::kShareItems}}, pipeline),
      Texts{});
}

// ---- 3: values ----

TEST(ValidateValues, FindsAMissingLoad) {
  TwoStages two;
  two.drop(1, 7);
  EXPECT_EQ(two.found(), Texts{"worker 1, op 7: 1:F1@1: its data was not loaded"});
}

TEST(ValidateValues, FindsALoadThatNobodyNeeds) {
  TwoStages two;
  two.insert(0, 0, load(0));
  EXPECT_EQ(two.found(), Texts{"worker 0, op 1: 0:L0: loaded twice"});
  EXPECT_EQ(
      violations(Ops{load(0), forward(0), backward(0), update(0)}),
      (Texts{"worker 0, op 0: 0:L0: the stage uses no data", "worker 0, op 4: 0:L0 is of no use"}));
}

TEST(ValidateValues, FindsAForwardBeforeItsValueAndABackwardBeforeItsGradient) {
  TwoStages forth;
  std::swap(forth.op(1, 0), forth.op(1, 2));
  EXPECT_EQ(forth.found(), (Texts{"worker 1, op 0: 1:F0@0: its data was not loaded",
                                  "worker 1, op 0: 1:F0@0: value 0 is not there",
                                  "worker 1, op 12: 1:L0 is of no use",
                                  "worker 1, op 12: value 0 of minibatch 0 was not used"}));
  TwoStages back;
  std::swap(back.op(0, 6), back.op(0, 7));
  EXPECT_EQ(back.found(),
            (Texts{"worker 0, op 6: 0:B0@0: the gradient of value 0 is not there",
                   "worker 0, op 12: the gradient of value 0 of minibatch 0 was not used"}));
}

TEST(ValidateValues, FindsASendOfWhatIsNotThere) {
  TwoStages early;
  std::swap(early.op(0, 1), early.op(0, 2));
  EXPECT_EQ(early.found(), (Texts{"worker 0, op 1: SA0#0>1: there is no such value to send",
                                  "worker 0, op 12: value 0 of minibatch 0 was not sent"}));
}

TEST(ValidateValues, FindsAValueThatIsSentTwice) {
  TwoStages two;
  two.insert(0, 3, two.op(0, 2));
  two.insert(1, 1, two.op(1, 0));
  EXPECT_EQ(two.found(), (Texts{"worker 0, op 3: SA0#0>1: there is no such value to send",
                                "worker 1, op 13: value 0 of minibatch 0 was not used"}));
}

TEST(ValidateValues, FindsAValueThatIsNotSent) {
  TwoStages two;
  two.drop(1, 10);
  two.drop(0, 9);
  EXPECT_EQ(two.found(),
            (Texts{"worker 0, op 9: 0:B1@0: the gradient of value 0 is not there",
                   "worker 1, op 11: the gradient of value 0 of minibatch 1 was not sent"}));
}

TEST(ValidateValues, StagesOfOneWorkerHandOverDirectly) {
  Pipeline pipeline = chain(plan_of({1, 1}));
  pipeline.plan.stages[1].workers = {WorkerId{0}};
  EXPECT_EQ(violations({{forward(0), forward(0, 0, 1), backward(0, 0, 1), backward(0), update(0),
                         update(0, 1)}},
                       {}, pipeline),
            Texts{});
  EXPECT_EQ(violations({{forward(0, 0, 1), forward(0), backward(0, 0, 1), backward(0), update(0),
                         update(0, 1)}},
                       {}, pipeline),
            (Texts{"worker 0, op 0: 1:F0@0: value 0 is not there",
                   "worker 0, op 6: value 0 of minibatch 0 was not used"}));
}

// ---- 4: forwards and backwards ----

TEST(ValidateItems, FindsAForwardWithoutBackward) {
  EXPECT_EQ(violations(Ops{forward(0), forward(1), backward(0), update(0)}),
            Texts{"worker 0, op 4: 0:F1@0 has no backward"});
}

TEST(ValidateItems, FindsABackwardWithoutForward) {
  EXPECT_EQ(violations(Ops{backward(3)}),
            Texts{"worker 0, op 0: 0:B3@0: the item has not run forward"});
  EXPECT_EQ(violations(Ops{forward(0), backward(0), backward(0), update(0)}),
            Texts{"worker 0, op 2: 0:B0@0: the item has run backward before"})
      << "one each";
  EXPECT_EQ(violations(Ops{forward(0), backward(0), update(0), backward(0, 0)}),
            Texts{"worker 0, op 3: 0:B0@0: the item has not run forward"});
}

TEST(ValidateItems, FindsAForwardThatRunsTwice) {
  EXPECT_EQ(violations(Ops{forward(0), forward(0), backward(0), update(0)}),
            Texts{"worker 0, op 1: 0:F0@0: the item has run forward before"});
  EXPECT_EQ(violations(Ops{forward(0), backward(0), update(0), forward(0, 1), backward(0, 1)}),
            (Texts{"worker 0, op 3: 0:F0@1: an update has applied that minibatch before",
                   "worker 0, op 5: 0:B0@1 has no update"}))
      << "not even after its update";
}

TEST(ValidateItems, ABackwardMayBeSplitIntoItsInputAndItsWeightPart) {
  const auto input = part(BackwardPart::kInput, 0);
  const auto weight = part(BackwardPart::kWeight, 0);
  EXPECT_EQ(violations(Ops{forward(0), input, weight, update(0)}), Texts{});
  EXPECT_EQ(
      violations(Ops{forward(0), weight, input, update(0)}),
      (Texts{"worker 0, op 1: 0:w0@0: the parts of a backward are input, then weight, once each",
             "worker 0, op 2: 0:b0@0: the item has run backward before"}));
  EXPECT_EQ(violations(Ops{forward(0), input, update(0)}),
            Texts{"worker 0, op 2: 0:U0>1: minibatch 0 has not run backward"});
  EXPECT_EQ(
      violations(Ops{forward(0), input, backward(0), update(0)}),
      Texts{"worker 0, op 2: 0:B0@0: the parts of a backward are input, then weight, once each"});
  EXPECT_EQ(violations(Ops{forward(0), backward(0), weight, update(0)}),
            Texts{"worker 0, op 2: 0:w0@0: the item has run backward before"});
}

TEST(ValidateItems, AStageThatRecomputesRunsEachForwardAgainOnce) {
  Pipeline pipeline = chain(plan_of({1}));
  pipeline.plan.stages[0].recompute = true;
  const auto found = [&](const Ops& ops) {
    return violations(std::vector<Ops>{ops}, {}, pipeline);
  };
  EXPECT_EQ(found({forward(0), recompute(0), backward(0), update(0)}), Texts{});
  EXPECT_EQ(found({forward(0), backward(0), update(0)}),
            Texts{"worker 0, op 1: 0:B0@0: the stage keeps no activations: its forward must be run "
                  "again first"});
  EXPECT_EQ(found({forward(0), recompute(0), recompute(0), backward(0), update(0)}),
            Texts{"worker 0, op 2: 0:C0@0: the item does not await its backward"});
  EXPECT_EQ(found({recompute(0), forward(0), backward(0), update(0)}),
            (Texts{"worker 0, op 0: 0:C0@0: the item has not run forward",
                   "worker 0, op 2: 0:B0@0: the stage keeps no activations: its forward must be "
                   "run again first"}));
  EXPECT_EQ(found({forward(0), recompute(0, 1), backward(0), update(0)}),
            Texts{"worker 0, op 1: 0:C0@1: its forward used version 0"});
  EXPECT_EQ(
      violations(Ops{forward(0), recompute(0), backward(0), update(0)}),
      (Texts{"worker 0, op 1: 0:C0@0: the stage keeps its activations: nothing is to be run again",
             "worker 0, op 2: 0:B0@0: the parts of a backward are input, then weight, once each"}))
      << "and no other stage does";
}

TEST(ValidateItems, AForwardIsRunAgainWhenTheGradientHasArrived) {
  TwoStages two;
  two.pipeline.plan.stages[0].recompute = true;
  two.insert(0, 10, recompute(1));
  two.insert(0, 6, recompute(0));
  EXPECT_EQ(two.found(), Texts{"worker 0, op 6: 0:C0@0: the gradient of value 0 is not there"});
  std::swap(two.op(0, 6), two.op(0, 7));
  EXPECT_EQ(two.found(), Texts{});
}

// ---- 5: weight versions ----

TEST(ValidateVersions, FindsABackwardWithOtherWeightsThanItsForward) {
  EXPECT_EQ(
      violations(Ops{forward(0), forward(1), backward(0), update(0), backward(1, 1), update(1)}),
      Texts{"worker 0, op 4: 0:B1@1: its forward used version 0"});
}

TEST(ValidateVersions, FindsAVersionThatDoesNotExistYet) {
  EXPECT_EQ(violations(Ops{forward(0, 1), backward(0, 1), update(0)}),
            Texts{"worker 0, op 0: 0:F0@1: version 1 does not exist here"});
  EXPECT_EQ(violations(Ops{forward(0, -1), backward(0, -1), update(0)}),
            Texts{"worker 0, op 0: 0:F0@-1: version -1 does not exist here"});
}

TEST(ValidateVersions, FindsAVersionThatWasFreed) {
  const Ops ops{forward(0), backward(0), update(0), forward(1, 0), backward(1, 0), update(1)};
  EXPECT_EQ(violations(ops), Texts{"worker 0, op 3: 0:F1@0: version 0 does not exist here"});
  EXPECT_EQ(violations(ops, Rules{.traits = {.versions = WeightVersions::kTwo}}), Texts{})
      << "unless the rules keep it";
}

TEST(ValidateVersions, AnOldVersionLivesWhileAnItemThatBeganOnItIsInFlight) {
  EXPECT_EQ(violations(Ops{forward(0), forward(1), backward(0), update(0), forward(2, 0),
                           backward(1), update(1), backward(2, 0), update(2)}),
            Texts{});
}

TEST(ValidateVersions, WithoutStashingEveryOpUsesTheNewest) {
  const Rules rules{.traits = {.versions = WeightVersions::kUnstashed}};
  EXPECT_EQ(
      violations(Ops{forward(0), forward(1), backward(0), update(0), backward(1, 1), update(1)},
                 rules),
      Texts{});
  EXPECT_EQ(
      violations(Ops{forward(0), forward(1), backward(0), update(0), backward(1, 0), update(1)},
                 rules),
      Texts{"worker 0, op 4: 0:B1@0: the newest version is 1"});
  EXPECT_EQ(
      violations(Ops{forward(0), backward(0), update(0), forward(1, 0), backward(1, 1), update(1)},
                 rules),
      Texts{"worker 0, op 3: 0:F1@0: version 0 does not exist here"});
}

TEST(ValidateVersions, OfStagesAreTheirOwn) {
  Pipeline pipeline = chain(plan_of({1, 1}));
  pipeline.plan.stages[1].workers = {WorkerId{0}};
  EXPECT_EQ(violations({{forward(0), update(0, 1), forward(0, 1, 1), backward(0, 1, 1), backward(0),
                         update(0)}},
                       {}, pipeline),
            (Texts{"worker 0, op 1: 1:U0>1: minibatch 0 has not run backward",
                   "worker 0, op 2: 1:F0@1: an update has applied that minibatch before",
                   "worker 0, op 6: 1:B0@1 has no update"}));
}

// ---- 6: updates ----

TEST(ValidateUpdates, FindsAnUpdateFromTheWrongVersionOrToAnotherThanTheNext) {
  EXPECT_EQ(
      violations(Ops{forward(0), forward(1), backward(0), update(0), backward(1), update(0, 1, 1)}),
      Texts{"worker 0, op 5: 0:U0>1: the newest version is 1"});
  EXPECT_EQ(violations(Ops{forward(0), backward(0), Update{StageId{0}, {0}, {2}, 0, 0}}),
            Texts{"worker 0, op 2: 0:U0>2: an update gives the next version"});
}

TEST(ValidateUpdates, FindsAnUpdateBeforeItsBackward) {
  EXPECT_EQ(violations(Ops{forward(0), update(0), backward(0)}),
            (Texts{"worker 0, op 1: 0:U0>1: minibatch 0 has not run backward",
                   "worker 0, op 2: 0:B0@0: the item has not run forward"}));
}

TEST(ValidateUpdates, FindsAnUpdateBeforeSomeOfItsMicrobatches) {
  const Op second_forth = Forward{StageId{0}, {0, 1}, {0}};
  const Op second_back = Backward{StageId{0}, {0, 1}, {0}};
  EXPECT_EQ(violations(Ops{forward(0), second_forth, backward(0), second_back, update(0)}),
            Texts{});
  EXPECT_EQ(violations(Ops{forward(0), second_forth, backward(0), update(0), second_back}),
            (Texts{"worker 0, op 3: 0:U0>1: minibatch 0, microbatch 1 has not run backward",
                   "worker 0, op 4: 0:B0.1@0: the item has not run forward"}));
}

TEST(ValidateUpdates, FindsAnUpdateOfMinibatchesThatNeverRan) {
  EXPECT_EQ(violations(Ops{forward(0), backward(0), update(0, 0, 2)}),
            Texts{"worker 0, op 2: 0:U0>1: minibatch 1 has not run backward"});
  EXPECT_EQ(violations(Ops{forward(0), forward(2), backward(0), backward(2), update(0, 0, 2)}),
            Texts{"worker 0, op 4: 0:U0>1: minibatch 1 has not run backward"});
}

TEST(ValidateUpdates, MinibatchesAreAppliedInOrderAndOnce) {
  EXPECT_EQ(violations(Ops{forward(0), forward(1), backward(0), backward(1), update(0, 0, 1)}),
            Texts{})
      << "several at once are fine";
  EXPECT_EQ(violations(Ops{forward(0), backward(0), update(0), update(1, 0, 0)}),
            (Texts{"worker 0, op 3: 0:U1>2: minibatch 1 is the next to apply",
                   "worker 0, op 3: 0:U1>2: minibatch 0 has not run backward"}));
  EXPECT_EQ(violations(Ops{forward(1), backward(1), update(0, 1, 1)}),
            Texts{"worker 0, op 2: 0:U0>1: minibatch 0 is the next to apply"});
  EXPECT_EQ(
      violations(Ops{forward(0), backward(0), update(0, 0, -1)}),
      (Texts{
          "worker 0, op 2: 0:U0>1: minibatch 0 is the next to apply",
          "worker 0, op 2: 0:U0>1: minibatch 0 has run backward already and would be applied too",
          "worker 0, op 3: 0:B0@0 has no update"}))
      << "an update of nothing";
}

TEST(ValidateUpdates, FindsAGradientThatIsNeverApplied) {
  EXPECT_EQ(violations(Ops{forward(0), backward(0)}),
            Texts{"worker 0, op 2: 0:B0@0 has no update"});
}

// Both backwards accumulate into the same gradients, so the update would apply both.
TEST(ValidateUpdates, FindsABackwardOfALaterMinibatchBeforeTheUpdate) {
  EXPECT_EQ(
      violations(Ops{forward(0), forward(1), backward(0), backward(1), update(0), update(1)}),
      Texts{
          "worker 0, op 4: 0:U0>1: minibatch 1 has run backward already and would be applied too"});
}

TEST(ValidateAverages, BeginAfterTheBackwardsAndAreAwaitedBeforeTheUpdate) {
  const Pipeline pipeline = chain(plan_of({2}));
  const auto found = [&](const Ops& ops) {
    return violations({ops, {forward(1), backward(1), reduce(1), await(1), update(0, 0, 1)}}, {},
                      pipeline);
  };
  EXPECT_EQ(found({forward(0), backward(0), reduce(1), update(0, 0, 1), await(1)}),
            Texts{"worker 0, op 3: 0:U0>1: the averaging for it was not waited for"});
  EXPECT_EQ(found({forward(0), backward(0), reduce(1), update(0, 0, 1)}),
            (Texts{"worker 0, op 3: 0:U0>1: the averaging for it was not waited for",
                   "worker 0, op 4: averaging 1 of stage 0 is not waited for"}));
  EXPECT_EQ(found({forward(0), reduce(1), backward(0), await(1), update(0, 0, 1)}),
            Texts{"worker 0, op 4: 0:U0>1: minibatch 0 was not averaged for it"});
  EXPECT_EQ(found({forward(0), backward(0), reduce(1), await(1)}),
            (Texts{"worker 0, op 4: 0:B0@0 has no update",
                   "worker 0, op 4: averaging 1 of stage 0 has no update"}));
  EXPECT_EQ(found({forward(0), backward(0), await(1), reduce(1), update(0, 0, 1)}),
            (Texts{"worker 0, op 2: 0:A1 waits for ever",
                   "worker 0, op 2: 0:A1: its averaging has not begun",
                   "worker 1, op 3: 0:A1 waits for ever"}));
  EXPECT_EQ(found({forward(0), backward(0), update(0, 0, 1)}),
            (Texts{"worker 0, op 2: 0:U0>1: the averaging for it was not waited for",
                   "worker 0, op 2: 0:U0>1: minibatch 0 was not averaged for it",
                   "worker 1, op 3: 0:A1 waits for ever"}));
}

TEST(ValidateAverages, AReplicaWithoutAMinibatchTakesPartInThemAllTheSame) {
  const Pipeline pipeline = chain(plan_of({2}));
  const Ops first{forward(0), backward(0), reduce(1), await(1), update(0, 0, 0)};
  EXPECT_EQ(violations({first, {reduce(1), await(1), update(0, 0, 0)}}, {}, pipeline), Texts{});
  EXPECT_EQ(violations({first, {reduce(1), await(1)}}, {}, pipeline),
            Texts{"worker 1, op 2: averaging 1 of stage 0 has no update"});
}

TEST(ValidateAverages, GoInOrderAndMayAllBeAwaitedBeforeTheUpdates) {
  const Pipeline pipeline = chain(plan_of({2}));
  const auto replica = [](std::int64_t i, const Ops& rest) {
    Ops ops{forward(i), forward(i + 2), backward(i), reduce(1), backward(i + 2)};
    ops.insert(ops.end(), rest.begin(), rest.end());
    return ops;
  };
  const Ops usual{reduce(2), await(1), update(0, 0, 1), await(2), update(1, 2, 3)};
  EXPECT_EQ(violations({replica(0, usual), replica(1, usual)}, {}, pipeline), Texts{});
  EXPECT_EQ(violations({replica(0, usual), replica(1, {reduce(2), await(1), await(2),
                                                       update(0, 0, 1), update(1, 2, 3)})},
                       {}, pipeline),
            Texts{});
  EXPECT_EQ(violations({replica(0, usual), replica(1, {reduce(2), await(2), await(1),
                                                       update(0, 0, 1), update(1, 2, 3)})},
                       {}, pipeline),
            (Texts{"worker 1, op 6: 0:A2: the next to wait for is 1",
                   "worker 1, op 7: 0:A1: the next to wait for is 3",
                   "worker 1, op 9: 0:U1>2: the averaging for it was not waited for",
                   "worker 1, op 10: averaging 2 of stage 0 is not waited for"}));
  EXPECT_EQ(violations({replica(0, usual), replica(1, {reduce(3), await(1), update(0, 0, 1)})}, {},
                       pipeline),
            (Texts{"worker 1, op 5: 0:X3: the next update to average for is 2",
                   "worker 0, op 8: 0:A2 waits for ever", "worker 1, op 8: 0:B3@0 has no update",
                   "worker 1, op 8: averaging 3 of stage 0 is not waited for"}));
}

TEST(ValidateAverages, AStageWithoutReplicasHasNone) {
  EXPECT_EQ(violations(Ops{forward(0), backward(0), reduce(1), await(1), update(0)}),
            Texts{"worker 0, op 2: 0:X1: the stage has no replicas"});
}

TEST(ValidateAsynchronous, EachBackwardIsPushedAndEachPushFollowedByAPull) {
  const Rules rules{.traits = {.asynchronous = true}};
  const auto found = [&](const Ops& ops) { return violations(ops, rules); };
  EXPECT_EQ(found({forward(0), backward(0), push(0), pull(1), forward(1, 1), backward(1, 1),
                   push(1), pull(2)}),
            Texts{});
  EXPECT_EQ(found({forward(0), backward(0)}), Texts{"worker 0, op 2: 0:B0@0 has no push"});
  EXPECT_EQ(found({forward(0), push(0), pull(1), backward(0)}),
            (Texts{"worker 0, op 1: 0:P0: the item has not run backward",
                   "worker 0, op 3: 0:B0@0: the item has not run forward"}));
  EXPECT_EQ(found({push(0), pull(1)}), Texts{"worker 0, op 0: 0:P0: the item has not run forward"});
  EXPECT_EQ(found({forward(0), backward(0), push(0)}),
            Texts{"worker 0, op 3: the weights are not fetched after the last push"});
  EXPECT_EQ(found({forward(0), backward(0), push(0), forward(1), backward(1), push(1), pull(1)}),
            (Texts{"worker 0, op 3: 0:F1@0: the weights were not fetched after the last push",
                   "worker 0, op 5: 0:P1: the weights were not fetched after the last push"}));
  EXPECT_EQ(found({pull(1)}), Texts{"worker 0, op 0: 0:G1: nothing was pushed before"});
  EXPECT_EQ(found({forward(0), backward(0), push(0), pull(2)}),
            Texts{"worker 0, op 3: 0:G2: the next version is 1"});
  EXPECT_EQ(found({forward(0), backward(0), update(0)}),
            Texts{"worker 0, op 2: 0:U0>1: the servers update, not the workers"});
  EXPECT_EQ(violations(Ops{forward(0), backward(0), push(0), pull(1)}),
            (Texts{"worker 0, op 2: 0:P0: there are no servers to push to",
                   "worker 0, op 3: 0:G1: there are no servers to fetch from"}))
      << "and nowhere else";
}

TEST(ValidateAsynchronous, ReplicasDoNotAverage) {
  const Ops ops{forward(0), backward(0), push(0), pull(1), reduce(1)};
  EXPECT_EQ(violations({ops, {}}, Rules{.traits = {.asynchronous = true}}, chain(plan_of({2}))),
            (Texts{"worker 0, op 4: 0:X1: asynchronous replicas do not average",
                   "worker 0, op 5: averaging 1 of stage 0 is not waited for"}));
}

// ---- 7: items in flight ----

TEST(ValidateInFlight, FindsMoreItemsThanTheRulesSay) {
  const Ops ops{forward(0),  forward(1), forward(2),  backward(0), update(0),
                backward(1), update(1),  backward(2), update(2)};
  EXPECT_EQ(violations(ops, Rules{.in_flight = {3}}), Texts{});
  EXPECT_EQ(violations(ops, Rules{.in_flight = {2}}),
            Texts{"worker 0, op 2: 0:F2@0: 3 items in flight, at most 2 are allowed"});
  EXPECT_EQ(violations(ops, Rules{.in_flight = {1}}),
            (Texts{"worker 0, op 1: 0:F1@0: 2 items in flight, at most 1 are allowed",
                   "worker 0, op 2: 0:F2@0: 3 items in flight, at most 1 are allowed"}));
  EXPECT_EQ(violations(Ops{forward(0), part(BackwardPart::kInput, 0), forward(1),
                           part(BackwardPart::kWeight, 0), update(0), backward(1), update(1)},
                       Rules{.in_flight = {1}}),
            Texts{"worker 0, op 2: 0:F1@0: 2 items in flight, at most 1 are allowed"})
      << "until its weight part";
}

TEST(Validate, ListsAllThatIsWrong) {
  TwoStages two;
  std::get<Forward>(two.op(0, 4)).weights = {5};
  two.drop(1, 10);
  EXPECT_EQ(two.found(),
            (Texts{"worker 0, op 4: 0:F1@5: version 5 does not exist here",
                   "worker 0, op 9: RG0#1<1 waits for ever",
                   "worker 0, op 10: 0:B1@0: its forward used version 5",
                   "worker 1, op 11: the gradient of value 0 of minibatch 1 was not sent"}));
}

}  // namespace
}  // namespace pipedream::schedule
