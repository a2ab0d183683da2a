// Sizes in exported programs. Where a program was exported for any number of samples, its sizes are
// formulas of that number.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pipedream::pt2 {

// A whole number, or a formula of symbols such as 2·s0 + 1. Immutable, so safe to share.
class Size {
 public:
  Size(std::int64_t number = 0);  // NOLINT(google-explicit-constructor): a number is a size

  // Reads a formula as sympy writes it, in either of its forms: "Mul(Integer(2), Symbol('s0'))" or
  // "2*s0". Throws BadValue for anything that is not understood.
  [[nodiscard]] static Size parse(std::string_view text);

  [[nodiscard]] bool is_number() const;
  [[nodiscard]] bool is_symbol() const;  // one symbol and nothing else
  [[nodiscard]] std::set<std::string> symbols() const;

  // Puts numbers in the place of some symbols.
  [[nodiscard]] Size with(const std::map<std::string, std::int64_t>& numbers) const;
  // The value if every symbol that is left has the value `number`. Throws BadValue if the result is
  // too large, if something is divided by zero, or if a division that must be whole is not.
  [[nodiscard]] std::int64_t at(std::int64_t number) const;
  // The value as at() returns it; nullopt where at() throws.
  [[nodiscard]] std::optional<std::int64_t> value_at(std::int64_t number) const;

  friend bool operator==(const Size&, const Size&) = default;

 private:
  friend class SizeParser;
  enum class Kind {
    kNumber,
    kSymbol,
    kAdd,
    kMultiply,
    kFloorDivide,
    kDivide,  // without a remainder
    kModulo,
    kPower,
    kMax,
    kMin
  };
  // One step of the formula in postfix notation: a number or a symbol is put on a stack, and every
  // other step replaces the two top numbers by its result.
  struct Step {
    Kind kind = Kind::kNumber;
    std::int64_t number = 0;
    std::string symbol{};
    friend bool operator==(const Step&, const Step&) = default;
  };

  std::vector<Step> steps_;
};

}  // namespace pipedream::pt2
