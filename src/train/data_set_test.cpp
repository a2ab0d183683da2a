#include "train/data_set.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"
#include "train/networks_testing.h"
#include "train/synthetic.h"

namespace pipedream::train {
namespace {

using test::message_of;

std::string refused_spec(const std::string& spec) {
  const auto network = small_network("mlp");
  return message_of<BadUsage>([&] { (void)open_data(spec, network, 1); });
}

TEST(DataSet, NoSpecMeansSynthetic) {
  const auto network = small_network("mlp");
  for (const char* spec : {"", "synthetic"}) {
    const Data data = open_data(spec, network, 1);
    EXPECT_EQ(data.training->samples(), kSyntheticTraining);
    EXPECT_EQ(data.held_out->samples(), kSyntheticHeldOut);
  }
}

TEST(DataSet, AnUnknownSpecIsAnsweredWithTheNearest) {
  EXPECT_EQ(refused_spec("idy:there"), "there is no data set 'idy:there' (did you mean 'idx'?)");
  EXPECT_EQ(refused_spec("sintetic"),
            "there is no data set 'sintetic' (did you mean 'synthetic'?)");
}

TEST(DataSet, FilesNeedTheirPath) {
  EXPECT_EQ(refused_spec("idx"), "the data set 'idx' needs a folder: write idx:DIR");
  EXPECT_EQ(refused_spec("text:"), "the data set 'text' needs a file: write text:FILE");
}

TEST(DataSet, AMissingFileIsAnIoError) {
  const auto gpt = small_network("gpt");
  EXPECT_THROW((void)open_data("text:/no/such/file", gpt, 1), IoError);
}

}  // namespace
}  // namespace pipedream::train
