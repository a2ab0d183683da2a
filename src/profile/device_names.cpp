#include "profile/device_names.h"

#include <algorithm>

namespace pipedream::profile {
namespace {

// Whether `text` is a device index as libtorch writes it: one or two digits, without leading zeros.
bool is_index(const std::string& text) {
  if (text.size() > 1 && text[0] == '0') return false;
  return !text.empty() && text.size() <= 2 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string read_device(const Node& node) {
  const std::string device = node.text();
  const std::string kind = kind_of_device(device);
  const bool has_index = kind.size() < device.size();
  if (kind == "cpu" && !has_index) return device;
  if (kind == "cuda" && (!has_index || is_index(device.substr(kind.size() + 1)))) return device;
  node.fail("wanted cpu, cuda or one like cuda:0, found '" + device + "'");
}

std::string read_precision(const Node& node) {
  const std::string precision = node.text();
  if (precision != "fp32" && precision != "bf16")
    node.fail("wanted fp32 or bf16, found '" + precision + "'");
  return precision;
}

std::string kind_of_device(const std::string& device) { return device.substr(0, device.find(':')); }

}  // namespace pipedream::profile
