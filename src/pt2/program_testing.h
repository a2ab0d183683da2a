// A small exported program for tests, as torch.export writes it: y = relu(x·wᵀ + b), and twice the
// number of samples as a size.
#pragma once

#include <string>

namespace pipedream::pt2 {

inline std::string small_program() {
  const std::string batch =
      R"j({"as_expr": {"expr_str": "Symbol('s7', positive=True, integer=True)", "hint": {"as_int": 2}}})j";
  const auto meta = [](const std::string& sizes, bool gradient = false) {
    return R"({"dtype": 7, "sizes": [)" + sizes + R"(], "requires_grad": )" +
           (gradient ? "true" : "false") +
           R"(, "device": {"type": "cpu", "index": null}, "strides": [], "storage_offset": {"as_int": 0}, "layout": 7})";
  };
  const std::string stack =
      R"("metadata": {"nn_module_stack": "L__self__,,__main__.Net;L__self___fc,fc,torch.nn.modules.linear.Linear"})";
  return R"({"schema_version": {"major": 8, "minor": 15}, "torch_version": "2.10.0",
 "range_constraints": {"s7": {"min_val": 0, "max_val": 64}},
 "graph_module": {
  "graph": {
   "inputs": [],
   "outputs": [{"as_tensor": {"name": "relu"}}],
   "nodes": [
    {"target": "torch.ops.aten.sym_size.int",
     "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}, "kind": 1},
                {"name": "dim", "arg": {"as_int": 0}, "kind": 1}],
     "outputs": [{"as_sym_int": {"as_name": "n"}}], "metadata": {}},
    {"target": "torch.ops.aten.linear.default",
     "inputs": [{"name": "input", "arg": {"as_tensor": {"name": "x"}}, "kind": 1},
                {"name": "weight", "arg": {"as_tensor": {"name": "p_w"}}, "kind": 1},
                {"name": "bias", "arg": {"as_tensor": {"name": "p_b"}}, "kind": 1}],
     "outputs": [{"as_tensor": {"name": "linear"}}], )" +
         stack + R"(},
    {"target": "torch.ops.aten.view.default",
     "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "linear"}}, "kind": 1},
                {"name": "size", "arg": {"as_sym_ints": [{"as_name": "n"}, {"as_int": 2}]}, "kind": 1}],
     "outputs": [{"as_tensor": {"name": "view"}}], )" +
         stack + R"(},
    {"target": "torch.ops.aten.relu.default",
     "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "view"}}, "kind": 1}],
     "outputs": [{"as_tensor": {"name": "relu"}}], "metadata": {}}],
   "tensor_values": {"x": )" +
         meta(batch + R"(, {"as_int": 3})") + R"(, "p_w": )" +
         meta(R"({"as_int": 2}, {"as_int": 3})", true) + R"(, "p_b": )" +
         meta(R"({"as_int": 2})", true) + R"(, "linear": )" + meta(batch + R"(, {"as_int": 2})") +
         R"(, "view": )" + meta(batch + R"(, {"as_int": 2})") + R"(, "relu": )" +
         meta(batch + R"(, {"as_int": 2})") + R"(},
   "sym_int_values": {"n": )" +
         batch + R"(}, "sym_bool_values": {}},
  "signature": {
   "input_specs": [
    {"parameter": {"arg": {"name": "p_w"}, "parameter_name": "fc.weight"}},
    {"parameter": {"arg": {"name": "p_b"}, "parameter_name": "fc.bias"}},
    {"user_input": {"arg": {"as_tensor": {"name": "x"}}}}],
   "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "relu"}}}}]}}})";
}

inline std::string small_weights() {
  const auto tensor = [](const std::string& name, const std::string& entry,
                         const std::string& sizes, const std::string& strides) {
    return "\"" + name + R"(": {"path_name": ")" + entry +
           R"(", "is_param": true, "use_pickle": false, "tensor_meta": {"dtype": 7, "sizes": [)" +
           sizes + R"(], "requires_grad": true, "strides": [)" + strides +
           R"(], "storage_offset": {"as_int": 0}, "layout": 7}})";
  };
  return R"({"config": {)" +
         tensor("fc.weight", "weight_0", R"({"as_int": 2}, {"as_int": 3})",
                R"({"as_int": 3}, {"as_int": 1})") +
         ", " + tensor("fc.bias", "weight_1", R"({"as_int": 2})", R"({"as_int": 1})") + "}}";
}

}  // namespace pipedream::pt2
