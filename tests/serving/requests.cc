#include "tests/serving/requests.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <mutex>

#include "policies/decision_trace.h"
#include "policies/learned/checkpoint.h"
#include "policies/learned/golden.h"
#include "policies/learned/job_scorer.h"
#include "policies/learned/learned_policy.h"
#include "policies/order.h"
#include "tests/support/dispatcher.h"

namespace yard::testing {
namespace {

std::mutex hang_mutex;
std::condition_variable hang_changed;
bool stuck = true;

class Fault : public Policy {
 public:
  explicit Fault(const Settings&) {}
  InformationLevel level() const override { return InformationLevel::kBlind; }
};

class Hangs final : public Fault {
 public:
  using Fault::Fault;
  void decide(const View&, Memory&, Draft&) const override {
    std::unique_lock lock(hang_mutex);
    hang_changed.wait(lock, [] { return !stuck; });
  }
};

class Throws final : public Fault {
 public:
  using Fault::Fault;
  void decide(const View&, Memory&, Draft&) const override { throw RunError("out of ideas"); }
};

class NotFinite final : public Fault {
 public:
  using Fault::Fault;
  void decide(const View&, Memory&, Draft&) const override { throw NonFinite(); }
};

// As a learned policy that has lost interest.
class Idles final : public TracedPolicy {
 public:
  explicit Idles(const Settings&) {}
  InformationLevel level() const override { return InformationLevel::kBlind; }
  void decide(const View&, Memory&, Draft&) const override {}
  void decide_traced(const View&, Memory&, Draft&, DecisionTrace&) const override {}
  std::vector<std::string> feature_names() const override { return {}; }
};

// Starts every waiting job on node 0. A draft refuses that, so the plan is changed directly.
class Illegal final : public Fault {
 public:
  using Fault::Fault;
  void decide(const View& view, Memory&, Draft& draft) const override {
    auto& plan = const_cast<Plan&>(draft.plan());
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      plan.edits.push_back(
          {Verb::kStart, view.ref(slot), static_cast<int32_t>(plan.pieces.size()), 1});
      plan.pieces.push_back({0, view.gpus(slot)});
    }
  }
};

const PolicyRegistry::Add<Hangs> kHangs{
    "test-hangs", {.about = "never comes back", .source = "", .fidelity = ""}};
const PolicyRegistry::Add<Throws> kThrows{"test-throws",
                                          {.about = "throws", .source = "", .fidelity = ""}};
const PolicyRegistry::Add<NotFinite> kNotFinite{
    "test-not-finite", {.about = "not a number", .source = "", .fidelity = ""}};
const PolicyRegistry::Add<Idles> kIdles{"test-idles",
                                        {.about = "does nothing", .source = "", .fidelity = ""}};
const PolicyRegistry::Add<Illegal> kIllegal{
    "test-illegal", {.about = "takes what is not free", .source = "", .fidelity = ""}};

}  // namespace

void start_hanging() {
  const std::lock_guard lock(hang_mutex);
  stuck = true;
}

void stop_hanging() {
  {
    const std::lock_guard lock(hang_mutex);
    stuck = false;
  }
  hang_changed.notify_all();
}

pb::DecideRequest cluster_of(int nodes) {
  pb::DecideRequest request;
  request.set_time_s(10'000);
  for (int i = 0; i < nodes; ++i) {
    pb::Node& node = *request.add_nodes();
    node.set_name("n" + std::to_string(i));
    node.set_gpus(8);
  }
  return request;
}

pb::Job& add_waiting(pb::DecideRequest& request, const std::string& id, uint32_t gpus) {
  pb::Job& job = *request.add_jobs();
  job.set_id(id);
  job.set_state(pb::WAITING);
  job.set_gpus(gpus);
  job.set_submit_s(9000 + request.jobs_size());
  return job;
}

pb::Job& add_running(pb::DecideRequest& request, const std::string& id, uint32_t gpus,
                     const std::string& node) {
  pb::Job& job = *request.add_jobs();
  job.set_id(id);
  job.set_state(pb::RUNNING);
  job.set_gpus(gpus);
  job.set_submit_s(1000 + request.jobs_size());
  job.set_attained_s(3600);
  pb::Piece& piece = *job.add_placement();
  piece.set_node(node);
  piece.set_gpus(gpus);
  return job;
}

pb::DecideRequest full_cluster() {
  pb::DecideRequest request = cluster_of(1);
  add_running(request, "long", 8, "n0");
  add_waiting(request, "fresh", 8);
  return request;
}

pb::DecideResponse response_of(const SceneRunner& runner, const Scene& scene,
                               const ClusterSpec& spec) {
  pb::DecideResponse out;
  const Plan& plan = runner.plan();
  for (const Edit& edit : plan.edits) {
    pb::Action& action = *out.add_actions();
    action.set_job(scene.jobs()[static_cast<size_t>(runner.state().job[edit.job.slot])].id);
    action.set_verb(edit.verb == Verb::kStart ? pb::START : pb::PREEMPT);
    for (int32_t i = 0; i < edit.num_pieces; ++i) {
      const Piece& p = plan.pieces[static_cast<size_t>(edit.first_piece + i)];
      pb::Piece& piece = *action.add_pieces();
      piece.set_node(spec.nodes[static_cast<size_t>(p.node)].name);
      piece.set_gpus(static_cast<uint32_t>(p.gpus));
    }
  }
  if (plan.wake_us != kNever) {
    out.set_wake_after_s(static_cast<double>(plan.wake_us - runner.view().now_us()) * 1e-6);
  }
  return out;
}

std::string lines_of(const pb::DecideResponse& response) {
  std::string out;
  for (const pb::Action& action : response.actions()) {
    out += pb::Verb_Name(action.verb()) + " " + action.job();
    for (const pb::Piece& piece : action.pieces()) {
      out += " " + piece.node() + "x" + std::to_string(piece.gpus());
    }
    out += "\n";
  }
  if (response.has_wake_after_s()) out += "wake " + shortest_text(response.wake_after_s()) + "\n";
  return out;
}

TempFolder::TempFolder() {
  std::string name = std::filesystem::temp_directory_path() / "yard-serving-XXXXXX";
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_checkpoint(const std::filesystem::path& folder, uint64_t seed) {
  Rng rng = Rng{7}.split(seed);
  Checkpoint checkpoint;
  checkpoint.agent = "dispatcher";
  checkpoint.task = agent_settings_json("dispatcher", *dispatcher::agent());
  checkpoint.network = "job-scorer";
  for (const auto& [name, shape] : job_scorer_shapes(16, dispatcher::kShape)) {
    Tensor& tensor = checkpoint.weights[name];
    tensor.shape = shape;
    int64_t size = 1;
    for (const int64_t side : shape) size *= side;
    for (int64_t i = 0; i < size; ++i) {
      // Scores are about as large as the prior's differences, so that both matter.
      const auto drawn = static_cast<float>(rng.uniform()) - 0.5F;
      tensor.data.push_back(name.ends_with("scale") ? 1.0F : 0.2F * drawn);
    }
  }
  const JobScorer network({checkpoint.weights, dispatcher::kShape, "test"});
  std::vector<GoldenState> states(3);
  for (GoldenState& state : states) {
    const auto fill = [&rng](std::vector<float>& values, size_t size) {
      for (size_t i = 0; i < size; ++i) values.push_back(static_cast<float>(rng.uniform()));
    };
    fill(state.jobs, size_t{dispatcher::kJobs} * dispatcher::kJobFeatures);
    fill(state.cluster, dispatcher::kClusterFeatures);
    fill(state.prior, dispatcher::kActions);
    state.slots.assign(dispatcher::kJobs, kNone);
    state.rows = 5;
    state.mask.assign(dispatcher::kActions, 0);
    for (const size_t legal : {0U, 2U, 4U, 128U}) state.mask[legal] = 1;
    state.logits.resize(dispatcher::kActions);
    network.forward(state.observation(), state.logits);
  }
  checkpoint.golden = pack_golden(states, dispatcher::kShape);
  save_checkpoint(checkpoint, folder);
}

}  // namespace yard::testing
