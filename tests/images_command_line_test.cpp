// Training on folders of pictures, and changing pictures at random (docs/training.md).
#include "data/image_folder_testing.h"
#include "image/decode.h"
#include "train_command_line_testing.h"

namespace pipedream {
namespace {

namespace fs = std::filesystem;

class ImagesCommand : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(scratch("pictures"));
    data::write_three_classes(scratch("pictures"), 9);
    if (image::can_decode()) return;
    const Answer answer = call(train());
    EXPECT_EQ(answer.code, 78);
    EXPECT_NE(answer.err.find("libpng-dev"), std::string::npos) << answer.err;
    GTEST_SKIP();
  }

  static std::string train() {
    return "train --model alexnet --image-size 64 --classes 3 --hidden 16 --batch 6 --lr 0.01 "
           "--profile-seconds 0.2 --system gpipe --microbatches 2 --seed 4 --data images:" +
           scratch("pictures").string() + " ";
  }
  // Writes a file that begins as a PNG does and then ends.
  static fs::path write_bad(const std::string& name) {
    const fs::path bad = scratch("pictures") / name;
    write_file_atomically(bad, std::string(image::kPngSignature));
    return bad;
  }
  static double loss_of(const std::string& flags) {
    const Answer answer = call(train() + "--json " + flags);
    EXPECT_EQ(answer.code, 0) << answer.err;
    return json_of(answer).at("loss").get<double>();
  }
};

TEST_F(ImagesCommand, TrainsToTheSameLossOnAnyNumberOfWorkers) {
  const std::string flags = "--epochs 2 --augment flip,resized-crop ";
  const double one = loss_of(flags + "--workers 1");
  EXPECT_EQ(loss_of(flags + "--workers 2"), one);
  EXPECT_NE(loss_of("--epochs 2 --workers 2"), one) << "the pictures were not changed";
}

TEST_F(ImagesCommand, GoesOnFromACheckpointWithTheSameChangesOfPictures) {
  const std::string flags = "--workers 1 --augment flip,crop:8 --checkpoint-every epoch ";
  const double whole = loss_of(flags + "--epochs 3 --out " + scratch("whole").string());
  (void)loss_of(flags + "--epochs 1 --out " + scratch("part").string());
  const Answer answer = call("train --json --epochs 3 --resume " + scratch("part").string());
  EXPECT_EQ(json_of(answer).at("loss").get<double>(), whole);
}

TEST_F(ImagesCommand, EndsAtABadFileAndNamesIt) {
  const fs::path bad = write_bad("bee/bad.png");
  const Answer answer = call(train() + "--workers 2 --held-out 0");
  EXPECT_EQ(answer.code, 65);
  EXPECT_NE(answer.err.find(bad.string() + ": byte 8: the PNG is damaged: it is cut off"),
            std::string::npos)
      << answer.err;
}

TEST_F(ImagesCommand, LeavesOutBadFilesAndListsThem) {
  const fs::path bad = write_bad("bee/bad.png");
  const fs::path run = scratch("skips");
  const Answer answer = call(train() + "--workers 1 --skip-bad --out " + run.string());
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.err.find("28 of 28 pictures checked"), std::string::npos) << answer.err;
  EXPECT_NE(answer.err.find("1 picture cannot be decoded and will be left out"), std::string::npos);
  EXPECT_EQ(read_file(run / "skipped.txt"),
            bad.string() + ": byte 8: the PNG is damaged: it is cut off\n");
  const Answer evaluated = call("evaluate --json --on-training " + run.string());
  EXPECT_EQ(json_of(evaluated).at("samples"), 25);
}

TEST_F(ImagesCommand, KeepsTheNamesOfTheClassesWithTheWeights) {
  const fs::path run = scratch("named");
  ASSERT_EQ(call(train() + "--workers 1 --out " + run.string()).code, 0);
  const std::string weights = read_file(run / "weights.safetensors");
  EXPECT_NE(weights.find(R"([\"ant\",\"bee\",\"cat\"])"), std::string::npos);
}

TEST_F(ImagesCommand, RefusesChangesThatMakeNoSense) {
  const Answer unknown = call(train() + "--augment flop");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("did you mean 'flip'?"), std::string::npos) << unknown.err;
  const Answer of_text = call("train --model mlp --augment flip");
  EXPECT_EQ(of_text.code, 2);
  EXPECT_NE(of_text.err.find("--augment changes pictures"), std::string::npos) << of_text.err;
}

}  // namespace
}  // namespace pipedream
