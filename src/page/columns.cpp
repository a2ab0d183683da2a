#include "page/columns.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "core/match.h"

namespace pipedream::page {
namespace {

using timeline::Event;

// The numbers of the kinds in web/timeline.js.
enum Kind { kForward, kBackward, kInputGradient, kWeightGradient, kRecompute, kUpdate, kAwait };

Kind kind_of(schedule::BackwardPart part) {
  switch (part) {
    case schedule::BackwardPart::kInput:
      return kInputGradient;
    case schedule::BackwardPart::kWeight:
      return kWeightGradient;
    case schedule::BackwardPart::kFull:
      break;
  }
  return kBackward;
}

struct Row {
  Kind kind = kForward;
  std::int64_t stage = 0;
  schedule::Item item{-1, 0};
  std::int64_t weights = -1;
};

// Requires an op of the compute lane.
Row row_of(const schedule::Op& op) {
  using namespace schedule;
  return std::visit(Match{[](const Forward& f) {
                            return Row{kForward, f.stage.value, f.item, f.weights.value};
                          },
                          [](const Backward& b) {
                            return Row{kind_of(b.part), b.stage.value, b.item, b.weights.value};
                          },
                          [](const Recompute& r) {
                            return Row{kRecompute, r.stage.value, r.item, r.weights.value};
                          },
                          [](const Update& u) {
                            return Row{kUpdate, u.stage.value, {u.last, 0}, u.to.value};
                          },
                          [](const Await& a) {
                            return Row{kAwait, a.stage.value, {-1, 0}, a.update.value};
                          },
                          [](const auto&) { return Row{}; }},
                    op);
}

std::vector<const Event*> compute_events(const timeline::Timeline& timeline) {
  std::vector<const Event*> events;
  for (const Event& event : timeline.events)
    if (timeline::on_compute_lane(event.op)) events.push_back(&event);
  std::stable_sort(events.begin(), events.end(), [](const Event* a, const Event* b) {
    return std::pair(a->worker, a->start) < std::pair(b->worker, b->start);
  });
  return events;
}

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t at) {
      return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0u;
    };
    const unsigned three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (int digit = 0; digit < 4; ++digit)
      text += i + static_cast<std::size_t>(digit) > bytes.size()
                  ? '='
                  : kDigits[(three >> (18 - 6 * digit)) & 63];
  }
  return text;
}

std::string column(const std::vector<std::int64_t>& numbers) {
  std::string bytes;
  std::int64_t last = 0;
  for (const std::int64_t number : numbers) {
    const std::int64_t step = number - last;
    last = number;
    // 0, −1, 1, −2, 2 … become 0, 1, 2, 3, 4 …
    auto rest = step < 0 ? static_cast<std::uint64_t>(-(step + 1)) * 2 + 1
                         : static_cast<std::uint64_t>(step) * 2;
    for (; rest >= 128; rest >>= 7) bytes += static_cast<char>((rest & 127) | 128);
    bytes += static_cast<char>(rest);
  }
  return base64(bytes);
}

nlohmann::ordered_json timeline_columns(const timeline::Timeline& timeline,
                                        const std::string& name) {
  const std::vector<const Event*> events = compute_events(timeline);
  const auto of_events = [&](auto number) {
    std::vector<std::int64_t> numbers;
    numbers.reserve(events.size());
    for (const Event* event : events) numbers.push_back(number(*event));
    return column(numbers);
  };
  const auto of_rows = [&](auto number) {
    return of_events([&](const Event& event) { return number(row_of(event.op)); });
  };
  return {{"name", name},
          {"seconds", to_seconds(timeline::length(timeline))},
          {"worker", of_events([](const Event& e) { return e.worker.value; })},
          {"kind", of_rows([](const Row& row) { return row.kind; })},
          {"stage", of_rows([](const Row& row) { return row.stage; })},
          {"minibatch", of_rows([](const Row& row) { return row.item.minibatch; })},
          {"microbatch", of_rows([](const Row& row) { return row.item.microbatch; })},
          {"weights", of_rows([](const Row& row) { return row.weights; })},
          {"start", of_events([](const Event& e) { return e.start.count(); })},
          {"length", of_events([](const Event& e) { return (e.end - e.start).count(); })},
          {"transfer", of_events([](const Event& e) { return e.transfer.count(); })},
          {"wait", of_events([](const Event& e) { return e.wait.count(); })}};
}

nlohmann::ordered_json memory_columns(const timeline::Timeline& timeline) {
  struct Held {
    std::vector<std::int64_t> time;
    std::vector<std::int64_t> bytes;
  };
  std::map<WorkerId, Held> workers;
  for (const Event* event : compute_events(timeline)) {
    if (event->memory.count <= 0) continue;
    Held& held = workers[event->worker];
    held.time.push_back(event->end.count());
    held.bytes.push_back(event->memory.count);
  }
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const auto& [worker, held] : workers)
    all.push_back(
        {{"worker", worker.value}, {"time", column(held.time)}, {"bytes", column(held.bytes)}});
  return all;
}

}  // namespace pipedream::page
