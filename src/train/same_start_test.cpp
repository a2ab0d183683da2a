#include "train/same_start.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace pipedream::train {
namespace {

const std::vector<std::string> kNames{"worker 0 on a", "worker 1 on a", "worker 2 on b"};

Identity identity() {
  return {.version = "0.1.0",
          .build = "0123456789abcdef",
          .libtorch = "2.10.0",
          .libtorch_build = "aaaa",
          .processor = "x86_64",
          .flags = {{"--batch", "16"}, {"--model", "mlp"}, {"--no-stash", ""}}};
}

// What is said of three processes, of which the last two are changed.
std::optional<Disagreement> with(const std::function<void(Identity&)>& second,
                                 const std::function<void(Identity&)>& third) {
  std::vector<Identity> processes(3, identity());
  second(processes[1]);
  third(processes[2]);
  return disagreement(processes, kNames);
}

void as_it_is(Identity&) {}

TEST(SameStart, EqualProcessesCanTrainTogether) {
  EXPECT_FALSE(with(as_it_is, as_it_is));
  // In any order.
  EXPECT_FALSE(
      with(as_it_is, [](Identity& other) { std::swap(other.flags.front(), other.flags.back()); }));
}

TEST(SameStart, TheFirstProcessThatDiffersIsNamedWithWhatDiffers) {
  struct Case {
    std::function<void(Identity&)> second, third;
    bool of_programs;
    std::string text;
  };
  const std::vector<Case> cases{
      {as_it_is, [](Identity& other) { other.version = "0.2.0"; }, true,
       "worker 2 on b runs pipedream 0.2.0 (build 0123456789ab), and worker 0 on a runs pipedream "
       "0.1.0 (build 0123456789ab): install the same on all hosts"},
      {[](Identity& other) { other.build = "fedcba9876543210"; },
       [](Identity& other) { other.build = ""; }, true,
       "worker 1 on a runs pipedream 0.1.0 (build fedcba987654), and worker 0 on a runs pipedream "
       "0.1.0 (build 0123456789ab) (1 other worker differs, too): install the same on all hosts"},
      {[](Identity& other) { other.libtorch = "2.9.1"; }, as_it_is, true,
       "worker 1 on a uses libtorch 2.9.1 (build aaaa), and worker 0 on a uses libtorch 2.10.0 "
       "(build aaaa): install the same on all hosts"},
      {as_it_is, [](Identity& other) { other.flags[0].second = "8"; }, false,
       "worker 2 on b was started with --batch 8, and worker 0 on a with --batch 16: give all "
       "workers the same flags"},
      {[](Identity& other) { other.flags.pop_back(); }, as_it_is, false,
       "worker 1 on a was started without --no-stash, and worker 0 on a with --no-stash: give all "
       "workers the same flags"},
      {[](Identity& other) { other.flags.emplace_back("--seed", "3"); }, as_it_is, false,
       "worker 1 on a was started with --seed 3, and worker 0 on a without --seed: give all "
       "workers the same flags"},
      {as_it_is, [](Identity& other) { other.refusal = "there is no flag --x"; }, false,
       "worker 2 on b: there is no flag --x; other workers have another command line: give all "
       "workers the same flags"},
      // An older program may know fewer flags: that it is another program says more.
      {as_it_is,
       [](Identity& other) {
         other.version = "0.0.9";
         other.refusal = "there is no flag --x";
       },
       true,
       "worker 2 on b runs pipedream 0.0.9 (build 0123456789ab), and worker 0 on a runs pipedream "
       "0.1.0 (build 0123456789ab): install the same on all hosts"},
  };
  for (const Case& each : cases) {
    const auto found = with(each.second, each.third);
    ASSERT_TRUE(found) << each.text;
    EXPECT_EQ(found->text, each.text);
    EXPECT_EQ(found->of_programs, each.of_programs) << each.text;
  }
}

TEST(SameStart, WhatAllRefuseIsSaidOnce) {
  std::vector<Identity> processes(3, identity());
  for (Identity& each : processes) each.refusal = "there is no flag --x";
  EXPECT_EQ(disagreement(processes, kNames)->text, "there is no flag --x");
}

TEST(SameStart, BuildsForOtherProcessorsMayDiffer) {
  const auto on_arm = [](Identity& other) {
    other.processor = "aarch64";
    other.build = "bbbb";
    other.libtorch_build = "cccc";
  };
  EXPECT_FALSE(with(as_it_is, on_arm));
  EXPECT_TRUE(with(as_it_is, [&](Identity& other) {
    on_arm(other);
    other.version = "0.2.0";
  }));
}

TEST(SameStart, AnIdentitySurvivesItsText) {
  Identity of = identity();
  of.flags.emplace_back("--out", "\xff\n");
  of.refusal = "--batch: wanted a whole number";
  EXPECT_EQ(identity_in(to_text(of)), of);
  EXPECT_EQ(identity_in(to_text(this_program())), this_program());
  EXPECT_THROW((void)identity_in("{}"), BadFile);
}

TEST(SameStart, ProcessesThatMpiHasNotJoinedAreTold) {
  const transport::Launcher srun{
      .start = transport::Start::kMpi, .name = "srun (PMI2)", .rank = 1, .size = 4, .here = {}};
  EXPECT_FALSE(why_not_joined(srun, 4, "Open MPI v4.1.4"));
  EXPECT_EQ(why_not_joined(srun, 1, "Open MPI v4.1.4"),
            "srun (PMI2) started 4 processes, and MPI has joined only 1, so they would train apart "
            "from each other: this program uses Open MPI v4.1.4; start it with pipedream launch, "
            "or with the mpirun of that MPI");
  EXPECT_FALSE(why_not_joined({.start = transport::Start::kMpi, .name = "a launcher with PMIx"}, 1,
                              "Open MPI"));
}

}  // namespace
}  // namespace pipedream::train
