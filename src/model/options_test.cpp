#include "model/options.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/testing.h"

namespace pipedream::model {
namespace {

const std::vector<OptionSpec> kSpecs{whole_option("image-size", 224, 32, 4096, "side"),
                                     dropout_option(0.5)};

std::string refusal(const std::map<std::string, std::string>& given) {
  return test::message_of<BadUsage>([&] { const Options options(kSpecs, given); });
}

TEST(Options, DefaultsHoldUntilAValueIsGiven) {
  EXPECT_EQ(Options(kSpecs, {}).whole("image-size"), 224);
  EXPECT_EQ(Options(kSpecs, {{"image-size", "64"}}).whole("image-size"), 64);
  EXPECT_EQ(Options(kSpecs, {{"dropout", "0.25"}}).real("dropout"), 0.25);
}

TEST(Options, AnUnknownNameIsAnsweredWithTheNearest) {
  EXPECT_EQ(refusal({{"imagesize", "64"}}),
            "the model has no option `imagesize` (did you mean 'image-size'?)");
}

TEST(Options, ValuesOutsideTheRangeAreRefusedWithTheRange) {
  const std::string wanted = "`image-size`: wanted a whole number from 32 to 4096, found ";
  for (const std::string text : {"31", "4097", "64.5", "-1", "nan", "inf", "", "64px", "1e99"})
    EXPECT_EQ(refusal({{"image-size", text}}), wanted + "'" + text + "'");
}

TEST(Options, WordsAreOneOfTheirChoices) {
  const std::vector<OptionSpec> specs{choice_option("loss", {"mse", "none"}, "what is minimised")};
  EXPECT_EQ(default_text(specs[0]), "mse");
  EXPECT_EQ(Options(specs, {}).choice("loss"), "mse");
  const Options other(specs, {{"loss", "none"}});
  EXPECT_EQ(other.choice("loss"), "none");
  EXPECT_EQ(other.texts().at("loss"), "none");
  EXPECT_EQ(test::message_of<BadUsage>([&] {
              const Options bad(specs, {{"loss", "1"}});
            }),
            "`loss`: wanted one of mse, none, found '1'");
}

}  // namespace
}  // namespace pipedream::model
