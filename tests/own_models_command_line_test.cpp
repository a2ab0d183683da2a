// pipedream with models of PyTorch users, as they call it: the example models of
// tools/export_examples.py.
#include <fstream>

#include <sys/wait.h>

#include "core/file.h"
#include "train_command_line_testing.h"

namespace pipedream {
namespace {

namespace fs = std::filesystem;

// Runs Python, and returns its exit code.
int python(const std::string& arguments) {
  return WEXITSTATUS(std::system((std::string(PD_PYTHON) + " -W ignore " + arguments).c_str()));
}

bool has_torchvision() {
  static const bool has = python("-c 'import torchvision, safetensors' 2>/dev/null") == 0;
  return has;
}

// The folder with all examples, which are exported once.
const fs::path& examples() {
  static const fs::path folder = [] {
    const fs::path made = scratch("examples");
    EXPECT_EQ(python("'" PD_SOURCE_DIR "/tools/export_examples.py' '" + made.string() +
                     "' --small --samples 80 > /dev/null"),
              0);
    return made;
  }();
  return folder;
}

std::string training(const std::string& model) {
  const std::string file = (examples() / model).string();
  return "train --model " + file + ".pt2 --data safetensors:" + file +
         ".safetensors --batch 8 --profile-seconds 0.1 " +
         (model == "diffusion" ? "--loss mse " : "");
}

class OwnModel : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!has_torchvision()) GTEST_SKIP() << "torchvision is not installed for " << PD_PYTHON;
  }
};

TEST_P(OwnModel, TrainsWithPipelinesAndReplicas) {
  for (const std::string system : {"pipedream", "dapple", "dp-bsp"})
    for (const int workers : {2, 4}) {
      const Answer answer =
          call(training(GetParam()) + "--system " + system + " --workers " +
               std::to_string(workers) + " --minibatches 4 --no-evaluation --json");
      ASSERT_EQ(answer.code, 0) << system << ": " << answer.err;
      const auto json = json_of(answer);
      EXPECT_EQ(json.at("minibatches"), 4) << system;
      EXPECT_LT(json.at("loss").get<double>(), 100) << system;
    }
}

INSTANTIATE_TEST_SUITE_P(Examples, OwnModel,
                         testing::Values("vgg16", "resnet50", "vit", "lstm", "transformer", "unet",
                                         "gpt", "diffusion"),
                         [](const auto& each) { return each.param; });

class OwnModels : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_torchvision()) GTEST_SKIP() << "torchvision is not installed for " << PD_PYTHON;
  }
};

// The GPT has tied weights, which PyTorch's state dict has under two names.
TEST_F(OwnModels, GiveTheirWeightsBackToPyTorch) {
  const fs::path run = scratch("own_gpt");
  ASSERT_EQ(call(training("gpt") +
                 "--workers 2 --system pipedream --straight --minibatches 5 --out " + run.string())
                .code,
            0);
  const fs::path exported = scratch("own_gpt.safetensors");
  ASSERT_EQ(call("checkpoint " + run.string() + " --export " + exported.string()).code, 0);
  for (const fs::path& file : {run / "weights.safetensors", exported}) {
    const std::string code =
        "import sys; sys.path.insert(0, sys.argv[1]); import export_examples, safetensors.torch; "
        "model, _, _ = export_examples.make(\"gpt\", True, 4); "
        "before = model.words.weight.detach().clone(); "
        "model.load_state_dict(safetensors.torch.load_file(sys.argv[2])); "
        "assert model.words.weight is model.head.weight; "
        "assert not before.equal(model.words.weight)";
    EXPECT_EQ(python("-c '" + code + "' '" PD_SOURCE_DIR "/tools' '" + file.string() + "'"), 0)
        << file;
  }
}

TEST_F(OwnModels, GoOnFromACheckpointWithTheSameBits) {
  const fs::path whole = scratch("own_whole");
  const fs::path parts = scratch("own_parts");
  const std::string flags =
      training("unet") + "--workers 2 --checkpoint-every 4 --no-evaluation --out ";
  ASSERT_EQ(call(flags + whole.string() + " --system pipedream --straight --minibatches 8").code,
            0);
  const std::string plan = (whole / "plan.json").string();
  ASSERT_EQ(call(flags + parts.string() + " --plan " + plan + " --minibatches 4").code, 0);
  const Answer resumed = call("train --resume " + parts.string() + " --minibatches 8");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(read_file(whole / "weights.safetensors"), read_file(parts / "weights.safetensors"));
  const Answer other =
      call("train --resume " + parts.string() + " --minibatches 12 --loss mse --data synthetic");
  EXPECT_NE(other.code, 0) << "another loss is another training";
  EXPECT_NE(other.err.find("loss"), std::string::npos) << other.err;
}

TEST_F(OwnModels, AreListedWithTheirLayers) {
  const Answer answer = call("models " + (examples() / "gpt.pt2").string());
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.out.find("blocks.1.attention.qkv"), std::string::npos) << answer.out;
  const auto json = json_of(call("models --json " + (examples() / "gpt.pt2").string()));
  EXPECT_EQ(json.at("parameters"), 40288);
  EXPECT_GT(json.at("layer_list").size(), 20U);
}

TEST_F(OwnModels, AreRefusedWithAReason) {
  EXPECT_EQ(call("train --model /nowhere/net.pt2").code, 74);
  const std::string text = write("no_zip.pt2", "something else");
  const Answer broken = call("train --model " + text);
  EXPECT_EQ(broken.code, 65);
  EXPECT_NE(broken.err.find("torch.export.save"), std::string::npos) << broken.err;
  const Answer data = call("train --workers 1 --model " + (examples() / "unet.pt2").string() +
                           " --data safetensors:" + (examples() / "lstm.safetensors").string());
  EXPECT_EQ(data.code, 78);
  EXPECT_NE(data.err.find("there is no tensor 'image' (there is tokens)"), std::string::npos)
      << data.err;
  EXPECT_NE(data.err.find("there is no tensor 'target'"), std::string::npos) << data.err;
  const Answer loss = call("train --loss hinge --model " + (examples() / "unet.pt2").string());
  EXPECT_EQ(loss.code, 2);
  EXPECT_NE(loss.err.find("--loss"), std::string::npos) << loss.err;
}

TEST_F(OwnModels, HoldOutTheShareThatIsNamed) {
  const std::string run = "train --dry-run --model " + (examples() / "unet.pt2").string() +
                          " --data safetensors:" + (examples() / "unet.safetensors").string();
  const auto expect_held_out = [&](const std::string& flags, const std::string& samples) {
    const Answer answer = call(run + flags);
    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_NE(answer.out.find("samples to train on: " + samples), std::string::npos) << answer.out;
  };
  expect_held_out("", "72, held out: 8");
  expect_held_out(" --held-out 0.5", "40, held out: 40");
  expect_held_out(" --held-out 0", "80, held out: 0");
  EXPECT_EQ(call(run + " --held-out 1").code, 2);
  const Answer trained = call("train --workers 1 --minibatches 2 --batch 4 --held-out 0 --json" +
                              run.substr(std::string("train --dry-run").size()));
  EXPECT_EQ(trained.code, 0) << trained.err;
  EXPECT_TRUE(json_of(trained).at("held_out_loss").is_null());
}

TEST_F(OwnModels, AreCheckedByADryRunThatWritesNothing) {
  const std::string run = "train --dry-run --workers 2 --model " +
                          (examples() / "unet.pt2").string() + " --out " + scratch("dry").string();
  EXPECT_EQ(call(run).code, 0);
  EXPECT_FALSE(std::filesystem::exists(scratch("dry")));
  EXPECT_EQ(call(run + " --epochz 3").code, 2);
  EXPECT_EQ(call(run + " --data safetensors:/nowhere").code, 74);
}

}  // namespace
}  // namespace pipedream
