// The streams of random numbers for data sets and the order of samples (core/philox.h). They are
// values of RandomKey::layer. They are negative, so that none is also the stream of a layer's
// initial weights or dropout.
#pragma once

#include <cstdint>

namespace pipedream::data {

inline constexpr std::int64_t kShuffleStream = -1;   // order of samples in an epoch
inline constexpr std::int64_t kPatternStream = -2;   // pattern of each class
inline constexpr std::int64_t kNoiseStream = -3;     // noise that is added to patterns
inline constexpr std::int64_t kRuleStream = -4;      // which word follows which
inline constexpr std::int64_t kSentenceStream = -5;  // words of a sample
inline constexpr std::int64_t kMeaningStream = -6;   // translations of words, captions of films
inline constexpr std::int64_t kAugmentStream = -7;   // changes of pictures in an epoch

}  // namespace pipedream::data
