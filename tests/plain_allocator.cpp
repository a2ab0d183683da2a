// Allocates the memory of tensors by malloc, so that the sanitizers know every block. libtorch's
// own allocator passes freed memory from one thread to another without the sanitizers seeing it.
// Linked into the tests that use libtorch, in builds with sanitizers.
#include <cstdlib>
#include <new>

#include <c10/core/CPUAllocator.h>
#include <c10/core/alignment.h>

namespace pipedream::test {
namespace {

void free_tensor_memory(void* memory) {
  c10::profiledCPUMemoryReporter().Delete(memory);
  std::free(memory);
}

class PlainAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t size) override {
    void* memory = nullptr;
    if (size > 0) {
      if (::posix_memalign(&memory, c10::gAlignment, size) != 0) throw std::bad_alloc();
      c10::profiledCPUMemoryReporter().New(memory, size);
    }
    return {memory, memory, &free_tensor_memory, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &free_tensor_memory; }
  void copy_data(void* to, const void* from, std::size_t size) const override {
    default_copy_data(to, from, size);
  }
};

const bool is_set = [] {
  static PlainAllocator allocator;
  c10::SetCPUAllocator(&allocator, 1);  // priority 1, above libtorch's own allocator
  return true;
}();

}  // namespace
}  // namespace pipedream::test
