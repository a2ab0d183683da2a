#include "report/timeline_words.h"

#include <gtest/gtest.h>

namespace pipedream::report {
namespace {

using namespace schedule;

constexpr Item kItem{3, 1};

TEST(WordsOf, EveryOp) {
  const std::vector<std::pair<Op, std::string>> ops = {
      {Load{{0}, kItem}, "loading of minibatch 3, microbatch 1, for stage 0"},
      {Forward{{0}, kItem, {2}},
       "forward of minibatch 3, microbatch 1, stage 0, with weight version 2"},
      {Recompute{{0}, kItem, {2}},
       "recomputation of minibatch 3, microbatch 1, stage 0, with weight version 2"},
      {Backward{{0}, kItem, {2}},
       "backward of minibatch 3, microbatch 1, stage 0, with weight version 2"},
      {Backward{{0}, kItem, {2}, BackwardPart::kInput},
       "backward, input gradient only, of minibatch 3, microbatch 1, stage 0, with weight version "
       "2"},
      {Backward{{0}, kItem, {2}, BackwardPart::kWeight},
       "backward, weight gradient only, of minibatch 3, microbatch 1, stage 0, with weight version "
       "2"},
      {Send{{5}, {1}, kItem, Kind::kActivation, {4}},
       "send of value 5 of minibatch 3, microbatch 1, to stage 1 on worker 4"},
      {Send{{5}, {1}, kItem, Kind::kGradient, {4}},
       "send of the gradient of value 5 of minibatch 3, microbatch 1, from stage 1 to worker 4"},
      {Recv{{5}, {1}, kItem, Kind::kActivation, {4}},
       "receive of value 5 of minibatch 3, microbatch 1, for stage 1 from worker 4"},
      {Recv{{5}, {1}, kItem, Kind::kGradient, {4}},
       "receive of the gradient of value 5 of minibatch 3, microbatch 1, from stage 1 on worker 4"},
      {Reduce{{0}, {4}},
       "averaging of gradients over the replicas of stage 0, for weight version 4"},
      {Await{{0}, {4}}, "wait for the averaging of stage 0, for weight version 4"},
      {Push{{0}, kItem},
       "push of the gradients of minibatch 3, microbatch 1, stage 0, to the parameter servers"},
      {Pull{{0}, {4}}, "fetch of the weights of stage 0 from the parameter servers, number 4"},
      {Update{{0}, {3}, {4}, 6, 7},
       "update of stage 0 from weight version 3 to 4, with the gradients of minibatches 6 to 7"},
      {Update{{0}, {3}, {4}, 6, 6},
       "update of stage 0 from weight version 3 to 4, with the gradients of minibatch 6"}};
  for (const auto& [op, words] : ops) EXPECT_EQ(words_of(op, true), words);
}

TEST(WordsOf, MicrobatchesAreNamedOnlyWhereThereAreAny) {
  EXPECT_EQ(words_of(Forward{{0}, {3, 0}, {2}}, false),
            "forward of minibatch 3, stage 0, with weight version 2");
}

}  // namespace
}  // namespace pipedream::report
