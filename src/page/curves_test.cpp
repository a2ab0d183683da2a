#include "page/curves.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace pipedream::page {
namespace {

TEST(Curves, LeaveEvaluationsOutOfTheSeconds) {
  const auto curves = curves_of(
      R"({"minibatch":0,"samples":16,"loss":2.5,"learning_rate":0.1,"seconds":1}
{"epoch":0,"minibatches":1,"samples":16,"held_out_loss":2,"accuracy":0.25,"seconds":4,"training_seconds":1}
{"minibatch":1,"samples":32,"loss":1.5,"seconds":5}
{"epoch":1,"minibatches":2,"samples":32,"held_out_loss":1,"perplexity":2.7,"seconds":9,"training_seconds":2}
)");
  EXPECT_EQ(
      curves.at("steps").dump(),
      R"([{"samples":16.0,"seconds":1.0,"loss":2.5},{"samples":32.0,"seconds":2.0,"loss":1.5}])");
  EXPECT_EQ(curves.at("evaluations").dump(),
            R"([{"samples":16.0,"seconds":1.0,"held_out_loss":2.0,"accuracy":0.25},)"
            R"({"samples":32.0,"seconds":2.0,"held_out_loss":1.0,"perplexity":2.7}])");
}

TEST(Curves, AddTheTimesOfTheRunsOfATraining) {
  const auto curves = curves_of(
      R"({"minibatch":0,"samples":16,"loss":2,"seconds":3}
{"resumed":1,"samples":16}
{"minibatch":1,"samples":32,"loss":1,"seconds":2}
)");
  EXPECT_EQ(curves.at("steps").at(1).at("seconds"), 5);
}

TEST(Curves, PassOverLinesThatCannotBeRead) {
  const auto curves = curves_of(
      "{\"minibatch\":0,\"samples\":16,\"loss\":2,\"seconds\":3}\n\n[1]\n"
      "{\"loss\":null,\"seconds\":4}\n{\"minibatch\":1,\"sam");
  EXPECT_EQ(curves.at("steps").size(), 1u);
  EXPECT_TRUE(curves.at("evaluations").empty());
}

TEST(Curves, OfLongTrainingsHaveMeansOfNeighbours) {
  std::string metrics;
  for (int i = 1; i <= 10'000; ++i)
    metrics += "{\"samples\":" + std::to_string(i) + ",\"loss\":" + std::to_string(i % 2) +
               ",\"seconds\":" + std::to_string(i) + "}\n";
  const auto steps = curves_of(metrics).at("steps");
  EXPECT_EQ(steps.size(), 1250u) << "of eight steps each";
  EXPECT_EQ(steps.back().at("samples"), 10'000);
  EXPECT_EQ(steps.front().at("samples"), 8);
  for (const auto& step : steps) EXPECT_EQ(step.at("loss"), 0.5) << step;
}

TEST(Curves, OfVeryManyEvaluationsHaveSomeAndTheLast) {
  Curves curves;
  for (int i = 1; i <= 5'001; ++i)
    curves.add(R"({"held_out_loss":1,"seconds":1,"samples":)" + std::to_string(i) + "}");
  const auto evaluations = curves.json().at("evaluations");
  EXPECT_LE(evaluations.size(), Curves::kMostEvaluations);
  EXPECT_GE(evaluations.size(), Curves::kMostEvaluations / 2);
  EXPECT_EQ(evaluations.back().at("samples"), 5'001);
}

}  // namespace
}  // namespace pipedream::page
