// Builds a network as an ONNX model, of operators and the named tensors that connect them.
//
//   OnnxGraph graph(weights);
//   const auto x = graph.input("x", {"rows", 8});
//   graph.output("y", graph.mlp(x, "net", 2), {"rows", 1});
//   write_file_atomic("model.onnx", graph.model("net"));
//
// The protobuf messages are encoded by hand: only the server uses protobuf, and a process with
// Debian's LibTorch already contains ONNX's own messages, which may be registered only once. The
// operators belong to ONNX operator set 17 (ONNX 1.12).
#pragma once

#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "policies/learned/tensors.h"

namespace yard {

class OnnxGraph {
 public:
  using Value = std::string;                       // name of a tensor in the graph
  using Dim = std::variant<int64_t, std::string>;  // fixed size, or name of a variable size
  using Attribute = std::pair<std::string, std::variant<int64_t, float>>;

  // Requires: `weights` outlives the graph.
  explicit OnnxGraph(const Tensors& weights) : weights_(weights) {}

  Value input(const std::string& name, const std::vector<Dim>& shape);
  void output(const std::string& name, const Value& value, const std::vector<Dim>& shape);

  // Returns the weight `name`, which keeps its name in the graph. Requires: the weight exists.
  Value weight(const std::string& name);
  Value constant(const Tensor& tensor);
  Value integer_constant(const std::vector<int64_t>& values);  // one-dimensional

  // Adds the operator `op` and returns its first output. The name "" omits an optional input.
  Value add(const std::string& op, const std::vector<Value>& inputs,
            const std::vector<Attribute>& attributes = {});

  Value relu(const Value& x) { return add("Relu", {x}); }
  // Returns x W^T + bias for the weight W (out, in). `bias` is any tensor, or "" for no bias.
  Value linear(const Value& x, const std::string& weight, const Value& bias);
  // Adds a multi-layer perceptron that computes the same as class Mlp in layers.h.
  Value mlp(Value x, const std::string& name, int layers);
  // Concatenates along `axis`: 0 stacks rows, 1 joins columns.
  Value concat(const Value& a, const Value& b, int64_t axis) {
    return add("Concat", {a, b}, {{"axis", axis}});
  }
  Value reshape(const Value& x, const std::vector<int64_t>& shape) {
    return add("Reshape", {x, integer_constant(shape)});
  }
  // Returns rows [from, to) of `x`; `from` and `to` are one-dimensional integer tensors.
  Value slice(const Value& x, const Value& from, const Value& to) {
    return add("Slice", {x, from, to});
  }
  // Returns the number of rows of `x` as an integer tensor of length 1.
  Value count(const Value& x) { return add("Shape", {x}, {{"end", int64_t{1}}}); }
  Value real(const Value& integers);
  // Appends `suffix` (1, C) to each row of `rows` (R, F), which gives (R, F + C).
  Value append_to_each_row(const Value& rows, const Value& suffix);

  // Returns the bytes of the ONNX file; equal graphs have equal bytes.
  std::string model(const std::string& name) const;

 private:
  Value next(const std::string& stem) { return stem + "_" + std::to_string(values_++); }
  void add_initialiser(const std::string& name, int64_t type, const std::vector<int64_t>& shape,
                       std::string_view raw);

  const Tensors& weights_;
  std::set<std::string> used_;  // names of the weights in the graph
  int values_ = 0;
  std::string nodes_, initialisers_, inputs_, outputs_;  // fields of GraphProto
};

}  // namespace yard
