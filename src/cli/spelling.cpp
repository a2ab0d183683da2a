#include "cli/spelling.h"

#include <algorithm>
#include <regex>

namespace pipedream::cli {

std::string flag_of(const std::string& option) {
  std::string flag = "--" + option;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::string flag_of(systems::Option option) { return flag_of(systems::name_of(option)); }

std::string with_flags(const std::string& text) {
  static const std::regex option("`([a-z][a-z0-9_-]*)`");
  std::string spelled;
  auto at = text.cbegin();
  for (std::sregex_iterator it(text.begin(), text.end(), option), end; it != end; ++it) {
    spelled.append(at, text.cbegin() + it->position());
    spelled += flag_of((*it)[1].str());
    at = text.cbegin() + it->position() + it->length();
  }
  return spelled.append(at, text.cend());
}

}  // namespace pipedream::cli
