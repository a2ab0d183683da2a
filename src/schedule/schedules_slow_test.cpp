// Random schedules of all systems are valid. If one thing in them is changed, the validator and an
// interpreter that shares no code with it agree whether they can still run.
#include <sstream>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "schedule/schedule_properties_testing.h"

namespace pipedream::schedule {
namespace {

// One case is so fast that ten times the usual number of cases fits into the time of a slow test.
constexpr int kTimes = 10;

template <class Property>
void check_many(Property property) {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  rc::detail::TestMetadata metadata;
  metadata.id = std::string(info->test_suite_name()) + "/" + info->name();
  metadata.description = info->name();
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess *= kTimes;
  const rc::detail::TestResult result = rc::detail::checkTestable(property, metadata, params);
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  EXPECT_TRUE(result.is<rc::detail::SuccessResult>()) << text.str();
}

TEST(SlowScheduleProperty, EveryScheduleIsValid) {
  check_many([] { expect_any_schedule_valid({}); });
}

TEST(SlowScheduleProperty, ValidatorAndInterpreterAgreeOnChangedSchedules) {
  check_many([] {
    expect_agreement_on_a_changed_schedule({.stages = 5,
                                            .replicas = 3,
                                            .microbatches = 5,
                                            .minibatches = 9,
                                            .items = 12,
                                            .layers = 8});
  });
}

}  // namespace
}  // namespace pipedream::schedule
