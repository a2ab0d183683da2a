#include "data/tensor_files.h"

#include <cstring>

#include <gtest/gtest.h>

#include <ATen/ops/tensor.h>

#include "core/error.h"
#include "core/file.h"
#include "core/testing.h"
#include "core/text.h"
#include "data/networks_testing.h"
#include "model/weights_file.h"

namespace pipedream::data {
namespace {

// A safetensors file with the inputs of the small mlp, whose labels are `labels`, of the type
// `type`.
template <class Number>
std::string file_of(const model::Network& network, const std::vector<Number>& labels,
                    const std::string& type) {
  const auto label_bytes = static_cast<std::int64_t>(labels.size() * sizeof(Number));
  const std::int64_t width = network.inputs[0].shape[1];
  const auto count = static_cast<std::int64_t>(labels.size());
  const std::int64_t numbers = 4 * count * width;
  const auto entry = [&](const std::string& name, const std::string& of, const std::string& shape,
                         std::int64_t begin, std::int64_t end) {
    return "\"" + name + "\":{\"dtype\":\"" + of + "\",\"shape\":" + shape + ",\"data_offsets\":[" +
           std::to_string(begin) + "," + std::to_string(end) + "]}";
  };
  std::string head =
      "{" +
      entry(network.inputs[0].name, "F32", shape_text(std::vector{count, width}), 0, numbers) +
      "," +
      entry(network.inputs[1].name, type, shape_text(std::vector{count}), numbers,
            numbers + label_bytes) +
      "}";
  while (head.size() % 8 != 0) head += ' ';
  const auto size = static_cast<std::uint64_t>(head.size());
  std::string content(8, '\0');
  std::memcpy(content.data(), &size, 8);
  content += head + std::string(static_cast<std::size_t>(numbers), '\0');
  const std::size_t begin = content.size();
  content.resize(begin + static_cast<std::size_t>(label_bytes));
  std::memcpy(content.data() + begin, labels.data(), static_cast<std::size_t>(label_bytes));
  return content;
}

// Captions of s2vt: frames that are all zero, labels, and words if `words` are any.
void write_captions(const std::filesystem::path& file, const model::Network& network,
                    const at::Tensor& labels, const at::Tensor& words = {}) {
  const model::Shape frames = input_of(network, "frames").shape;
  model::NamedTensors tensors{{"frames", at::zeros({labels.size(0), frames[1], frames[2]})},
                              {"labels", labels}};
  if (words.defined()) tensors["words"] = words;
  model::write_weights(file, tensors, {});
}

TEST(Captions, WithoutWordsHaveTheLabelsOnePositionLater) {
  const model::Network network = small_network("s2vt", {{"length", "4"}});
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "captions.safetensors";
  const at::Tensor labels = at::tensor({7, 8, 2, -100, 9, 2, -100, -100}, at::kLong).view({2, 4});
  write_captions(file, network, labels);
  const Data data = open_safetensors({file}, network, 0.5);
  EXPECT_TRUE(data.has_padding);
  const std::vector<std::int64_t> first{0};
  const auto words = data.training->load(input_of(network, "words"), first);
  EXPECT_TRUE(at::equal(words, at::tensor({1, 7, 8, 2}, at::kLong).view({1, 4})));
  const auto others = data.held_out->load(input_of(network, "words"), first);
  EXPECT_TRUE(at::equal(others, at::tensor({1, 9, 2, 0}, at::kLong).view({1, 4})));
  EXPECT_TRUE(
      at::equal(data.held_out->load(input_of(network, "labels"), first), labels.slice(0, 1)));
}

TEST(Captions, KeepTheWordsThatTheyHave) {
  const model::Network network = small_network("s2vt", {{"length", "3"}});
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "captions.safetensors";
  const at::Tensor words = at::tensor({4, 5, 6}, at::kLong).view({1, 3});
  write_captions(file, network, words + 1, words);
  const Data data = open_safetensors({file}, network, 0.0);
  EXPECT_FALSE(data.has_padding);
  const std::vector<std::int64_t> first{0};
  EXPECT_TRUE(at::equal(data.training->load(input_of(network, "words"), first), words));
}

TEST(Captions, SayWhatIsWrongWithALabel) {
  const model::Network network = small_network("s2vt", {{"length", "3"}});
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "captions.safetensors";
  write_captions(file, network, at::tensor({4, -1, 6}, at::kLong).view({1, 3}));
  EXPECT_EQ(test::message_of<BadFile>([&] { (void)open_safetensors({file}, network, 0.0); }),
            file.string() +
                ": the tensor 'labels': sample 0 has -1; wanted whole numbers from 0 to 30, or "
                "-100 for padding");
}

TEST(TensorFiles, ChecksNumbersBeforeAConversionCouldWrapThem) {
  model::Network network = small_network("mlp");
  network.inputs[1].type = at::kInt;
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "data.safetensors";
  constexpr std::int64_t kWraps = (std::int64_t{1} << 32) + 1;
  write_file_atomically(file, file_of<std::int64_t>(network, {0, 1, kWraps, 0}, "I64"));
  const Data data = open_safetensors({file}, network, 0.0);
  const std::vector<std::int64_t> all{0, 1, 2, 3};
  EXPECT_NE(test::message_of<BadFile>([&] {
              (void)data.training->load(network.inputs[1], all);
            }).find("sample 2 has 4294967297"),
            std::string::npos);
  EXPECT_EQ(data.training->load(network.inputs[1], std::vector<std::int64_t>{1}).scalar_type(),
            at::kInt);
}

TEST(TensorFiles, TakesNumbersOfATypeThatCannotHoldTheBound) {
  model::Network network = small_network("mlp");
  network.inputs[1].bound = 300;
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "data.safetensors";
  write_file_atomically(file, file_of<std::uint8_t>(network, {0, 43, 44, 255}, "U8"));
  const Data data = open_safetensors({file}, network, 0.0);
  const at::Tensor labels =
      data.training->load(network.inputs[1], std::vector<std::int64_t>{0, 1, 2, 3});
  EXPECT_TRUE(labels.equal(at::tensor({0, 43, 44, 255}, at::kLong)));
}

}  // namespace
}  // namespace pipedream::data
