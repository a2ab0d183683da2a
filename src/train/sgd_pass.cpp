// Compiled with -O3 (cmake/modules.cmake), so that the loop is vectorised. As in the whole program,
// only what is written as std::fma becomes a fused multiply-add (cmake/compiler.cmake).
#include "train/sgd_pass.h"

#include <cmath>
#include <type_traits>

#if defined(__x86_64__)
#define PD_FUSED [[gnu::target("avx2,fma")]]
#define PD_HAS_FUSED (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#elif defined(__FP_FAST_FMAF)
#define PD_FUSED
#define PD_HAS_FUSED true
#else
#define PD_FUSED
#define PD_HAS_FUSED false
#endif

namespace pipedream::train {
namespace {

// `InPlace` tells the compiler that `from` and `to` are the same array. Otherwise it would have to
// assume that they may overlap in part, and would run a loop without vector instructions.
template <bool InPlace, bool Divides, bool Decays, bool HasMomentum>
PD_FUSED void pass(const SgdFactors& factors, const SgdArrays& arrays) {
  const auto [rate, momentum, decay, divisor] = factors;
  float* const to = arrays.to;
  const float* const from = InPlace ? to : arrays.from;
  const float* const gradient = arrays.gradient;
  float* const velocity = arrays.velocity;
  const std::size_t count = arrays.count;
  for (std::size_t i = 0; i < count; ++i) {
    float slope = gradient[i];
    if constexpr (Divides) slope /= divisor;
    if constexpr (Decays) slope = std::fma(from[i], decay, slope);
    if constexpr (HasMomentum) {
      slope = momentum * velocity[i] + slope;
      velocity[i] = slope;
    }
    to[i] = std::fma(slope, -rate, from[i]);
  }
}

// Calls `use` with `value` as a compile-time constant.
template <class Use>
void with(bool value, Use use) {
  if (value)
    use(std::true_type{});
  else
    use(std::false_type{});
}

}  // namespace

bool can_sgd_pass() { return PD_HAS_FUSED; }

void sgd_pass(const SgdFactors& factors, const SgdArrays& arrays) {
  with(arrays.from == arrays.to, [&](auto in_place) {
    with(factors.divisor != 1, [&](auto divides) {
      with(factors.weight_decay != 0, [&](auto decays) {
        with(arrays.velocity != nullptr, [&](auto has_momentum) {
          pass<in_place.value, divides.value, decays.value, has_momentum.value>(factors, arrays);
        });
      });
    });
  });
}

}  // namespace pipedream::train
