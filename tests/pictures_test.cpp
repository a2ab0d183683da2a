// A small picture and a trace of every system are simulated and compared with the files in
// tests/pictures. PD_WRITE_PICTURES=1 rewrites the files: look at the changes before you commit
// them.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/file.h"
#include "report/svg_testing.h"
#include "report/timeline_svg.h"
#include "report/trace.h"
#include "schedule/asynchronous.h"
#include "schedule/bulk_synchronous.h"
#include "schedule/dapple.h"
#include "schedule/gpipe.h"
#include "schedule/interleaved.h"
#include "schedule/model_parallel.h"
#include "schedule/one_f_one_b.h"
#include "schedule/schedule_testing.h"
#include "schedule/two_buffered.h"
#include "simulate/simulate.h"

namespace pipedream {
namespace {

using schedule::Extent;
using schedule::Pipeline;
using schedule::Schedule;
using schedule::whole_minibatches;

constexpr Nanos kForward = std::chrono::milliseconds(1);  // forward of a layer on one item
constexpr Nanos kBackward = std::chrono::milliseconds(2);
constexpr double kBandwidth = 100e9;
constexpr Bytes kValue{30'000'000};    // a value of one item; takes 0.3 ms on a link
constexpr Bytes kWeights{60'000'000};  // weights of a layer

// A system, a plan for it, and how much is trained.
struct Case {
  std::string name;
  std::string title;
  Pipeline pipeline;
  std::int64_t minibatches = 5;
  Schedule (*generate)(const plan::Plan& plan, const Extent& extent) = nullptr;
};

// GoogleTest prints a case by its name.
void PrintTo(const Case& of, std::ostream* out) { *out << of.name; }

Pipeline straight(int stages, int microbatches = 1) {
  Pipeline pipeline = schedule::straight_pipeline(stages, Bytes{kValue.count * microbatches});
  pipeline.plan.microbatches = microbatches;
  return pipeline;
}

Pipeline recomputing(Pipeline pipeline) {
  for (plan::Stage& stage : pipeline.plan.stages) stage.recompute = true;
  return pipeline;
}

// Two stages: the first on workers 0 and 1, the second on worker 2.
Pipeline two_and_one() {
  Pipeline pipeline = straight(2);
  pipeline.plan.stages[0].workers = {WorkerId{0}, WorkerId{1}};
  pipeline.plan.stages[1].workers = {WorkerId{2}};
  return pipeline;
}

// All layers on every worker.
Pipeline data_parallel(int layers, int workers) {
  Pipeline pipeline = straight(layers);
  plan::Stage all;
  for (const plan::Stage& stage : pipeline.plan.stages) all.layers.push_back(stage.layers.front());
  for (int w = 0; w < workers; ++w) all.workers.push_back(WorkerId{w});
  pipeline.plan.stages = {all};
  return pipeline;
}

// Stage s on worker s mod n.
Pipeline dealt_out(int stages, int workers, int microbatches) {
  Pipeline pipeline = straight(stages, microbatches);
  for (int s = 0; s < stages; ++s)
    pipeline.plan.stages[static_cast<std::size_t>(s)].workers = {WorkerId{s % workers}};
  return pipeline;
}

Schedule stashed(const plan::Plan& plan, const Extent& extent) {
  return one_f_one_b(plan, extent, schedule::WeightVersions::kStashed);
}
Schedule vertical(const plan::Plan& plan, const Extent& extent) {
  return one_f_one_b(plan, extent, schedule::WeightVersions::kVerticalSync);
}

std::vector<Case> all_cases() {
  return {{"mp", "mp on 3 workers", straight(3), 4, schedule::model_parallel},
          {"gpipe", "gpipe on 3 workers", straight(3, 4), 2, schedule::gpipe},
          {"gpipe_recompute", "gpipe with recomputation on 3 workers", recomputing(straight(3, 4)),
           2, schedule::gpipe},
          {"dapple", "dapple on 3 workers", straight(3, 5), 2, schedule::dapple},
          {"pipedream", "pipedream on 4 workers", straight(4), 6, stashed},
          {"pipedream_2_1", "pipedream 2-1 on 3 workers", two_and_one(), 6, stashed},
          {"pipedream_vertical_sync", "pipedream with vertical sync on 3 workers", straight(3), 5,
           vertical},
          {"2bw", "2bw on 3 workers", straight(3, 3), 4, schedule::two_buffered},
          {"dp_bsp", "dp-bsp on 3 workers", data_parallel(3, 3), 6, schedule::bulk_synchronous},
          {"dp_asp", "dp-asp on 3 workers", data_parallel(3, 3), 6, schedule::asynchronous},
          {"interleaved", "interleaved 1F1B on 2 workers, two stages each", dealt_out(4, 2, 4), 2,
           schedule::interleaved}};
}

cluster::Cluster flat_cluster(int workers) {
  return {"flat",
          {{.name = "room", .count = workers, .bandwidth = {kBandwidth}}},
          std::vector<cluster::Device>(static_cast<std::size_t>(workers))};
}

profile::Profile profile_of(const Pipeline& pipeline) {
  profile::Profile profile{.graph = pipeline.graph};
  const int items = pipeline.plan.microbatches;
  for (const graph::Layer& layer : pipeline.graph.layers())
    profile.costs.push_back(layer.is_input ? profile::LayerCost{}
                                           : profile::LayerCost{.forward = kForward * items,
                                                                .backward = kBackward * items,
                                                                .weights = kWeights});
  return profile;
}

timeline::Timeline timeline_of(const Case& of) {
  const plan::Plan& plan = of.pipeline.plan;
  return simulate::timeline_of(of.generate(plan, whole_minibatches(plan, of.minibatches)), plan,
                               profile_of(of.pipeline), flat_cluster(plan::worker_count(plan)));
}

std::string picture_of(const Case& of) {
  const int items = of.pipeline.plan.microbatches;
  return report::timeline_svg(
      timeline_of(of),
      {.title = of.title,
       .subtitle =
           fmt::format("{} minibatches{}; a layer's forward takes 1 ms, its backward 2 ms{}",
                       of.minibatches, items > 1 ? fmt::format(" of {} microbatches", items) : "",
                       of.pipeline.plan.stages.size() > 1 ? ", a transfer 0.3 ms" : "")});
}

std::string trace_of(const Case& of) {
  const auto bytes = [](const timeline::Event& event) -> std::optional<Bytes> {
    const bool transfer = std::holds_alternative<schedule::Send>(event.op) ||
                          std::holds_alternative<schedule::Recv>(event.op);
    return transfer ? std::optional(kValue) : std::nullopt;
  };
  return report::trace_json(timeline_of(of), {.title = of.title, .bytes = bytes});
}

// The first line that differs: "line 12: ‘…’ instead of ‘…’". Shorter than two whole documents.
std::string first_difference(const std::string& made, const std::string& wanted) {
  const auto at = std::mismatch(made.begin(), made.end(), wanted.begin(), wanted.end()).first;
  const auto line_at = [&](const std::string& text) {
    const auto offset = std::min(static_cast<std::size_t>(at - made.begin()), text.size());
    const std::size_t begin = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
    return text.substr(begin, text.find('\n', offset) - begin);
  };
  return fmt::format("line {}: ‘{}’ instead of ‘{}’", std::count(made.begin(), at, '\n') + 1,
                     line_at(made), line_at(wanted));
}

void compare(const std::string& name, const std::string& made) {
  const auto path = std::filesystem::path(PD_SOURCE_DIR) / "tests" / "pictures" / name;
  if (std::getenv("PD_WRITE_PICTURES") != nullptr) write_file_atomically(path, made);
  const std::string wanted = read_file(path);
  EXPECT_TRUE(made == wanted) << path << ", " << first_difference(made, wanted)
                              << "\nPD_WRITE_PICTURES=1 rewrites it";
}

class Pictures : public testing::TestWithParam<Case> {};

TEST_P(Pictures, OfASimulatedRunAreAsTheyWere) {
  compare(GetParam().name + ".svg", picture_of(GetParam()));
}

TEST_P(Pictures, HaveALegendOfWhatOccursAndNothingElse) {
  const auto elements = report::XmlReader::read(picture_of(GetParam()));
  EXPECT_EQ(report::classes_in(elements, false), report::classes_in(elements, true));
}

TEST_P(Pictures, TracesOfASimulatedRunAreAsTheyWere) {
  const std::string trace = trace_of(GetParam());
  EXPECT_TRUE(nlohmann::json::accept(trace));
  compare(GetParam().name + ".trace.json", trace);
}

// The run is too long for one picture, which shows its beginning, a part of its steady state and
// its end.
TEST(PictureOfALongRun, IsAsItWas) {
  compare("long_run.svg",
          picture_of({"", "pipedream on 4 workers, a long run", straight(4), 100, stashed}));
}

INSTANTIATE_TEST_SUITE_P(OfEverySystem, Pictures, testing::ValuesIn(all_cases()),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace pipedream
