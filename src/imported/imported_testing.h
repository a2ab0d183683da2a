// Small programs for tests, made call by call.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pt2/program.h"

namespace pipedream::imported {

// Makes a program whose tensors all have the shape [N, 4].
class ProgramMaker {
 public:
  ProgramMaker() { program_.symbol = "s0"; }

  pt2::TensorId input(const std::string& name, pt2::Input::Kind kind = pt2::Input::Kind::kUser) {
    const pt2::TensorId made = tensor(name);
    program_.inputs.push_back({kind, made, name, true});
    return made;
  }
  pt2::TensorId parameter(const std::string& name) {
    return input(name, pt2::Input::Kind::kParameter);
  }
  pt2::TensorId buffer(const std::string& name) { return input(name, pt2::Input::Kind::kBuffer); }

  // Calls aten::`op` of the given overload. `module` is the path of the module.
  pt2::TensorId call(const std::string& op, std::vector<pt2::NamedArgument> arguments,
                     const std::string& overload = "", const std::string& module = "") {
    pt2::Call made;
    made.op = "aten::" + op;
    made.overload = overload;
    made.arguments = std::move(arguments);
    made.modules = {{"", "Net"}};
    if (!module.empty()) made.modules.push_back({module, "torch.nn." + module});
    const pt2::TensorId result = tensor(op + std::to_string(program_.calls.size()));
    made.results = {result};
    program_.calls.push_back(std::move(made));
    return result;
  }
  pt2::Program build(pt2::TensorId output) {
    program_.outputs = {output};
    return program_;
  }
  [[nodiscard]] std::vector<pt2::TensorId> different() const {
    std::vector<pt2::TensorId> same;
    for (std::size_t t = 0; t < program_.tensors.size(); ++t)
      same.push_back(id_at<pt2::TensorId>(t));
    return same;
  }
  [[nodiscard]] std::vector<bool> trained() const {
    std::vector<bool> is(program_.tensors.size(), false);
    for (const pt2::Input& each : program_.inputs)
      is[each.tensor.index()] = each.kind == pt2::Input::Kind::kParameter;
    return is;
  }

 private:
  pt2::TensorId tensor(const std::string& name) {
    program_.tensors.push_back({name, pt2::Type::kFloat, {pt2::Size::parse("s0"), 4}});
    return id_at<pt2::TensorId>(program_.tensors.size() - 1);
  }
  pt2::Program program_;
};

}  // namespace pipedream::imported
