// Legal placements of jobs with shapes, by definition. Random pieces, legal and illegal, on random
// states are compared with a ledger which recounts all holdings. Jobs which start must get the GPUs
// which the ledger predicts.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "env/sim/rules/digest.h"
#include "env/sim/rules/rules.h"
#include "tests/support/random_world.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

// Four nodes of three types. One type has no GPU shares and one node is reserved for a tenant. Jobs
// have one or two groups, some a tenant, and some kinds must not share a GPU.
class ShapeCase {
 public:
  explicit ShapeCase(Rng rng) : rng_(rng), cluster_(make_cluster()), jobs_(make_jobs()) {
    pair_conflicts_.num_kinds = 1 + below(2);
    for (size_t j = 0; j < jobs_.size(); ++j)
      pair_conflicts_.kind.push_back(below(pair_conflicts_.num_kinds + 1) - 1);
    const bool two = pair_conflicts_.num_kinds == 2;
    for (size_t t = 0; t < cluster_.types.size(); ++t) {
      pair_conflicts_.conflicts.push_back(rng_.below(2) + (two ? 2 : 0));
      if (two) pair_conflicts_.conflicts.push_back(1);
    }
    if (rng_.below(4) == 0) pair_conflicts_ = {};
  }

  int32_t below(int32_t n) { return static_cast<int32_t>(rng_.below(static_cast<uint32_t>(n))); }
  const ClusterSpec& cluster() const { return cluster_; }
  const std::vector<Job>& jobs() const { return jobs_; }
  const GpuSharingConflicts& pair_conflicts() const { return pair_conflicts_; }

 private:
  ClusterSpec make_cluster() {
    ClusterSpec spec = load_cluster("2x4:v100+1x3:a100+1x2:t4");
    for (Node& node : spec.nodes) node.cpus = 2 * node.gpus, node.mem_gib = 1.0 * node.gpus;
    for (GpuType& type : spec.types) {
      type.shares = type.name == "t4" ? Shares::kNone : Shares::kMilli;
      type.mem_gib = type.name == "a100" ? 3 : 8;
    }
    Tenant owner;
    owner.name = "owner";
    owner.may_lend = false;
    spec.tenants = {owner};
    spec.nodes[1].tenant = 0;
    return spec;
  }

  std::vector<Job> make_jobs() {
    std::vector<Job> jobs;
    for (int j = 0; j < 24; ++j) {
      Job job = jobs_of({{0, 1, 100}})[0];
      for (int32_t groups = 1 + below(2); groups > 0; --groups) job.groups.push_back(make_group());
      if (rng_.below(3) == 0) job.gpu_types = {"a100", rng_.below(2) == 0 ? "t4" : "v100"};
      if (rng_.below(2) == 0) job.tenant = "owner";
      jobs.push_back(job);
    }
    return jobs;
  }

  RoleGroup make_group() {
    const int32_t kind = below(4), cores = 500 * below(6), mem = 512 * below(5);
    RoleGroup group =
        kind == 0   ? group_of(1 + below(2), 0, 0, 500 + cores, mem)
        : kind == 1 ? group_of(1 + below(2), 1 + below(2), 0, cores, mem)
                    : group_of(1 + below(3), 0, below(8) == 0 ? 1 : 1 + below(700), cores, mem);
    group.task.gpu_mem_gib = kind == 0 ? 0 : below(5);
    if (rng_.below(3) == 0) {
      group.min_count = 1;
      group.max_count = group.count + 1;
    }
    return group;
  }

  Rng rng_;
  ClusterSpec cluster_;
  std::vector<Job> jobs_;
  GpuSharingConflicts pair_conflicts_;
};

int64_t mib(double gib) { return std::llround(1024 * gib); }

// What is free on one node.
class SlowLedger {
 public:
  SlowLedger(const ShapeCase& shape_case, const SimState& s, int32_t node)
      : shape_case_(shape_case), node_(node) {
    const Node& what = shape_case.cluster().nodes[static_cast<size_t>(node)];
    type_ = static_cast<size_t>(what.type);
    cpu_ = std::llround(1000 * what.cpus);
    mem_ = mib(what.mem_gib);
    gpus_.assign(static_cast<size_t>(what.gpus),
                 {1000, mib(shape_case.cluster().types[type_].mem_gib), {}});
    for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
      for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
        if (s.part_node[p] != node) continue;
        const Job& job = shape_case.jobs()[static_cast<size_t>(slot)];
        const Resources& need = job.groups[static_cast<size_t>(s.part_role_group[p])].task;
        use(need, s.part_tasks[p], s.part_mask[p]);
        for (size_t g = 0; g < gpus_.size(); ++g) {
          if ((s.part_mask[p] >> g & 1) != 0) gpus_[g].holders.push_back(slot);
        }
      }
    }
  }

  bool may_use_node(const Job& job, const Resources& need) const {
    const bool owned = shape_case_.cluster().nodes[static_cast<size_t>(node_)].tenant >= 0;
    if (owned && job.tenant != "owner") return false;
    if (need.gpus == 0 && need.gpu_milli == 0) return true;
    const GpuType& type = shape_case_.cluster().types[type_];
    if (need.gpu_mem_gib > type.mem_gib) return false;
    const auto& types = job.gpu_types;
    return types.empty() || std::count(types.begin(), types.end(), type.name) > 0;
  }

  // Takes the piece. Returns the GPUs of each of its shares, or of the whole piece; nothing if it
  // is not available.
  std::optional<std::vector<uint64_t>> take(int32_t slot, const Resources& need, const Piece& p) {
    std::vector<uint64_t> masks;
    if (need.gpu_milli > 0) {
      if (p.mask != 0 && (p.tasks != 1 || !std::has_single_bit(p.mask))) return {};
      for (int32_t t = 0; t < p.tasks; ++t) {
        const uint64_t mask = share(slot, need, p.mask);
        if (mask == 0 || !hosts(need, 1)) return {};
        use(need, 1, mask);
        masks.push_back(mask);
      }
      return masks;
    }
    if (!hosts(need, p.tasks)) return {};
    uint64_t mask = p.mask;
    for (size_t g = 0; g < gpus_.size() && std::popcount(mask) < p.gpus; ++g) {
      if (p.mask == 0 && gpus_[g].milli == 1000) mask |= uint64_t{1} << g;
    }
    if (std::popcount(mask) != p.gpus) return {};
    for (int g = 0; g < 64; ++g) {
      if ((mask >> g & 1) == 0) continue;
      if (g >= static_cast<int>(gpus_.size()) || gpus_[static_cast<size_t>(g)].milli < 1000) {
        return {};
      }
    }
    use(need, p.tasks, mask);
    return std::vector<uint64_t>{mask};
  }

 private:
  struct Gpu {
    int32_t milli;
    int64_t mem_mib;
    std::vector<int32_t> holders;  // jobs which held it before
  };

  bool hosts(const Resources& need, int32_t tasks) const {
    return tasks * need.cpu_milli <= cpu_ && tasks * need.mem_mib <= mem_;
  }

  void use(const Resources& need, int32_t tasks, uint64_t mask) {
    cpu_ -= tasks * need.cpu_milli;
    mem_ -= tasks * need.mem_mib;
    for (size_t g = 0; g < gpus_.size(); ++g) {
      if ((mask >> g & 1) == 0) continue;
      gpus_[g].milli -= milli(need);
      gpus_[g].mem_mib -= mib(need.gpu_mem_gib);
    }
  }

  int32_t milli(const Resources& need) const {
    const bool parts = shape_case_.cluster().types[type_].shares == Shares::kMilli;
    return need.gpu_milli > 0 && parts ? need.gpu_milli : 1000;
  }

  bool conflicts(int32_t slot, const Gpu& gpu) const {
    const GpuSharingConflicts& pair_conflicts = shape_case_.pair_conflicts();
    if (pair_conflicts.num_kinds == 0) return false;
    const int32_t kind = pair_conflicts.kind[static_cast<size_t>(slot)];
    return kind != kNone && std::any_of(gpu.holders.begin(), gpu.holders.end(), [&](int32_t other) {
             const int32_t there = pair_conflicts.kind[static_cast<size_t>(other)];
             const size_t row = type_ * static_cast<size_t>(pair_conflicts.num_kinds);
             return there != kNone &&
                    (pair_conflicts.conflicts[row + static_cast<size_t>(kind)] >> there & 1);
           });
  }

  // Returns the fullest GPU in use which still fits, the lowest among equals, else the lowest free
  // one. If `named` is not empty, only its GPUs are considered.
  uint64_t share(int32_t slot, const Resources& need, uint64_t named) const {
    int best = -1;
    for (int g = 0; g < static_cast<int>(gpus_.size()); ++g) {
      const Gpu& gpu = gpus_[static_cast<size_t>(g)];
      if (named != 0 && (named >> g & 1) == 0) continue;
      const bool fits = gpu.milli >= milli(need) && gpu.mem_mib >= mib(need.gpu_mem_gib);
      if (!fits || conflicts(slot, gpu)) continue;
      if (best < 0 || gpu.milli < gpus_[static_cast<size_t>(best)].milli) best = g;
    }
    return best < 0 ? 0 : uint64_t{1} << best;
  }

  const ShapeCase& shape_case_;
  int32_t node_;
  size_t type_ = 0;
  int64_t cpu_ = 0, mem_ = 0;
  std::vector<Gpu> gpus_;
};

// Returns the GPUs of each part, as the pieces name them; nothing if the start is illegal.
std::optional<std::vector<uint64_t>> slow_start(const ShapeCase& shape_case, const SimState& s,
                                                int32_t slot, const std::vector<Piece>& pieces) {
  const Job& job = shape_case.jobs()[static_cast<size_t>(slot)];
  std::vector<int32_t> tasks(job.groups.size(), 0);
  std::vector<std::vector<uint64_t>> masks(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Piece& p = pieces[i];
    if (p.node < 0 || p.node >= static_cast<int32_t>(shape_case.cluster().nodes.size())) return {};
    if (p.group < 0 || p.group >= static_cast<int32_t>(job.groups.size())) return {};
    if (p.tasks < 1 || p.gpus != p.tasks * job.groups[static_cast<size_t>(p.group)].task.gpus) {
      return {};
    }
    tasks[static_cast<size_t>(p.group)] += p.tasks;
    for (size_t k = 0; k < i; ++k) {
      const bool again = pieces[k].node == p.node && pieces[k].group == p.group;
      if (again && (pieces[k].mask == 0 || p.mask == 0)) return {};
    }
  }
  for (size_t g = 0; g < job.groups.size(); ++g) {
    const RoleGroup& group = job.groups[g];
    const int32_t min_tasks = group.min_count > 0 ? group.min_count : group.count;
    if (tasks[g] < min_tasks || tasks[g] > std::max(group.max_count, group.count)) return {};
  }
  for (int32_t node = 0; node < static_cast<int32_t>(shape_case.cluster().nodes.size()); ++node) {
    SlowLedger ledger(shape_case, s, node);
    for (size_t i = 0; i < pieces.size(); ++i) {
      const Resources& need = job.groups[static_cast<size_t>(pieces[i].group)].task;
      if (pieces[i].node != node) continue;
      if (!ledger.may_use_node(job, need)) return {};
      const auto taken = ledger.take(slot, need, pieces[i]);
      if (!taken) return {};
      masks[i] = *taken;
    }
  }
  std::vector<uint64_t> out;
  for (const std::vector<uint64_t>& those : masks)
    out.insert(out.end(), those.begin(), those.end());
  return out;
}

std::vector<Piece> random_pieces(ShapeCase& shape_case, const SimState& s, int32_t slot) {
  const Job& job = shape_case.jobs()[static_cast<size_t>(slot)];
  std::vector<Piece> pieces;
  for (int32_t g = 0; g < static_cast<int32_t>(job.groups.size()); ++g) {
    const RoleGroup& group = job.groups[static_cast<size_t>(g)];
    const Resources& need = group.task;
    int32_t left = shape_case.below(3) > 0 ? group.count : shape_case.below(group.count + 3);
    while (left > 0) {
      Piece p;
      p.node = shape_case.below(8) > 0 ? shape_case.below(4) : shape_case.below(6) - 1;
      p.group = shape_case.below(30) > 0 ? g : shape_case.below(4) - 1;
      p.tasks = shape_case.below(3) > 0 ? left : 1;
      p.gpus = p.tasks * need.gpus + (shape_case.below(30) == 0);
      if (shape_case.below(2) == 0 && need.gpus + need.gpu_milli > 0) {
        const uint64_t free = p.node >= 0 && p.node < 4 ? s.free_mask[p.node] : 0;
        const bool share = need.gpu_milli > 0;
        if (share) p.tasks = shape_case.below(12) > 0 ? 1 : p.tasks;
        const uint64_t from = share || shape_case.below(4) == 0 ? 0b11111 : free;
        const int32_t wanted = (share ? 1 : p.gpus) + (shape_case.below(12) == 0);
        for (int tries = 0; tries < 20 && std::popcount(p.mask) < wanted; ++tries) {
          p.mask |= from & uint64_t{1} << shape_case.below(5);
        }
      }
      left -= p.tasks;
      pieces.push_back(p);
    }
  }
  if (shape_case.below(20) == 0) pieces.push_back({shape_case.below(4), 0, 0, 0});
  return pieces;
}

TEST(ShapesReference, LegalStartsMatchANaiveLedger) {
  int legal = 0, illegal = 0;
  for (uint64_t trial = 0; trial < 80; ++trial) {
    ShapeCase shape_case(Rng(61).split(trial));
    const Scene scene(shape_case.cluster(), shape_case.jobs(), no_costs(),
                      shape_case.pair_conflicts());
    const SimModel& f = scene.fixed();
    World world(f, scene.size());
    world.reset(0, scene.size());
    ASSERT_TRUE(world.advance(scene.truth()));
    SimState& s = world.state();
    for (int step = 0; step < 200; ++step) {
      const int32_t slot = shape_case.below(scene.size());
      if (s.first_part[slot] != kNone) {
        if (shape_case.below(3) == 0) preempt(f, s, slot);
        continue;
      }
      const std::vector<Piece> pieces = random_pieces(shape_case, s, slot);
      const auto n = static_cast<int32_t>(pieces.size());
      const auto expected = slow_start(shape_case, s, slot, pieces);
      ASSERT_EQ(legal_start(f, s, slot, pieces.data(), n), expected.has_value())
          << "trial " << trial << ", step " << step;
      ++(expected ? legal : illegal);
      if (!expected) continue;
      start(f, s, slot, pieces.data(), n);
      std::vector<uint64_t> masks;  // the parts are chained from the last to the first
      for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
        masks.insert(masks.begin(), s.part_mask[p]);
      }
      ASSERT_EQ(masks, *expected) << "trial " << trial << ", step " << step;
      ASSERT_EQ(broken_invariant(f, s), "");
    }
  }
  EXPECT_GT(legal, 1000);
  EXPECT_GT(illegal, 1000);
}

}  // namespace
}  // namespace yard::testing
