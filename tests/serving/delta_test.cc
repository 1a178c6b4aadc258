// Deltas: a stream of them gives the same states as full snapshots, and says when one is missing.
#include "serving/snapshot/delta.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "env/base/core/error.h"
#include "serving/engine/state_store.h"
#include "serving/snapshot/export.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

// Times as they are read: in microseconds.
pb::DecideRequest rounded(pb::DecideRequest request) {
  const auto round = [](double seconds) { return std::round(seconds * 1e6) * 1e-6; };
  for (pb::Job& job : *request.mutable_jobs()) {
    job.set_attained_s(round(job.attained_s()));
    if (job.has_worked_s()) job.set_worked_s(round(job.worked_s()));
  }
  return request;
}

TEST(Delta, StreamGivesTheStatesOfASimulation) {
  const std::string cluster = "2x8:v100+3x4:k80";
  const ClusterSpec spec = load_cluster(cluster);
  const Scene scene(cluster, random_jobs(Rng{3}, {.count = 60, .mean_gap_s = 60}));
  const auto policy = make_policy("las limit_1_gpu_s=400 limit_2_gpu_s=2000");
  SceneRunner runner(scene, *policy);
  std::shared_ptr<pb::DecideRequest> state;
  uint64_t version = 0;
  size_t bytes = 0, full_bytes = 0;
  while (runner.step()) {
    pb::DecideRequest full = to_request(spec, scene.jobs(), scene.fixed(), runner.state(), {});
    full.set_state_version(++version);
    if (state == nullptr) {
      state = std::make_shared<pb::DecideRequest>(full);
      continue;
    }
    const auto delta = delta_between(*state, full);
    ASSERT_TRUE(delta.has_value());
    bytes += delta->ByteSizeLong();
    full_bytes += full.ByteSizeLong();
    state = apply_delta(*state, *delta);
    ASSERT_EQ(rounded(*state).DebugString(), rounded(full).DebugString());
  }
  EXPECT_LT(bytes, full_bytes);
}

TEST(Delta, ReplacesAddsAndRemoves) {
  pb::DecideRequest base = cluster_of(2);
  add_running(base, "r", 8, "n0");
  add_waiting(base, "w", 4);
  add_waiting(base, "gone", 4);
  base.mutable_costs()->set_save_s(7);
  pb::DecideRequest delta;
  delta.set_time_s(base.time_s() + 30);
  delta.add_removed_jobs("gone");
  delta.add_removed_jobs("never there");
  add_waiting(delta, "w", 2);
  add_waiting(delta, "x", 1);
  const auto after = apply_delta(base, delta);
  ASSERT_EQ(after->jobs_size(), 3);
  EXPECT_EQ(after->jobs(0).id(), "r");
  EXPECT_EQ(after->jobs(0).attained_s(), base.jobs(0).attained_s() + 30);  // it ran on
  EXPECT_EQ(after->jobs(1).gpus(), 2U);
  EXPECT_EQ(after->jobs(2).id(), "x");
  EXPECT_EQ(after->nodes_size(), 2);
  EXPECT_EQ(after->costs().save_s(), 7);
  add_waiting(delta, "x", 1);
  EXPECT_THROW(apply_delta(base, delta), InputError);
}

// A cluster whose snapshots change at random.
class ChangingCluster {
 public:
  explicit ChangingCluster(uint64_t seed) : rng_(Rng{seed}), now_(cluster_of(4)) {
    now_.set_cluster("lab");
    now_.mutable_costs()->set_save_s(7);
    add_type("v100", 1);
    add_type("k80", 0.25);
    pb::ModelSpeed& of_model = *now_.mutable_gpu_types(1)->add_speed_of_model();
    of_model.set_model("LM");
    of_model.set_speed(0.5);
    now_.add_tenants()->set_name("physics");
    for (pb::Node& node : *now_.mutable_nodes()) node.set_gpu_type(below(2) == 0 ? "v100" : "k80");
    for (int i = 0; i < 10; ++i) add_job();
  }

  const pb::DecideRequest& next() {
    const double elapsed_s = below(4) == 0 ? 0 : 0.001 * static_cast<double>(below(100'000));
    now_.set_time_s(now_.time_s() + elapsed_s);
    for (pb::Job& job : *now_.mutable_jobs()) {
      if (job.state() == pb::RUNNING) job.set_attained_s(job.attained_s() + elapsed_s);
    }
    for (uint32_t changes = below(4); changes > 0; --changes) change();
    now_.set_budget_ms(below(3));
    now_.set_age_s(0.1 * below(10));
    now_.set_state_version(now_.state_version() + 1 + below(3));
    return now_;
  }

 private:
  uint32_t below(uint32_t n) { return rng_.below(n); }
  template <class List>
  int any(const List& list) {
    return static_cast<int>(below(static_cast<uint32_t>(list.size())));
  }

  void add_type(const char* name, double speed) {
    pb::GpuType& type = *now_.add_gpu_types();
    type.set_name(name);
    type.set_speed(speed);
  }

  void add_job() {
    const std::string id = "j" + std::to_string(jobs_++);
    if (below(2) == 0) {
      add_waiting(now_, id, 1 + below(8));
      return;
    }
    const pb::Node& node = now_.nodes(any(now_.nodes()));
    add_running(now_, id, 1 + below(8), node.name());
  }

  // Moves one record of a list, so that all others keep their order.
  template <class List>
  void move_one(List& list) {
    const int from = any(list), to = any(list);
    for (int i = from; i < to; ++i) list.SwapElements(i, i + 1);
    for (int i = from; i > to; --i) list.SwapElements(i, i - 1);
  }

  void finish(int index) {
    const pb::Job& job = now_.jobs(index);
    pb::FinishedJob& entry = *now_.add_finished();
    entry.set_id(job.id());
    entry.set_gpus(job.gpus());
    entry.set_end_s(now_.time_s());
    entry.set_run_s(job.attained_s());
    now_.mutable_jobs()->DeleteSubrange(index, 1);
  }

  void change() {
    auto& jobs = *now_.mutable_jobs();
    auto& nodes = *now_.mutable_nodes();
    switch (jobs.size() < 3 ? 0 : below(13)) {
      case 0:
      case 1:
        return add_job();
      case 2:
        return finish(any(jobs));
      case 3:
        return jobs.DeleteSubrange(any(jobs), 1);
      case 4: {
        pb::Job& job = jobs[any(jobs)];
        job.set_state(job.state() == pb::RUNNING ? pb::STOPPING : pb::RUNNING);
        return;
      }
      case 5:
        return jobs[any(jobs)].set_attained_s(below(5000));
      case 6:
        return move_one(jobs);
      case 7:
        return move_one(nodes);
      case 8:
        nodes[any(nodes)].add_down(below(8));
        return;
      case 9: {
        pb::Node& node = *nodes.Add();
        node.set_name("extra" + std::to_string(jobs_++));
        node.set_gpus(8);
        return;
      }
      case 10:
        if (nodes.size() > 2) nodes.DeleteSubrange(any(nodes), 1);
        return;
      case 11:
        if (now_.finished_size() > 1) now_.mutable_finished()->DeleteSubrange(0, 1 + below(2));
        return;
      default:
        now_.mutable_costs()->set_save_s(below(20));
        now_.mutable_tenants(0)->set_weight(1 + below(3));
    }
  }

  Rng rng_;
  pb::DecideRequest now_;
  int jobs_ = 0;
};

TEST(Delta, TurnsAnySnapshotIntoTheNext) {
  int smaller = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    ChangingCluster cluster(seed);
    auto state = std::make_shared<pb::DecideRequest>(cluster.next());
    for (int i = 0; i < 100; ++i) {
      const pb::DecideRequest& after = cluster.next();
      const auto delta = delta_between(*state, after);
      ASSERT_TRUE(delta.has_value()) << after.DebugString();
      state = apply_delta(*state, *delta);
      ASSERT_EQ(rounded(*state).DebugString(), rounded(after).DebugString())
          << "seed " << seed << ", delta " << delta->DebugString();
      smaller += 2 * delta->ByteSizeLong() < after.ByteSizeLong();
    }
  }
  EXPECT_GT(smaller, 2000) << "half as large as the snapshot";
}

// The client sends such snapshots whole.
TEST(Delta, SaysWhatItCannotExpress) {
  pb::DecideRequest full = cluster_of(2);
  add_running(full, "r", 8, "n0");
  add_waiting(full, "w", 4);
  full.mutable_costs()->set_save_s(7);
  full.add_gpu_types()->set_name("v100");
  full.add_tenants()->set_name("physics");
  full.add_finished()->set_id("f");
  full.add_finished()->set_run_s(5);
  const auto can = [&](auto change) {
    pb::DecideRequest other = full;
    change(other);
    return delta_between(full, other).has_value();
  };
  using R = pb::DecideRequest;
  EXPECT_TRUE(can([](R&) {}));
  EXPECT_TRUE(can([](R& r) { r.mutable_finished()->DeleteSubrange(0, 1); }));
  EXPECT_FALSE(can([](R& r) { r.clear_finished(); })) << "one has no id";
  EXPECT_FALSE(can([](R& r) { r.clear_costs(); }));
  EXPECT_FALSE(can([](R& r) { r.clear_gpu_types(); }));
  EXPECT_FALSE(can([](R& r) { r.clear_tenants(); }));
  EXPECT_FALSE(can([](R& r) { r.mutable_nodes(0)->clear_name(); }));
  EXPECT_FALSE(can([](R& r) { r.mutable_jobs(1)->set_id("r"); }));
  EXPECT_FALSE(can([](R& r) { *r.add_jobs() = r.jobs(0); }));
  EXPECT_FALSE(can([](R& r) {
    for (int i = 0; i < kMaxKeptFinished; ++i) r.add_finished();
  }));
  // Ids that are used again: the old job's record is dropped, and the new job stays.
  full.mutable_jobs(0)->set_id("f");
  EXPECT_FALSE(can([](R& r) { r.mutable_finished()->DeleteSubrange(0, 1); }));
  EXPECT_FALSE(can([](R& r) { r.mutable_jobs()->DeleteSubrange(0, 1); }));
}

class States : public ::testing::Test {
 protected:
  static constexpr int kNodes = 16;

  static StateStore::State request(uint64_t version, std::optional<uint64_t> base = {}) {
    auto out = std::make_shared<pb::DecideRequest>(base ? pb::DecideRequest() : cluster_of(kNodes));
    out->set_time_s(10'000);
    out->set_cluster("lab");
    out->set_state_version(version);
    if (base) out->set_base_version(*base);
    return out;
  }
  StateStore::State see(const StateStore::State& sent) {
    const StoredState after = store.state_after(sent, "peer");
    store.keep(after, "peer");
    return after.state;
  }
  StateStore store{2, size_t{1} << 20};
};

TEST_F(States, FollowDeltas) {
  see(request(1));
  EXPECT_EQ(see(request(5, 1))->nodes_size(), kNodes);
  EXPECT_EQ(see(request(6, 5))->nodes_size(), kNodes);
}

TEST_F(States, SayWhichVersionIsMissing) {
  const auto missing = [&](const StateStore::State& sent) {
    try {
      see(sent);
      return std::string();
    } catch (const MissingState& error) {
      return std::string(error.what());
    }
  };
  EXPECT_NE(missing(request(2, 1)).find("no state of the cluster"), std::string::npos);
  see(request(3));
  EXPECT_NE(missing(request(6, 5)).find("has version 3, not version 5"), std::string::npos);
  EXPECT_EQ(missing(request(4, 3)), "");
}

TEST_F(States, RefuseWhatContradictsItself) {
  see(request(3));
  EXPECT_THROW(see(request(3, 3)), InputError);
  EXPECT_THROW(see(request(2, 3)), InputError);
}

TEST_F(States, AreChangedInPlaceOnceNobodyReadsThem) {
  see(request(1));
  see(request(2, 1));
  EXPECT_EQ(store.copies(), 1U) << "of the full snapshot";
  see(request(3, 2));
  EXPECT_EQ(store.copies(), 1U);
  const StateStore::State read = see(request(4, 3));
  const std::string before = read->SerializeAsString();
  auto removes = std::make_shared<pb::DecideRequest>(*request(5, 4));
  removes->add_removed_nodes(read->nodes(0).name());
  const int nodes = read->nodes_size();
  EXPECT_EQ(see(removes)->nodes_size(), nodes - 1);
  EXPECT_EQ(store.copies(), 2U) << "of the state that is still read";
  EXPECT_EQ(read->SerializeAsString(), before);
}

TEST_F(States, ServeTwoDeltasOfOneState) {
  see(request(1));
  see(request(2, 1));
  const StateStore::State one = store.state_after(request(3, 2), "peer").state;
  auto removes = std::make_shared<pb::DecideRequest>(*request(4, 2));
  removes->add_removed_nodes(one->nodes(0).name());
  EXPECT_EQ(store.state_after(removes, "peer").state->nodes_size(), kNodes - 1);
  EXPECT_EQ(one->nodes_size(), kNodes);
  EXPECT_EQ(see(request(5, 2))->nodes_size(), kNodes);
}

TEST_F(States, OutliveDeltasThatContradictThemselves) {
  see(request(1));
  see(request(2, 1));
  auto twice = std::make_shared<pb::DecideRequest>(*request(3, 2));
  for (int i = 0; i < 2; ++i) twice->add_nodes()->set_name("same");
  EXPECT_THROW(see(twice), InputError);
  EXPECT_EQ(see(request(4, 2))->nodes_size(), kNodes);
  EXPECT_EQ(store.copies(), 1U) << "of the full snapshot";
}

// Both those changed in place and those rebuilt from their history.
TEST(StoredStates, AreThoseOfTheirDeltas) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    StateStore store(1, size_t{1} << 20);
    ChangingCluster cluster(seed);
    auto expected = std::make_shared<pb::DecideRequest>(cluster.next());
    store.keep(store.state_after(expected, "peer"), "peer");
    std::vector<std::pair<StoredState, std::string>> read;
    for (int i = 0; i < 150; ++i) {
      const auto delta = delta_between(*expected, cluster.next());
      expected = apply_delta(*expected, *delta);
      StoredState next = store.state_after(std::make_shared<pb::DecideRequest>(*delta), "peer");
      store.keep(next, "peer");
      const std::string text = expected->SerializeAsString();
      ASSERT_EQ(next.state->SerializeAsString(), text) << "seed " << seed << ", delta " << i;
      ASSERT_EQ(next.history->state()->SerializeAsString(), text) << seed << ", " << i;
      ASSERT_LE(next.history->num_deltas(), 64);
      if (i % 10 == 0) read.emplace_back(std::move(next), text);
    }
    for (const auto& [state, text] : read) EXPECT_EQ(state.state->SerializeAsString(), text);
    EXPECT_LT(store.copies(), 75U);
  }
}

TEST_F(States, MayBeReadByThreadsWhileTheyChange) {
  std::mutex mutex;
  std::vector<StoredState> unread;
  std::atomic<bool> over = false;
  const auto read_all = [&] {
    while (!over) {
      StoredState one;
      {
        const std::lock_guard lock(mutex);
        if (unread.empty()) continue;
        one = std::move(unread.back());
        unread.pop_back();
      }
      EXPECT_EQ(one.state->state_version(), one.history->version());
      EXPECT_EQ(one.state->nodes_size(), kNodes);
    }
  };
  {
    const std::jthread first(read_all), second(read_all);
    uint64_t version = 1;
    see(request(version));
    for (int i = 0; i < 3000; ++i) {
      if (i % 500 == 499) {
        store.forget("lab");
        see(request(++version));
      }
      const StoredState next = store.state_after(request(version + 1, version), "peer");
      store.keep(next, "peer");
      ++version;
      const std::lock_guard lock(mutex);
      if (unread.size() < 4) unread.push_back(next);
    }
    over = true;
  }
  EXPECT_LT(store.copies(), 3000U);
}

TEST_F(States, AreBounded) {
  for (const char* cluster : {"a", "b", "c"}) {
    auto full = std::make_shared<pb::DecideRequest>(*request(1));
    full->set_cluster(cluster);
    see(full);
  }
  auto delta = std::make_shared<pb::DecideRequest>(*request(2, 1));
  delta->set_cluster("c");
  EXPECT_EQ(see(delta)->nodes_size(), kNodes);
  delta->set_cluster("a");  // was not used for longest
  EXPECT_THROW(see(delta), MissingState);
}

}  // namespace
}  // namespace yard::testing
