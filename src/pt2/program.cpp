#include "pt2/program.h"

#include <algorithm>
#include <limits>

#include "core/document.h"
#include "core/error.h"
#include "core/text.h"
#include "pt2/calls.h"

namespace pipedream::pt2 {
namespace {

constexpr std::int64_t kSchema = 8;  // the major version of torch's format that is read here

std::int64_t whole_number(const Node& node) { return node.integer(INT64_MIN, INT64_MAX); }

// JSON has no infinite numbers, so files have text for them.
double real_number(const Node& node) {
  if (!node.is_text())
    return node.number(std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max());
  const std::string text = node.text();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  node.fail("wanted a number, found '" + printable(text) + "'");
}

Type parse_type(const Node& node) {
  const std::int64_t number = node.integer(0, 1000);
  if (number < static_cast<std::int64_t>(Type::kByte) ||
      number > static_cast<std::int64_t>(Type::kBFloat16))
    node.fail(
        "a tensor's type has the number " + std::to_string(number) +
        ", which is not supported: use real numbers of 16 bits or more, whole numbers or bool");
  return static_cast<Type>(number);
}

// The one key that an object of a union type has, and its value.
std::pair<std::string, Node> chosen(const Node& node) {
  auto members = node.members();
  if (members.size() != 1) node.fail("wanted an object with one key");
  return members.front();
}

// A size with symbols. `hints` gets the value that symbols have in the example.
Size parse_size(const Node& node, std::map<std::string, std::int64_t>& hints) {
  const auto [kind, value] = chosen(node);
  if (kind == "as_int") return whole_number(value);
  if (kind != "as_expr") node.fail("wanted a size");
  const Node text = value.at("expr_str");
  try {
    const Size size = Size::parse(text.text());
    const auto hint = value.find("hint");
    if (hint && !hint->is_null() && size.is_symbol())
      if (const auto [of, number] = chosen(*hint); of == "as_int")
        hints.emplace(*size.symbols().begin(), whole_number(number));
    return size;
  } catch (const BadValue& error) {
    text.fail(error.what());
  }
}

// "L__self__,,__main__.Net;L__self___fc,fc,torch.nn.modules.linear.Linear": from the whole model to
// the innermost module, each with a key, its path and its class.
std::vector<Module> parse_modules(const std::string& text) {
  std::vector<Module> modules;
  for (const std::string& part : split(text, ';')) {
    const auto words = split(part, ',');
    if (words.size() < 3 || words[1].starts_with("_empty_nn_module_stack")) continue;
    modules.push_back({words[1], words[2]});
  }
  return modules;
}

// How calls inside a region of the model are made.
struct Region {
  bool without_gradient = false;
  std::optional<Autocast> autocast;
};

// Reads one program.
class ProgramReader {
 public:
  ProgramReader(const Node& root, const std::string& file) : root_(root), file_(file) {}
  Program read();

 private:
  // The tensors and sizes that the calls of one graph know by name.
  struct Names {
    std::map<std::string, TensorId> tensors;
    std::map<std::string, Size> sizes;
    Node types;  // "tensor_values" of the graph
  };

  void check_version() const;
  Names names_of(const Node& graph);
  void add_inputs(const Node& signature, const Node& graph, Names& names);
  void add_input(const Node& spec, Names& names);
  void add_outputs(const Node& signature, const Names& names);
  void add_calls(const Node& graph, Names& names, const Region& region);
  void add_call(const Node& node, Names& names, const Region& region);
  // Adds the calls of a region of torch.no_grad() or torch.autocast, which is a graph of its own.
  // Returns false if `target` is no such region.
  bool add_region(const Node& node, const std::string& target, Names& names, Region region);
  void inline_graph(const Node& node, const Node& graph, const std::vector<Node>& arguments,
                    Names& names, const Region& region);
  TensorId add_tensor(const Node& named, const Names& names);
  TensorId tensor_named(const Node& node, const Names& names) const;
  Size size_named(const Node& node, const Names& names) const;
  Argument argument(const Node& node, const Names& names) const;
  Argument list_argument(const std::string& kind, const Node& value, const Names& names) const;
  std::optional<Result> result(const Node& node, Names& names);
  void choose_symbol();
  void replace_symbols();

  Node root_;
  const std::string& file_;
  Program program_;
  std::map<std::string, std::int64_t> hints_;
};

TensorId ProgramReader::tensor_named(const Node& node, const Names& names) const {
  const std::string name = node.at("name").text();
  const auto found = names.tensors.find(name);
  if (found == names.tensors.end())
    node.fail("there is no tensor '" + printable(name) + "' before this place");
  return found->second;
}

Size ProgramReader::size_named(const Node& node, const Names& names) const {
  const auto [kind, value] = chosen(node);
  if (kind == "as_int") return whole_number(value);
  if (kind != "as_name") node.fail("wanted a size");
  const auto found = names.sizes.find(value.text());
  if (found == names.sizes.end())
    node.fail("there is no size '" + printable(value.text()) + "' in this graph");
  return found->second;
}

// Makes a new tensor, of the type that the graph gives for its name.
TensorId ProgramReader::add_tensor(const Node& named, const Names& names) {
  const std::string name = named.at("name").text();
  if (names.tensors.contains(name)) named.fail("there are two tensors '" + printable(name) + "'");
  const auto meta = names.types.find(name);
  if (!meta) named.fail("the tensor '" + printable(name) + "' has no type");
  constexpr std::int64_t kStrided = 7;
  if (meta->at("layout").integer(0, 100) != kStrided)
    throw CannotMeet(file_ + ": the tensor '" + printable(name) +
                     "' is sparse, and only dense tensors are supported");
  Tensor tensor{.name = name, .type = parse_type(meta->at("dtype")), .sizes = {}};
  for (const Node& size : meta->at("sizes").elements()) {
    tensor.sizes.push_back(parse_size(size, hints_));
    if (tensor.sizes.back().is_number() && tensor.sizes.back().at(0) < 0)
      size.fail("wanted a size of 0 or more");
  }
  program_.tensors.push_back(std::move(tensor));
  return id_at<TensorId>(program_.tensors.size() - 1);
}

Argument ProgramReader::list_argument(const std::string& kind, const Node& value,
                                      const Names& names) const {
  const auto each = [&](auto list, auto one) {
    for (const Node& element : value.elements()) list.push_back(one(element));
    return Argument(std::move(list));
  };
  if (kind == "as_tensors")
    return each(Tensors{}, [&](const Node& n) { return std::optional(tensor_named(n, names)); });
  if (kind == "as_optional_tensors")
    return each(Tensors{}, [&](const Node& n) -> std::optional<TensorId> {
      const auto [of, tensor] = chosen(n);
      if (of == "as_none") return std::nullopt;
      return tensor_named(tensor, names);
    });
  if (kind == "as_ints")
    return each(std::vector<Size>{}, [](const Node& n) { return Size(whole_number(n)); });
  if (kind == "as_sym_ints")
    return each(std::vector<Size>{}, [&](const Node& n) { return size_named(n, names); });
  if (kind == "as_floats") return each(std::vector<double>{}, real_number);
  if (kind == "as_bools")
    return each(std::vector<bool>{}, [](const Node& n) { return n.boolean(); });
  if (kind == "as_strings")
    return each(std::vector<std::string>{}, [](const Node& n) { return n.any_text(); });
  return Unsupported{kind};
}

Argument ProgramReader::argument(const Node& node, const Names& names) const {
  const auto [kind, value] = chosen(node);
  if (kind == "as_none") return None{};
  if (kind == "as_tensor") return tensor_named(value, names);
  if (kind == "as_int") return Size(whole_number(value));
  if (kind == "as_sym_int") return size_named(value, names);
  if (kind == "as_float") return real_number(value);
  if (kind == "as_bool") return value.boolean();
  if (kind == "as_string") return value.any_text();
  if (kind == "as_scalar_type") return parse_type(value);
  if (kind == "as_device") return Device{};
  if (kind == "as_layout") return Layout{};
  if (kind == "as_memory_format") return static_cast<MemoryFormat>(value.integer(1, 4));
  if (kind == "as_optional_tensor") {
    const auto [of, tensor] = chosen(value);
    return of == "as_none" ? Argument(None{}) : Argument(tensor_named(tensor, names));
  }
  return list_argument(kind, value, names);
}

// Returns nullopt for a result that is no tensor, such as a size.
std::optional<Result> ProgramReader::result(const Node& node, Names& names) {
  const auto [kind, value] = chosen(node);
  const auto make = [&](const Node& named) {
    const TensorId made = add_tensor(named, names);
    names.tensors.emplace(named.at("name").text(), made);
    return made;
  };
  if (kind == "as_tensor") return make(value);
  if (kind == "as_none") return None{};
  if (kind == "as_tensors") {
    std::vector<TensorId> list;
    for (const Node& each : value.elements()) list.push_back(make(each));
    return list;
  }
  if (kind == "as_optional_tensor") {
    const auto [of, tensor] = chosen(value);
    return of == "as_none" ? Result(None{}) : Result(make(tensor));
  }
  return std::nullopt;
}

// Turns "torch.ops.aten.add.Tensor" into an operator and its overload. Other targets stay as they
// are: no operator has their name.
void set_target(const std::string& target, Call& call) {
  const auto words = split(target, '.');
  if (words.size() != 5 || words[0] != "torch" || words[1] != "ops") {
    call.op = target;
    return;
  }
  call.op = words[2] + "::" + words[3];
  call.overload = words[4] == "default" ? "" : words[4];
}

void ProgramReader::inline_graph(const Node& node, const Node& graph,
                                 const std::vector<Node>& arguments, Names& names,
                                 const Region& region) {
  Names inner = names_of(graph);
  const auto inputs = graph.at("inputs").elements();
  if (inputs.size() != arguments.size()) node.fail("wanted one argument for each input");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto [kind, value] = chosen(inputs[i]);
    if (kind != "as_tensor") continue;  // sizes are formulas, and need not be handed over
    const auto [given, tensor] = chosen(arguments[i].at("arg"));
    if (given != "as_tensor") arguments[i].fail("wanted a tensor");
    inner.tensors.emplace(value.at("name").text(), tensor_named(tensor, names));
  }
  add_calls(graph, inner, region);
  const auto outputs = graph.at("outputs").elements();
  const auto results = node.at("outputs").elements();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto [kind, value] = chosen(results[i]);
    if (kind != "as_tensor") continue;
    if (i >= outputs.size()) node.fail("wanted an output for each result");
    const auto [of, inside] = chosen(outputs[i]);
    if (of != "as_tensor") outputs[i].fail("wanted a tensor");
    if (!names.tensors.emplace(value.at("name").text(), tensor_named(inside, inner)).second)
      results[i].fail("there are two tensors of this name");
  }
}

// Reads torch.autocast(device, type, on): the region applies to whatever device runs the model.
Autocast autocast_of(const std::vector<Node>& arguments) {
  Autocast autocast{.on = arguments[2].at("arg").at("as_bool").boolean(), .type = {}};
  const auto [kind, value] = chosen(arguments[1].at("arg"));
  if (kind == "as_none") return autocast;
  if (kind != "as_scalar_type") arguments[1].fail("wanted the type of an autocast");
  autocast.type = parse_type(value);
  if (autocast.type != Type::kHalf && autocast.type != Type::kBFloat16 &&
      autocast.type != Type::kFloat)
    arguments[1].fail("autocast to this type is not possible");
  return autocast;
}

bool ProgramReader::add_region(const Node& node, const std::string& target, Names& names,
                               Region region) {
  const std::string prefix = "torch.ops.higher_order.wrap_with_";
  if (!target.starts_with(prefix)) return false;
  const auto arguments = node.at("inputs").elements();
  const bool is_autocast = target == prefix + "autocast";
  if (!is_autocast && target != prefix + "set_grad_enabled") return false;
  const std::size_t graph = is_autocast ? 4 : 1;  // which argument it is
  if (graph >= arguments.size()) node.fail("an argument is missing");
  if (is_autocast)
    region.autocast = autocast_of(arguments);
  else
    region.without_gradient = !arguments[0].at("arg").at("as_bool").boolean();
  const Node inner = arguments[graph].at("arg").at("as_graph").at("graph");
  inline_graph(node, inner,
               {arguments.begin() + static_cast<std::ptrdiff_t>(graph) + 1, arguments.end()}, names,
               region);
  return true;
}

void ProgramReader::add_call(const Node& node, Names& names, const Region& region) {
  const std::string target = node.at("target").text();
  if (add_region(node, target, names, region)) return;
  Call call;
  set_target(target, call);
  call.without_gradient = region.without_gradient;
  call.autocast = region.autocast;
  for (const Node& each : node.at("inputs").elements())
    call.arguments.push_back({each.at("name").text(), argument(each.at("arg"), names)});
  bool makes_tensors = false;
  bool makes_others = false;
  for (const Node& each : node.at("outputs").elements()) {
    auto made = result(each, names);
    (made ? makes_tensors : makes_others) = true;
    call.results.push_back(made ? std::move(*made) : Result(None{}));
  }
  // Calls that compute sizes are not needed: the sizes are known as formulas.
  if (makes_others && !makes_tensors) return;
  if (const auto modules = node.at("metadata").find("nn_module_stack"))
    call.modules = parse_modules(modules->any_text());
  program_.calls.push_back(std::move(call));
}

void ProgramReader::add_calls(const Node& graph, Names& names, const Region& region) {
  for (const Node& node : graph.at("nodes").elements()) add_call(node, names, region);
}

ProgramReader::Names ProgramReader::names_of(const Node& graph) {
  Names names{.tensors = {}, .sizes = {}, .types = graph.at("tensor_values")};
  for (const auto& [name, size] : graph.at("sym_int_values").members())
    names.sizes.emplace(name, parse_size(size, hints_));
  return names;
}

void ProgramReader::add_input(const Node& spec, Names& names) {
  const auto [kind, value] = chosen(spec);
  if (kind == "constant_input") return;  // its value is in the calls
  const auto add = [&](Input::Kind of, const Node& named, const std::string& name, bool in_state) {
    const TensorId tensor = add_tensor(named, names);
    names.tensors.emplace(named.at("name").text(), tensor);
    program_.inputs.push_back({of, tensor, name, in_state});
  };
  if (kind == "user_input") {
    const auto [of, named] = chosen(value.at("arg"));
    if (of == "as_none") return;
    if (of != "as_tensor")
      throw CannotMeet(file_ + ": an input of the model is no tensor: export it with tensors only");
    return add(Input::Kind::kUser, named, named.at("name").text(), false);
  }
  if (kind == "parameter")
    return add(Input::Kind::kParameter, value.at("arg"), value.at("parameter_name").text(), true);
  if (kind == "buffer")
    return add(Input::Kind::kBuffer, value.at("arg"), value.at("buffer_name").text(),
               value.at("persistent").boolean());
  if (kind == "tensor_constant")
    return add(Input::Kind::kConstant, value.at("arg"), value.at("tensor_constant_name").text(),
               false);
  throw CannotMeet(file_ + ": the model has an input of the kind '" + printable(kind) +
                   "', which is not supported");
}

void ProgramReader::add_outputs(const Node& signature, const Names& names) {
  for (const Node& spec : signature.at("output_specs").elements()) {
    const auto [kind, value] = chosen(spec);
    if (kind == "user_output") {
      const auto [of, named] = chosen(value.at("arg"));
      if (of == "as_tensor") program_.outputs.push_back(tensor_named(named, names));
    } else if (kind == "loss_output") {
      program_.outputs.push_back(tensor_named(value.at("arg"), names));
    } else if (kind == "buffer_mutation") {
      const Node named = value.at("buffer_name");
      if (std::none_of(program_.inputs.begin(), program_.inputs.end(), [&](const Input& input) {
            return input.kind == Input::Kind::kBuffer && input.name == named.text();
          }))
        named.fail("there is no buffer '" + printable(named.text()) + "'");
      program_.new_buffers.push_back({tensor_named(value.at("arg"), names), named.text()});
    } else {
      throw CannotMeet(file_ + ": the model changes its inputs or parameters ('" + printable(kind) +
                       "'), which is not supported");
    }
  }
}

// Finds out which symbol is the number of samples: the first size of all inputs.
void ProgramReader::choose_symbol() {
  std::optional<Size> first;
  for (const Input& input : program_.inputs) {
    if (input.kind != Input::Kind::kUser) continue;
    const Tensor& tensor = program_.tensors[input.tensor.index()];
    const std::string who = file_ + ": the input '" + printable(input.name) + "' ";
    if (tensor.sizes.empty())
      throw CannotMeet(who + "has no dimension of samples: its first dimension must count them");
    const Size& size = tensor.sizes.front();
    if (!size.is_number() && !size.is_symbol())
      throw CannotMeet(who +
                       "has a formula for its number of samples: export the model with one "
                       "torch.export.Dim for the first dimension of all inputs");
    if (first && !(*first == size))
      throw CannotMeet(who +
                       "has another number of samples than the input before: give the first "
                       "dimension of all inputs the same torch.export.Dim");
    first = size;
  }
  if (!first) throw CannotMeet(file_ + ": the model has no input");
  if (first->is_number()) {
    program_.samples = first->at(0);
    if (program_.samples < 1)
      throw BadFile(file_ + ": the inputs have " + std::to_string(program_.samples) + " samples");
    return;
  }
  program_.symbol = *first->symbols().begin();
  const auto hint = hints_.find(program_.symbol);
  program_.samples = hint == hints_.end() ? 0 : hint->second;
  if (const auto range = root_.at("range_constraints").find(program_.symbol))
    if (const Node most = range->at("max_val"); !most.is_null())
      program_.most_samples = most.integer(0, INT64_MAX);
}

// All other symbols get the values that they have in the example.
void ProgramReader::replace_symbols() {
  std::map<std::string, std::int64_t> others = hints_;
  others.erase(program_.symbol);
  std::set<std::string> replaced;
  // `call` makes a tensor of this size, or has the size as an argument; nullptr if no call does.
  const auto replace = [&](Size& size, const Call* call) {
    if (size.is_number()) return;
    const auto symbols = size.symbols();
    size = size.with(others);
    replaced.insert(symbols.begin(), symbols.end());
    for (const std::string& left : size.symbols())
      if (left != program_.symbol)
        throw CannotMeet(file_ + ": the size '" + printable(left) + "' depends on the data" +
                         (call == nullptr
                              ? ""
                              : " (" + printable(call->op) + " in " + module_text(*call) + ")") +
                         ", which is not supported: a mask may do instead of a selection");
  };
  for (Call& call : program_.calls) {
    for (NamedArgument& each : call.arguments) {
      if (auto* size = std::get_if<Size>(&each.value)) replace(*size, &call);
      if (auto* list = std::get_if<std::vector<Size>>(&each.value))
        for (Size& size : *list) replace(size, &call);
    }
    for (const TensorId made : makes_of(call))
      for (Size& size : program_.tensors[made.index()].sizes) replace(size, &call);
  }
  for (Tensor& tensor : program_.tensors)
    for (Size& size : tensor.sizes) replace(size, nullptr);
  replaced.erase(program_.symbol);
  program_.fixed_sizes.assign(replaced.begin(), replaced.end());
}

void ProgramReader::check_version() const {
  const std::int64_t major = root_.at("schema_version").at("major").integer(0, 1'000'000);
  if (major != kSchema)
    throw CannotMeet(file_ + ": the file has version " + std::to_string(major) +
                     " of torch's export format, and this program reads version " +
                     std::to_string(kSchema) + " (torch 2.10 and later): export the model anew");
}

Program ProgramReader::read() {
  check_version();
  const Node module = root_.at("graph_module");
  const Node graph = module.at("graph");
  const Node signature = module.at("signature");
  try {
    Names names = names_of(graph);
    for (const Node& spec : signature.at("input_specs").elements()) add_input(spec, names);
    add_calls(graph, names, {});
    add_outputs(signature, names);
    choose_symbol();
    replace_symbols();
  } catch (const BadValue& error) {
    throw BadFile(file_ + ": " + error.what());
  }
  return std::move(program_);
}

}  // namespace

bool is_real(Type type) {
  return type == Type::kHalf || type == Type::kFloat || type == Type::kDouble ||
         type == Type::kBFloat16;
}

std::uint64_t element_size(Type type) {
  switch (type) {
    case Type::kByte:
    case Type::kChar:
    case Type::kBool:
      return 1;
    case Type::kShort:
    case Type::kHalf:
    case Type::kBFloat16:
      return 2;
    case Type::kInt:
    case Type::kFloat:
    case Type::kComplexHalf:
      return 4;
    case Type::kLong:
    case Type::kDouble:
    case Type::kComplexFloat:
      return 8;
    case Type::kComplexDouble:
      return 16;
  }
  return 0;
}

Program parse_program(std::string_view content, const std::string& file) {
  return ProgramReader(parse_json(content, file), file).read();
}

std::map<std::string, StoredTensor> parse_stored_tensors(std::string_view content,
                                                         const std::string& file) {
  std::map<std::string, StoredTensor> stored;
  const auto number = [](const Node& node) {
    const auto [kind, value] = chosen(node);
    if (kind != "as_int") node.fail("wanted a number");
    return value.integer(0, INT64_MAX);
  };
  for (const auto& [name, node] : parse_json(content, file).at("config").members()) {
    if (node.at("use_pickle").boolean())
      throw CannotMeet(file + ": '" + printable(name) +
                       "' is stored as a Python object, which is not read: use plain tensors");
    const Node meta = node.at("tensor_meta");
    StoredTensor tensor{.entry = node.at("path_name").text(),
                        .type = parse_type(meta.at("dtype")),
                        .sizes = {},
                        .strides = {},
                        .offset = number(meta.at("storage_offset")),
                        .needs_gradient = meta.at("requires_grad").boolean()};
    for (const Node& size : meta.at("sizes").elements()) tensor.sizes.push_back(number(size));
    for (const Node& stride : meta.at("strides").elements())
      tensor.strides.push_back(number(stride));
    if (tensor.sizes.size() != tensor.strides.size()) meta.fail("wanted a stride for each size");
    stored.emplace(name, std::move(tensor));
  }
  return stored;
}

std::uint64_t bytes_when_dense(const StoredTensor& tensor) {
  auto bytes = static_cast<std::int64_t>(element_size(tensor.type));
  for (const std::int64_t size : tensor.sizes)
    if (__builtin_mul_overflow(bytes, size, &bytes)) throw BadValue("a tensor is too large");
  return static_cast<std::uint64_t>(bytes);
}

std::uint64_t bytes_needed(const StoredTensor& tensor) {
  std::int64_t place = tensor.offset;  // of the last element
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    if (tensor.sizes[i] == 0) return 0;
    std::int64_t step = 0;
    if (__builtin_mul_overflow(tensor.sizes[i] - 1, tensor.strides[i], &step) ||
        __builtin_add_overflow(place, step, &place))
      throw BadValue("a tensor is too large");
  }
  const auto bytes = static_cast<std::int64_t>(element_size(tensor.type));
  if (__builtin_add_overflow(place, std::int64_t{1}, &place) ||
      __builtin_mul_overflow(place, bytes, &place))
    throw BadValue("a tensor is too large");
  return static_cast<std::uint64_t>(place);
}

}  // namespace pipedream::pt2
