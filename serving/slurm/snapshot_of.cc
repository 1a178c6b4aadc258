#include "serving/slurm/snapshot_of.h"

#include <algorithm>
#include <set>

#include "serving/slurm/gate.h"
#include "serving/slurm/texts.h"

namespace yard::slurm {
namespace {

class SnapshotMaker {
 public:
  explicit SnapshotMaker(const SnapshotInput& input)
      : in_(input), options_{input.config, input.partition, input.needs_lease, input.now_s} {}

  ClusterSnapshot make() {
    out_.request.set_cluster(cluster_name(in_.site, in_.partition));
    out_.request.set_model(in_.config.model);
    out_.request.set_time_s(in_.now_s);
    out_.request.add_allowed(pb::START);
    if (in_.config.preempt) out_.request.add_allowed(pb::PREEMPT);
    add_costs();
    add_nodes();
    hold_foreign_gpus();
    // Jobs that are about to start come last: what runs by now may have taken their GPUs.
    for (const bool starts : {false, true}) {
      for (const SlurmJob& job : in_.listing.jobs) {
        if (is_about_to_start(job) != starts) continue;
        if (in_scope(job, options_) && !out_.jobs.contains(job.id)) add_job(job);
      }
    }
    hold_other_starts();
    finish_nodes();
    return std::move(out_);
  }

 private:
  struct NodeUse {
    const SlurmNode* node = nullptr;
    std::set<int> ours;   // GPUs of jobs in the request
    bool closed = false;  // none of its free GPUs is offered
    int starting = 0;     // GPUs of jobs in the request that are about to start
    int others = 0;       // GPUs of other jobs that are about to start
    int our_cpus = 0;
    int64_t our_mem_mib = 0;
  };

  void add_costs() {
    if (!in_.config.preempt) return;
    pb::Costs& costs = *out_.request.mutable_costs();
    costs.set_save_s(in_.config.save_s);
    costs.set_restore_s(in_.config.restore_s);
    costs.set_restore_large_s(in_.config.restore_large_s);
    costs.set_small_gpus(8);
  }

  void add_nodes() {
    std::set<std::string> only;
    const auto named = expand_nodes(in_.config.nodes);
    if (named) only.insert(named->begin(), named->end());
    for (const SlurmNode& node : in_.listing.nodes) {
      if (node.gpus < 1) continue;
      if (std::ranges::find(node.partitions, in_.partition) == node.partitions.end()) continue;
      if (!only.empty() && !only.contains(node.name)) continue;
      NodeUse& use = nodes_[node.name];
      if (use.node != nullptr) continue;
      use.node = &node;
      use.closed = !node.usable || !node.understood;
      node_gpus_ = std::max(node_gpus_, node.gpus);
      order_.push_back(node.name);
    }
  }

  // Whole nodes whose sharing the agent does not understand.
  void hold_foreign_gpus() {
    for (const SlurmJob& job : in_.listing.jobs) {
      if (job.state == "PENDING" || job.node_list.empty()) continue;
      const bool whole = job.not_understood == "exclusive" || !job.held;
      if (!whole) continue;
      const auto nodes = expand_nodes(job.node_list);
      if (!nodes) {
        for (auto& [name, use] : nodes_) use.closed = true;
        continue;
      }
      for (const std::string& name : *nodes) {
        if (const auto at = nodes_.find(name); at != nodes_.end()) at->second.closed = true;
      }
    }
  }

  // Jobs of other partitions that are about to start, which no listing shows yet.
  void hold_other_starts() {
    for (const auto& [id, flight] : in_.in_flight) {
      if (flight.verb != pb::START || out_.jobs.contains(id)) continue;
      for (const std::string& name : flight.nodes) {
        if (const auto at = nodes_.find(name); at != nodes_.end()) at->second.others += flight.gpus;
      }
    }
  }

  bool is_about_to_start(const SlurmJob& job) const {
    const auto flight = in_.in_flight.find(job.id);
    return flight != in_.in_flight.end() && flight->second.verb == pb::START && job.waits();
  }

  void add_job(const SlurmJob& job) {
    std::string why = why_left_to_slurm(job, node_gpus_, options_);
    const auto flight = in_.in_flight.find(job.id);
    const bool starting = flight != in_.in_flight.end() && flight->second.verb == pb::START;
    if (why.empty() && job.waits() && !starting) {
      if (const auto avoided = in_.avoided.find(job.id); avoided != in_.avoided.end()) {
        why = avoided->second;
      } else if (has_pin(job)) {
        why = "pinned";  // until it has been freed
      }
    }
    pb::Job entry;
    if (why.empty()) why = fill(job, starting ? &flight->second : nullptr, entry);
    if (!why.empty()) {
      ++out_.left[why];
      return;
    }
    if (entry.state() == pb::WAITING) out_.waiting.push_back(&job);
    out_.jobs[job.id] = &job;
    *out_.request.add_jobs() = std::move(entry);
  }

  std::string fill(const SlurmJob& job, const ActionInFlight* start, pb::Job& entry) {
    std::string reason;
    const JobShape shape = shape_of(job, node_gpus_, reason);
    const auto past = [&](double at_s) { return std::clamp(at_s, 0.0, in_.now_s); };
    entry.set_id(job.id);
    entry.set_gpus(static_cast<uint32_t>(shape.count * shape.gpus));
    entry.set_submit_s(past(job.submit_s));
    entry.set_user(job.user);
    entry.set_name(job.name);
    entry.set_limit_s(std::clamp(job.limit_s, 0.0, 1e9));
    entry.set_array(job.array);
    entry.set_restart(static_cast<uint32_t>(job.restarts));
    entry.set_preemptions(static_cast<uint32_t>(job.restarts));
    if (!shape.type.empty()) entry.add_gpu_types(shape.type);
    pb::TaskGroup& group = *entry.add_groups();
    group.set_role("node");
    group.set_count(static_cast<uint32_t>(shape.count));
    group.mutable_task()->set_gpus(static_cast<uint32_t>(shape.gpus));
    const int cpus = std::max((job.cpus + shape.count - 1) / shape.count, job.cpus_per_node);
    const int64_t mem_mib = (job.mem_mib + shape.count - 1) / shape.count;
    group.mutable_task()->set_cpu_milli(static_cast<uint32_t>(std::min(cpus, 100'000) * 1000));
    if (in_.site.memory_counts && mem_mib > 0) {
      group.mutable_task()->set_mem_mib(static_cast<uint64_t>(mem_mib));
    }
    if (start != nullptr && job.waits()) return place_starting(shape, *start, entry);
    if (job.waits()) {
      entry.set_state(pb::WAITING);
      set_attained(job, 0, entry);
      return "";
    }
    return place_running(job, shape, entry);
  }

  void set_attained(const SlurmJob& job, double run_s, pb::Job& entry) const {
    const auto earlier = in_.earlier.find(job.id);
    if (earlier != in_.earlier.end()) {
      run_s += earlier->second.run_s;
      if (entry.state() == pb::WAITING) {
        entry.set_since_s(std::min(earlier->second.requeued_s, in_.now_s));
      }
    }
    entry.set_attained_s(std::min(run_s, in_.now_s - entry.submit_s()));
  }

  // A pin that Slurm has not carried out yet: its GPUs are taken, whichever they will be.
  std::string place_starting(const JobShape& shape, const ActionInFlight& start, pb::Job& entry) {
    for (const std::string& name : start.nodes) {
      const auto at = nodes_.find(name);
      if (at == nodes_.end()) return "other_nodes";
      // Without room the start has failed, or the list of nodes already shows it.
      if (room_on(at->second) < shape.gpus) return "pinned";
    }
    entry.set_state(pb::STARTING);
    entry.set_since_s(in_.now_s);
    entry.set_until_s(in_.now_s);
    entry.set_pinned(true);
    for (const std::string& name : start.nodes) {
      add_piece(name, shape.gpus, entry);
      nodes_[name].starting += shape.gpus;
    }
    return "";  // its cores and memory are still among the idle ones
  }

  // GPUs of the node that nothing holds.
  static int room_on(const NodeUse& use) {
    if (use.closed) return 0;
    std::set<int> taken = use.node->used;
    taken.insert(use.ours.begin(), use.ours.end());
    return use.node->gpus - static_cast<int>(taken.size()) - use.starting;
  }

  std::string place_running(const SlurmJob& job, const JobShape& shape, pb::Job& entry) {
    for (const HeldGpus& held : *job.held) {
      const auto at = nodes_.find(held.node);
      if (at == nodes_.end()) return "other_nodes";
      const bool fits = held.gpus.size() == static_cast<size_t>(shape.gpus) &&
                        std::ranges::all_of(held.gpus, [&](int gpu) {
                          return gpu < at->second.node->gpus && !at->second.ours.contains(gpu);
                        });
      if (!fits) return "uneven";
    }
    if (job.held->size() != static_cast<size_t>(shape.count)) return "uneven";
    entry.set_state(pb::RUNNING);
    const double since_s = std::clamp(job.start_s, 0.0, in_.now_s);
    entry.set_since_s(since_s);
    set_attained(job, in_.now_s - since_s, entry);
    entry.set_pinned(!may_preempt(job, in_.config, in_.site));
    entry.set_starts(static_cast<uint32_t>(job.restarts) + 1);
    for (const HeldGpus& held : *job.held) {
      pb::Piece& piece = add_piece(held.node, shape.gpus, entry);
      for (const int gpu : held.gpus) {
        piece.add_gpu_ids(static_cast<uint32_t>(gpu));
        nodes_[held.node].ours.insert(gpu);
      }
    }
    return "";
  }

  // Of one task of the job's only group.
  pb::Piece& add_piece(const std::string& node, int gpus, pb::Job& entry) {
    const pb::Resources& task = entry.groups(0).task();
    if (entry.state() == pb::RUNNING) {
      nodes_[node].our_cpus += static_cast<int>(task.cpu_milli() / 1000);
      nodes_[node].our_mem_mib += static_cast<int64_t>(task.mem_mib());
    }
    pb::Piece& piece = *entry.add_placement();
    piece.set_node(node);
    piece.set_gpus(static_cast<uint32_t>(gpus));
    piece.set_group(0);
    piece.set_tasks(1);
    return piece;
  }

  void finish_nodes() {
    for (const std::string& name : order_) {
      const NodeUse& use = nodes_[name];
      const SlurmNode& node = *use.node;
      pb::Node& entry = *out_.request.add_nodes();
      entry.set_name(name);
      entry.set_gpus(static_cast<uint32_t>(node.gpus));
      entry.set_gpu_type(node.gpu_type);
      // What others leave. Jobs about to start are not yet counted by Slurm.
      const int idle_cpus = node.cpus - node.used_cpus;
      const int64_t idle_mib = node.mem_mib - node.used_mem_mib;
      bool closed = use.closed;
      if (node.cpus > 0) {
        closed |= idle_cpus <= 0;
        entry.set_cpus(std::max(idle_cpus, 0) + use.our_cpus);
      }
      if (in_.site.memory_counts && node.mem_mib > 0) {
        closed |= idle_mib <= 0;
        entry.set_mem_gib(static_cast<double>(std::max<int64_t>(idle_mib, 0) + use.our_mem_mib) /
                          1024);
      }
      int down = 0, others = use.others;
      for (int gpu = 0; gpu < node.gpus; ++gpu) {
        if (use.ours.contains(gpu)) continue;
        if (!closed && !node.used.contains(gpu) && others-- <= 0) continue;
        entry.add_down(static_cast<uint32_t>(gpu));
        ++down;
      }
      out_.held_gpus += down;
      const int taken = down + static_cast<int>(use.ours.size()) + use.starting;
      out_.free[name] = std::max(0, node.gpus - taken);
    }
  }

  const SnapshotInput& in_;
  const ScopeInputs options_;
  ClusterSnapshot out_;
  std::unordered_map<std::string, NodeUse> nodes_;
  std::vector<std::string> order_;
  int node_gpus_ = 0;
};

}  // namespace

std::string cluster_name(const SiteConfig& site, const std::string& partition) {
  return site.cluster + "/" + partition;
}

pb::RegisterRequest make_registration(const Config& config, const SiteConfig& site,
                                      const std::string& partition, int64_t term) {
  pb::RegisterRequest out;
  out.set_cluster(cluster_name(site, partition));
  out.add_verbs(pb::START);
  if (config.preempt) out.add_verbs(pb::PREEMPT);
  out.set_granularity(pb::RegisterRequest::QUEUE);
  out.set_term(static_cast<uint64_t>(term));
  for (const char* field : {"job.user", "job.limit_s"}) out.add_fields(field);
  return out;
}

ClusterSnapshot make_snapshot(const SnapshotInput& input) { return SnapshotMaker(input).make(); }

}  // namespace yard::slurm
