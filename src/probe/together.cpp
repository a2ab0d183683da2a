#include "probe/together.h"

namespace pipedream::probe {
namespace {

constexpr int kSaid = 0;
// The slowest link that can be measured still moves a piece of 1 MiB in this time.
constexpr std::chrono::minutes kPatience{2};

Numbers heard(transport::Transport& channel, WorkerId from) {
  return channel.wait(channel.receive(from, kSaid), patience()).header;
}

// What all said as one list: the length of each part before the part.
Numbers as_one(const std::vector<Numbers>& all) {
  Numbers one;
  for (const Numbers& each : all) {
    one.push_back(std::ssize(each));
    one.insert(one.end(), each.begin(), each.end());
  }
  return one;
}

std::vector<Numbers> as_parts(const Numbers& one) {
  std::vector<Numbers> all;
  for (auto at = one.begin(); at != one.end();) {
    const auto length = *at++;
    all.emplace_back(at, at + length);
    at += length;
  }
  return all;
}

}  // namespace

transport::Deadline patience() { return std::chrono::steady_clock::now() + kPatience; }

std::vector<Numbers> tell_all(transport::Transport& channel, const Numbers& mine) {
  if (channel.me().value > 0) {
    channel.send({0}, kSaid, {.header = mine, .bytes = {}, .owner = {}});
    return as_parts(heard(channel, {0}));
  }
  std::vector<Numbers> all{mine};
  for (int worker = 1; worker < channel.workers(); ++worker)
    all.push_back(heard(channel, {worker}));
  for (int worker = 1; worker < channel.workers(); ++worker)
    channel.send({worker}, kSaid, {.header = as_one(all), .bytes = {}, .owner = {}});
  return all;
}

}  // namespace pipedream::probe
