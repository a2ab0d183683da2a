// A first-in, first-out queue in one block of memory, with access to every entry by its index.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace pipedream {

// Index 0 is the front, the entry that was pushed first. push() and pop() take amortised constant
// time. remove(i) takes time linear in i, which is small if entries leave about in the order in
// which they came.
template <class T>
class Fifo {
 public:
  [[nodiscard]] bool empty() const { return head_ == entries_.size(); }
  [[nodiscard]] std::size_t size() const { return entries_.size() - head_; }
  [[nodiscard]] T& operator[](std::size_t i) { return entries_[head_ + i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return entries_[head_ + i]; }
  [[nodiscard]] T& front() { return entries_[head_]; }
  [[nodiscard]] T& back() { return entries_.back(); }
  T* begin() { return entries_.data() + head_; }
  T* end() { return entries_.data() + entries_.size(); }

  void push(T entry) {
    // Reuses the space of popped entries before the block grows.
    if (entries_.size() == entries_.capacity() && head_ > entries_.size() / 2) compact();
    entries_.push_back(std::move(entry));
  }
  void pop() {
    ++head_;
    if (empty()) {
      entries_.clear();
      head_ = 0;
    }
  }
  void clear() {
    entries_.clear();
    head_ = 0;
  }
  // Removes entry `i`. The other entries keep their order.
  void remove(std::size_t i) {
    for (; i > 0; --i) (*this)[i] = std::move((*this)[i - 1]);
    pop();
  }

  // Returns the entries, the front first, as a vector to which the caller may append.
  [[nodiscard]] std::vector<T>& block() {
    compact();
    return entries_;
  }

 private:
  void compact() {
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }

  std::vector<T> entries_;
  std::size_t head_ = 0;
};

}  // namespace pipedream
