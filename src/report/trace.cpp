#include "report/trace.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <iterator>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/match.h"
#include "report/timeline_lanes.h"
#include "report/timeline_style.h"

namespace pipedream::report {
namespace {

using timeline::Event;

constexpr double kLongest = 1e12;  // microseconds that are read

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// 1234567 ns → "1234.567".
std::string micros(Nanos time) {
  return fmt::format("{}.{:03}", time.count() / 1000, time.count() % 1000);
}

// Events of one track share a thread, unless they overlap. Tracks are sorted as they are displayed.
struct Track {
  WorkerId worker;
  enum class Kind { kCompute, kSend, kReceive, kAverage, kPush, kLoad } kind = Kind::kCompute;
  std::int32_t other = 0;  // the other worker of a transfer, the stage of an averaging
  int copy = 0;            // above 0: additional threads for events that overlap
  friend auto operator<=>(const Track&, const Track&) = default;
};

Track track_of(const Event& event) {
  using Kind = Track::Kind;
  const auto track = [&](Kind kind, std::int32_t other) {
    return Track{event.worker, kind, other, 0};
  };
  return std::visit(
      Match{[&](const schedule::Send& s) { return track(Kind::kSend, s.peer.value); },
            [&](const schedule::Recv& r) { return track(Kind::kReceive, r.peer.value); },
            [&](const schedule::Reduce& r) { return track(Kind::kAverage, r.stage.value); },
            [&](const schedule::Push&) { return track(Kind::kPush, 0); },
            [&](const schedule::Load&) { return track(Kind::kLoad, 0); },
            [&](const auto&) { return track(Kind::kCompute, 0); }},
      event.op);
}

std::string name_of(const Track& track) {
  const auto name = [&]() -> std::string {
    switch (track.kind) {
      case Track::Kind::kCompute:
        return "compute";
      case Track::Kind::kSend:
        return fmt::format("send to worker {}", track.other);
      case Track::Kind::kReceive:
        return fmt::format("receive from worker {}", track.other);
      case Track::Kind::kAverage:
        return fmt::format("averaging of stage {}", track.other);
      case Track::Kind::kPush:
        return "push";
      case Track::Kind::kLoad:
        return "loading";
    }
    return {};
  };
  return track.copy == 0 ? name() : fmt::format("{} ({})", name(), track.copy + 1);
}

// The threads of a trace, and which of them each event belongs to.
struct Threads {
  std::map<Track, std::int64_t> ids;   // number of each thread
  std::vector<const Track*> of_event;  // in the order of the timeline
};

// Returns the first copy of the event's track that is free when the event begins.
Track free_track(std::map<Track, Nanos>& free_from, const Event& event) {
  Track track = track_of(event);
  if (track.kind == Track::Kind::kCompute) return track;  // never overlaps
  for (;; ++track.copy) {
    Nanos& free = free_from[track];
    if (free > event.start) continue;
    free = event.end;
    return track;
  }
}

Threads threads_of(const std::vector<Event>& events) {
  std::vector<std::size_t> by_start(events.size());
  std::iota(by_start.begin(), by_start.end(), std::size_t{0});
  std::stable_sort(by_start.begin(), by_start.end(),
                   [&](std::size_t a, std::size_t b) { return events[a].start < events[b].start; });
  Threads threads;
  threads.of_event.resize(events.size());
  std::map<Track, Nanos> free_from;
  for (const std::size_t i : by_start) {
    const Track track = free_track(free_from, events[i]);
    threads.of_event[i] = &threads.ids.try_emplace(track, 0).first->first;
  }
  return threads;
}

// Viewers take process 0 for the idle process. They take the thread that has the number of its
// process for the first thread.
std::int64_t process_of(WorkerId worker) { return worker.value + std::int64_t{1}; }

void number_threads(Threads& threads) {
  std::int64_t next = 1;
  for (const auto& [track, id] : threads.ids) next = std::max(next, process_of(track.worker) + 1);
  for (auto& [track, id] : threads.ids)
    id = track.kind == Track::Kind::kCompute ? process_of(track.worker) : next++;
}

class Writer {
 public:
  explicit Writer(const TraceOptions& options) : options_(options) {
    out_ = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"title\":" + quoted(options.title) +
           "},\"traceEvents\":[";
  }

  void name_threads(const std::map<Track, std::int64_t>& ids);
  void add(const Event& event, std::int64_t thread);
  [[nodiscard]] std::string finish() && { return std::move(out_) + "\n]}\n"; }

 private:
  template <class... Values>
  void append(fmt::format_string<Values...> form, Values&&... values) {
    fmt::format_to(std::back_inserter(out_), form, std::forward<Values>(values)...);
  }
  void next() {
    out_ += first_ ? "\n" : ",\n";
    first_ = false;
  }
  void add_arguments(const Event& event);

  const TraceOptions& options_;
  std::string out_;
  bool first_ = true;
};

void Writer::name_threads(const std::map<Track, std::int64_t>& ids) {
  const auto describe = [&](const char* what, std::int64_t process, std::int64_t thread,
                            const std::string& arguments) {
    next();
    append(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{{}}}}})", what, process, thread,
           arguments);
  };
  std::int64_t last = -1;
  std::int64_t index = 0;
  for (const auto& [track, thread] : ids) {
    const std::int64_t process = process_of(track.worker);
    if (process != last) {
      describe("process_name", process, thread,
               fmt::format(R"("name":"worker {}")", track.worker.value));
      describe("process_sort_index", process, thread, fmt::format(R"("sort_index":{})", process));
      index = 0;
    }
    last = process;
    describe("thread_name", process, thread, fmt::format(R"("name":"{}")", name_of(track)));
    describe("thread_sort_index", process, thread, fmt::format(R"("sort_index":{})", index++));
  }
}

void Writer::add(const Event& event, std::int64_t thread) {
  next();
  append(R"({{"ph":"X","name":"{}","cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{)",
         schedule::to_text(event.op), style_of(look_of(event.op)).label, process_of(event.worker),
         thread, micros(event.start), micros(event.end - event.start));
  add_arguments(event);
  out_ += "}}";
}

// Returns the numbers that only this kind of op has, with their names.
std::vector<std::pair<const char*, std::int64_t>> numbers_of(const schedule::Op& op) {
  using Numbers = std::vector<std::pair<const char*, std::int64_t>>;
  const auto transfer = [](const auto& t) {
    return Numbers{{"value", t.value.value}, {"user", t.user.value}, {"peer", t.peer.value}};
  };
  return std::visit(
      Match{[&](const schedule::Send& s) { return transfer(s); },
            [&](const schedule::Recv& r) { return transfer(r); },
            [](const schedule::Reduce& r) {
              return Numbers{{"update", r.update.value}};
            },
            [](const schedule::Await& a) {
              return Numbers{{"update", a.update.value}};
            },
            [](const schedule::Pull& p) {
              return Numbers{{"to", p.to.value}};
            },
            [](const schedule::Update& u) {
              return Numbers{
                  {"from", u.from.value}, {"to", u.to.value}, {"first", u.first}, {"last", u.last}};
            },
            [](const auto&) { return Numbers{}; }},
      op);
}

void Writer::add_arguments(const Event& event) {
  const char* comma = "";
  const auto number = [&](const char* name, std::int64_t value) {
    append(R"({}"{}":{})", comma, name, value);
    comma = ",";
  };
  if (const auto stage = stage_of(event.op)) number("stage", stage->value);
  if (const auto item = item_of(event.op)) {
    number("minibatch", item->minibatch);
    number("microbatch", item->microbatch);
  }
  if (const auto weights = weights_of(event.op)) number("weights", weights->value);
  for (const auto& [name, value] : numbers_of(event.op)) number(name, value);
  const auto time = [&](const char* name, Nanos value) {
    if (value <= Nanos{0}) return;
    append(R"({}"{}":{})", comma, name, micros(value));
    comma = ",";
  };
  time("transfer_us", event.transfer);
  time("wait_us", event.wait);
  if (event.memory.count > 0) number("memory_bytes", event.memory.count);
  const auto bytes = options_.bytes ? options_.bytes(event) : std::nullopt;
  if (bytes) number("bytes", bytes->count);
}

}  // namespace

std::string trace_json(const timeline::Timeline& timeline, const TraceOptions& options) {
  Threads threads = threads_of(timeline.events);
  number_threads(threads);
  Writer writer(options);
  writer.name_threads(threads.ids);
  for (std::size_t i = 0; i < timeline.events.size(); ++i)
    writer.add(timeline.events[i], threads.ids.at(*threads.of_event[i]));
  return std::move(writer).finish();
}

namespace {

// Times of a trace are in microseconds with three decimals.
Nanos nanos_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return Nanos{0};
  return Nanos{std::llround(std::clamp(found->get<double>(), -kLongest, kLongest) * 1000)};
}

std::int64_t integer_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

// Returns the op of the compute lane that an event of this category is about; nullopt for others.
std::optional<schedule::Op> compute_op(const std::string& category, const nlohmann::json& args) {
  const StageId stage{static_cast<std::int32_t>(integer_of(args, "stage"))};
  const schedule::Item item{integer_of(args, "minibatch"),
                            static_cast<std::int32_t>(integer_of(args, "microbatch"))};
  const WeightVersion weights{integer_of(args, "weights")};
  const auto is = [&](Look look) { return category == style_of(look).label; };
  using schedule::BackwardPart;
  if (is(Look::kForward)) return schedule::Forward{stage, item, weights};
  if (is(Look::kBackward)) return schedule::Backward{stage, item, weights};
  if (is(Look::kInputGradient))
    return schedule::Backward{stage, item, weights, BackwardPart::kInput};
  if (is(Look::kWeightGradient))
    return schedule::Backward{stage, item, weights, BackwardPart::kWeight};
  if (is(Look::kRecompute)) return schedule::Recompute{stage, item, weights};
  if (is(Look::kWait)) return schedule::Await{stage, {integer_of(args, "update")}};
  if (is(Look::kUpdate))
    return schedule::Update{stage,
                            {integer_of(args, "from")},
                            {integer_of(args, "to")},
                            integer_of(args, "first"),
                            integer_of(args, "last")};
  return std::nullopt;
}

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<timeline::Event> compute_event(const nlohmann::json& event) {
  if (!event.is_object() || text_of(event, "ph") != "X") return std::nullopt;
  if (!event.contains("args") || !event["args"].is_object()) return std::nullopt;
  const nlohmann::json& args = event["args"];
  const auto op = compute_op(text_of(event, "cat"), args);
  if (!op) return std::nullopt;
  const Nanos start = nanos_of(event, "ts");
  return timeline::Event{{static_cast<std::int32_t>(integer_of(event, "pid") - 1)},
                         *op,
                         start,
                         start + nanos_of(event, "dur"),
                         nanos_of(args, "transfer_us"),
                         nanos_of(args, "wait_us"),
                         {integer_of(args, "memory_bytes")}};
}

}  // namespace

timeline::Timeline compute_events_of(const std::string& trace, const std::string& name) {
  const auto json = nlohmann::json::parse(trace, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("traceEvents") || !json["traceEvents"].is_array())
    throw BadFile(name + ": this is no trace of a timeline");
  timeline::Timeline timeline;
  for (const nlohmann::json& event : json["traceEvents"])
    if (const auto found = compute_event(event)) timeline.events.push_back(*found);
  return timeline;
}

}  // namespace pipedream::report
