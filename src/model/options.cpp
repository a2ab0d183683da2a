#include "model/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/check.h"
#include "core/error.h"
#include "core/nearest.h"
#include "core/text.h"

namespace pipedream::model {
namespace {

std::string range_of(const OptionSpec& spec) {
  return std::string(spec.whole ? "a whole number" : "a number") + " from " +
         brief_number(spec.least) + " to " + brief_number(spec.most);
}

double read_choice(const OptionSpec& spec, const std::string& text) {
  const auto found = std::find(spec.choices.begin(), spec.choices.end(), text);
  if (found == spec.choices.end())
    throw BadUsage("`" + spec.name + "`: wanted one of " + joined(spec.choices) + ", found '" +
                   printable(text) + "'");
  return static_cast<double>(found - spec.choices.begin());
}

double read(const OptionSpec& spec, const std::string& text) {
  if (!spec.choices.empty()) return read_choice(spec, text);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool reads = error == std::errc{} && end == text.data() + text.size();
  if (!reads || !(number >= spec.least && number <= spec.most) ||
      (spec.whole && number != std::floor(number)))
    throw BadUsage("`" + spec.name + "`: wanted " + range_of(spec) + ", found '" + text + "'");
  return number;
}

}  // namespace

OptionSpec whole_option(std::string name, std::int64_t value, std::int64_t least, std::int64_t most,
                        std::string help) {
  return {std::move(name),
          static_cast<double>(value),
          static_cast<double>(least),
          static_cast<double>(most),
          /*whole=*/true,
          std::move(help)};
}

OptionSpec share_option(std::string name, double value, std::string help) {
  return {std::move(name), value, 0, 0.99, /*whole=*/false, std::move(help)};
}

OptionSpec dropout_option(double value) {
  return share_option("dropout", value, "share of activations set to zero");
}

OptionSpec choice_option(std::string name, std::vector<std::string> choices, std::string help) {
  const auto last = static_cast<std::int64_t>(choices.size()) - 1;
  OptionSpec spec = whole_option(std::move(name), 0, 0, last, std::move(help));
  spec.choices = std::move(choices);
  return spec;
}

std::string default_text(const OptionSpec& spec) {
  return spec.choices.empty() ? brief_number(spec.value)
                              : spec.choices.at(static_cast<std::size_t>(spec.value));
}

Options::Options(const std::vector<OptionSpec>& specs,
                 const std::map<std::string, std::string>& given) {
  for (const OptionSpec& spec : specs) {
    values_[spec.name] = spec.value;
    if (!spec.choices.empty()) choices_[spec.name] = spec.choices;
  }
  for (const auto& [name, text] : given) {
    const auto spec = std::find_if(specs.begin(), specs.end(),
                                   [&](const OptionSpec& s) { return s.name == name; });
    if (spec == specs.end()) {
      std::vector<std::string> known;
      for (const OptionSpec& s : specs) known.push_back(s.name);
      throw BadUsage("the model has no option `" + name + "`" + suggestion(name, known));
    }
    values_[name] = read(*spec, text);
  }
}

std::int64_t Options::whole(const std::string& name) const {
  return static_cast<std::int64_t>(real(name));
}

std::map<std::string, std::string> Options::texts() const {
  std::map<std::string, std::string> texts;
  for (const auto& [name, value] : values_)
    texts[name] = choices_.contains(name) ? choice(name) : exact_number(value);
  return texts;
}

std::string Options::choice(const std::string& name) const {
  return choices_.at(name).at(static_cast<std::size_t>(whole(name)));
}

double Options::real(const std::string& name) const {
  const auto found = values_.find(name);
  PD_CHECK(found != values_.end());
  return found->second;
}

}  // namespace pipedream::model
