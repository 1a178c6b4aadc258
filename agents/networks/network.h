// A trainable network computes scores for the rows of a decision and a value of the state. Each
// network is one file with a class that registers itself (see job_scorer_net.cc). Dims: B samples,
// R rows of all samples together, F row features, C cluster features.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "agents/kernels/torch.h"
#include "agents/ranks/communicator.h"
#include "env/base/config/registry.h"
#include "env/task/observation.h"
#include "policies/learned/native_network.h"

namespace yard {

// Observations of B decisions, packed without padding.
struct RaggedBatch {
  torch::Tensor jobs;     // (R, F)
  torch::Tensor offset;   // (B + 1) int64  sample b has rows [offset[b], offset[b + 1])
  torch::Tensor count;    // (B, 1)     number of rows of each sample, at least 1
  torch::Tensor cluster;  // (B, C)
  torch::Tensor prior;    // (R + B)    logits; very low where an action is illegal
};

// Names of heads. Every network has policy and value heads; learners may request others by name.
inline const std::string kPolicyHead = "policy";  // (R + B) logits: prior + scores
inline const std::string kValueHead = "value";    // (B)
using Heads = std::vector<std::string>;

// Outputs of the requested heads for B decisions.
class NetworkOutput {
 public:
  void set(const std::string& head, torch::Tensor output) { heads_[head] = std::move(output); }
  // Requires: `head` was requested and the network has such a head.
  const torch::Tensor& at(const std::string& head) const;
  const torch::Tensor& logits() const { return at(kPolicyHead); }
  const torch::Tensor& value() const { return at(kValueHead); }

 private:
  std::map<std::string, torch::Tensor> heads_;
};

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

class Network : public torch::nn::Module {
 public:
  static constexpr const char* kKind = "network";
  struct Info {
    std::string about, source;
    std::vector<Field> (*settings)();
  };

  // Creates the layers. Call build() once, before any other function.
  void build(const ObservationShape& shape);

  virtual NetworkOutput forward(const RaggedBatch& batch, const Heads& heads) = 0;
  torch::Tensor logits(const RaggedBatch& batch) { return forward(batch, {kPolicyHead}).logits(); }
  torch::Tensor value(const RaggedBatch& batch) { return forward(batch, {kValueHead}).value(); }

  // Returns the policy's tensors for native inference, without the tensors of the critic.
  Tensors export_policy() const;
  // Throws InputError naming `where` if the tensors do not fit this network.
  void import_policy(const Tensors& tensors, const std::string& where);

  // Fits the feature normaliser, (x - mean) * scale, to `batch` and the batches of all other ranks.
  void fit_normaliser(const RaggedBatch& batch, Communicator& ranks);

 protected:
  virtual void make_layers(const ObservationShape& shape) = 0;
  static bool has(const Heads& heads, const std::string& head) {
    return std::ranges::find(heads, head) != heads.end();
  }
  // Registers an orthogonal_linear().
  torch::nn::Linear register_linear(const char* name, int64_t in, int64_t out, double gain,
                                    bool bias);
  // Returns the policy's tensors by name for export and import, without the normaliser's tensors.
  virtual NamedTensors policy_tensors() const = 0;

  torch::Tensor standardised_jobs(const RaggedBatch& batch) const;     // (R, F)
  torch::Tensor standardised_cluster(const RaggedBatch& batch) const;  // (B, C)

 private:
  NamedTensors policy_and_normaliser_tensors() const;

  torch::Tensor job_mean_, job_scale_, cluster_mean_, cluster_scale_;  // buffers
};

using NetworkRegistry = Registry<Network>;

// Settings of a network whose layers all have `hidden` units.
template <int kDefault>
struct HiddenLayersConfig {
  int hidden = kDefault;
  void fields(FieldList& f) { f("hidden", hidden, 1, int{kMaxHidden}, "hidden units per layer"); }
};

// Returns a linear layer with orthogonal weights and zero biases (Huang et al., "The 37
// implementation details of PPO", 2022, detail 2).
torch::nn::Linear orthogonal_linear(int64_t in, int64_t out, double gain, bool bias);

// Returns the network `name` after build(), with initial weights drawn from `seed`.
std::unique_ptr<Network> make_network(const std::string& name, const Settings& settings,
                                      const ObservationShape& shape, uint64_t seed);

}  // namespace yard
