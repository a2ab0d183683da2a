#include "pt2/program.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/file.h"
#include "core/testing.h"
#include "pt2/archive.h"
#include "pt2/digest.h"
#include "pt2/program_testing.h"
#include "pt2/zip_testing.h"

namespace pipedream::pt2 {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

// What parse_program() says about the small program after a change.
std::string refusal(const std::string& from, const std::string& to) {
  try {
    (void)parse_program(replaced(small_program(), from, to), "net");
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Program, CallsArgumentsAndSizesAreRead) {
  const Program program = parse_program(small_program(), "net");
  ASSERT_EQ(program.calls.size(), 3U) << "calls that compute sizes are left out";
  EXPECT_EQ(program.calls[0].op, "aten::linear");
  EXPECT_EQ(program.calls[0].modules,
            (std::vector<Module>{{"", "__main__.Net"}, {"fc", "torch.nn.modules.linear.Linear"}}));
  const auto& size = std::get<std::vector<Size>>(program.calls[1].arguments[1].value);
  EXPECT_EQ(size[0].at(9), 9);
  EXPECT_EQ(size[1], Size(2));
  EXPECT_EQ(program.symbol, "s7");
  EXPECT_EQ(program.samples, 2);
  EXPECT_EQ(program.most_samples, 64);
  ASSERT_EQ(program.inputs.size(), 3U);
  EXPECT_EQ(program.inputs[0].name, "fc.weight");
  EXPECT_EQ(program.inputs[2].kind, Input::Kind::kUser);
  ASSERT_EQ(program.outputs.size(), 1U);
  EXPECT_EQ(program.tensors[program.outputs[0].index()].name, "relu");
}

TEST(Program, ADigestTellsWhatIsComputed) {
  const auto digest = [](const std::string& from, const std::string& to) {
    return digest_of(parse_program(replaced(small_program(), from, to), "net"));
  };
  const std::string whole = digest_of(parse_program(small_program(), "net"));
  EXPECT_NE(whole, digest("torch.ops.aten.relu.default", "torch.ops.aten.sigmoid.default"));
  EXPECT_EQ(whole, digest("__main__.Net", "elsewhere.Net"));
}

TEST(Program, WhatIsWrongIsNamed) {
  EXPECT_NE(refusal(R"("major": 8)", R"("major": 9)").find("version 9"), std::string::npos);
  EXPECT_NE(refusal(R"({"name": "self", "arg": {"as_tensor": {"name": "view"}})",
                    R"({"name": "self", "arg": {"as_tensor": {"name": "later"}})")
                .find("there is no tensor 'later'"),
            std::string::npos);
  EXPECT_NE(
      refusal(R"([{"as_name": "n"}, )", R"([{"as_name": "m"}, )").find("there is no size 'm'"),
      std::string::npos);
  EXPECT_NE(refusal(R"("outputs": [{"as_tensor": {"name": "linear"}}])",
                    R"("outputs": [{"as_tensor": {"name": "x"}}])")
                .find("two tensors 'x'"),
            std::string::npos);
  EXPECT_NE(refusal(R"("layout": 7})", R"("layout": 1})").find("sparse"), std::string::npos);
  EXPECT_NE(refusal(R"("dtype": 7)", R"("dtype": 29)").find("29"), std::string::npos);
}

TEST(Program, SizesThatDependOnTheDataAreRefused) {
  const std::string start = R"j("sym_int_values": {"n": {"as_expr": {"expr_str": )j";
  const std::string answer =
      refusal(start + R"j("Symbol('s7', positive=True, integer=True)", "hint": {"as_int": 2})j",
              start + R"j("Symbol('u0', integer=True)", "hint": null)j");
  EXPECT_NE(answer.find("the size 'u0' depends on the data"), std::string::npos) << answer;
}

TEST(Program, StoredTensorsAreRead) {
  const auto stored = parse_stored_tensors(small_weights(), "net");
  ASSERT_EQ(stored.size(), 2U);
  EXPECT_EQ(stored.at("fc.weight").entry, "weight_0");
  EXPECT_EQ(bytes_needed(stored.at("fc.weight")), 24U);
  EXPECT_THROW((void)parse_stored_tensors(replaced(small_weights(), "false", "true"), "net"),
               CannotMeet);
  StoredTensor large = stored.at("fc.weight");
  large.strides[0] = INT64_MAX;
  large.sizes[0] = INT64_MAX;
  EXPECT_THROW((void)bytes_needed(large), BadValue);
}

std::string small_archive(const std::string& weight = std::string(24, 'w'),
                          const std::string& root = "net/") {
  return make_zip({{root + "models/model.json", small_program()},
                   {root + "data/weights/model_weights_config.json", small_weights()},
                   {root + "data/constants/model_constants_config.json", R"({"config": {}})"},
                   {root + "data/weights/weight_0", weight},
                   {root + "data/weights/weight_1", std::string(8, 'b')},
                   {root + "byteorder", "little"}});
}

class ArchiveFile : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& content) const {
    const auto path = folder_.path() / "net.pt2";
    write_file_atomically(path, content);
    return path;
  }
  std::string refusal_of(const std::string& content) const {
    try {
      const Archive archive(write(content));
      for (const Input& input : archive.program().inputs)
        if (input.kind != Input::Kind::kUser) (void)archive.bytes_of(input);
      return "";
    } catch (const BadFile& error) {
      return error.what();
    }
  }
  test::TemporaryFolder folder_;
};

TEST_F(ArchiveFile, HasTheProgramAndTheBytesOfTensors) {
  const Archive archive(write(small_archive()));
  EXPECT_EQ(archive.bytes_of(archive.program().inputs[0]), std::string(24, 'w'));
  EXPECT_EQ(archive.stored(archive.program().inputs[1]).sizes, std::vector<std::int64_t>{2});
}

TEST_F(ArchiveFile, IsRefusedIfATensorIsDamagedMissingOrTooShort) {
  EXPECT_EQ(refusal_of(small_archive()), "");
  EXPECT_NE(refusal_of(small_archive(std::string(23, 'w'))).find("larger than its content"),
            std::string::npos);
  EXPECT_NE(refusal_of(replaced(small_archive(), std::string(24, 'w'), std::string(24, 'v')))
                .find("checksum"),
            std::string::npos);
  EXPECT_NE(refusal_of(make_zip({{"a/data.pkl", ""}})).find("torch.export.save"),
            std::string::npos);
  EXPECT_NE(refusal_of("").find("too short"), std::string::npos);
}

}  // namespace
}  // namespace pipedream::pt2
