// The program as a user calls it: what goes to stdout and stderr, and the exit code.
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "core/file.h"
#include "core/testing.h"

namespace pipedream {
namespace {

struct Answer {
  int code = -1;
  std::string out;
  std::string err;
};

// One folder for the whole program, gone at its end.
std::filesystem::path scratch(const std::string& name) {
  static const test::TemporaryFolder folder;
  return folder.path() / name;
}

Answer call(const std::string& arguments) {
  const auto out = scratch("out").string();
  const auto err = scratch("err").string();
  const int status =
      std::system((PD_PROGRAM " " + arguments + " >'" + out + "' 2>'" + err + "'").c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
}

std::string write(const std::string& name, const std::string& content) {
  write_file_atomically(scratch(name), content);
  return scratch(name).string();
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
  EXPECT_EQ(parameters.size(), 7u);
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

TEST(CommandLine, ClusterShowsAFile) {
  const Answer answer = call("cluster " PD_SOURCE_DIR "/examples/clusters/a-4x4.toml");
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.out.find("16 workers"), std::string::npos);
}

// Lines that begin as our messages do; a measurement may log its progress before it fails.
std::ptrdiff_t messages(const std::string& text) {
  std::ptrdiff_t count = 0;
  for (std::size_t at = 0; (at = text.find("pipedream: ", at)) != std::string::npos; ++at)
    count += at == 0 || text[at - 1] == '\n' ? 1 : 0;
  return count;
}

struct Failure {
  std::string arguments;
  int code;
  std::string message;
};

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
      {"profile --model mlp --hidden 4 --hidden 5", 2, "--hidden is given twice"},
      {"profile --model mlp --seconds nan", 2, "wanted a number from 0.1 to 1000000, found 'nan'"},
      {"profile --model mlp --seed -1", 2, "wanted a whole number from 0"},
      {"profile --model mlp --threads 4000", 78, "cores"},
      {"profile --profile x --seconds 3", 2, "--profile"},
      {"profile --model mlp -o ''", 2, "wanted a file's name"},
      {"profile --model resnet50 --image-size 4096 --batch 1073741824", 2, "8 PiB"},
      {"profile --model mlp --batch 0", 2, "wanted a whole number from 1 to 1073741824, found '0'"},
      {"profile --model mlp --device gpu", 2, "wanted 'cpu' or 'cuda:0', found 'gpu'"},
      {"profile --model mlp --device cuda:99", 78, "CUDA devices were found"},
      {"profile --model mlp --seconds 0.1 --batch 4 -o /no/such/folder/p.json", 74, "No such file"},
      {"profile --profile /no/such/file", 74, "cannot read /no/such/file"},
      {"profile --profile " + bad_json, 65, "not JSON"},
      {"cluster " + negative, 65, "negative.toml:8: level[0].count: wanted a whole number from 1"},
      {"cluster /", 74, "cannot read /"},
  };
  for (const Failure& failure : failures) {
    const Answer answer = call(failure.arguments);
    EXPECT_EQ(answer.code, failure.code) << failure.arguments << "\n" << answer.err;
    EXPECT_EQ(answer.out, "") << failure.arguments;
    EXPECT_EQ(messages(answer.err), 1) << failure.arguments << "\n" << answer.err;
    EXPECT_NE(answer.err.find(failure.message), std::string::npos) << failure.arguments << "\n"
                                                                   << answer.err;
  }
}

TEST(CommandLine, ModelsTooLargeForTheMemoryAreRefusedWithAReason) {
  const Answer answer = call("profile --model mlp --inputs 1000000 --hidden 1000000 --batch 1");
  EXPECT_EQ(answer.code, 78) << answer.err;
  EXPECT_NE(answer.err.find("memory"), std::string::npos) << answer.err;
}

}  // namespace
}  // namespace pipedream
