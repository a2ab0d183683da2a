// An exported program: the calls that one forward pass of a PyTorch model makes, as torch.export
// writes them down (docs/own_models.md). Nothing here knows libtorch, so that reading a file of a
// stranger can be fuzzed.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/ids.h"
#include "pt2/size.h"

namespace pipedream::pt2 {

// The number of a tensor in Program::tensors.
using TensorId = Id<struct TensorTag>;

// Types of elements, with the numbers that files have for them.
enum class Type {
  kByte = 1,
  kChar = 2,
  kShort = 3,
  kInt = 4,
  kLong = 5,
  kHalf = 6,
  kFloat = 7,
  kDouble = 8,
  kComplexHalf = 9,
  kComplexFloat = 10,
  kComplexDouble = 11,
  kBool = 12,
  kBFloat16 = 13
};
[[nodiscard]] bool is_real(Type type);
[[nodiscard]] std::uint64_t element_size(Type type);

enum class MemoryFormat { kContiguous = 1, kChannelsLast = 2, kChannelsLast3d = 3, kPreserve = 4 };

// What a program says of one tensor: an input, a weight, or the result of a call.
struct Tensor {
  std::string name;
  Type type = Type::kFloat;
  std::vector<Size> sizes;
};

// Arguments of calls. All whole numbers are a Size, since they may depend on the number of samples.
struct None {
  friend bool operator==(const None&, const None&) = default;
};
struct Device {};  // the device of the export; a training chooses its own
struct Layout {};  // strided, whatever the file says
// An argument of a kind that is not supported, such as a custom object.
struct Unsupported {
  std::string kind;
};
using Tensors = std::vector<std::optional<TensorId>>;
using Argument =
    std::variant<None, TensorId, Tensors, Size, std::vector<Size>, double, std::vector<double>,
                 bool, std::vector<bool>, std::string, std::vector<std::string>, Type, MemoryFormat,
                 Layout, Device, Unsupported>;

struct NamedArgument {
  std::string name;
  Argument value;
};

// A result of a call: one tensor, a list of tensors, or nothing that is used.
using Result = std::variant<None, TensorId, std::vector<TensorId>>;

// The place of a call in the tree of modules: "layers.0.self_attn" of the class
// "torch.nn.modules.activation.MultiheadAttention". The path of the whole model is empty.
struct Module {
  std::string path;
  std::string type;
  friend bool operator==(const Module&, const Module&) = default;
};

// A region of torch.autocast.
struct Autocast {
  bool on = true;            // false: torch.autocast(enabled=False)
  std::optional<Type> type;  // nullopt: the default of the device
  friend bool operator==(const Autocast&, const Autocast&) = default;
};

// A call of an operator, such as aten::linear.
struct Call {
  std::string op;        // "aten::add"
  std::string overload;  // "Tensor"; empty for the default one
  std::vector<NamedArgument> arguments;
  std::vector<Result> results;
  std::vector<Module> modules;       // from the whole model to the innermost
  bool without_gradient = false;     // called under torch.no_grad()
  std::optional<Autocast> autocast;  // of the region of torch.autocast around the call, if any
};

// A tensor that a program begins with.
struct Input {
  enum class Kind { kUser, kParameter, kBuffer, kConstant };
  Kind kind = Kind::kUser;
  TensorId tensor;
  // As the user knows it: the name of the argument of forward(), or the name in the state dict.
  std::string name;
  bool is_in_state_dict = true;  // false for constants and for buffers that are not persistent
};

// A buffer whose new content is a result of the program, and not written by a call.
struct NewBuffer {
  TensorId tensor;
  std::string buffer;
};

struct Program {
  std::vector<Tensor> tensors;
  std::vector<Input> inputs;
  std::vector<Call> calls;  // producers before their users
  std::vector<TensorId> outputs;
  std::vector<NewBuffer> new_buffers;
  // The symbol that stands for the number of samples in formulas; empty if the program was exported
  // for a fixed number, which is `samples` then. Formulas have no other symbols.
  std::string symbol;
  std::int64_t samples = 0;               // of the example that the program was exported with
  std::int64_t most_samples = INT64_MAX;  // the largest number that the export allows
  // Symbols of other sizes that the export left open. They are replaced by the example's values.
  std::vector<std::string> fixed_sizes;
};

// Reads the text of models/model.json. `file` is only used in messages. Throws BadFile, with the
// file and the place, if the text is no program, if a number is out of its range, or if a value is
// used before it is there. Throws CannotMeet for programs that this version cannot use.
[[nodiscard]] Program parse_program(std::string_view content, const std::string& file);

// A tensor in the file, as data/weights/model_weights_config.json describes it.
struct StoredTensor {
  std::string entry;  // the name of the entry that has the bytes, without its folder
  Type type = Type::kFloat;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;  // of the first element, in elements
  bool needs_gradient = false;
  // Two stored tensors are equal if they are the same memory, as tied weights are.
  friend auto operator<=>(const StoredTensor&, const StoredTensor&) = default;
};

// Reads the text of a list of stored tensors: their names in the model, and where they are. Throws
// BadFile; CannotMeet for tensors that are stored as Python objects.
[[nodiscard]] std::map<std::string, StoredTensor> parse_stored_tensors(std::string_view content,
                                                                       const std::string& file);

// The number of bytes of all elements, where a repeated element counts each time. Throws BadValue
// if that is too large to count.
[[nodiscard]] std::uint64_t bytes_when_dense(const StoredTensor& tensor);

// The number of bytes that an entry must have to hold the tensor. Throws BadValue if that is too
// large to count.
[[nodiscard]] std::uint64_t bytes_needed(const StoredTensor& tensor);

}  // namespace pipedream::pt2
