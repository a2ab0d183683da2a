#include "train/speed_reports.h"

#include <gtest/gtest.h>

#include "runtime/tags.h"
#include "transport/in_process.h"

namespace pipedream::train {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

SpeedReport report(int worker) {
  return {.worker = {worker},
          .time = seconds(1),
          .busy = milliseconds(600 + 100 * worker),
          .transfer = milliseconds(50),
          .sent = {worker == 1 ? 1000 : 0, 0}};
}

// Two workers, and the reports at worker 0.
class TwoWorkers : public ::testing::Test {
 protected:
  void send(const SpeedReport& report) {
    ends_.at(report.worker.index())
        ->send(WorkerId{0}, runtime::kSpeeds, {to_numbers(report), {}, nullptr});
  }
  // Takes what was sent so far: a loss comes last.
  void take_all() {
    const transport::Ticket ticket = ends_[0]->receive(WorkerId{1}, runtime::kLosses);
    ends_[1]->send(WorkerId{0}, runtime::kLosses, {{42}, {}, nullptr});
    EXPECT_EQ(reports_.wait(ticket).header, std::vector<std::int64_t>{42});
  }
  // A stretch of `count` seconds from `begin` on, in which so many samples per second are trained.
  void train(int count, Nanos begin, int samples_per_second) {
    reports_.begin(begin);
    for (int second = 0; second < count; ++second) {
      for (int worker = 0; worker < 2; ++worker) send(report(worker));
      take_all();
      for (int sample = 1; sample <= samples_per_second; ++sample)
        reports_.add_samples(
            1, begin + seconds(second) + milliseconds(1000) * sample / samples_per_second);
    }
  }

  std::vector<std::unique_ptr<transport::Transport>> ends_ = transport::connect_in_process(2);
  SpeedReports reports_{*ends_[0]};
};

TEST(SpeedReport, SurvivesItsNumbers) {
  const SpeedReport of = report(1);
  EXPECT_EQ(report_of(to_numbers(of), 2), of);
  EXPECT_EQ(to_numbers(report(0)).size(), 4u) << "what was not sent takes no room";
}

TEST_F(TwoWorkers, SaySomethingAfterThreeReportsOfEach) {
  train(2, Nanos{0}, 10);
  EXPECT_FALSE(reports_.speeds());
  train(1, seconds(2), 10);
  const auto speeds = reports_.speeds();
  ASSERT_TRUE(speeds);
  EXPECT_NEAR(speeds->samples_per_second, 10, 0.01);
  ASSERT_EQ(speeds->workers.size(), 2u);
  EXPECT_NEAR(speeds->workers[0].seconds, 3, 1e-9);
  EXPECT_NEAR(speeds->workers[1].busy, 2.1, 1e-9);
  EXPECT_NEAR(speeds->workers[1].transfer, 0.15, 1e-9);
  EXPECT_EQ(speeds->workers[1].sent, (std::vector<double>{3000, 0}));
}

TEST_F(TwoWorkers, LeaveOutTheTimeBetweenStretches) {
  for (int stretch = 0; stretch < 4; ++stretch) train(1, seconds(100) * stretch, 10);
  const auto speeds = reports_.speeds();
  ASSERT_TRUE(speeds);
  EXPECT_NEAR(speeds->samples_per_second, 10, 0.01);
}

TEST_F(TwoWorkers, ForgetWhatIsLongPast) {
  train(30, Nanos{0}, 10);
  train(10, seconds(30), 4);
  const auto speeds = reports_.speeds();
  ASSERT_TRUE(speeds);
  EXPECT_NEAR(speeds->workers[0].seconds, 10, 1e-9);
  EXPECT_NEAR(speeds->samples_per_second, 4, 0.1);
}

}  // namespace
}  // namespace pipedream::train
