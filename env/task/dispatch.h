// The task `dispatch`: choose which waiting job starts, which running job is preempted (if
// enabled), or nothing more, until "nothing more" closes the decision. The reward is minus the jobs
// in the system, integrated over time; it sums to minus the total JCT.
//
// Observation: a window of J = 128 jobs x F = 8 features, C = 8 cluster features, and a mask of J +
// 1 actions. Action j starts the job in row j, or preempts it if it holds GPUs; action J: nothing
// more. The window holds the running jobs that the index would preempt first, then the waiting jobs
// that it would start first; rows are filled from 0.
//
// The index is the Gittins index of the job's remaining time, times its GPUs to a power; or
// attained service by configuration. Run times are predicted from the user's finished jobs and the
// job's siblings (the user's jobs submitted together with it, finished or not). The less is known,
// the wider the distribution. Prior logits are highest for the index's pick and fall with the
// distance in the index; an untrained network reproduces that heuristic.
#pragma once

#include <cstdint>
#include <cstring>

#include "env/predict/user_history.h"
#include "env/sim/placement/placement_rules.h"
#include "env/sim/view/view.h"
#include "env/task/candidates.h"
#include "env/task/observation.h"

namespace yard {

// Index of jobs: the Gittins index of the remaining time, or the number of limits that attained
// service (time x GPUs) has passed, ties by submission (Tiresias' queues, NSDI 2019).
enum class DispatchIndex : uint8_t { kRemaining, kAttained };
constexpr const char* kDispatchIndexNames[] = {"remaining", "attained"};

struct DispatchConfig {
  DispatchIndex index = DispatchIndex::kRemaining;
  float limit_1_gpu_s = 3250, limit_2_gpu_s = 7200;  // of kAttained
  PlacementRule placement = PlacementRule::kFirstFit;
  bool preempt = true;
  float gpu_exponent = 1;
  float margin_log2 = 1;  // doublings by which a job must be better to preempt another
  float shrink = 1;
  float sibling_prior = 0.5F;       // see UserHistory::predict
  int64_t quantum_us = 60'000'000;  // a job is not preempted before it has run this long
  int64_t tick_us = 300'000'000;    // while jobs wait, decide again after this time
  // Most rows of each kind to fill; fewer rows make a faster policy.
  int32_t held_rows = 64;
  int32_t waiting_rows = 128;
  // The prior: logit lost by every row but the pick, and per doubling of distance in the index; the
  // probability of each kind of action that the index would not pick.
  float prior_gap = 0.5F;
  float prior_slope = 3;
  float prior_other = 0.02F;
  RunTimes run_times{0.7F, 0.9F, 0.6F};
};

struct Dispatch {
  using Config = DispatchConfig;
  static constexpr Level kLevel = Level::kHistory;
  static constexpr int kJobs = 128;
  static constexpr int kActions = kJobs + 1;
  static constexpr int kNothing = kJobs;
  static constexpr int kJobFeatures = 8;
  static constexpr int kClusterFeatures = 8;
  static constexpr int kHeldRows = 64;  // upper limit of config.held_rows

  static constexpr float kMasked = kMaskedLogit;

  enum JobFeature {
    kHolds,         // 1: holds GPUs, 0: waits
    kGpus,          // log2
    kAge,           // log2 s since submission
    kAttained,      // log2 s run so far
    kLeft,          // log2 s of expected remaining time
    kSiblings,      // share of the prediction that comes from siblings, 0 to 1
    kKnown,         // share of it that comes from the user's own history, 0 to 1
    kExpertAction,  // 1: the index would pick this row
  };
  enum ClusterFeature {
    kFree,               // share of GPUs free
    kWaiting,            // log2 of 1 + jobs waiting
    kHeld,               // log2 of 1 + jobs that hold GPUs
    kDemand,             // log2 of 1 + GPUs demanded by waiting jobs over all GPUs
    kPreempts,           // 1: jobs may be preempted
    kExpertDoesNothing,  // 1: the index would do nothing more
    kLive,               // jobs in the system, which the reward counts
    kStopping,           // log2 of 1 + jobs saving a checkpoint, which have no row
  };

  YARD_HD static size_t memory_bytes(const View& view) {
    return UserHistory::bytes(view) + Candidates::bytes(view.capacity());
  }

  // Must be called once in each decision, before observe(). Time and history do not change
  // within a decision, so every job's index is computed here. Returns whether there may be a
  // choice; if not, there is nothing to observe.
  YARD_HD static bool on_events(const View& view, const DispatchConfig& config, std::byte* memory);

  // Requires: on_events() was called at this decision and returned true.
  YARD_HD static void observe(const View& view, const DispatchConfig& config, std::byte* memory,
                              Observation& out);

  // Returns whether the job may be started or preempted at present.
  YARD_HD static bool legal(const View& view, const DispatchConfig& config, int32_t slot);

  // Returns whether there is nothing to choose. Cheaper than an observation; may return false where
  // only kNothing is legal.
  YARD_HD static bool idle(const View& view, const DispatchConfig& config) {
    if (view.num_waiting() == 0) return true;
    if (config.preempt && view.num_held() > 0) return false;
    return view.min_gpus_waited_for() > view.free_gpus();
  }

  // Returns when to decide again if nothing happens before; kNever if only events matter.
  YARD_HD static int64_t wake_us(const View& view, const DispatchConfig& config) {
    const bool none_runs = view.num_waiting() + view.num_blocked() == view.num_live();
    return view.num_waiting() > 0 && (config.preempt || none_runs) ? view.now_us() + config.tick_us
                                                                   : kNever;
  }

  // Carries out an action through `editor`, which has start(slot, pieces, n) and preempt(slot).
  // Requires: the action is legal and not kNothing; `scratch` has room for one placement.
  template <class Editor>
  YARD_HD static void apply(const View& view, const DispatchConfig& config, std::byte*,
                            int32_t slot, Piece* scratch, Editor&& editor) {
    if (view.phase(slot) == Phase::kWaiting) {
      const int32_t n = place(view, config.placement, slot, scratch);
      editor.start(slot, scratch, n);
    } else {
      editor.preempt(slot);
    }
  }
};

namespace dispatch_detail {

// Returns how many of the two limits the job's attained service has passed.
YARD_HD inline float passed_limits(const View& view, const DispatchConfig& config, int32_t slot) {
  const double service_us = static_cast<double>(view.attained_us(slot)) * view.weight_gpus(slot);
  return static_cast<float>((service_us >= 1e6 * static_cast<double>(config.limit_1_gpu_s)) +
                            (service_us >= 1e6 * static_cast<double>(config.limit_2_gpu_s)));
}

static_assert(sizeof(Features::values) == sizeof(float) * Dispatch::kJobFeatures);

// Writes the features that stay constant throughout a decision.
YARD_HD inline void write_features(const View& view, const DispatchConfig& config,
                                   const Candidate& c, float* f) {
  using D = Dispatch;
  constexpr float kTimeUnit = 1.0F / 8;
  const ResidualLife& life = config.run_times.life[c.width];
  f[D::kHolds] = f[D::kExpertAction] = 0;
  f[D::kGpus] = c.log2_gpus * 0.25F;
  f[D::kAge] = (log2_seconds(view.now_us() - c.submit_us) - 8) * kTimeUnit;
  f[D::kAttained] = (c.log2_attained - 8) * kTimeUnit;
  f[D::kLeft] = (life.log2_left(c.log2_median, c.log2_attained) - 12) * 0.25F;
  f[D::kSiblings] = c.siblings / (c.siblings + config.sibling_prior);
  f[D::kKnown] = c.known;
}

// The jobs in the rows: first holders of GPUs in the order in which they would be preempted
// (highest index minus margin), then waiting jobs in the order in which they would start.
struct Window {
  const Candidate* rows[Dispatch::kJobs];
  int32_t gpus[Dispatch::kJobs];
  uint8_t may[Dispatch::kJobs];  // 1: the job may be started or preempted
  int32_t num_held = 0;
  int32_t size = 0;
  int32_t legal = 0;     // number of rows with may = 1
  int32_t to_share = 0;  // GPUs that are free or held by jobs in the rows

  // Lower keys go first; `margin` is subtracted from the keys of holders.
  YARD_HD float key(int32_t r, float margin) const {
    return rows[r]->key() - (r < num_held ? margin : 0);
  }
};

YARD_HD inline void fill(const View& view, const DispatchConfig& config,
                         const Candidates& candidates, Window& w) {
  const auto put = [&](const Candidate& c) {
    w.gpus[w.size] = c.gpus;
    w.may[w.size] = Dispatch::legal(view, config, c.slot);
    w.legal += w.may[w.size];
    w.rows[w.size++] = &c;
  };
  memset(w.may, 0, sizeof w.may);
  w.to_share = view.free_gpus();
  if (config.preempt) {
    const int32_t most = config.held_rows < view.num_held() ? config.held_rows : view.num_held();
    for (int32_t i = candidates.size() - 1; w.size < most; --i) {
      const Candidate& c = candidates[i];
      const Phase phase = view.phase(c.slot);
      if (phase != Phase::kRunning && phase != Phase::kStarting) continue;
      w.to_share += c.gpus;
      put(c);
    }
    w.num_held = w.size;
  }
  const int32_t room = Dispatch::kJobs - w.num_held;
  int32_t most = config.waiting_rows < room ? config.waiting_rows : room;
  if (view.num_waiting() < most) most = view.num_waiting();
  most += w.num_held;
  for (int32_t i = 0; w.size < most; ++i) {
    if (view.phase(candidates[i].slot) == Phase::kWaiting) put(candidates[i]);
  }
  // A job is preempted only for one that precedes it in the index even without the margin:
  // otherwise two jobs could preempt each other forever.
  for (int32_t r = 0; r < w.num_held; ++r) {
    const bool beaten = w.num_held < w.size && w.rows[w.num_held]->key() < w.rows[r]->key();
    if (beaten || w.may[r] == 0) continue;
    w.may[r] = 0;
    --w.legal;
  }
}

// Gives out GPUs in order of the index. Returns the first winner that may start, else the worst
// loser that may be preempted, else kNothing.
YARD_HD inline int32_t suggest(const Window& w, float margin) {
  const auto holder_precedes = [&](int32_t h, int32_t r) {
    const float held = w.key(h, margin), waits = w.key(r, margin);
    return held < waits || (held == waits && w.rows[h]->serial() < w.rows[r]->serial());
  };
  int32_t left = w.to_share;
  int32_t worst_loser = kNone;
  bool winner_waits = false;
  for (int32_t h = w.num_held - 1, r = w.num_held; left > 0 && (h >= 0 || r < w.size);) {
    // Holders are sorted from the worst to the best.
    if (h >= 0 && (r == w.size || holder_precedes(h, r))) {
      if (w.gpus[h] <= left) {
        left -= w.gpus[h];
      } else if (w.may[h]) {
        worst_loser = h;  // later ones are worse
      }
      --h;
    } else {
      if (w.gpus[r] <= left) {
        left -= w.gpus[r];
        winner_waits = true;
        if (w.may[r]) return r;
      }
      ++r;
    }
    if (left > 0) continue;
    // The remaining holders lose their GPUs. The worst one that may be preempted goes first.
    for (int32_t k = 0; k <= h; ++k) {
      if (w.may[k]) {
        worst_loser = k;
        break;
      }
    }
  }
  return winner_waits && worst_loser != kNone ? worst_loser : Dispatch::kNothing;
}

// Each kind of action (start, preempt, nothing) divides its probability by index: e^-slope per
// doubling behind the kind's best. Kinds that the index would not pick have weight prior_other.
YARD_HD inline void write_prior(const DispatchConfig& config, const Window& w,
                                const Observation& o) {
  constexpr float kLog2E = 1.44269504F, kLn2 = 0.69314718F;
  const float other = log2_coarse(config.prior_other);
  const float slope = config.prior_slope * kLog2E, gap = config.prior_gap * kLog2E;
  const float margin = config.margin_log2;
  const int32_t pick = o.expert_action;
  // For the rows [from, to) of a kind, in which lower sign * key is better.
  const auto share_out = [&](int32_t from, int32_t to, float sign) {
    if (from == to) return;
    int32_t first = from;  // rows of a kind are sorted from the best
    while (first < to && !o.mask[first]) ++first;
    const bool picked = from <= pick && pick < to;
    // Jobs that precede the pick but do not fit count as level with it.
    const float best = sign * w.key(picked ? pick : first < to ? first : from, margin);
    // First log2 of each option's weight within its kind, then its share.
    double sum = 0;
    for (int32_t r = first; r < to; ++r) {
      if (!o.mask[r]) continue;
      const float key = sign * w.key(r, margin);
      const float behind = slope * (key > best ? key - best : 0) + (r == pick ? 0 : gap);
      o.prior[r] = behind < 60 ? -behind : -60.0F;
      sum += exp2_coarse(o.prior[r]);
    }
    const float share = (picked ? 0 : other) - (sum > 0 ? log2_coarse(sum) : 0);
    for (int32_t r = from; r < to; ++r) {
      o.prior[r] = o.mask[r] ? (o.prior[r] + share) * kLn2 : Dispatch::kMasked;
    }
  };
  share_out(0, w.num_held, -1);
  share_out(w.num_held, w.size, 1);
  for (int32_t r = w.size; r < Dispatch::kJobs; ++r) o.prior[r] = Dispatch::kMasked;
  const float nothing = pick == Dispatch::kNothing ? 0 : other * kLn2;
  o.prior[Dispatch::kNothing] = o.mask[Dispatch::kNothing] ? nothing : Dispatch::kMasked;
}

YARD_HD inline void write_cluster(const View& view, const DispatchConfig& config, int32_t pick,
                                  float* c) {
  using D = Dispatch;
  const auto total = static_cast<float>(view.total_gpus());
  const int32_t stopping =
      view.num_live() - view.num_blocked() - view.num_waiting() - view.num_held();
  c[D::kFree] = static_cast<float>(view.free_gpus()) / total;
  c[D::kWaiting] = log2_coarse(1.0 + view.num_waiting()) * 0.125F;
  c[D::kHeld] = log2_coarse(1.0 + view.num_held()) * 0.125F;
  c[D::kDemand] =
      log2_coarse(1.0 + static_cast<double>(view.waiting_gpus()) / view.total_gpus()) * 0.25F;
  c[D::kPreempts] = config.preempt ? 1.0F : 0.0F;
  c[D::kExpertDoesNothing] = pick == D::kNothing ? 1.0F : 0.0F;
  c[D::kLive] = static_cast<float>(view.num_live()) / 64;
  c[D::kStopping] = stopping == 0 ? 0.0F : log2_coarse(1.0 + stopping) * 0.5F;
}

}  // namespace dispatch_detail

YARD_HD inline bool Dispatch::legal(const View& view, const DispatchConfig& config, int32_t slot) {
  switch (view.phase(slot)) {
    case Phase::kWaiting:
      if (view.shaped(slot)) return can_place(view, config.placement, slot);
      return view.gpus(slot) <= view.free_gpus() &&
             (config.placement != PlacementRule::kConsolidate ||
              can_place(view, config.placement, slot));
    case Phase::kRunning:
      return config.preempt && view.preemptible(slot) && view.num_waiting() > 0 &&
             view.now_us() - view.since_us(slot) >= config.quantum_us &&
             view.now_us() > view.since_us(slot);  // a job that has just started continues
    default:
      return false;
  }
}

YARD_HD inline bool Dispatch::on_events(const View& view, const DispatchConfig& config,
                                        std::byte* memory) {
  UserHistory history(memory);
  history.learn_finished(view);
  if (idle(view, config)) return false;
  Candidates candidates(memory + UserHistory::bytes(view), view.capacity());
  bool some_ran = false;
  const int32_t point = candidates.begin_point();
  candidates.gather(view, config.preempt, [&](const Candidate& c) {
    history.prepare(c.user, point, config.shrink);
    some_ran |= c.ran != 0;
  });
  const auto all_that_ran = [&](auto&& visit) {
    // Holders are candidates only where they may be preempted.
    for (int32_t i = 0; !config.preempt && i < view.num_held(); ++i) visit(view.held(i));
    for (int32_t i = 0; some_ran && i < candidates.size(); ++i) {
      if (candidates[i].ran) visit(candidates[i].slot);
    }
  };
  history.add_unfinished(view, config.run_times.life[0], point, candidates.scratch(), all_that_ran);
  candidates.rank([&](Candidate& c) {
    c.log2_attained = c.ran ? log2_seconds(view.attained_us(c.slot)) : 0;
    const auto expected = history.predict(c.user, c.submit_us, config.sibling_prior);
    c.log2_median = expected.log2_median;
    c.siblings = expected.siblings;
    c.known = 1 - expected.user_unknown;
    c.width = config.run_times.width(expected.batch_unknown, expected.user_unknown);
    if (config.index == DispatchIndex::kAttained) {
      return dispatch_detail::passed_limits(view, config, c.slot);
    }
    return config.run_times.life[c.width].log2_rank(c.log2_median, c.log2_attained) +
           config.gpu_exponent * c.log2_gpus;
  });
  return true;
}

YARD_HD inline void Dispatch::observe(const View& view, const DispatchConfig& config,
                                      std::byte* memory, Observation& out) {
  Candidates candidates(memory + UserHistory::bytes(view), view.capacity());
  dispatch_detail::Window w;
  dispatch_detail::fill(view, config, candidates, w);
  // Computed in one pass and copied in another: a load right after its store would stall.
  const float* still[kJobs];
  for (int32_t r = 0; r < w.size; ++r) {
    still[r] = candidates.features(*w.rows[r], [&](float* f) {
      dispatch_detail::write_features(view, config, *w.rows[r], f);
    });
  }
  if (out.filled > w.size) {
    memset(out.jobs + static_cast<int64_t>(w.size) * kJobFeatures, 0,
           sizeof(float) * static_cast<size_t>(out.filled - w.size) * kJobFeatures);
  }
  out.filled = w.size;
  for (int32_t r = 0; r < w.size; ++r) {
    memcpy(out.jobs + static_cast<int64_t>(r) * kJobFeatures, still[r],
           sizeof(float) * kJobFeatures);
    out.slots[r] = w.rows[r]->slot;
  }
  for (int32_t r = 0; r < w.num_held; ++r) {
    out.jobs[static_cast<int64_t>(r) * kJobFeatures + kHolds] = 1;
  }
  memcpy(out.mask, w.may, kJobs);
  // If only the policy keeps jobs waiting and none runs, one of those that fit must start.
  const bool all_wait = view.num_live() == view.num_waiting();
  out.mask[kNothing] = !(all_wait && w.legal > 0);
  out.rows = w.size;
  out.choices = w.legal;
  out.expert_action = dispatch_detail::suggest(w, config.margin_log2);
  if (out.expert_action != kNothing) {
    out.jobs[static_cast<int64_t>(out.expert_action) * kJobFeatures + kExpertAction] = 1;
  }
  dispatch_detail::write_cluster(view, config, out.expert_action, out.cluster);
  if (out.prior != nullptr) dispatch_detail::write_prior(config, w, out);
}

}  // namespace yard
