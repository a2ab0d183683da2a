#include "train/run_folder.h"

#include <csignal>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "checkpoint/folder.h"
#include "core/error.h"
#include "core/file.h"
#include "core/testing.h"
#include "train/resume.h"

namespace pipedream::train {
namespace {

using test::message_of;

const std::map<std::string, std::string> kRun{
    {kConfigurationFile, R"({"format": "pipedream-training", "version": 1})"}, {kPlanFile, "{}"}};

TEST(RunFolder, IsMadeWithTheFoldersAroundIt) {
  const test::TemporaryFolder scratch;
  const RunFolder folder(scratch.path() / "a" / "b", EarlierRun::kRefuse);
  folder.begin(kRun);
  EXPECT_EQ(read_file(scratch.path() / "a" / "b" / kPlanFile), "{}");
}

TEST(RunFolder, OfAnotherTrainingIsRefusedWithItsProcess) {
  const test::TemporaryFolder scratch;
  const RunFolder folder(scratch.path() / "run", EarlierRun::kRefuse);
  const std::string message =
      message_of<CannotMeet>([&] { RunFolder(scratch.path() / "run", EarlierRun::kReplace); });
  EXPECT_NE(message.find("is in use by another training (process " + std::to_string(::getpid())),
            std::string::npos)
      << message;
}

TEST(RunFolder, ThatHoldsARunIsOverwrittenOnlyOnRequest) {
  const test::TemporaryFolder scratch;
  { RunFolder(scratch.path() / "run", EarlierRun::kRefuse).begin(kRun); }
  write_file_atomically(scratch.path() / "run" / kWeightsFile, "weights");
  write_file_atomically(scratch.path() / "run" / "notes.txt", "mine");
  EXPECT_NE(message_of<CannotMeet>([&] {
              RunFolder(scratch.path() / "run", EarlierRun::kRefuse);
            }).find("which did not end"),
            std::string::npos);
  const RunFolder again(scratch.path() / "run", EarlierRun::kReplace);
  EXPECT_EQ(read_file(again.file(kWeightsFile)), "weights") << "until a training begins";
  again.begin(kRun);
  EXPECT_FALSE(is_there(again.file(kWeightsFile)));
  EXPECT_EQ(read_file(again.file("notes.txt")), "mine");
}

TEST(RunFolder, ThatIsOverwrittenLosesItsCheckpoints) {
  const test::TemporaryFolder scratch;
  const std::filesystem::path checkpoint =
      scratch.path() / kCheckpoints / checkpoint::folder_name(64);
  { RunFolder(scratch.path(), EarlierRun::kRefuse).begin(kRun); }
  std::filesystem::create_directories(checkpoint);
  { RunFolder(scratch.path(), EarlierRun::kContinue).begin(kRun); }
  EXPECT_TRUE(is_there(checkpoint));
  { RunFolder(scratch.path(), EarlierRun::kReplace).begin(kRun); }
  EXPECT_FALSE(is_there(checkpoint));
}

// A run that was killed while it wrote its first files can be begun again in the same folder.
TEST(RunFolder, MayHoldFilesThatARunHadNotFinished) {
  const test::TemporaryFolder scratch;
  const std::filesystem::path left = scratch.path() / (std::string(kConfigurationFile) + ".tmp17");
  write_file_atomically(left, "{\"form");
  { RunFolder(scratch.path(), EarlierRun::kRefuse).begin(kRun); }
  EXPECT_FALSE(is_there(left));
}

TEST(RunFolder, HasItsConfigurationBeforeAnyOtherFile) {
  const test::TemporaryFolder scratch;
  std::map<std::string, std::string> files = kRun;
  files[std::string(1000, 'a')] = "no file can have a name of this length";
  EXPECT_THROW(RunFolder(scratch.path(), EarlierRun::kRefuse).begin(files), IoError);
  EXPECT_NO_THROW(RunFolder(scratch.path(), EarlierRun::kContinue));
}

// Whatever begin() is interrupted by, the folder can still be gone on with.
TEST(RunFolder, HasAConfigurationAllTheTime) {
  const test::TemporaryFolder scratch;
  { RunFolder(scratch.path(), EarlierRun::kRefuse).begin(kRun); }
  // A folder of this name cannot be replaced by a file, so begin() fails after it has removed
  // files.
  std::filesystem::create_directories(scratch.path() / "aaa" / "full");
  std::map<std::string, std::string> files = kRun;
  files["aaa"] = "no file can have this name";
  EXPECT_THROW(RunFolder(scratch.path(), EarlierRun::kContinue).begin(files), IoError);
  EXPECT_NO_THROW(RunFolder(scratch.path(), EarlierRun::kContinue));
}

TEST(RunFolder, OfSomebodyElseIsNeverTouched) {
  for (const std::string name : {kWeightsFile, kConfigurationFile, "notes.txt"}) {
    const test::TemporaryFolder scratch;
    const std::string content = R"({"format": "another program's"})";
    write_file_atomically(scratch.path() / name, content);
    for (const EarlierRun earlier : {EarlierRun::kRefuse, EarlierRun::kReplace}) {
      const std::string message =
          message_of<CannotMeet>([&] { RunFolder(scratch.path(), earlier); });
      EXPECT_NE(message.find("no run of pipedream's"), std::string::npos) << message;
    }
    EXPECT_EQ(read_file(scratch.path() / name), content);
    const auto entries = std::filesystem::directory_iterator(scratch.path());
    EXPECT_EQ(std::distance(begin(entries), end(entries)), 1) << "no lock was left";
  }
}

TEST(RunFolder, WhereNoneCanBeIsAnError) {
  const test::TemporaryFolder scratch;
  write_file_atomically(scratch.path() / "file", "");
  EXPECT_THROW(RunFolder(scratch.path() / "file" / "run", EarlierRun::kRefuse), IoError);
}

TEST(WantSpace, SaysWhatIsFreeAndWhatIsNeeded) {
  const test::TemporaryFolder scratch;
  EXPECT_NO_THROW(want_space(scratch.path(), Bytes{1}, "a byte"));
  const std::string message = message_of<IoError>(
      [&] { want_space(scratch.path(), Bytes{std::int64_t{1} << 60}, "the run folder"); });
  EXPECT_NE(message.find("free, and the run folder will need 1048576 TiB"), std::string::npos)
      << message;
}

TEST(Metrics, ThatCannotBeWrittenAreReportedAndEndNothing) {
  Metrics metrics("/dev/full");
  EXPECT_FALSE(metrics.finish());
  metrics.add(Step{});
  metrics.add(Step{});
  const auto failure = metrics.finish();
  ASSERT_TRUE(failure);
  EXPECT_NE(failure->find("/dev/full"), std::string::npos);
}

// A limit on the size of files stands for a disk that is full for a while.
TEST(Metrics, AreCompleteIfTheDiskIsFullForAWhile) {
  const test::TemporaryFolder scratch;
  const auto file = scratch.path() / "metrics.jsonl";
  (void)std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  Metrics metrics(file);
  for (std::int64_t i = 0; i < 100; ++i) {
    const rlimit full{i >= 30 && i < 60 ? 2000 : before.rlim_cur, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
    metrics.add(Step{.minibatch = i});
  }
  EXPECT_FALSE(metrics.finish());
  std::istringstream lines(read_file(file));
  std::int64_t count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    EXPECT_EQ(nlohmann::json::parse(line).at("minibatch"), count);
  EXPECT_EQ(count, 100);
}

// Lines after the checkpoint are dropped, and a line that a crash has cut off.
TEST(Metrics, OfAResumedTrainingEndWithTheCheckpoint) {
  const test::TemporaryFolder scratch;
  const auto file = scratch.path() / "metrics.jsonl";
  {
    Metrics metrics(file);
    for (std::int64_t i = 0; i < 6; ++i)
      metrics.add(Step{.minibatch = i, .samples = 8 * (i + 1), .loss = 0.5});
    Evaluation evaluation;
    evaluation.minibatches = 6;
    metrics.add(evaluation);
  }
  write_file_atomically(file, read_file(file) + "{\"minibatch\": 6, \"sam");
  checkpoint::Manifest manifest;
  manifest.position = {.step = 4, .samples = 32};
  Metrics(file, file, manifest.position).add(Step{.minibatch = 4, .samples = 40, .loss = 0.25});
  const std::string text = read_file(file);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6) << text;
  EXPECT_NE(text.find("{\"resumed\":4,\"samples\":32}\n{\"minibatch\":4,"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("epoch"), std::string::npos) << text;
}

}  // namespace
}  // namespace pipedream::train
