#include "policies/learned/onnx_model.h"

#include "policies/learned/learned_policy.h"
#include "policies/learned/onnx_graph.h"

namespace yard {
namespace {

// Computes the same as Normaliser in layers.h.
OnnxGraph::Value standardise(OnnxGraph& graph, const OnnxGraph::Value& x, const std::string& name) {
  const auto centred = graph.add("Sub", {x, graph.weight(name + "_mean")});
  return graph.add("Mul", {centred, graph.weight(name + "_scale")});
}

}  // namespace

std::string onnx_of(const Checkpoint& checkpoint) {
  if (!NativeNetworkRegistry::has(checkpoint.network)) return "";
  const ObservationShape shape = make_agent(checkpoint.agent, {})->shape();
  OnnxGraph graph(checkpoint.weights);
  const auto rows = graph.input("rows", {"R", shape.row_features});
  const auto cluster = graph.input("cluster", {shape.cluster_features});
  const auto prior = graph.input("prior", {"R + 1"});
  const auto scores = network_of(checkpoint, "model.safetensors")
                          ->export_onnx(graph, standardise(graph, rows, "job"),
                                        graph.reshape(standardise(graph, cluster, "cluster"),
                                                      {1, shape.cluster_features}));
  if (!scores) return "";
  const auto all =
      graph.concat(graph.reshape(scores->rows, {-1}), graph.reshape(scores->nothing, {-1}), 0);
  graph.output("logits", graph.add("Add", {prior, all}), {"R + 1"});
  return graph.model(checkpoint.network);
}

}  // namespace yard
