// A snapshot read with the readings of the state before it is the snapshot that is read whole.
#include "serving/snapshot/snapshot_readings.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <sstream>
#include <string>

#include "env/base/core/error.h"
#include "serving/snapshot/snapshot.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

// A cluster that changes at random. Some records make no sense, unless `makes_sense`.
class ClusterOfManyKinds {
 public:
  ClusterOfManyKinds(uint64_t seed, bool makes_sense)
      : rng_(Rng{seed}), makes_sense_(makes_sense), now_(cluster_of(6)) {
    now_.set_cluster("lab");
    pb::GpuType& type = *now_.add_gpu_types();
    type.set_name("v100");
    type.set_speed(1);
    now_.add_tenants()->set_name("physics");
    for (pb::Node& node : *now_.mutable_nodes()) node.set_gpu_type("v100");
    for (int i = 0; i < 12; ++i) add_job();
  }

  const pb::DecideRequest& next() {
    const double elapsed_s = below(4) == 0 ? 0 : 0.001 * below(100'000);
    now_.set_time_s(now_.time_s() + elapsed_s);
    for (pb::Job& job : *now_.mutable_jobs()) {
      if (job.state() == pb::RUNNING) job.set_attained_s(job.attained_s() + elapsed_s);
    }
    for (uint32_t changes = below(4); changes > 0; --changes) change();
    if (!makes_sense_ && below(40) == 0) change_cluster();
    if (makes_sense_ && below(60) == 0) now_.add_nodes()->set_gpus(8);
    if (now_.nodes(now_.nodes_size() - 1).name().empty()) {
      now_.mutable_nodes(now_.nodes_size() - 1)->set_name("more" + std::to_string(jobs_++));
    }
    now_.clear_allowed();
    if (below(5) == 0) now_.add_allowed(pb::START);
    now_.set_state_version(now_.state_version() + 1);
    return now_;
  }

 private:
  uint32_t below(uint32_t n) { return rng_.below(n); }
  pb::Job& any_job() {
    return *now_.mutable_jobs(static_cast<int>(below(static_cast<uint32_t>(now_.jobs_size()))));
  }

  // Returns a node with so many GPUs left, or null.
  const pb::Node* node_with(uint32_t gpus) {
    std::map<std::string, uint32_t> held;
    for (const pb::Job& job : now_.jobs()) {
      for (const pb::Piece& piece : job.placement()) held[piece.node()] += piece.gpus();
    }
    const uint32_t first = below(static_cast<uint32_t>(now_.nodes_size()));
    for (int i = 0; i < now_.nodes_size(); ++i) {
      const pb::Node& node = now_.nodes((static_cast<int>(first) + i) % now_.nodes_size());
      if (held[node.name()] + gpus <= node.gpus()) return &node;
    }
    return nullptr;
  }

  void add_job() {
    const std::string id = "j" + std::to_string(jobs_++);
    const uint32_t gpus = 1 + below(6);
    const pb::Node* node = below(2) == 0 ? nullptr : node_with(gpus);
    if (node == nullptr) {
      add_waiting(now_, id, gpus);
    } else {
      add_running(now_, id, gpus, node->name());
    }
    vary(*now_.mutable_jobs(now_.jobs_size() - 1));
  }

  // The first kinds make sense for every job.
  void vary(pb::Job& job) {
    switch (below(makes_sense_ ? 6 : 16)) {
      case 0:
        *job.add_after() = "j" + std::to_string(below(static_cast<uint32_t>(jobs_)));
        return;
      case 1:
        return job.set_queue_rank(below(4));
      case 2:
        return job.set_pinned(true);
      case 3:
        return job.set_tenant("physics");
      case 4:
        return job.set_since_s(now_.time_s() - 10);
      case 5:
        return job.set_worked_s(below(500));
      case 6:
        return job.set_gpus(below(2) == 0 ? 0 : 1000);
      case 7:
        return job.set_submit_s(now_.time_s() + below(5));
      case 8:
        return job.set_since_s(now_.time_s() - 3 + below(8));
      case 9:
        return job.set_attained_s(below(20'000));
      case 10:
        return job.set_limit_s(below(2) == 0 ? -1 : below(1000));
      case 11:
        return job.set_weight(below(4) == 0 ? -1 : below(5));
      case 12:
        return job.set_preemptions(below(3) == 0 ? 2'000'000 : below(4));
      case 13:
        return job.add_dues()->set_at_s(now_.time_s() + below(100));
      case 14:
        if (job.state() == pb::RUNNING) job.set_state(below(2) == 0 ? pb::STOPPING : pb::STARTING);
        return job.set_until_s(now_.time_s() + below(50));
      default:
        if (job.placement_size() > 0) job.mutable_placement(0)->set_node("gone");
    }
  }

  void change() {
    auto& jobs = *now_.mutable_jobs();
    switch (jobs.size() < 3 ? 0 : below(8)) {
      case 0:
      case 1:
        return add_job();
      case 2: {
        const int index = static_cast<int>(below(static_cast<uint32_t>(jobs.size())));
        pb::FinishedJob& entry = *now_.add_finished();
        entry.set_id(jobs[index].id());
        entry.set_gpus(!makes_sense_ && below(6) == 0 ? 0 : jobs[index].gpus());
        entry.set_submit_s(jobs[index].submit_s());
        entry.set_end_s(now_.time_s() + (below(4) == 0 ? 1 : 0));
        entry.set_run_s(jobs[index].attained_s());
        return jobs.DeleteSubrange(index, 1);
      }
      case 3:
        return jobs.DeleteSubrange(static_cast<int>(below(static_cast<uint32_t>(jobs.size()))), 1);
      case 4:
        if (now_.finished_size() > 1) now_.mutable_finished()->DeleteSubrange(0, 1);
        return;
      case 5: {
        pb::Job& job = any_job();
        if (job.state() != pb::WAITING) return;
        const pb::Node* node = node_with(job.gpus());
        if (node == nullptr) return;
        job.set_state(pb::RUNNING);
        pb::Piece& piece = *job.add_placement();
        piece.set_node(node->name());
        piece.set_gpus(job.gpus());
        return;
      }
      default:
        return vary(any_job());
    }
  }

  void change_cluster() {
    pb::Node& node =
        *now_.mutable_nodes(static_cast<int>(below(static_cast<uint32_t>(now_.nodes_size()))));
    switch (below(6)) {
      case 0:
        return node.add_down(below(8));
      case 1:
        return node.clear_down();
      case 2: {
        pb::Vacating& one = *node.add_vacating();
        one.set_gpu(below(8));
        return one.set_until_s(now_.time_s() + below(100));
      }
      case 3: {
        pb::Node& more = *now_.add_nodes();
        more.set_name("extra" + std::to_string(jobs_++));
        return more.set_gpus(below(4) == 0 ? 0 : 8);
      }
      case 4:
        return now_.mutable_gpu_types(0)->set_speed(below(3) == 0 ? -1 : 1 + below(3));
      default:
        return now_.mutable_tenants(0)->set_weight(1 + below(3));
    }
  }

  Rng rng_;
  const bool makes_sense_;
  pb::DecideRequest now_;
  int jobs_ = 0;
};

// All that a policy and the guard learn from a snapshot.
std::string text_of(const Snapshot& snapshot) {
  std::ostringstream out;
  out << snapshot.now_us() << ' ' << snapshot.costs().save_us << ' '
      << snapshot.allowed_actions().preempt << '\n';
  out << "quarantine " << snapshot.quarantine().count() << '\n';
  for (const pb::Quarantined& one : snapshot.quarantine().listed()) out << one.ShortDebugString();
  for (const Node& node : snapshot.cluster().nodes) {
    out << "\nnode " << node.name << ' ' << node.gpus << ' ' << node.type << ' ' << node.tenant;
  }
  for (const GpuType& type : snapshot.cluster().types) out << "\ntype " << type.name << type.speed;
  for (const Tenant& one : snapshot.cluster().tenants) out << "\ntenant " << one.name << one.weight;
  for (const Job* job : snapshot.jobs()) {
    out << "\njob " << job->id << ' ' << job->submit_us << ' ' << job->gpus << ' ' << job->user
        << ' ' << job->tenant << ' ' << job->limit_us << ' ' << job->weight;
    for (const Deadline& due : job->dues) out << " due " << due.within_us;
    for (const std::string& id : job->after) out << " after " << id;
  }
  for (const LiveJob& live : snapshot.live_jobs()) {
    out << "\nlive " << live.job << ' ' << static_cast<int>(live.phase) << ' ' << live.since_us
        << ' ' << live.until_us << ' ' << live.saved_us << ' ' << live.attained_us << ' '
        << live.worked_us << ' ' << live.preempted << ' ' << live.started << ' ' << live.pinned
        << ' ' << snapshot.request_index(live.job);
    for (const LivePart& part : live.parts) out << " part " << part.node << ' ' << part.mask;
  }
  for (const Snapshot::VacatingGpu& one : snapshot.vacating_gpus()) {
    out << "\nvacating " << one.part.node << ' ' << one.part.mask << ' ' << one.until_us;
  }
  return out.str();
}

std::string text_or_error(const pb::DecideRequest& request, SnapshotReadings* readings) {
  try {
    return text_of(Snapshot(request, {.pinned = {"j3"}, .preempting = {"j5"}}, readings));
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(SnapshotReadings, GiveTheSnapshotThatIsReadWhole) {
  int snapshots = 0, refused = 0, set_aside = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    ClusterOfManyKinds cluster(seed, seed % 2 == 0);
    pb::DecideRequest state = cluster.next();
    auto readings = std::make_unique<SnapshotReadings>();
    for (int i = 0; i < 150; ++i) {
      const std::string whole = text_or_error(state, nullptr);
      ASSERT_EQ(text_or_error(state, readings.get()), whole) << "seed " << seed << ", state " << i;
      // A request that is refused leaves no state behind.
      if (whole.find("\nlive ") == whole.npos) {
        ++refused;
        readings = std::make_unique<SnapshotReadings>();
      }
      ++snapshots;
      set_aside += whole.find("quarantine 0") == whole.npos;
      const pb::DecideRequest& next = cluster.next();
      const auto delta = delta_between(state, next);
      ASSERT_TRUE(delta.has_value());
      readings->follow(apply_delta_in_place(state, *delta));
    }
  }
  EXPECT_LT(refused, snapshots / 4);
  EXPECT_GT(set_aside, snapshots / 4);
  EXPECT_LT(set_aside, snapshots * 9 / 10);
}

// Times that were cut to now are not kept for a state of an earlier time.
TEST(SnapshotReadings, AreNotUsedForAnEarlierTime) {
  pb::DecideRequest state = cluster_of(2);
  state.set_time_s(1000);
  add_waiting(state, "w", 1);
  state.mutable_jobs(0)->set_submit_s(995);
  SnapshotReadings readings;
  text_or_error(state, &readings);
  state.set_time_s(990);
  EXPECT_EQ(text_or_error(state, &readings), text_or_error(state, nullptr));
}

}  // namespace
}  // namespace yard::testing
