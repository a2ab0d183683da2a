// What messages between processes cost, beside computation and in all-reduces. Run under mpirun, by
// bench/transfers.py; without mpirun there is nothing to measure.
//
// 1. Each rank of the first half of the world exchanges messages of 64 MB with one of the second
//    half, both ways at once, while every rank multiplies matrices. Compared with the longer of the
//    two, each of which is measured by itself (bar: 1.1 times).
// 2. All ranks average 100 MB. Compared with the time that the slowest link must take (bar: 0.9 of
//    its speed), if --rate gives the speed of the links between hosts.
#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <thread>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <ATen/ops/mm.h>
#include <ATen/ops/rand.h>

#include "core/hosts.h"
#include "core/median.h"
#include "core/units.h"
#include "model/keep_memory.h"
#include "model/threads.h"
#include "runtime/pace.h"
#include "transport/all_reduce.h"
#include "transport/mpi.h"

namespace {

using namespace pipedream;
using std::chrono::steady_clock;

constexpr std::size_t kMessage = 64'000'000;  // bytes
constexpr std::size_t kAveraged = 100'000'000 / sizeof(float);
constexpr std::int64_t kSide = 512;  // of the matrices
constexpr std::chrono::minutes kPatience{5};
// Of 1500 bytes in an Ethernet frame, 1448 are payload of TCP; the frame takes 1514 on the link.
constexpr double kPayload = 1448.0 / 1514.0;

struct Options {
  int repetitions = 5;
  double rate = 0;  // of the links between hosts, in Mbit/s
};

double seconds_since(steady_clock::time_point start) {
  return std::chrono::duration<double>(steady_clock::now() - start).count();
}

class Bench {
 public:
  Bench(transport::MpiWorld& world, const Options& options)
      : world_(world),
        options_(options),
        values_(world.connect()),
        sums_(world.connect()),
        control_(world.connect()),
        memory_(std::make_shared<std::vector<std::byte>>(kMessage)) {
    for (int rank = 0; rank < world.size(); ++rank) all_.push_back({rank});
  }

  [[nodiscard]] nlohmann::ordered_json run() {
    std::map<std::string, std::vector<double>> times;
    count_products();
    for (int i = 0; i < options_.repetitions; ++i) {
      times["compute"].push_back(timed([&] { compute(); }));
      times["transfer"].push_back(timed([&] { exchange(); }));
      times["both"].push_back(timed([&] {
        std::thread mover([&] { exchange(); });
        compute();
        mover.join();
      }));
      times["averaging"].push_back(timed([&] { average(); }));
    }
    const double compute = median(times["compute"]);
    const double transfer = median(times["transfer"]);
    const double both = median(times["both"]);
    const double averaging = median(times["averaging"]);
    nlohmann::ordered_json result{{"workers", world_.size()},
                                  {"compute_seconds", compute},
                                  {"transfer_seconds", transfer},
                                  {"both_seconds", both},
                                  {"both_over_longer", both / std::max(compute, transfer)},
                                  {"averaging_seconds", averaging}};
    if (const double bound = averaging_bound(); bound > 0) {
      result["averaging_bound_seconds"] = bound;
      result["averaging_share_of_bound"] = bound / averaging;
    }
    return result;
  }

 private:
  // The longest time that `what` takes on any rank, known to rank 0; on others, that of this rank.
  double timed(const std::function<void()>& what) {
    runtime::meet(*control_, kPatience);
    const auto start = steady_clock::now();
    what();
    runtime::meet(*control_, kPatience);
    return seconds_since(start);
  }

  // Chooses how many products take about as long as the exchange. Rank 0 decides for all, so that
  // all compute equally long.
  void count_products() {
    const double exchange_time = timed([&] { exchange(); });
    const auto start = steady_clock::now();
    constexpr std::int64_t kSome = 20;
    products_ = kSome;
    compute();
    float wanted = std::max(1.0F, static_cast<float>(kSome * exchange_time / seconds_since(start)));
    if (world_.rank() != 0) wanted = 0;
    sum({&wanted, 1});
    products_ = static_cast<std::int64_t>(wanted);
  }

  void compute() const {
    const at::Tensor a = at::rand({kSide, kSide});
    for (std::int64_t i = 0; i < products_; ++i) (void)at::mm(a, a);
  }

  void exchange() {
    const int half = world_.size() / 2;
    if (half == 0 || world_.rank() >= 2 * half) return;
    const WorkerId other{(world_.rank() + half) % (2 * half)};
    const transport::Ticket ticket = values_->receive(other, 0);
    values_->send(other, 0, {{}, *memory_, memory_});
    (void)values_->wait(ticket, steady_clock::now() + kPatience);
  }

  void average() {
    if (averaged_.empty()) averaged_.resize(kAveraged, 1.0F);
    sum(averaged_);
  }

  void sum(std::span<float> values) {
    (void)transport::all_reduce(*sums_, all_, 0, values,
                                {.exchange = Exchange::kRing, .host_of = world_.hosts()},
                                steady_clock::now() + kPatience);
  }

  // The time that the link of a host needs for the bytes that must leave the host; 0 if unknown.
  [[nodiscard]] double averaging_bound() const {
    const auto hosts =
        static_cast<double>(std::set<int>(world_.hosts().begin(), world_.hosts().end()).size());
    if (options_.rate == 0 || hosts < 2) return 0;
    const double bytes = 2 * (hosts - 1) / hosts * kAveraged * sizeof(float);
    return bytes * 8 / (options_.rate * 1e6 * kPayload);
  }

  transport::MpiWorld& world_;
  const Options options_;
  std::unique_ptr<transport::Transport> values_;
  std::unique_ptr<transport::Transport> sums_;
  std::unique_ptr<transport::Transport> control_;
  std::shared_ptr<std::vector<std::byte>> memory_;
  std::vector<WorkerId> all_;
  std::vector<float> averaged_;
  std::int64_t products_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  model::keep_memory(arguments);
  Options options;
  CLI::App app("Messages beside computation, and all-reduces, under mpirun");
  app.add_option("--repetitions", options.repetitions, "The median of so many counts [5]");
  app.add_option("--rate", options.rate, "Speed of the links between hosts, in Mbit/s");
  CLI11_PARSE(app, count, arguments);
  model::use_threads(1);
  transport::MpiWorld world;
  const nlohmann::ordered_json result = Bench(world, options).run();
  if (world.rank() == 0) std::cout << result.dump(2) << "\n";
}
