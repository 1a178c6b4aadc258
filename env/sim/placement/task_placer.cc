#include "env/sim/placement/task_placer.h"

#include <vector>

namespace yard {
namespace {

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

// A resource that a node does not give counts as free.
double given_share(int64_t part, int64_t whole) {
  if (whole >= kUnlimited || part >= kUnlimited) return 1;
  return share(static_cast<double>(part), static_cast<double>(whole));
}

bool has_piece_on(const Piece* pieces, int32_t n, int32_t node) {
  return std::any_of(pieces, pieces + n, [&](const Piece& p) { return p.node == node; });
}

}  // namespace

struct TaskPlacer::Tally {
  double sum = 0;
  int32_t tasks = 0;
  double mean() const { return tasks > 0 ? sum / tasks : 0; }
};

TaskPlacer::Shares TaskPlacer::remaining_shares(const NodeLedger& ledger) const {
  const SpecColumns& spec = view_.spec();
  const int32_t m = ledger.node;
  return {share(count_bits(ledger.free), spec.node_gpus[m]),
          given_share(ledger.cpu_milli_left, spec.node_cpu_milli[m]),
          given_share(ledger.mem_mib_left, spec.node_mem_mib[m])};
}

bool TaskPlacer::has_room_for_task(int32_t slot, std::span<const Piece> pieces, int32_t group,
                                   int32_t node) const {
  if (!view_.shaped(slot)) {
    int32_t gpus = 1;
    for (const Piece& p : pieces) gpus += p.node == node ? p.gpus : 0;
    return gpus <= view_.node_free_gpus(node);
  }
  NodeLedger ledger(*view_.fixed_, *view_.state_, node);
  const TaskNeed need = view_.task_need(slot, group);
  if (!ledger.suits_task(*view_.fixed_, view_.shape_of(slot), need)) return false;
  for (const Piece& p : pieces) {
    if (p.node != node) continue;
    take_tasks(*view_.fixed_, *view_.state_, ledger, view_.task_need(slot, p.group), p.tasks);
  }
  return take_tasks(*view_.fixed_, *view_.state_, ledger, need, 1) == 1;
}

bool TaskPlacer::has_room_after_preempting(int32_t slot, int32_t group, int32_t node,
                                           std::span<const int32_t> leaving) const {
  NodeLedger ledger(*view_.fixed_, *view_.state_, node);
  for (const int32_t other : leaving) {
    for (int32_t p = view_.first_part(other); p != kNone; p = view_.next_part(p)) {
      if (view_.part_node(p) != node) continue;
      ledger.free |= view_.part_mask(p);
      if (!view_.shaped(other)) continue;
      const TaskNeed held = view_.task_need(other, view_.part_role_group(p));
      ledger.cpu_milli_left += view_.part_tasks(p) * held.cpu_milli;
      ledger.mem_mib_left += view_.part_tasks(p) * held.mem_mib;
    }
  }
  const TaskNeed need = view_.task_need(slot, group);
  return ledger.suits_task(*view_.fixed_, view_.shape_of(slot), need) &&
         take_tasks(*view_.fixed_, *view_.state_, ledger, need, 1) == 1;
}

TaskPlacer::Shares TaskPlacer::free_shares(int32_t node) const {
  return remaining_shares(NodeLedger(*view_.fixed_, *view_.state_, node));
}

TaskPlacer::Shares TaskPlacer::needed_shares(int32_t slot, int32_t group, int32_t node) const {
  const SpecColumns& spec = view_.spec();
  if (!view_.shaped(slot)) return {share(1, spec.node_gpus[node]), 0, 0};
  const TaskNeed need = view_.task_need(slot, group);
  const auto of = [](int64_t part, int64_t whole) {
    return whole >= kUnlimited ? 0 : given_share(part, whole);
  };
  return {share(need.gpus + need.gpu_milli / double{kWholeGpu}, spec.node_gpus[node]),
          of(need.cpu_milli, spec.node_cpu_milli[node]), of(need.mem_mib, spec.node_mem_mib[node])};
}

int32_t TaskPlacer::place_plain_job(int32_t slot, int32_t type, const Score& score_of, Piece* out,
                                    Tally& tally) const {
  const SpecColumns& spec = view_.spec();
  const int32_t gpus = view_.gpus(slot);
  int32_t n = 0;
  for (int32_t left = gpus; left > 0;) {
    Piece best{kNone, 0};
    double most = 0;
    bool whole = false;
    for (int32_t m = 0; m < spec.num_nodes; ++m) {
      const int32_t free = view_.node_free_gpus(m);
      if (free == 0 || (type != kNone && spec.node_type[m] != type) || has_piece_on(out, n, m))
        continue;
      const Piece piece{m, std::min(free, left)};
      const bool all = n == 0 && piece.gpus == left;
      if (whole && !all) continue;
      const Shares one = needed_shares(slot, 0, m);
      const double score = score_of({m, free_shares(m), {one.gpus * piece.gpus, 0, 0}, n > 0});
      if (best.node != kNone && whole == all && score <= most) continue;
      best = piece, most = score, whole = all;
    }
    if (best.node == kNone) return 0;
    out[n++] = best;
    left -= best.gpus;
    tally.sum += most * best.gpus;
    tally.tasks += best.gpus;
  }
  return n;
}

int32_t TaskPlacer::place_shaped_job(int32_t slot, std::span<const int32_t> tasks, int32_t type,
                                     const Score& score_of, Piece* out, Tally& tally) const {
  const SpecColumns& spec = view_.spec();
  const SimModel& fixed = *view_.fixed_;
  const int32_t shape = view_.shape_of(slot);
  std::vector<NodeLedger> ledgers;
  for (int32_t m = 0; m < spec.num_nodes; ++m) ledgers.emplace_back(fixed, *view_.state_, m);
  int32_t n = 0;
  for (int32_t g = 0; g < view_.num_groups(slot); ++g) {
    const TaskNeed need = view_.task_need(slot, g);
    const int32_t begun = n;
    const int32_t wanted =
        tasks.empty() ? view_.requested_tasks(slot, g) : tasks[static_cast<size_t>(g)];
    for (int32_t t = 0; t < wanted; ++t) {
      int32_t best = kNone;
      double most = 0;
      for (int32_t m = 0; m < spec.num_nodes; ++m) {
        const bool on_gpus = need.gpus + need.gpu_milli > 0;
        if (on_gpus && type != kNone && spec.node_type[m] != type) continue;
        NodeLedger tried = ledgers[static_cast<size_t>(m)];
        if (!tried.suits_task(fixed, shape, need)) continue;
        if (take_tasks(fixed, *view_.state_, tried, need, 1) == 0) continue;
        const double score =
            score_of({m, remaining_shares(ledgers[static_cast<size_t>(m)]),
                      this->needed_shares(slot, g, m), n > 0 && !has_piece_on(out, n, m)});
        if (best != kNone && score <= most) continue;
        best = m, most = score;
      }
      if (best == kNone) return 0;
      take_tasks(fixed, *view_.state_, ledgers[static_cast<size_t>(best)], need, 1);
      Piece* mine = std::find_if(out + begun, out + n, [&](auto& p) { return p.node == best; });
      if (mine == out + n) out[n++] = {best, 0, g, 0};
      mine->gpus += need.gpus;
      ++mine->tasks;
      tally.sum += most;
      ++tally.tasks;
    }
  }
  return n;
}

int32_t TaskPlacer::place(int32_t slot, std::span<const int32_t> tasks, const Score& score_of,
                          Piece* out, double* score) const {
  if (!view_.within_tenant_limit(slot)) return 0;
  const auto on = [&](int32_t type, Tally& tally) {
    return view_.shaped(slot) ? place_shaped_job(slot, tasks, type, score_of, out, tally)
                              : place_plain_job(slot, type, score_of, out, tally);
  };
  int32_t best_type = kNone;
  Tally best;
  const int32_t types = view_.spec().one_type ? view_.spec().num_types : 0;
  for (int32_t t = 0; t < types; ++t) {
    Tally tally;
    if (on(t, tally) == 0) continue;
    if (best_type == kNone || tally.mean() > best.mean()) best_type = t, best = tally;
  }
  if (types > 0 && best_type == kNone) return 0;
  Tally tally;
  const int32_t n = on(best_type, tally);
  if (score != nullptr) *score = tally.mean();
  return n;
}

}  // namespace yard
