// The options of a network, mostly sizes: "--image-size 32 --classes 10".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pipedream::model {

// One option as the network declares it.
struct OptionSpec {
  std::string name;   // "image-size"
  double value = 0;   // the default
  double least = 0;   // smallest value allowed
  double most = 0;    // largest value allowed
  bool whole = true;  // whole numbers only
  std::string help;
  // For an option whose values are words: the words. Its numbers above are their places in the
  // list.
  std::vector<std::string> choices{};
};

// Declares a whole-number option.
[[nodiscard]] OptionSpec whole_option(std::string name, std::int64_t value, std::int64_t least,
                                      std::int64_t most, std::string help);
// Declares a probability from 0 to 0.99.
[[nodiscard]] OptionSpec share_option(std::string name, double value, std::string help);
// Declares the probability "dropout", with `value` as its default.
[[nodiscard]] OptionSpec dropout_option(double value);

// Declares an option whose values are the words `choices`. The first one is the default.
[[nodiscard]] OptionSpec choice_option(std::string name, std::vector<std::string> choices,
                                       std::string help);

// The default as users write it.
[[nodiscard]] std::string default_text(const OptionSpec& spec);

// Values for all options of one network.
class Options {
 public:
  // The defaults in `specs`, overridden by `given` (name → what the user wrote). Throws BadUsage
  // for a name that is not declared, with the nearest declared name in the message, and for a value
  // that its option does not allow.
  Options(const std::vector<OptionSpec>& specs, const std::map<std::string, std::string>& given);

  // The value of the option `name`, which must be declared.
  [[nodiscard]] std::int64_t whole(const std::string& name) const;
  [[nodiscard]] double real(const std::string& name) const;
  [[nodiscard]] std::string choice(const std::string& name) const;
  // All options with their values as text, which reads back as the same values.
  [[nodiscard]] std::map<std::string, std::string> texts() const;

 private:
  std::map<std::string, double> values_;
  std::map<std::string, std::vector<std::string>> choices_;  // of options whose values are words
};

}  // namespace pipedream::model
