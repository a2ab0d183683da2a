// Built-in data that a network can really learn, made up as it is read.
#pragma once

#include "train/data_set.h"

namespace pipedream::train {

inline constexpr std::int64_t kSyntheticTraining = 4096;  // samples
inline constexpr std::int64_t kSyntheticHeldOut = 512;
// At most so many classes and words occur, whatever the network has room for: each is met often
// enough in one epoch to be learned.
inline constexpr std::int64_t kSyntheticClasses = 64;
inline constexpr std::int64_t kSyntheticWords = 256;

// Data for any task (train/task.h); throws CannotMeet for a network that has none.
//   classification: a pattern per class plus noise; labels in turn, so that classes are balanced
//   language model: each token follows from the one before, nine times in ten
//   translation:    such sentences, and for each of their words the one that it stands for
//   captioning:     frames show a pattern plus noise, and each pattern has its sentence
// Each sample is a pure function of (seed, its number): nothing is stored, and every worker makes
// the same. Training and held-out samples follow one rule and are drawn from two streams.
[[nodiscard]] Data open_synthetic(const model::Network& network, std::uint64_t seed);

}  // namespace pipedream::train
