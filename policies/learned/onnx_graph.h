// A network as an ONNX model: operators, and the named tensors that tie them together.
//
//   OnnxGraph graph(weights);
//   const auto x = graph.input("x", {"rows", 8});
//   graph.output("y", graph.mlp(x, "net", 2), {"rows", 1});
//   write_file_atomic("model.onnx", graph.model("net"));
//
// The protobuf messages are written by hand: protobuf is the server's library alone, and a process
// with Debian's LibTorch already has ONNX's own messages in it, which may be there only once.
// Operators are those of ONNX's operator set 17 (ONNX 1.12).
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
  using Value = std::string;                       // a tensor of the graph by its name
  using Dim = std::variant<int64_t, std::string>;  // fixed, or named where it varies
  using Attribute = std::pair<std::string, std::variant<int64_t, float>>;

  // Requires: `weights` outlives the graph.
  explicit OnnxGraph(const Tensors& weights) : weights_(weights) {}

  Value input(const std::string& name, const std::vector<Dim>& shape);
  void output(const std::string& name, const Value& value, const std::vector<Dim>& shape);

  // Requires: there is one of the name, which it keeps.
  Value weight(const std::string& name);
  Value constant(const Tensor& tensor);
  Value integers(const std::vector<int64_t>& values);  // one-dimensional

  // The first output of an operator; "" among its inputs leaves an optional one out.
  Value add(const std::string& op, const std::vector<Value>& inputs,
            const std::vector<Attribute>& attributes = {});

  Value relu(const Value& x) { return add("Relu", {x}); }
  // x W^T + b of weights W (out, in) and b; b may be a value that was computed, or left out ("").
  Value linear(const Value& x, const std::string& weight, const Value& bias);
  // What Mlp of layers.h computes.
  Value mlp(Value x, const std::string& name, int layers);
  // One below the other, or side by side.
  Value concat(const Value& a, const Value& b, int64_t axis);
  Value reshape(const Value& x, const std::vector<int64_t>& shape);
  // [from, to) along the first axis, both one-dimensional integers.
  Value slice(const Value& x, const Value& from, const Value& to);
  // How many rows x has: integers of length 1.
  Value count(const Value& x) { return add("Shape", {x}, {{"end", int64_t{1}}}); }
  Value real(const Value& integers);
  // (R, F) and (1, C), the same beside each row, to (R, F + C).
  Value beside_each(const Value& rows, const Value& one);

  // The bytes of the file; equal graphs have equal bytes.
  std::string model(const std::string& name) const;

 private:
  Value next(const std::string& stem) { return stem + "_" + std::to_string(values_++); }
  void initialise(const std::string& name, int64_t type, const std::vector<int64_t>& shape,
                  std::string_view raw);

  const Tensors& weights_;
  std::set<std::string> used_;  // weights that are in it
  int values_ = 0;
  std::string nodes_, initialisers_, inputs_, outputs_;  // fields of GraphProto
};

}  // namespace yard
