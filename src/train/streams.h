// Streams of random numbers that training draws besides those of the layers (core/philox.h). They
// stand in RandomKey::layer, below zero, so that none is ever that of a layer's weights or dropout.
#pragma once

#include <cstdint>

namespace pipedream::train {

inline constexpr std::int64_t kShuffleStream = -1;
inline constexpr std::int64_t kPatternStream = -2;   // what a class of samples looks like
inline constexpr std::int64_t kNoiseStream = -3;     // what samples add to it
inline constexpr std::int64_t kRuleStream = -4;      // which word follows which
inline constexpr std::int64_t kSentenceStream = -5;  // the words of a sample
inline constexpr std::int64_t kMeaningStream = -6;   // which word another stands for

}  // namespace pipedream::train
