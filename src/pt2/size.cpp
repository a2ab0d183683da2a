#include "pt2/size.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "core/check.h"
#include "core/error.h"
#include "core/text.h"

namespace pipedream::pt2 {
namespace {

[[noreturn]] void fail_overflow() { throw BadValue("a size is too large"); }

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  if (b == 0) throw BadValue("a size is divided by zero");
  if (b == -1 && a == INT64_MIN) fail_overflow();
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

std::int64_t multiply(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) fail_overflow();
  return result;
}

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0 || exponent > 62)
    throw BadValue("a size has an exponent that is no small number");
  std::int64_t result = 1;
  for (std::int64_t i = 0; i < exponent; ++i) result = multiply(result, base);
  return result;
}

}  // namespace

Size::Size(std::int64_t number) : steps_{{Kind::kNumber, number}} {}

bool Size::is_number() const { return steps_.size() == 1 && steps_[0].kind == Kind::kNumber; }

bool Size::is_symbol() const { return steps_.size() == 1 && steps_[0].kind == Kind::kSymbol; }

std::set<std::string> Size::symbols() const {
  std::set<std::string> found;
  for (const Step& step : steps_)
    if (step.kind == Kind::kSymbol) found.insert(step.symbol);
  return found;
}

Size Size::with(const std::map<std::string, std::int64_t>& numbers) const {
  Size result = *this;
  for (Step& step : result.steps_)
    if (const auto found = numbers.find(step.symbol);
        step.kind == Kind::kSymbol && found != numbers.end())
      step = {Kind::kNumber, found->second};
  return result.symbols().empty() ? Size(result.at(0)) : result;
}

std::optional<std::int64_t> Size::value_at(std::int64_t number) const {
  try {
    return at(number);
  } catch (const BadValue&) {
    return std::nullopt;
  }
}

std::int64_t Size::at(std::int64_t number) const {
  if (is_number()) return steps_[0].number;
  const auto apply = [](Kind kind, std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    switch (kind) {
      case Kind::kAdd:
        if (__builtin_add_overflow(a, b, &result)) fail_overflow();
        return result;
      case Kind::kMultiply:
        return multiply(a, b);
      case Kind::kFloorDivide:
        return floor_divide(a, b);
      case Kind::kDivide:
        result = floor_divide(a, b);
        if (a % b != 0) throw BadValue("a size is no whole number");
        return result;
      case Kind::kModulo:
        return a - multiply(floor_divide(a, b), b);
      case Kind::kPower:
        return power(a, b);
      case Kind::kMax:
        return std::max(a, b);
      case Kind::kMin:
        return std::min(a, b);
      case Kind::kNumber:
      case Kind::kSymbol:
        break;
    }
    PD_CHECK(false && "numbers and symbols are not applied");
    return result;
  };
  std::vector<std::int64_t> stack;
  for (const Step& step : steps_) {
    if (step.kind == Kind::kNumber || step.kind == Kind::kSymbol) {
      stack.push_back(step.kind == Kind::kNumber ? step.number : number);
      continue;
    }
    PD_CHECK(stack.size() >= 2);
    const std::int64_t b = stack.back();
    stack.pop_back();
    stack.back() = apply(step.kind, stack.back(), b);
  }
  PD_CHECK(stack.size() == 1);
  return stack.back();
}

// Reads a formula by recursive descent. Each function reads what its name says and appends the
// steps.
class SizeParser {
 public:
  explicit SizeParser(std::string_view text) : text_(text) {}

  Size parse() {
    constexpr std::size_t kLongest = 10'000;
    if (text_.size() > kLongest) fail("it is too long");
    sum();
    skip_blanks();
    if (place_ != text_.size()) fail("it goes on after its end");
    return std::move(size_);
  }

 private:
  using Kind = Size::Kind;

  void sum() {
    nested([&] {
      product();
      while (true) {
        const bool adds = takes("+");
        if (!adds && !takes("-")) return;
        product();
        if (!adds) negate();
        add(Kind::kAdd);
      }
    });
  }

  void product() {
    factor();
    while (true) {
      const Kind kind = takes("//")  ? Kind::kFloorDivide
                        : takes("*") ? Kind::kMultiply
                        : takes("/") ? Kind::kDivide
                        : takes("%") ? Kind::kModulo
                                     : Kind::kNumber;
      if (kind == Kind::kNumber) return;
      factor();
      add(kind);
    }
  }

  void factor() {
    if (takes("-")) {
      nested([&] { factor(); });
      return negate();
    }
    atom();
    if (!takes("**")) return;
    nested([&] { factor(); });
    add(Kind::kPower);
  }

  void atom() {
    skip_blanks();
    if (takes("(")) {
      sum();
      return want(")");
    }
    if (is_digit()) return number();
    const std::string name = word();
    if (name.empty()) fail("a number or a name was wanted");
    if (!takes("(")) return symbol(name);
    call(name);
    want(")");
  }

  // What stands between the parentheses after `name`.
  void call(const std::string& name) {
    if (name == "Symbol") return quoted_symbol();
    if (name == "Integer") return sum();
    static const std::map<std::string, Kind> functions{
        {"Add", Kind::kAdd},          {"Mul", Kind::kMultiply},
        {"Pow", Kind::kPower},        {"FloorDiv", Kind::kFloorDivide},
        {"CleanDiv", Kind::kDivide},  {"Mod", Kind::kModulo},
        {"PythonMod", Kind::kModulo}, {"Max", Kind::kMax},
        {"Min", Kind::kMin}};
    const auto found = functions.find(name);
    if (found == functions.end()) fail("the function " + printable(name) + " is not known");
    sum();
    while (takes(",")) {
      if (takes_option()) continue;
      sum();
      add(found->second);
    }
  }

  void quoted_symbol() {
    want("'");
    const std::size_t end = text_.find('\'', place_);
    if (end == std::string_view::npos || end == place_) fail("a name was wanted");
    symbol(std::string(text_.substr(place_, end - place_)));
    place_ = end + 1;
    while (takes(","))
      if (!takes_option()) fail("an option of a symbol was wanted");
  }

  // Options such as "positive=True" are facts about the value that are not needed here.
  bool takes_option() {
    const std::size_t begin = place_;
    if (!word().empty() && takes("=") && !word().empty()) return true;
    place_ = begin;
    return false;
  }

  void number() {
    std::int64_t found = 0;
    const char* const begin = text_.data() + place_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), found);
    if (error != std::errc{}) fail("a number is too large");
    place_ += static_cast<std::size_t>(end - begin);
    push({Kind::kNumber, found});
  }

  void symbol(const std::string& name) { push({Kind::kSymbol, 0, name}); }

  void push(Size::Step step) {
    if (is_first_) size_.steps_.clear();
    is_first_ = false;
    size_.steps_.push_back(std::move(step));
  }
  void add(Kind kind) { push({kind}); }
  void negate() {
    push({Kind::kNumber, -1});
    add(Kind::kMultiply);
  }

  template <class Function>
  void nested(Function function) {
    constexpr int kDeepest = 100;
    if (++depth_ > kDeepest) fail("it is nested too deeply");
    function();
    --depth_;
  }

  void skip_blanks() {
    while (place_ < text_.size() && text_[place_] == ' ') ++place_;
  }
  [[nodiscard]] bool is_digit() const {
    return place_ < text_.size() && text_[place_] >= '0' && text_[place_] <= '9';
  }
  std::string word() {
    skip_blanks();
    const std::size_t begin = place_;
    while (place_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[place_])) != 0 || text_[place_] == '_'))
      ++place_;
    return std::string(text_.substr(begin, place_ - begin));
  }
  // Reads `sign` if it comes next. "*" and "/" are not read where "**" and "//" stand.
  bool takes(std::string_view sign) {
    skip_blanks();
    const std::string_view rest = text_.substr(place_);
    if (!rest.starts_with(sign)) return false;
    const bool could_be_longer = sign == "*" || sign == "/";
    if (could_be_longer && rest.size() > 1 && rest[1] == sign[0]) return false;
    place_ += sign.size();
    return true;
  }
  void want(std::string_view sign) {
    if (!takes(sign)) fail("'" + std::string(sign) + "' was wanted");
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw BadValue("the size '" + printable(text_, 200) + "' is not understood: " + what +
                   " at character " + std::to_string(place_));
  }

  std::string_view text_;
  std::size_t place_ = 0;
  int depth_ = 0;
  bool is_first_ = true;
  Size size_;
};

Size Size::parse(std::string_view text) { return SizeParser(text).parse(); }

}  // namespace pipedream::pt2
