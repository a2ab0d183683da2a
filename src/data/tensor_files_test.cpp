#include "data/tensor_files.h"

#include <cstring>

#include <gtest/gtest.h>

#include "core/error.h"
#include "core/file.h"
#include "core/testing.h"
#include "core/text.h"
#include "data/networks_testing.h"

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
