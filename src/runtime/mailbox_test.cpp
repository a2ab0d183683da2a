#include "runtime/mailbox.h"

#include <gtest/gtest.h>

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>

#include "transport/in_process.h"

namespace pipedream::runtime {
namespace {

using schedule::Kind;
using schedule::Replicas;

// A pipeline in which one value of seven samples passes from the replicas of stage 0 to those of
// stage 1. The mailboxes of all workers are used from one thread.
class Mailboxes {
 public:
  // Stage 0 has `makers` replicas, stage 1 has `takers`, and `uses` layers of stage 1 use the
  // value. If `uses` is more than 1, the last layer, in a stage 2, uses it too. The gradient sum
  // begins with that layer, so stage 1 hands its gradients over one by one.
  Mailboxes(int makers, int takers, Replicas kind, int uses = 1, bool is_weight = false)
      : graph_(fan(uses, is_weight)),
        plan_(plan(makers, takers, uses)),
        routes_(plan_, graph_, kind) {
    ends_ = transport::connect_in_process(makers + takers + 1);
    for (const auto& end : ends_)
      boxes_.push_back(std::make_unique<Mailbox>(*end, routes_, order_, copies_, Clock{},
                                                 std::chrono::seconds(20)));
    for (const auto& box : boxes_) box->begin([](const schedule::Item&) { return kSamples; });
  }
  static constexpr std::int64_t kSamples = 7;

  // Passes `whole` from one stage to the other: forwards if `kind` is kActivation, else backwards.
  // Each sending replica posts its range of samples, which are `dimension` of the tensor. Returns
  // what each receiving replica takes.
  [[nodiscard]] std::vector<at::Tensor> pass(const at::Tensor& whole, Kind kind,
                                             std::int64_t dimension = 0) {
    return pass(kind, [&](const Range& mine) {
      return whole.slice(dimension, mine.first, mine.first + mine.count);
    });
  }
  // Like the function above, but a sending replica with the samples `mine`, if there are any, posts
  // made(mine).
  [[nodiscard]] std::vector<at::Tensor> pass(Kind kind,
                                             const std::function<at::Tensor(const Range&)>& made) {
    const StageId from{kind == Kind::kActivation ? 0 : 1};
    const StageId to{1 - from.value};
    const Parcel parcel{{0}, {1}, {0, 0}, kind};
    for (int r = 0; r < routes_.replicas(from); ++r) {
      if (!routes_.has_part(from, r, 0)) continue;
      const Range mine = range(from, r);
      const WorkerId me = routes_.worker(from, r);
      Mailbox& box = *boxes_[me.index()];
      box.post(parcel, r, mine.count > 0 ? made(mine) : at::empty({0}));
      routes_.for_each_peer(from, r, to, 0, [&](int peer, double) {
        box.send({{0}, {1}, {0, 0}, kind, routes_.worker(to, peer)});
        boxes_[routes_.worker(to, peer).index()]->receive({{0}, {1}, {0, 0}, kind, me});
      });
    }
    std::vector<at::Tensor> taken;
    Nanos came{0};
    for (int r = 0; r < routes_.replicas(to); ++r)
      if (routes_.has_part(to, r, 0))
        taken.push_back(boxes_[routes_.worker(to, r).index()]->take(parcel, r, came));
    return taken;
  }
  [[nodiscard]] Range range(StageId stage, int replica) const {
    if (!routes_.shares_items()) return {0, kSamples};
    return even_part(kSamples, replica, routes_.replicas(stage));
  }
  [[nodiscard]] Bytes sent(int worker) const {
    return boxes_[static_cast<std::size_t>(worker)]->sent();
  }

 private:
  static graph::Graph fan(int uses, bool is_weight) {
    graph::Builder builder;
    const LayerId a = builder.add_layer("a", "", {{"out", {}, Bytes{1}, is_weight}});
    for (int i = 0; i < uses + (uses > 1 ? 1 : 0); ++i)
      builder.add_edge(a, 0, builder.add_layer("u" + std::to_string(i), "", {}));
    return std::move(builder).build();
  }
  static plan::Plan plan(int makers, int takers, int uses) {
    plan::Plan plan;
    plan.stages.resize(uses > 1 ? 3 : 2);
    plan.stages[0].layers = {LayerId{0}};
    for (int w = 0; w < makers; ++w) plan.stages[0].workers.push_back({w});
    for (int u = 0; u < uses; ++u) plan.stages[1].layers.push_back({1 + u});
    for (int w = 0; w < takers; ++w) plan.stages[1].workers.push_back({makers + w});
    if (uses > 1) plan.stages[2] = {{LayerId{1 + uses}}, {WorkerId{makers + takers}}};
    return plan;
  }

  graph::Graph graph_;
  plan::Plan plan_;
  schedule::Routes routes_;
  GradientOrder order_{graph_, plan::stage_of_each_layer(plan_, graph_)};
  HostCopies copies_{at::kCPU};
  std::vector<std::unique_ptr<transport::Transport>> ends_;
  std::vector<std::unique_ptr<Mailbox>> boxes_;
};

at::Tensor numbers(at::IntArrayRef shape) {
  return at::arange(c10::multiply_integers(shape), at::kFloat).view(shape);
}

// A stage of 8 has more replicas than the item has samples.
TEST(Mailbox, CutsAndJoinsWhatPassesBetweenGroupsOfAnySizes) {
  const at::Tensor whole = numbers({7, 2});
  for (const int makers : {1, 2, 3, 4, 8})
    for (const int takers : {1, 2, 3, 4, 8})
      for (const Kind kind : {Kind::kActivation, Kind::kGradient}) {
        SCOPED_TRACE(std::to_string(makers) + " and " + std::to_string(takers));
        Mailboxes boxes(makers, takers, Replicas::kShareItems);
        const auto taken = boxes.pass(whole, kind);
        const StageId to{kind == Kind::kActivation ? 1 : 0};
        for (std::size_t r = 0; r < taken.size(); ++r) {
          const Range range = boxes.range(to, static_cast<int>(r));
          if (range.count == 0)
            EXPECT_EQ(taken[r].numel(), 0);
          else
            EXPECT_TRUE(
                at::equal(taken[r], whole.slice(0, range.first, range.first + range.count)));
        }
      }
}

TEST(Mailbox, GradientsThatAreHandedOverApartAreCutBehindTheFirstDimension) {
  const at::Tensor whole = numbers({2, 7, 3});  // dimension 0: the gradients of two uses
  for (const int makers : {1, 2, 3})
    for (const int takers : {1, 2, 3}) {
      SCOPED_TRACE(std::to_string(makers) + " and " + std::to_string(takers));
      Mailboxes boxes(makers, takers, Replicas::kShareItems, 2);
      const auto taken = boxes.pass(whole, Kind::kGradient, 1);
      for (std::size_t r = 0; r < taken.size(); ++r) {
        const Range range = boxes.range({0}, static_cast<int>(r));
        EXPECT_TRUE(at::equal(taken[r], whole.slice(1, range.first, range.first + range.count)));
      }
    }
}

// Each user replica's gradient reaches exactly one replica of the owner, which must have samples:
// without any it runs no backward, and the gradient would be lost.
TEST(Mailbox, SharedWeightsGoWholeToAllAndTheirGradientsAreAddedOnce) {
  for (const int owners : {1, 2, 3, 4, 8})
    for (const int users : {1, 2, 3, 4, 8}) {
      SCOPED_TRACE(std::to_string(owners) + " and " + std::to_string(users));
      Mailboxes boxes(owners, users, Replicas::kShareItems, 1, /*is_weight=*/true);
      const at::Tensor weight = numbers({5, 2});
      const auto seen = boxes.pass(Kind::kActivation, [&](const Range&) { return weight; });
      for (std::size_t r = 0; r < seen.size(); ++r)
        if (boxes.range({1}, static_cast<int>(r)).count > 0) {
          EXPECT_TRUE(at::equal(seen[r], weight));
        }
      const auto gradients = boxes.pass(Kind::kGradient, [&](const Range& mine) {
        return at::full({5, 2}, static_cast<double>(mine.count));
      });
      double sum = 0;
      for (std::size_t r = 0; r < gradients.size(); ++r) {
        if (gradients[r].numel() == 0) continue;
        EXPECT_GT(boxes.range({0}, static_cast<int>(r)).count, 0) << "it would be lost";
        sum += gradients[r].mean().item<double>();
      }
      EXPECT_EQ(sum, Mailboxes::kSamples);
    }
}

TEST(Mailbox, InTurnsTheWholeItemGoesFromOneReplicaToOne) {
  const at::Tensor whole = numbers({7, 2});
  Mailboxes boxes(2, 3, Replicas::kTakeTurns);
  const auto taken = boxes.pass(whole, Kind::kActivation);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_TRUE(at::equal(taken[0], whole));
  EXPECT_EQ(boxes.sent(0), Bytes{7 * 2 * 4});
  EXPECT_EQ(boxes.sent(1), Bytes{0});
}

}  // namespace
}  // namespace pipedream::runtime
