#include "policies/learned/onnx_graph.h"

#include <string_view>

#include "env/base/core/check.h"
#include "env/base/files/protobuf_wire.h"

namespace yard {
namespace {

// Numbers defined by onnx.proto.
constexpr int64_t kIrVersion = 8, kOperatorSet = 17;
constexpr int64_t kFloat = 1, kInt64 = 7;                  // TensorProto.DataType
constexpr int64_t kFloatAttribute = 1, kIntAttribute = 2;  // AttributeProto.AttributeType

using wire::bytes, wire::float_field, wire::number;

template <class T>
std::string_view raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// Encodes a ValueInfoProto of floats.
std::string value_info(const std::string& name, const std::vector<OnnxGraph::Dim>& shape) {
  std::string dims;
  for (const OnnxGraph::Dim& dim : shape) {
    const auto* size = std::get_if<int64_t>(&dim);
    dims += bytes(1, size != nullptr ? number(1, *size) : bytes(2, std::get<std::string>(dim)));
  }
  const std::string tensor = number(1, kFloat) + bytes(2, dims);
  return bytes(1, name) + bytes(2, bytes(1, tensor));
}

// Encodes an AttributeProto.
std::string attribute(const OnnxGraph::Attribute& a) {
  const auto* integer = std::get_if<int64_t>(&a.second);
  return bytes(1, a.first) + (integer != nullptr ? number(3, *integer) + number(20, kIntAttribute)
                                                 : float_field(2, std::get<float>(a.second)) +
                                                       number(20, kFloatAttribute));
}

}  // namespace

// Encodes a TensorProto.
void OnnxGraph::add_initialiser(const std::string& name, int64_t type,
                                const std::vector<int64_t>& shape, std::string_view raw) {
  std::string tensor;
  for (const int64_t n : shape) tensor += number(1, n);
  initialisers_ += bytes(5, tensor + number(2, type) + bytes(8, name) + bytes(9, raw));
}

OnnxGraph::Value OnnxGraph::input(const std::string& name, const std::vector<Dim>& shape) {
  inputs_ += bytes(11, value_info(name, shape));
  return name;
}

void OnnxGraph::output(const std::string& name, const Value& value, const std::vector<Dim>& shape) {
  nodes_ += bytes(1, bytes(1, value) + bytes(2, name) + bytes(4, "Identity"));
  outputs_ += bytes(12, value_info(name, shape));
}

OnnxGraph::Value OnnxGraph::weight(const std::string& name) {
  const auto it = weights_.find(name);
  YARD_CHECK(it != weights_.end(), "the graph needs a weight that is missing");
  if (used_.insert(name).second) {
    add_initialiser(name, kFloat, it->second.shape, raw(it->second.data));
  }
  return name;
}

OnnxGraph::Value OnnxGraph::constant(const Tensor& tensor) {
  Value name = next("constant");
  add_initialiser(name, kFloat, tensor.shape, raw(tensor.data));
  return name;
}

OnnxGraph::Value OnnxGraph::integer_constant(const std::vector<int64_t>& values) {
  Value name = next("integers");
  add_initialiser(name, kInt64, {static_cast<int64_t>(values.size())}, raw(values));
  return name;
}

// Encodes a NodeProto.
OnnxGraph::Value OnnxGraph::add(const std::string& op, const std::vector<Value>& inputs,
                                const std::vector<Attribute>& attributes) {
  Value out = next(op);
  std::string node;
  for (const Value& value : inputs) node += bytes(1, value);
  node += bytes(2, out) + bytes(4, op);
  for (const Attribute& a : attributes) node += bytes(5, attribute(a));
  nodes_ += bytes(1, node);
  return out;
}

OnnxGraph::Value OnnxGraph::linear(const Value& x, const std::string& name, const Value& bias) {
  std::vector<Value> inputs = {x, weight(name)};
  if (!bias.empty()) inputs.push_back(bias);
  return add("Gemm", inputs, {{"transB", int64_t{1}}});
}

OnnxGraph::Value OnnxGraph::mlp(Value x, const std::string& name, int layers) {
  for (int i = 0; i < layers; ++i) {
    const std::string layer = name + "." + std::to_string(i);
    x = linear(x, layer + ".weight", weight(layer + ".bias"));
    if (i + 1 < layers) x = relu(x);
  }
  return x;
}

OnnxGraph::Value OnnxGraph::real(const Value& integers) {
  return add("Cast", {integers}, {{"to", kFloat}});
}

OnnxGraph::Value OnnxGraph::append_to_each_row(const Value& rows, const Value& suffix) {
  const Value shape = concat(count(rows), integer_constant({1}), 0);
  return concat(rows, add("Expand", {suffix, shape}), 1);
}

std::string OnnxGraph::model(const std::string& name) const {
  const std::string graph = nodes_ + bytes(2, name) + initialisers_ + inputs_ + outputs_;
  return number(1, kIrVersion) + bytes(2, "yardmaster") + bytes(7, graph) +
         bytes(8, number(2, kOperatorSet));
}

}  // namespace yard
