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
  EXPECT_NE(refusal(R"("sizes": [{"as_int": 2}, {"as_int": 3})",
                    R"("sizes": [{"as_int": -2}, {"as_int": 3})")
                .find("wanted a size of 0 or more"),
            std::string::npos);
  EXPECT_NE(refusal(R"("output_specs": [)",
                    R"("output_specs": [{"buffer_mutation": {"arg": {"name": "relu"},
                       "buffer_name": "mean"}}, )")
                .find("there is no buffer 'mean'"),
            std::string::npos);
}

// The small program, with relu in a region of torch.autocast.
std::string program_with_autocast(const std::string& type) {
  const std::string relu = R"({"target": "torch.ops.aten.relu.default",
     "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "view"}}, "kind": 1}],
     "outputs": [{"as_tensor": {"name": "relu"}}], "metadata": {}})";
  const std::string inner = R"({"target": "torch.ops.aten.relu.default",
     "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "arg"}}, "kind": 1}],
     "outputs": [{"as_tensor": {"name": "inside"}}], "metadata": {}})";
  const std::string meta = R"({"dtype": 13, "sizes": [{"as_int": 2}, {"as_int": 2}], "layout": 7})";
  const auto argument = [](const std::string& value) {
    return R"({"name": "", "arg": )" + value + R"(, "kind": 1})";
  };
  return replaced(
      small_program(), relu,
      R"({"target": "torch.ops.higher_order.wrap_with_autocast", "inputs": [)" +
          argument(R"({"as_string": "cpu"})") + ", " + argument(type) + ", " +
          argument(R"({"as_bool": true})") + ", " + argument(R"({"as_bool": true})") + ", " +
          argument(R"({"as_graph": {"name": "submod_1", "graph": {
              "inputs": [{"as_tensor": {"name": "arg"}}],
              "outputs": [{"as_tensor": {"name": "inside"}}], "nodes": [)" +
                   inner + R"(], "tensor_values": {"arg": )" + meta + R"(, "inside": )" + meta +
                   R"(}, "sym_int_values": {}, "sym_bool_values": {}}}})") +
          ", " + argument(R"({"as_tensor": {"name": "view"}})") +
          R"(], "outputs": [{"as_tensor": {"name": "relu"}}], "metadata": {}})");
}

TEST(Program, CallsInARegionOfAutocastHaveItsType) {
  const Program program = parse_program(program_with_autocast(R"({"as_scalar_type": 13})"), "net");
  ASSERT_EQ(program.calls.size(), 3U);
  EXPECT_FALSE(program.calls[1].autocast);
  EXPECT_EQ(program.calls[2].autocast, (Autocast{.on = true, .type = Type::kBFloat16}));
  EXPECT_EQ(parse_program(program_with_autocast(R"({"as_none": true})"), "net").calls[2].autocast,
            (Autocast{.on = true, .type = {}}));
  EXPECT_THROW((void)parse_program(program_with_autocast(R"({"as_scalar_type": 5})"), "net"),
               BadFile);
}

TEST(Program, SizesThatDependOnTheDataAreRefused) {
  const std::string start = R"j("sym_int_values": {"n": {"as_expr": {"expr_str": )j";
  const std::string answer =
      refusal(start + R"j("Symbol('s7', positive=True, integer=True)", "hint": {"as_int": 2})j",
              start + R"j("Symbol('u0', integer=True)", "hint": null)j");
  EXPECT_NE(answer.find("the size 'u0' depends on the data (aten::view in fc)"), std::string::npos)
      << answer;
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

TEST_F(ArchiveFile, IsRefusedIfItsElementsAreRepeatedWithoutBound) {
  const std::string weights = R"("sizes": [{"as_int": 2}, {"as_int": 3}])";
  const std::string huge = R"("sizes": [{"as_int": 900000000000}, {"as_int": 3}])";
  const auto path = folder_.path() / "net.pt2";
  const std::string program =
      replaced(small_program(), R"("p_w": {"dtype": 7, "sizes": [{"as_int": 2})",
               R"("p_w": {"dtype": 7, "sizes": [{"as_int": 900000000000})");
  const std::string stored =
      replaced(replaced(small_weights(), weights, huge), R"("strides": [{"as_int": 3})",
               R"("strides": [{"as_int": 0})");
  write_file_atomically(
      path, make_zip({{"net/models/model.json", program},
                      {"net/data/weights/model_weights_config.json", stored},
                      {"net/data/constants/model_constants_config.json", R"({"config": {}})"},
                      {"net/data/weights/weight_0", std::string(24, 'w')},
                      {"net/data/weights/weight_1", std::string(8, 'b')}}));
  EXPECT_NE(test::message_of<BadFile>([&] { Archive archive(path); }).find("repeated too often"),
            std::string::npos);
}

}  // namespace
}  // namespace pipedream::pt2
