// Checksums of files and texts: XXH3-64, as 16 hexadecimal digits.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace pipedream {

// The checksum of bytes that come in pieces.
class Checksum {
 public:
  Checksum();
  ~Checksum();
  void add(std::string_view piece);
  // Returns the checksum of all pieces so far.
  [[nodiscard]] std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] std::string checksum_of(std::string_view bytes);

// Returns whether `text` is 16 lower-case hexadecimal digits.
[[nodiscard]] bool is_checksum(std::string_view text);

}  // namespace pipedream
