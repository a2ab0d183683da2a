#include "library/seeded.h"

#include <mutex>

#include <ATen/Context.h>
#include <ATen/ops/equal.h>

#include "core/error.h"

namespace pipedream::library {
namespace {

// Held while an action runs. The generators are global to the process, so this mutex is too.
std::mutex& turn() {
  static std::mutex mutex;
  return mutex;
}

// Throws BadUsage if this thread is in run_seeded() already: it would wait forever for a mutex that
// it holds itself.
class OneAtATime {
 public:
  OneAtATime() {
    if (inside())
      throw BadUsage(
          "a layer's own code builds or runs layers of pipedream: wanted modules and "
          "functions of torch alone; make other networks before");
    inside() = true;
  }
  ~OneAtATime() { inside() = false; }
  OneAtATime(const OneAtATime&) = delete;
  OneAtATime& operator=(const OneAtATime&) = delete;

 private:
  static bool& inside() {
    thread_local bool inside = false;
    return inside;
  }
};

// Seeds a generator, and restores its state when destroyed. Code that draws locks the generator's
// own mutex, so the member functions here release it before they return: it must be free while the
// action runs.
class Seeded {
 public:
  Seeded(const at::Generator& generator, std::uint64_t seed) : generator_(generator) {
    const std::scoped_lock lock(generator_.mutex());
    before_ = generator_.get_state();
    generator_.set_current_seed(seed);
    seeded_ = generator_.get_state();
  }
  ~Seeded() {
    const std::scoped_lock lock(generator_.mutex());
    generator_.set_state(before_);
  }
  Seeded(const Seeded&) = delete;
  Seeded& operator=(const Seeded&) = delete;

  [[nodiscard]] bool was_used() const {
    const std::scoped_lock lock(generator_.mutex());
    return !at::equal(seeded_, generator_.get_state());
  }

 private:
  mutable at::Generator generator_;
  at::Tensor before_;
  at::Tensor seeded_;
};

}  // namespace

bool run_seeded(const RandomKey& key, at::Device device, const std::function<void()>& action) {
  const OneAtATime mine;
  const std::scoped_lock lock(turn());
  const Seeded seeded(at::globalContext().defaultGenerator(device), folded(key));
  action();
  return seeded.was_used();
}

}  // namespace pipedream::library
