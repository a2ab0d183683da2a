#include "pt2/digest.h"

#include "core/checksum.h"
#include "core/error.h"
#include "core/text.h"

namespace pipedream::pt2 {
namespace {

std::string value_of(const Size& size, std::int64_t samples) {
  const auto value = size.value_at(samples);
  return value ? std::to_string(*value) : "undefined";
}

// Writes values so that different ones have different texts.
class Writer {
 public:
  explicit Writer(const Program& program) : program_(program) {}

  void write(const None&) { text_ += "none;"; }
  void write(TensorId tensor) { text_ += "t" + std::to_string(tensor.value) + ";"; }
  void write(const std::optional<TensorId>& tensor) {
    if (tensor) {
      write(*tensor);
    } else {
      write(None{});
    }
  }
  // By its values for two numbers of samples: a formula may be written in several ways.
  void write(const Size& size) {
    for (const std::int64_t samples : {5, 8}) text_ += value_of(size, samples) + ";";
  }
  void write(double number) { text_ += "d" + exact_number(number) + ";"; }
  void write(bool value) { text_ += value ? "true;" : "false;"; }
  void write(const std::string& word) { text_ += std::to_string(word.size()) + ":" + word + ";"; }
  void write(Type type) { text_ += "type" + std::to_string(static_cast<int>(type)) + ";"; }
  void write(MemoryFormat format) {
    text_ += "format" + std::to_string(static_cast<int>(format)) + ";";
  }
  void write(const Layout&) { text_ += "layout;"; }
  void write(const Device&) { text_ += "device;"; }
  void write(const Unsupported& argument) { write(argument.kind); }
  template <class Element>
  void write(const std::vector<Element>& list) {
    text_ += "[";
    for (const auto& element : list) write(Element(element));
    text_ += "]";
  }
  void write(const Tensor& tensor) {
    write(tensor.type);
    write(tensor.sizes);
  }
  void write(const Input& input) {
    text_ += "input" + std::to_string(static_cast<int>(input.kind));
    write(input.tensor);
    write(input.name);
    write(program_.tensors[input.tensor.index()]);
  }
  void write(const NamedArgument& argument) {
    write(argument.name);
    std::visit([&](const auto& value) { write(value); }, argument.value);
  }
  void write(const Result& result) {
    std::visit([&](const auto& value) { write(value); }, result);
  }
  void write(const Call& call) {
    write(call.op);
    write(call.overload);
    write(call.arguments);
    write(call.results);
    write(call.without_gradient);
    write(call.autocast.has_value());
    if (!call.autocast) return;
    write(call.autocast->on);
    if (call.autocast->type) {
      write(*call.autocast->type);
    } else {
      write(None{});
    }
  }
  void write(const NewBuffer& buffer) {
    write(buffer.tensor);
    write(buffer.buffer);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  const Program& program_;
  std::string text_;
};

}  // namespace

std::string digest_of(const Program& program) {
  Writer writer(program);
  writer.write(program.inputs);
  writer.write(program.calls);
  writer.write(program.outputs);
  writer.write(program.new_buffers);
  return checksum_of(writer.text());
}

}  // namespace pipedream::pt2
