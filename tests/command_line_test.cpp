// The program as a user calls it: what goes to stdout and stderr, and the exit code.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "command_line_testing.h"
#include "plan/plan_file.h"
#include "profile/profile_file.h"

namespace pipedream {
namespace {

TEST(CommandLine, TheProgramGivesItsAnswerAndExitCode) {
  const Answer done = call_with("", "cluster " PD_SOURCE_DIR "/examples/clusters/a-4x4.toml");
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.out.find("16 workers"), std::string::npos) << done.out;
  EXPECT_EQ(done.err, "");
  const Answer wrong = call_with("", "profil");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.out, "");
  EXPECT_NE(wrong.err.find("there is no command 'profil'"), std::string::npos) << wrong.err;
}

TEST(CommandLine, ModelsListsTheNetworksWithExactCounts) {
  const Answer answer = call("models --json");
  ASSERT_EQ(answer.code, 0) << answer.err;
  std::map<std::string, std::int64_t> parameters;
  const auto json = nlohmann::json::parse(answer.out);
  for (const auto& model : json.at("models")) parameters[model.at("name")] = model.at("parameters");
  EXPECT_EQ(parameters.at("vgg16"), 138357544);
  EXPECT_EQ(parameters.at("resnet50"), 25557032);
  EXPECT_EQ(parameters.at("alexnet"), 61100840);
  EXPECT_EQ(parameters.at("awd-lm"), 33556078);
  EXPECT_EQ(parameters.at("s2vt"), 36968094);
  EXPECT_EQ(parameters.size(), 9u);
  EXPECT_EQ(answer.err, "");
}

TEST(CommandLine, ProfileMeasuresWritesAndShows) {
  const std::string file = scratch("mlp.json").string();
  const Answer answer =
      call("profile --model mlp --inputs 32 --hidden=16 --batch 8 --seconds 0.2 -o " + file);
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.out.find("mlp, minibatch of 8, 8 layers, on cpu with 1 thread"),
            std::string::npos);
  EXPECT_NE(answer.out.find("the whole model in one go"), std::string::npos);
  const Answer shown = call("profile --profile " + file);
  EXPECT_EQ(shown.code, 0);
  EXPECT_EQ(shown.out, answer.out);
  const Answer json = call("profile --json --profile " + file);
  EXPECT_EQ(json.out, read_file(file));
}

TEST(CommandLine, ProfileReadsPipeDreamsGraphText) {
  const std::string file =
      write("tiny.graph.txt",
            "node1 -- Input -- forward_compute_time=3.000, backward_compute_time=0.000, "
            "activation_size=100.0, parameter_size=0.000\n"
            "node2 -- Linear(4, 4) -- forward_compute_time=1.000, backward_compute_time=2.000, "
            "activation_size=[64.0; 32.0], parameter_size=80.000\n\tnode1 -- node2\n");
  const Answer answer = call("profile --batch 6 --profile " + file);
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.out.find("minibatch of 6, 1 layer"), std::string::npos);
  EXPECT_NE(answer.out.find("2000.0 samples/s"), std::string::npos);
}

TEST(CommandLine, HelpIsThatOfTheCommand) {
  EXPECT_EQ(call("help").out, call("--help").out);
  EXPECT_EQ(call("help plan").out, call("plan --help").out);
  EXPECT_NE(call("help plan").out.find("--profile"), std::string::npos);
  EXPECT_EQ(call("help").code, 0);
}

TEST(CommandLine, FilesAreWrittenIntoFoldersThatAreMadeForThem) {
  const std::string file = scratch("new/folder/plan.json").string();
  const Answer answer =
      call("plan --profile " + kSmall +
           " --cluster " PD_SOURCE_DIR "/examples/clusters/two-hosts.toml --system mp -o " + file);
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST(CommandLine, ClusterShowsAFile) {
  const Answer answer = call("cluster " PD_SOURCE_DIR "/examples/clusters/a-4x4.toml");
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.out.find("16 workers"), std::string::npos);
}

TEST(CommandLine, EveryFailureHasItsExitCodeOneMessageAndNoOutput) {
  const std::string bad_json = write("bad.json", "{\"format\": \"pipedream-profile\"");
  const std::string negative = write(
      "negative.toml",
      "format = \"pipedream-cluster\"\nversion = 1\nname = \"x\"\n[device]\nmemory = \"1GiB\"\n"
      "[[level]]\nname = \"a\"\ncount = -1\nbandwidth = \"1GB/s\"\n");
  const std::vector<Failure> failures{
      {"", 2, "A subcommand is required"},
      {"profil", 2, "there is no command 'profil' (did you mean 'profile'?)"},
      {"profile", 2, "wanted --model NAME to measure or --profile FILE to show"},
      {"profile --model vgg61", 2, "there is no model 'vgg61' (did you mean 'vgg16'?)"},
      {"profile --model vgg16 --imagesize 32", 2, "did you mean '--image-size'?"},
      {"profile --model vgg16 --image-size 31", 2, "wanted a whole number from 32 to 4096"},
      {"profile --modl mlp", 2, "there is no option --modl (did you mean '--model'?)"},
      {"profile --model vgg", 2, "did you mean 'vgg16'?"},
      {"profile --model mlp --thread 1", 2, "did you mean '--threads'?"},
      {"profile --model mlp --image-size 32", 2,
       "there is no option --image-size (this model has --inputs, --hidden, --layers, --classes; "},
      {"help profil", 2, "there is no command 'profil' (did you mean 'profile'?)"},
      {"profile --model mlp --hidden 4 --hidden 5", 2, "--hidden is given twice"},
      {"profile --model mlp --model gpt", 2, "--model is given twice"},
      {"profile --model mlp --seed 1 --seed 2 --seed 3", 2, "--seed is given 3 times"},
      {"profile --model mlp --seconds nan", 2, "wanted a number from 0.1 to 1000000, found 'nan'"},
      {"profile --model mlp --seed -1", 2, "wanted a whole number from 0"},
      {"profile --model mlp --threads 4000", 78, "cores"},
      {"profile --profile x --seconds 3", 2, "--profile"},
      {"profile --model mlp -o ''", 2, "wanted a file's name"},
      {"profile --model resnet50 --image-size 4096 --batch 1073741824", 2, "8 PiB"},
      {"profile --model mlp --batch 0", 2, "wanted a whole number from 1 to 1073741824, found '0'"},
      {"profile --model mlp --device gpu", 2,
       "no device 'gpu': wanted cpu, cuda, or one like cuda:0"},
      {"profile --model mlp --device cuda:99", 78, "CUDA devices were found"},
      {"profile --model mlp --seconds 0.1 --batch 4 -o /dev/null/p.json", 74, "Not a directory"},
      {"profile --profile /no/such/file", 74, "cannot read /no/such/file"},
      {"profile --profile " + bad_json, 65, "not JSON"},
      {"cluster " + negative, 65, "negative.toml:8: level[0].count: wanted a whole number from 1"},
      {"cluster /", 74, "cannot read /"},
  };
  expect_all(failures);
}

const std::string kPlanSmall =
    "plan --profile " + kSmall + " --cluster " PD_SOURCE_DIR "/examples/clusters/two-hosts.toml ";

TEST(CommandLine, PlanComparesAllSystemsAndShowsTheBest) {
  const Answer answer = call(kPlanSmall);
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(answer.err, "");
  for (const char* system : {"pipedream", "dapple", "torchgpipe", "gpipe", "2bw", "dp-bsp", "mp"})
    EXPECT_NE(answer.out.find("  " + std::string(system) + " "), std::string::npos) << system;
  EXPECT_NE(answer.out.find("\n▶  "), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("small on 2 hosts of 2 workers, Gigabit Ethernet: "),
            std::string::npos);
  EXPECT_NE(answer.out.find("\npredicted   "), std::string::npos);
  EXPECT_EQ(answer.out.find("Memory of one worker"), std::string::npos);
}

// The names of the systems that know `option`, or of all systems if it is empty: "dapple,
// torchgpipe".
std::string names_of(const std::string& option) {
  std::string names;
  const auto json = nlohmann::json::parse(call("systems --json").out);
  for (const auto& system : json.at("systems")) {
    const auto& options = system.at("options");
    if (option.empty() || std::find(options.begin(), options.end(), option) != options.end())
      names += (names.empty() ? "" : ", ") + system.at("name").get<std::string>();
  }
  return names;
}

TEST(CommandLine, PlanSaysWhichWishesItsPlanDoesNotMeet) {
  const Answer passed_over =
      call("plan --profile " + kSmall +
           " --batch 64 --cluster " PD_SOURCE_DIR
           "/examples/clusters/a-4x4.toml --microbatches 4 --balance size --no-recompute");
  EXPECT_EQ(passed_over.code, 0);
  EXPECT_EQ(passed_over.err,
            "--microbatches means nothing to pipedream, the choice of --system auto; it is for " +
                names_of("microbatches") +
                "\n--balance means nothing to pipedream, the choice of --system auto; it is for " +
                names_of("balance") + "\n");
  const Answer shallow = call(kPlanSmall + "--system dapple --microbatches 2 --depth 500");
  EXPECT_EQ(shallow.code, 0);
  EXPECT_NE(shallow.err.find("--depth 500: dapple "), std::string::npos) << shallow.err;
  EXPECT_NE(shallow.err.find(" in flight; its stages, microbatches and memory allow no more\n"),
            std::string::npos)
      << shallow.err;
}

TEST(CommandLine, PlanShowsOneSystemAlone) {
  const Answer answer = call(kPlanSmall + "--system gpipe --split 2 --microbatches 4 --explain");
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(answer.out.find("small on 2 hosts of 2 workers, Gigabit Ethernet: gpipe 1-1\n"), 0u);
  EXPECT_NE(answer.out.find("node2 … node3 (2)"), std::string::npos);
  EXPECT_NE(answer.out.find("each minibatch is cut into 4 microbatches\n"), std::string::npos);
  EXPECT_NE(answer.out.find("\nMemory of one worker at its peak\n"), std::string::npos);
}

TEST(CommandLine, PlanForWorkersOfThisMachineNeedsNoClusterFile) {
  const Answer answer =
      call("plan --batch 64 --workers 3 --system dp-bsp --json --profile " + kSmall);
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(nlohmann::json::parse(answer.out).at("workers"), 3);
}

TEST(CommandLine, PlanHelpNamesEverySystem) {
  const Answer answer = call("plan --help");
  EXPECT_EQ(answer.code, 0);
  EXPECT_NE(on_one_line(answer.out).find("auto, " + names_of("")), std::string::npos) << answer.out;
}

TEST(CommandLine, PlanAsJsonHasTheKeysOfItsFormat) {
  const Answer answer = call(kPlanSmall + "--json --system dapple --batch 64");
  ASSERT_EQ(answer.code, 0) << answer.err;
  const auto json = nlohmann::json::parse(answer.out);
  const auto keys = [](const nlohmann::json& object) {
    std::vector<std::string> names;
    for (const auto& [name, value] : object.items()) names.push_back(name);
    return names;
  };
  using Names = std::vector<std::string>;  // sorted, as nlohmann::json sorts keys
  EXPECT_EQ(keys(json),
            (Names{"batch", "config", "format", "gap", "microbatches", "model", "planner_seconds",
                   "predicted", "stages", "system", "version", "workers"}));
  EXPECT_EQ(keys(json.at("predicted")),
            (Names{"bytes_per_minibatch", "drain_seconds", "samples_per_second",
                   "seconds_per_minibatch", "simulated_seconds_per_minibatch", "speedup_over_dp"}));
  EXPECT_EQ(keys(json.at("stages").at(0)),
            (Names{"depth", "first", "last", "layers", "memory_bytes", "recompute", "replicas",
                   "seconds", "weight_bytes", "workers"}));
  EXPECT_EQ(json.at("format"), "pipedream-plan");
  EXPECT_EQ(json.at("system"), "dapple");
  EXPECT_EQ(json.at("model"), "small");
  EXPECT_EQ(json.at("workers"), 4);
  const double seconds = json.at("predicted").at("seconds_per_minibatch");
  EXPECT_DOUBLE_EQ(json.at("predicted").at("samples_per_second"), 64 / seconds);
}

TEST(CommandLine, PlanWritesAFileThatCanBeRead) {
  const std::string file = scratch("plan.json").string();
  const Answer answer = call(kPlanSmall + "--system pipedream --straight -o " + file);
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(answer.err, "written to " + file + "\n");
  const profile::Profile profile = profile::read_profile(kSmall);
  const plan::PlanFile read = plan::read_plan(file, profile.graph);
  EXPECT_EQ(read.model, "small");
  EXPECT_EQ(read.workers, 4);
  EXPECT_EQ(read.plan.system, "pipedream");
  EXPECT_NE(answer.out.find(": pipedream " + plan::config_text(read.plan) + "\n"),
            std::string::npos);
  for (const plan::Stage& stage : read.plan.stages) EXPECT_EQ(stage.workers.size(), 1u);
  EXPECT_EQ(read.predicted.stages.size(), read.plan.stages.size());
}

TEST(CommandLine, PlanTwiceIsTheSamePlan) {
  const auto plan = [] {
    auto json = nlohmann::json::parse(call(kPlanSmall + "--json").out);
    json.erase("planner_seconds");
    return json;
  };
  EXPECT_EQ(plan(), plan());
}

TEST(CommandLine, EveryFailureOfPlanHasItsExitCodeOneMessageAndNoOutput) {
  const std::string cluster = " --cluster " PD_SOURCE_DIR "/examples/clusters/two-hosts.toml";
  const std::string bad_profile = write("bad.graph.txt", "node1 -- Input\n");
  const std::string bad_cluster = write("bad.toml", "format = \"pipedream-cluster\"\n");
  const std::vector<Failure> failures{
      {"plan", 2, "--profile is required"},
      {"plan --profile " + kSmall, 2, "wanted one of --cluster FILE and --workers N"},
      {"plan --workers 2" + cluster + " --profile " + kSmall, 2, "found both"},
      {kPlanSmall + "--system pipedrem", 2,
       "there is no system 'pipedrem' (did you mean 'pipedream'?)"},
      {kPlanSmall + "--system dp-bsp --straight", 2,
       "--straight means nothing to dp-bsp; it is for pipedream"},
      {kPlanSmall + "--system mp --microbatches 4", 2,
       "--microbatches means nothing to mp; it is for dapple, torchgpipe, gpipe, 2bw"},
      {kPlanSmall + "--depth 0", 2, "--depth: wanted auto, noam or a number from 1"},
      {kPlanSmall + "--depth deep", 2, "found 'deep'"},
      {kPlanSmall + "--depth 3x", 2, "found '3x'"},
      {kPlanSmall + "--cost-model papr", 2, "did you mean 'paper'?"},
      {kPlanSmall + "--exchange star", 2,
       "--exchange: there is no 'star' (known: ring, all-to-all, ps)"},
      {kPlanSmall + "--optimiser adagrad", 2, "(known: sgd, momentum, adam, adamw)"},
      {kPlanSmall + "--balance weight", 2, "--balance: there is no 'weight' (known: time, size)"},
      {kPlanSmall + "--memory 16", 2, "the unit is missing"},
      {kPlanSmall + "--microbatches 0", 2, "wanted a whole number from 1"},
      {kPlanSmall + "--stages -1", 2, "wanted a whole number from 1"},
      {kPlanSmall + "--system gpipe --split 3,2", 2, "found 2 after 3"},
      {kPlanSmall + "--system gpipe --split 5", 2, "ascending numbers of layers from 1 to 4"},
      {kPlanSmall + "--system gpipe --split 1,2,3,4", 2, "wanted at most 4 stages"},
      {kPlanSmall + "--system gpipe --split two", 2, "--split"},
      {kPlanSmall + "--system gpipe --stages 5", 78,
       "gpipe: --stages 5: at most 4 are possible here"},
      {kPlanSmall + "--system dapple --cost-model paper", 78, "dapple: the cost models 'paper'"},
      {kPlanSmall + "--system pipedream --memory 1MB", 78, " bytes) on stage "},
      {kPlanSmall + "--memory 1MB", 78,
       "no system has a plan for this:\n  pipedream: no plan fits"},
      {kPlanSmall + "-o /dev/null/plan.json", 74, "Not a directory"},
      {"plan --profile /no/such/file" + cluster, 74, "cannot read /no/such/file"},
      {"plan --cluster /no/such/file --profile " + kSmall, 74, "cannot read /no/such/file"},
      {"plan --profile " + bad_profile + cluster, 65, "bad.graph.txt:1"},
      {"plan --cluster " + bad_cluster + " --profile " + kSmall, 65, "bad.toml"},
  };
  expect_all(failures);
}

TEST(CommandLine, AFailedPlanWritesNoFile) {
  const std::string file = scratch("never.json").string();
  EXPECT_EQ(call(kPlanSmall + "--memory 1MB -o " + file).code, 78);
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(CommandLine, ModelsTooLargeForTheMemoryAreRefusedWithAReason) {
  const Answer answer = call("profile --model mlp --inputs 1000000 --hidden 1000000 --batch 1");
  EXPECT_EQ(answer.code, 78) << answer.err;
  EXPECT_NE(answer.err.find("memory"), std::string::npos) << answer.err;
}

// The number of characters, not bytes, of the widest line. Tables have characters beyond ASCII.
std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::size_t width = 0;
  for (const char c : text) {
    if (c == '\n')
      width = 0;
    else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80)
      widest = std::max(widest, ++width);
  }
  return widest;
}

TEST(CommandLine, TablesFitATerminalOf120Columns) {
  const std::string inputs =
      "--profile " + kSmall + " --batch 64 --cluster " PD_SOURCE_DIR "/examples/clusters/";
  for (const std::string cluster : {"a-4x4.toml", "two-workers.toml", "b-2x8.toml"})
    for (const std::string command : {"plan --explain ", "compare ", "simulate "}) {
      const Answer answer = call(command + inputs + cluster);
      EXPECT_EQ(answer.code, 0) << answer.err;
      EXPECT_LE(widest_line(answer.out), 120U) << answer.out;
    }
  for (const std::string command :
       {"models", "cluster " PD_SOURCE_DIR "/examples/clusters/a-4x4.toml"})
    EXPECT_LE(widest_line(call(command).out), 120U) << command;
}

TEST(CommandLine, EveryTableThatMarksAChoiceSaysWhatTheMarkIs) {
  const std::string inputs = "--profile " + kSmall +
                             " --batch 64 --cluster " PD_SOURCE_DIR "/examples/clusters/a-4x4.toml";
  for (const std::string command : {"plan ", "compare "}) {
    const std::string out = call(command + inputs).out;
    EXPECT_NE(out.find("\n▶ the choice of --system auto\n"), std::string::npos) << out;
  }
}

TEST(CommandLine, ClusterAndScheduleHaveJson) {
  const auto cluster = nlohmann::json::parse(
      call("cluster --json " PD_SOURCE_DIR "/examples/clusters/a-4x4.toml").out);
  EXPECT_EQ(cluster.at("format"), "pipedream-cluster");
  EXPECT_EQ(cluster.at("workers"), 16);
  EXPECT_EQ(cluster.at("levels").size(), 2U);
  EXPECT_EQ(cluster.at("devices").size(), 16U);
  const auto schedule = nlohmann::json::parse(
      call("schedule --json --system pipedream --stages 2 --microbatches 3").out);
  EXPECT_EQ(schedule.at("format"), "pipedream-schedule");
  EXPECT_EQ(schedule.at("workers").at(1).at("program"),
            "F0@0 B0@0 U0>1 F1@1 B1@1 U1>2 F2@2 B2@2 U2>3");
}

TEST(CommandLine, HelpHasNoListsOfFlagsThatExcludeEachOther) {
  for (const std::string command : {"train", "simulate", "compare", "schedule", "plan"})
    EXPECT_EQ(call(command + " --help").out.find("Excludes"), std::string::npos) << command;
}

// The fastest plan here is one of pipedream, which has stale weights; --prefer exact forbids it.
TEST(CommandLine, PreferSaysWhatAutoMayChoose) {
  const std::string inputs = "plan --json --profile " + kSmall +
                             " --batch 64 --cluster " PD_SOURCE_DIR
                             "/examples/clusters/a-4x4.toml --prefer ";
  EXPECT_EQ(nlohmann::json::parse(call(inputs + "speed").out).at("system"), "pipedream");
  EXPECT_EQ(nlohmann::json::parse(call(inputs + "balanced").out).at("system"), "pipedream");
  EXPECT_EQ(nlohmann::json::parse(call(inputs + "exact").out).at("system"), "dapple");
  expect_all({{inputs + "fast", 2, "--prefer: there is no 'fast'"}});
}

}  // namespace
}  // namespace pipedream
