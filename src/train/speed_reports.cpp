#include "train/speed_reports.h"

#include <algorithm>

#include "core/ids.h"
#include "runtime/tags.h"

namespace pipedream::train {
namespace {

constexpr Nanos kBetweenReports = std::chrono::seconds(1);
// Reports of one worker that are looked at together, and how few say nothing yet.
constexpr std::size_t kMostReports = 10;
constexpr std::size_t kFewestReports = 3;
constexpr std::size_t kFewestSteps = 4;  // minibatches that say how fast the training is

}  // namespace

std::vector<std::int64_t> to_numbers(const SpeedReport& report) {
  std::vector<std::int64_t> numbers{report.worker.value, report.time.count(), report.busy.count(),
                                    report.transfer.count()};
  for (std::size_t to = 0; to < report.sent.size(); ++to)
    if (report.sent[to] > 0)
      numbers.insert(numbers.end(), {static_cast<std::int64_t>(to), report.sent[to]});
  return numbers;
}

SpeedReport report_of(const std::vector<std::int64_t>& numbers, int workers) {
  constexpr std::size_t kFirstSent = 4;
  SpeedReport report{.worker = {static_cast<std::int32_t>(numbers.at(0))},
                     .time = Nanos(numbers.at(1)),
                     .busy = Nanos(numbers.at(2)),
                     .transfer = Nanos(numbers.at(3)),
                     .sent = std::vector<std::int64_t>(static_cast<std::size_t>(workers))};
  for (std::size_t i = kFirstSent; i + 1 < numbers.size(); i += 2)
    report.sent.at(static_cast<std::size_t>(numbers[i])) = numbers[i + 1];
  return report;
}

SpeedReporter::SpeedReporter(const runtime::Recorder& recorder, const transport::SentBytes& sent,
                             transport::Transport& news)
    : recorder_(recorder), sent_(sent), news_(news) {
  begin_report();
}

void SpeedReporter::begin_report() {
  report_ = {.worker = news_.me(),
             .sent = std::vector<std::int64_t>(static_cast<std::size_t>(news_.workers()))};
}

void SpeedReporter::begin() {
  began_ = recorder_.now();
  spent_ = recorder_.spent();
  bytes_ = sent_.now();
}

void SpeedReporter::collect() {
  const Nanos began = began_;
  const runtime::Recorder::Spent spent = spent_;
  const std::vector<std::int64_t> bytes = bytes_;
  begin();
  report_.time += began_ - began;
  report_.busy += spent_.busy - spent.busy;
  report_.transfer += spent_.transfer - spent.transfer;
  for (std::size_t to = 0; to < bytes.size(); ++to) report_.sent[to] += bytes_[to] - bytes[to];
}

void SpeedReporter::tick() {
  if (report_.time + (recorder_.now() - began_) < kBetweenReports) return;
  collect();
  news_.send(WorkerId{0}, runtime::kSpeeds, {to_numbers(report_), {}, nullptr});
  begin_report();
}

SpeedReports::SpeedReports(transport::Transport& news) : news_(news) {
  for (int worker = 0; worker < news.workers(); ++worker)
    tickets_.push_back(news.receive(WorkerId{worker}, runtime::kSpeeds));
  reports_.resize(tickets_.size());
}

transport::Message SpeedReports::wait(transport::Ticket ticket) {
  std::vector<transport::Ticket> all = tickets_;
  all.push_back(ticket);
  for (;;) {
    transport::Arrival arrival = news_.wait_any(all, transport::Deadline::max());
    if (arrival.ticket + 1 == all.size()) return std::move(arrival.message);
    take(arrival.message);
    const auto worker = id_at<WorkerId>(arrival.ticket);
    all[arrival.ticket] = tickets_[arrival.ticket] = news_.receive(worker, runtime::kSpeeds);
  }
}

void SpeedReports::take(const transport::Message& message) {
  SpeedReport report = report_of(message.header, news_.workers());
  std::deque<SpeedReport>& of_worker = reports_.at(report.worker.index());
  of_worker.push_back(std::move(report));
  if (of_worker.size() > kMostReports) of_worker.pop_front();
}

void SpeedReports::add_samples(std::int64_t samples, Nanos now) {
  const Trained& last = trained_.back();
  trained_.push_back({last.time + (now - seen_), last.samples + samples});
  seen_ = now;
  forget_old();
}

// Keeps about as much of the training as the reports cover.
void SpeedReports::forget_old() {
  Nanos longest{0};
  for (const std::deque<SpeedReport>& of_worker : reports_) {
    Nanos time{0};
    for (const SpeedReport& report : of_worker) time += report.time;
    longest = std::max(longest, time);
  }
  const Nanos oldest =
      trained_.back().time - std::max<Nanos>(longest, kFewestReports * kBetweenReports);
  while (trained_.size() > kFewestSteps + 1 && trained_[1].time <= oldest) trained_.pop_front();
}

std::optional<Speeds> SpeedReports::speeds() const {
  if (trained_.size() <= kFewestSteps) return std::nullopt;
  const Trained& first = trained_.front();
  const Trained& last = trained_.back();
  if (last.time <= first.time) return std::nullopt;
  Speeds speeds{.samples_per_second = static_cast<double>(last.samples - first.samples) /
                                      to_seconds(last.time - first.time),
                .workers = {}};
  for (const std::deque<SpeedReport>& of_worker : reports_) {
    if (of_worker.size() < kFewestReports) return std::nullopt;
    WorkerSpeed sum{.sent = std::vector<double>(reports_.size())};
    for (const SpeedReport& report : of_worker) {
      sum.seconds += to_seconds(report.time);
      sum.busy += to_seconds(report.busy);
      sum.transfer += to_seconds(report.transfer);
      for (std::size_t to = 0; to < sum.sent.size(); ++to)
        sum.sent[to] += static_cast<double>(report.sent[to]);
    }
    speeds.workers.push_back(std::move(sum));
  }
  return speeds;
}

}  // namespace pipedream::train
