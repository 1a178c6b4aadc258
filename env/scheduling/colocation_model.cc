#include "env/scheduling/colocation_model.h"

namespace yard {

ColocationModel::Terms ColocationModel::initial_weights() {
  Terms out{};
  out[kIntercept] = out[kCpus] = 1;
  std::fill_n(out.begin() + kOwnType, 2 * kTypes, 0.5);
  return out;
}

ColocationModel::ColocationModel(const View& view, const ThroughputModel& throughput_model,
                                 const Learned& learned)
    : view_(view), throughput_model_(throughput_model), learned_(learned), placer_(view) {
  const SpecColumns& spec = view.spec();
  for (int32_t m = 0; m < spec.num_nodes; ++m) {
    const double used = 1 - placer_.free_shares(m).cpus;
    const auto cores = static_cast<double>(spec.node_cores_milli[m]);
    allocated_cpus_.push_back(cores > 0 ? used * static_cast<double>(spec.node_cpu_milli[m]) / cores
                                        : 0);
  }
}

double ColocationModel::cpu_overcommit(int32_t node, const StartingJob& starting_job) const {
  const SpecColumns& spec = view_.spec();
  double allocated = allocated_cpus_[static_cast<size_t>(node)];
  for (const Piece& p : starting_job.pieces) {
    const auto cores = static_cast<double>(spec.node_cores_milli[node]);
    if (p.node != node || !view_.shaped(starting_job.slot) || cores <= 0) continue;
    allocated += p.tasks *
                 static_cast<double>(view_.task_need(starting_job.slot, p.group).cpu_milli) / cores;
  }
  return std::max(0.0, allocated - 1);
}

ColocationModel::Terms ColocationModel::terms(int32_t slot, std::span<const Piece> pieces,
                                              const StartingJob& starting_job) const {
  const SpecColumns& spec = view_.spec();
  const int own = model_bucket(slot);
  const auto has_gpus = [](std::span<const Piece> of, int32_t node) {
    return std::ranges::any_of(of, [&](const Piece& p) { return p.node == node && p.gpus > 0; });
  };
  Terms out{};  // of the worst node
  double most = 0, cpus = 0, load_there = 0;
  int32_t gpus = 0, nodes = 0;
  bool split_roles = false;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const int32_t node = pieces[i].node;
    cpus = std::max(cpus, cpu_overcommit(node, starting_job));
    if (pieces[i].gpus == 0) {
      split_roles = split_roles || !has_gpus(pieces, node);
      continue;
    }
    gpus += pieces[i].gpus;
    if (has_gpus(pieces.first(i), node)) continue;
    ++nodes;
    Terms here{};
    double load = 0;
    const auto add = [&](int32_t other, int32_t other_gpus) {
      const double share = static_cast<double>(other_gpus) / std::max(1, spec.node_gpus[node]);
      here[static_cast<size_t>(kOtherTypes + model_bucket(other))] += share;
      load += share;
    };
    for (const NodeOccupant& other : throughput_model_.occupants(node)) {
      if (other.slot != slot) add(other.slot, other.gpus);
    }
    for (const Piece& p : starting_job.pieces) {
      if (starting_job.slot != slot && p.node == node && p.gpus > 0) add(starting_job.slot, p.gpus);
    }
    here[static_cast<size_t>(kOwnType + own)] = load;
    const double predicted_time = learned_.predicted_time_per_work(here);
    if (nodes > 1 && predicted_time <= most) continue;
    out = here, most = predicted_time, load_there = load;
  }
  out[kIntercept] = 1;
  const int32_t needed = (gpus + spec.max_node_gpus - 1) / std::max(1, spec.max_node_gpus);
  out[static_cast<size_t>(kSpread + own)] = nodes > needed ? 1 : 0;
  out[kSplitRoles] = split_roles && gpus > 0 ? 1 : 0;
  out[kCpus] = cpus;
  out[kCpusTimesLoad] = cpus * load_there;
  return out;
}

double ColocationModel::predicted_time_per_work(int32_t slot, std::span<const Piece> pieces,
                                                const StartingJob& starting_job) const {
  return std::max(learned_.predicted_time_per_work(terms(slot, pieces, starting_job)), 1.0 / 16);
}

double ColocationModel::interference_cost(int32_t slot, std::span<const Piece> pieces) const {
  std::vector<int32_t> others;
  for (const Piece& p : pieces) {
    for (const NodeOccupant& other : throughput_model_.occupants(p.node)) {
      const bool known = other.slot == slot || std::ranges::count(others, other.slot) > 0;
      if (!known) others.push_back(other.slot);
    }
  }
  double lost = 0;
  for (const int32_t other : others) {
    const std::vector<Piece> its = held_pieces(view_, other);
    lost += view_.gpus(other) * (1 - predicted_time_per_work(other, its, {}) /
                                         predicted_time_per_work(other, its, {slot, pieces}));
  }
  return lost;
}

}  // namespace yard
