#include "model/out_of_memory.h"

#include <string>

namespace pipedream::model {

bool is_out_of_memory(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  const auto says = [&](const char* what) { return text.find(what) != std::string::npos; };
  return says("allocate memory") || says("out of memory") || says("not enough memory");
}

}  // namespace pipedream::model
