#include "plan/placement.h"

#include <gtest/gtest.h>

namespace pipedream::plan {
namespace {

constexpr auto kPolicies = {Placement::kInOrder, Placement::kFreshFirst, Placement::kAppendFirst,
                            Placement::kScatterFirst};

// Returns a cluster of counts[0] workers per machine, counts[1] machines per group, and so on.
cost::Links machines(const std::vector<int>& counts) {
  cluster::Cluster cluster;
  int workers = 1;
  for (const int count : counts) {
    cluster.levels.push_back({.name = "level", .count = count, .bandwidth = {1e9}});
    workers *= count;
  }
  cluster.devices.resize(static_cast<std::size_t>(workers));
  return cost::Links(cluster);
}

// Three machines of 4 workers, as a picture that shows the stage of each worker: "aabb .... ...."
// has the stages a and b on the first machine, and nothing on the others.
class Picture {
 public:
  Picture& take(int count, Placement placement) {
    for (const WorkerId worker : places_.take(count, placement)) {
      EXPECT_EQ(stages_.at(worker.index()), '.') << "worker " << worker.value << " is taken";
      stages_.at(worker.index()) = next_;
    }
    ++next_;
    return *this;
  }
  [[nodiscard]] std::string text() const {
    return stages_.substr(0, 4) + " " + stages_.substr(4, 4) + " " + stages_.substr(8);
  }

 private:
  Places places_{machines({4, 3})};
  std::string stages_ = std::string(12, '.');
  char next_ = 'a';
};

TEST(Places, InOrderTakeTheNextFreeWorkers) {
  Picture picture;
  EXPECT_EQ(picture.take(3, Placement::kInOrder).text(), "aaa. .... ....");
  EXPECT_EQ(picture.take(3, Placement::kInOrder).text(), "aaab bb.. ....");
  EXPECT_EQ(picture.take(6, Placement::kInOrder).text(), "aaab bbcc cccc");
}

TEST(Places, FreshFirstBeginEachStageOnAMachineThatNobodyUses) {
  Picture picture;
  EXPECT_EQ(picture.take(2, Placement::kFreshFirst).text(), "aa.. .... ....");
  EXPECT_EQ(picture.take(1, Placement::kFreshFirst).text(), "aa.. b... ....");
  EXPECT_EQ(picture.take(3, Placement::kFreshFirst).text(), "aa.. b... ccc.");
  EXPECT_EQ(picture.take(4, Placement::kFreshFirst).text(), "aadd bdd. ccc.") << "none is left";
}

TEST(Places, FreshFirstGoOnWithMachinesInUseWhereTheFreshOnesAreTooFew) {
  Picture picture;
  EXPECT_EQ(picture.take(6, Placement::kFreshFirst).text(), "aaaa aa.. ....");
  EXPECT_EQ(picture.take(5, Placement::kFreshFirst).text(), "aaaa aab. bbbb");
}

TEST(Places, AppendFirstFillUpMachinesInUse) {
  Picture picture;
  EXPECT_EQ(picture.take(1, Placement::kAppendFirst).text(), "a... .... ....");
  EXPECT_EQ(picture.take(1, Placement::kFreshFirst).text(), "a... b... ....");
  EXPECT_EQ(picture.take(4, Placement::kAppendFirst).text(), "accc bc.. ....");
  EXPECT_EQ(picture.take(3, Placement::kAppendFirst).text(), "accc bcdd d...");
}

TEST(Places, ScatterFirstSpreadAStageOverAllMachinesWhenNoneIsInUse) {
  Picture picture;
  EXPECT_EQ(picture.take(5, Placement::kScatterFirst).text(), "aa.. aa.. a...");
  EXPECT_EQ(picture.take(4, Placement::kScatterFirst).text(), "aabb aab. ab..");
  EXPECT_EQ(picture.take(3, Placement::kScatterFirst).text(), "aabb aabc abcc");
}

TEST(Places, ScatterFirstSpreadAStageOverTheMachinesInUse) {
  Picture picture;
  EXPECT_EQ(picture.take(1, Placement::kFreshFirst).text(), "a... .... ....");
  EXPECT_EQ(picture.take(1, Placement::kFreshFirst).text(), "a... b... ....");
  EXPECT_EQ(picture.take(4, Placement::kScatterFirst).text(), "acc. bcc. ....");
  EXPECT_EQ(picture.take(3, Placement::kScatterFirst).text(), "accd bccd d...") << "they are full";
}

TEST(Places, HaveOneMachineOfAllWorkersWhereThereIsOneLevel) {
  for (const Placement placement : kPolicies) {
    Places places(machines({6}));
    EXPECT_EQ(places.take(2, placement), (std::vector{WorkerId{0}, WorkerId{1}}));
    EXPECT_EQ(places.take(3, placement), (std::vector{WorkerId{2}, WorkerId{3}, WorkerId{4}}));
    EXPECT_EQ(places.take(1, placement), (std::vector{WorkerId{5}}));
  }
}

// A machine has two workers, however many levels join the machines.
TEST(Places, TakeTheSecondLevelsComponentsForMachinesWhereThereAreThreeLevels) {
  Places places(machines({2, 2, 2}));
  for (const int first : {0, 2, 4, 6})
    EXPECT_EQ(places.take(1, Placement::kFreshFirst), (std::vector{WorkerId{first}}));
  EXPECT_EQ(places.take(2, Placement::kFreshFirst), (std::vector{WorkerId{1}, WorkerId{3}}));
}

TEST(Places, MayHaveMachinesOfOneWorker) {
  for (const Placement placement : kPolicies) {
    Places places(machines({1, 3}));
    EXPECT_EQ(places.take(2, placement), (std::vector{WorkerId{0}, WorkerId{1}}));
    EXPECT_EQ(places.take(1, placement), (std::vector{WorkerId{2}}));
  }
}

TEST(Places, MustNotBeAskedForMoreThanAreFree) {
  Places places(machines({2, 2}));
  (void)places.take(3, Placement::kFreshFirst);
  for (const Placement placement : kPolicies)
    EXPECT_DEATH((void)places.take(2, placement), "taken.size\\(\\)");
}

}  // namespace
}  // namespace pipedream::plan
