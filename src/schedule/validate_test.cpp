#include "schedule/validate.h"

#include <gtest/gtest.h>

namespace pipedream::schedule {
namespace {

using Texts = std::vector<std::string>;

// Ops of stage 0; the update with `from` applies the minibatch of the same number.
Op forward(std::int64_t minibatch, std::int64_t version = 0, std::int32_t microbatch = 0) {
  return Forward{StageId{0}, {minibatch, microbatch}, {version}};
}
Op backward(std::int64_t minibatch, std::int64_t version = 0, std::int32_t microbatch = 0) {
  return Backward{StageId{0}, {minibatch, microbatch}, {version}};
}
Op update(std::int64_t from) { return Update{StageId{0}, {from}, {from + 1}, from, from}; }
Op send(int to, std::int64_t minibatch = 0, Kind kind = Kind::kActivation, int value = 0) {
  return Send{ValueId{value}, {minibatch, 0}, kind, WorkerId{to}};
}
Op recv(int from, std::int64_t minibatch = 0, Kind kind = Kind::kActivation, int value = 0) {
  return Recv{ValueId{value}, {minibatch, 0}, kind, WorkerId{from}};
}
constexpr Kind kGradient = Kind::kGradient;

// What is wrong with these programs, the i-th on worker i.
Texts violations(std::vector<std::vector<Op>> ops) {
  std::vector<Program> programs;
  for (std::size_t w = 0; w < ops.size(); ++w)
    programs.push_back({id_at<WorkerId>(w), std::move(ops[w])});
  Texts texts;
  for (const Violation& v : validate(programs))
    texts.push_back("worker " + std::to_string(v.worker.value) + ", op " +
                    std::to_string(v.op_index) + ": " + v.what);
  return texts;
}

TEST(Validate, AcceptsProgramsThatKeepAllRules) {
  EXPECT_EQ(violations({}), Texts{});
  EXPECT_EQ(violations({{}, {}}), Texts{});
  EXPECT_EQ(
      violations({{forward(0), send(1), forward(1), send(1, 1), recv(1, 0, kGradient), backward(0),
                   update(0), recv(1, 1, kGradient), backward(1), update(1)},
                  {recv(0), forward(0), recv(0, 1), backward(0), send(0, 0, kGradient), update(0),
                   forward(1, 1), backward(1, 1), send(0, 1, kGradient), update(1)}}),
      Texts{});
}

// ---- transfers ----

TEST(Validate, FindsAMissingSend) {
  EXPECT_EQ(violations({{forward(0), backward(0), update(0)},
                        {recv(0), forward(0), backward(0), update(0)}}),
            Texts{"worker 1, op 0: RA0#0<0 waits for ever"});
}

TEST(Validate, FindsAMissingRecv) {
  EXPECT_EQ(violations({{forward(0), send(1), backward(0), update(0)},
                        {forward(0), backward(0), update(0)}}),
            Texts{"worker 0, op 1: SA0#0>1 waits for ever"});
}

TEST(Validate, FindsAPeerThatDoesNotExist) {
  EXPECT_EQ(violations({{send(9)}}), Texts{"worker 0, op 0: SA0#0>9 waits for ever"});
  EXPECT_EQ(violations({{recv(9)}}), Texts{"worker 0, op 0: RA0#0<9 waits for ever"});
}

TEST(Validate, FindsATransferToOneself) {
  EXPECT_EQ(violations({{send(0), recv(0)}}), Texts{"worker 0, op 0: SA0#0>0 waits for ever"});
}

TEST(Validate, ASendAndARecvMeetOnlyWithTheSameItemKindAndValue) {
  EXPECT_EQ(
      violations({{send(1, 1)}, {recv(0, 2)}}),
      (Texts{"worker 0, op 0: SA0#1>1 waits for ever", "worker 1, op 0: RA0#2<0 waits for ever"}));
  EXPECT_EQ(
      violations({{send(1)}, {recv(0, 0, kGradient)}}),
      (Texts{"worker 0, op 0: SA0#0>1 waits for ever", "worker 1, op 0: RG0#0<0 waits for ever"}));
  EXPECT_EQ(
      violations({{send(1, 0, kGradient, 3)}, {recv(0, 0, kGradient, 4)}}),
      (Texts{"worker 0, op 0: SG3#0>1 waits for ever", "worker 1, op 0: RG4#0<0 waits for ever"}));
  EXPECT_EQ(
      violations({{send(1)}, {recv(2)}, {}}),
      (Texts{"worker 0, op 0: SA0#0>1 waits for ever", "worker 1, op 0: RA0#0<2 waits for ever"}));
}

// Receive, compute, send for each op looks harmless, but each worker waits for the other to
// receive: DESIGN §3.
TEST(Validate, FindsTheCycleOfReceiveComputeSend) {
  EXPECT_EQ(
      violations({{forward(0), send(1), forward(1), send(1, 1), recv(1, 0, kGradient), backward(0),
                   update(0), recv(1, 1, kGradient), backward(1), update(1)},
                  {recv(0), forward(0), backward(0), send(0, 0, kGradient), update(0), recv(0, 1),
                   forward(1, 1), backward(1, 1), send(0, 1, kGradient), update(1)}}),
      (Texts{"worker 0, op 3: SA0#1>1 waits for ever", "worker 1, op 3: SG0#0>0 waits for ever"}));
}

TEST(Validate, FindsACycleOfThreeWorkers) {
  EXPECT_EQ(
      violations({{send(1), recv(2)}, {send(2), recv(0)}, {send(0), recv(1)}}),
      (Texts{"worker 0, op 0: SA0#0>1 waits for ever", "worker 1, op 0: SA0#0>2 waits for ever",
             "worker 2, op 0: SA0#0>0 waits for ever"}));
  EXPECT_EQ(violations({{send(1), recv(2)}, {recv(0), send(2)}, {recv(1), send(0)}}), Texts{});
}

TEST(Validate, FindsTwoRecvsInTheWrongOrder) {
  EXPECT_EQ(
      violations({{send(1, 0), send(1, 1)}, {recv(0, 1), recv(0, 0)}}),
      (Texts{"worker 0, op 0: SA0#0>1 waits for ever", "worker 1, op 0: RA0#1<0 waits for ever"}));
}

// ---- forwards and backwards ----

TEST(Validate, FindsAForwardWithoutBackward) {
  EXPECT_EQ(violations({{forward(0), forward(1), backward(0), update(0)}}),
            Texts{"worker 0, op 4: 0:F1@0 has no backward"});
}

TEST(Validate, FindsABackwardWithoutForward) {
  EXPECT_EQ(
      violations({{backward(3)}}),
      Texts{"worker 0, op 0: 0:B3@0: there is no forward of this item waiting for its backward"});
  EXPECT_EQ(
      violations({{forward(0), backward(0), backward(0), update(0)}}),
      Texts{"worker 0, op 2: 0:B0@0: there is no forward of this item waiting for its backward"})
      << "one each";
}

TEST(Validate, ABackwardElsewhereDoesNotCount) {
  EXPECT_EQ(
      violations({{forward(0)}, {backward(0)}}),
      (Texts{"worker 0, op 1: 0:F0@0 has no backward",
             "worker 1, op 0: 0:B0@0: there is no forward of this item waiting for its backward"}));
  EXPECT_EQ(
      violations({{forward(0), Backward{StageId{1}, {0, 0}, {0}}}}),
      (Texts{"worker 0, op 1: 1:B0@0: there is no forward of this item waiting for its backward",
             "worker 0, op 2: 0:F0@0 has no backward"}))
      << "nor on another stage";
}

TEST(Validate, FindsAForwardThatRunsTwice) {
  EXPECT_EQ(violations({{forward(0), forward(0), backward(0), update(0)}}),
            Texts{"worker 0, op 1: 0:F0@0: this item's forward ran before"});
  EXPECT_EQ(violations({{forward(0), backward(0), update(0), forward(0, 1)}}),
            Texts{"worker 0, op 3: 0:F0@1: this item's forward ran before"})
      << "not even after its backward";
}

// ---- weight versions ----

TEST(Validate, FindsABackwardWithOtherWeightsThanItsForward) {
  EXPECT_EQ(
      violations({{forward(0), forward(1), backward(0), update(0), backward(1, 1), update(1)}}),
      Texts{"worker 0, op 4: 0:B1@1: its forward used weight version 0, not 1"});
}

TEST(Validate, FindsAVersionThatDoesNotExistYet) {
  EXPECT_EQ(violations({{forward(0, 1), backward(0, 1), update(0)}}),
            Texts{"worker 0, op 0: 0:F0@1: weight version 1 does not exist here"});
}

TEST(Validate, FindsAVersionThatWasFreed) {
  EXPECT_EQ(
      violations({{forward(0), backward(0), update(0), forward(1, 0), backward(1, 0), update(1)}}),
      Texts{"worker 0, op 3: 0:F1@0: weight version 0 does not exist here"});
}

TEST(Validate, AnOldVersionLivesWhileAnItemThatBeganOnItIsInFlight) {
  EXPECT_EQ(violations({{forward(0), forward(1), backward(0), update(0), forward(2, 0), backward(1),
                         update(1), backward(2, 0), update(2)}}),
            Texts{});
}

TEST(Validate, FindsAnUpdateFromTheWrongVersion) {
  EXPECT_EQ(violations({{forward(0), forward(1), backward(0), update(0), backward(1),
                         Update{StageId{0}, {0}, {1}, 1, 1}}}),
            Texts{"worker 0, op 5: 0:U0>1: the newest weight version is 1"});
}

TEST(Validate, FindsAnUpdateThatSkipsAVersion) {
  EXPECT_EQ(violations({{forward(0), backward(0), Update{StageId{0}, {0}, {2}, 0, 0}}}),
            Texts{"worker 0, op 2: 0:U0>2: an update must give the next version"});
}

TEST(Validate, VersionsOfStagesAndWorkersAreTheirOwn) {
  const StageId other{1};
  EXPECT_EQ(violations({{forward(0), backward(0), update(0), Forward{other, {0, 0}, {1}},
                         Backward{other, {0, 0}, {1}}, Update{other, {0}, {1}, 0, 0}},
                        {forward(0, 1), backward(0, 1), update(0)}}),
            (Texts{"worker 0, op 3: 1:F0@1: weight version 1 does not exist here",
                   "worker 1, op 0: 0:F0@1: weight version 1 does not exist here"}));
}

// ---- what updates apply ----

TEST(Validate, FindsAnUpdateBeforeItsBackward) {
  EXPECT_EQ(violations({{forward(0), update(0), backward(0)}}),
            (Texts{"worker 0, op 1: 0:U0>1: minibatch 0 has not run backward",
                   "worker 0, op 3: 0:B0@0 has no update"}));
}

TEST(Validate, FindsAnUpdateBeforeSomeOfItsMicrobatches) {
  const Op both = Update{StageId{0}, {0}, {1}, 0, 0};
  EXPECT_EQ(violations(
                {{forward(0, 0, 0), forward(0, 0, 1), backward(0, 0, 0), both, backward(0, 0, 1)}}),
            (Texts{"worker 0, op 3: 0:U0>1: minibatch 0 has not run backward",
                   "worker 0, op 5: 0:B0.1@0 has no update"}));
  EXPECT_EQ(violations(
                {{forward(0, 0, 0), forward(0, 0, 1), backward(0, 0, 0), backward(0, 0, 1), both}}),
            Texts{});
}

TEST(Validate, FindsAnUpdateOfAMinibatchThatNeverRan) {
  EXPECT_EQ(violations({{forward(0), backward(0), Update{StageId{0}, {0}, {1}, 0, 2}}}),
            Texts{"worker 0, op 2: 0:U0>1: minibatch 1 has not run backward"});
}

TEST(Validate, FindsAnUpdateOverAGap) {
  EXPECT_EQ(violations({{forward(0), forward(2), backward(0), backward(2),
                         Update{StageId{0}, {0}, {1}, 0, 2}}}),
            Texts{"worker 0, op 4: 0:U0>1: minibatch 1 has not run backward"});
}

TEST(Validate, FindsAGradientThatIsAppliedTwice) {
  EXPECT_EQ(violations({{forward(0), backward(0), update(0), Update{StageId{0}, {1}, {2}, 0, 0}}}),
            Texts{"worker 0, op 3: 0:U1>2: minibatch 0 was applied before"});
}

TEST(Validate, FindsAGradientThatIsNeverApplied) {
  EXPECT_EQ(violations({{forward(0), backward(0)}}), Texts{"worker 0, op 2: 0:B0@0 has no update"});
  EXPECT_EQ(violations({{forward(0), backward(0), Update{StageId{0}, {0}, {1}, 1, 0}}}),
            Texts{"worker 0, op 3: 0:B0@0 has no update"})
      << "an update of nothing";
}

TEST(Validate, AcceptsOneUpdateForSeveralMinibatches) {
  EXPECT_EQ(violations({{forward(0), forward(1), backward(0), backward(1),
                         Update{StageId{0}, {0}, {1}, 0, 1}}}),
            Texts{});
}

TEST(Validate, ListsAllThatIsWrong) {
  EXPECT_EQ(
      violations({{forward(0, 5), send(1), backward(0, 5), update(0)}, {backward(7)}}),
      (Texts{"worker 0, op 0: 0:F0@5: weight version 5 does not exist here",
             "worker 1, op 0: 0:B7@0: there is no forward of this item waiting for its backward",
             "worker 0, op 1: SA0#0>1 waits for ever"}));
}

}  // namespace
}  // namespace pipedream::schedule
