// Built-in data that a network can learn, generated as it is read (docs/runtime.md, data).
#pragma once

#include "data/data_set.h"

namespace pipedream::data {

inline constexpr std::int64_t kSyntheticTraining = 4096;  // samples to train on
inline constexpr std::int64_t kSyntheticHeldOut = 512;    // samples held out
// The most classes and the most words that occur, even if the network has room for more. Each one
// then occurs often enough in an epoch to be learned.
inline constexpr std::int64_t kSyntheticClasses = 64;
inline constexpr std::int64_t kSyntheticWords = 256;

// Data for the task that the network's inputs describe (data/task.h).
//   classification: a pattern per class plus noise; labels in turn, so that classes are balanced
//   language model: sentences in which each word determines the next with a probability of 0.9
//   translation:    the same kind of sentences, translated word by word
//   captioning:     frames show a pattern plus noise, and each pattern has its own sentence
//   any other:      samples of some topics, which are alike in all inputs
// A sample is a pure function of `seed` and its number, so samples are not stored and all workers
// get the same ones. Training and held-out samples have the same patterns, rules, translations and
// captions, and different random numbers.
[[nodiscard]] Data open_synthetic(const model::Network& network, std::uint64_t seed);

}  // namespace pipedream::data
