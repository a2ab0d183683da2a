#include "data/data_set.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"
#include "data/networks_testing.h"
#include "data/synthetic.h"

namespace pipedream::data {
namespace {

using test::message_of;

std::string refused_spec(const std::string& spec) {
  const auto network = small_network("mlp");
  return message_of<BadUsage>([&] { (void)open_data(spec, network, {.seed = 1}); });
}

TEST(DataSet, NoSpecMeansSynthetic) {
  const auto network = small_network("mlp");
  for (const char* spec : {"", "synthetic"}) {
    const Data data = open_data(spec, network, {.seed = 1});
    EXPECT_EQ(data.training->samples(), kSyntheticTraining);
    EXPECT_EQ(data.held_out->samples(), kSyntheticHeldOut);
  }
}

TEST(DataSet, AnUnknownSpecIsAnsweredWithTheNearest) {
  EXPECT_EQ(refused_spec("idy:there"), "there is no data set 'idy:there' (did you mean 'idx'?)");
  EXPECT_EQ(refused_spec("sintetic"),
            "there is no data set 'sintetic' (did you mean 'synthetic'?)");
  EXPECT_EQ(refused_spec("/tmp"),
            "there is no data set '/tmp' (pictures of a folder are 'images:/tmp')");
}

TEST(DataSet, HoldsNothingOutIfTheShareIsZero) {
  const auto network = small_network("mlp");
  EXPECT_EQ(open_data("", network, {.seed = 1, .held_out = 0.0}).held_out, nullptr);
  EXPECT_NE(message_of<BadUsage>([&] {
              (void)open_data("", network, {.seed = 1, .held_out = 0.3});
            }).find("`held_out`"),
            std::string::npos)
      << "made-up data has held-out samples of its own";
}

TEST(DataSet, AShareOfFewSamplesMayBeNone) {
  EXPECT_EQ(held_out_of(10, 0.1), 1);
  EXPECT_EQ(held_out_of(19, 0.1), 1);
  EXPECT_EQ(held_out_of(9, 0), 0);
  EXPECT_NE(message_of<CannotMeet>([] { (void)held_out_of(9, 0.1); }).find("`held_out` 0"),
            std::string::npos);
}

TEST(DataSet, FilesNeedTheirPath) {
  EXPECT_EQ(refused_spec("idx"), "the data set 'idx' needs a folder: write idx:DIR");
  EXPECT_EQ(refused_spec("text:"), "the data set 'text' needs a file: write text:FILE");
}

TEST(DataSet, AMissingFileIsAnIoError) {
  const auto gpt = small_network("gpt");
  EXPECT_THROW((void)open_data("text:/no/such/file", gpt, {.seed = 1}), IoError);
}

}  // namespace
}  // namespace pipedream::data
