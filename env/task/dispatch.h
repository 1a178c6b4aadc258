// The task `dispatch`: at a decision point choose which waiting job starts, or nothing more, or,
// with preemption on, which running job stops; again and again until "nothing more" closes the
// point. It is paid minus the jobs in the system, integrated over time: the sum is minus the total
// JCT.
//
// Observation: a window of J = 128 jobs x F = 8 features, C = 8 features of the cluster, and a mask
// of J + 1 actions (action j: the job in row j starts, or stops if it holds GPUs; action J: nothing
// more). The window holds the running jobs that an index would stop first and the waiting jobs that
// it would start first; rows are filled from 0, and only rows that exist count.
//
// The index is the expected remaining service, as `srsf-history` has it, but with the siblings of a
// job (its user's jobs submitted together with it, finished or not) counted in. The option it would
// pick is marked, and every action gets a prior logit, highest for that option and less the further
// another one lies behind in the index. A policy that adds nothing to the prior is the heuristic;
// what it adds is learned.
#pragma once

#include <cmath>
#include <cstdint>

#include "env/predict/user_history.h"
#include "env/sim/choose.h"
#include "env/sim/view.h"

namespace yard {

struct DispatchConfig {
  Placement placement = Placement::kFirstFit;
  bool preempt = true;
  float gpu_exponent = 1;
  float margin_log2 = 1;  // by how many doublings a job must be better to stop another
  float shrink = 1;
  float sibling_prior = 0.5F;       // see UserHistory::log2_median
  int64_t quantum_us = 60'000'000;  // a job is not stopped before it ran this long
  int64_t tick_us = 300'000'000;    // while jobs wait, who runs is looked at again after this long
  // At most so many rows of each kind are filled; fewer make a faster policy.
  int32_t held_rows = 64;
  int32_t waiting_rows = 128;
  // The prior: logit lost by every row but the pick, and per doubling that a row lies behind in the
  // index; how probable each kind of action is that the index would not pick now.
  float prior_gap = 0.5F;
  float prior_slope = 3;
  float prior_other = 0.02F;
  float spread = 1.2F;  // sd of a user's log run times
  ResidualLife life{1.2};

  void set_spread(float sd) {
    spread = sd;
    life = ResidualLife(sd);
  }
};

struct Dispatch {
  static constexpr int kJobs = 128;
  static constexpr int kActions = kJobs + 1;
  static constexpr int kNothing = kJobs;
  static constexpr int kJobFeatures = 8;
  static constexpr int kClusterFeatures = 8;
  static constexpr int kHeldRows = 64;   // the most that config.held_rows may be
  static constexpr int kScanned = 1024;  // of the queue, from its head

  // Written by observe(); a batch lends each world its slice of the big tensors.
  struct Observation {
    float* jobs;        // (J, F) row-major; rows from `rows` on are zero
    float* cluster;     // (C)
    uint8_t* mask;      // (J + 1)
    float* prior;       // (J + 1) logits; kMasked where the mask is 0
    int32_t* slots;     // (J) who stands in each row
    int32_t rows;       // how many rows of `jobs` exist
    int32_t legal;      // how many actions are
    int32_t suggested;  // the option that the index would pick
  };

  static constexpr float kMasked = -1e9F;

  enum JobFeature {
    kHolds,      // 1: holds GPUs, 0: waits
    kGpus,       // log2
    kAge,        // log2 s since submission
    kAttained,   // log2 s run so far
    kLeft,       // log2 s of expected remaining time
    kSiblings,   // how much of the expectation is its siblings', 0 to 1
    kKnown,      // how much of the expectation is the user's own history, 0 to 1
    kSuggested,  // 1: the index would pick this row now
  };
  enum ClusterFeature {
    kFree,              // share of GPUs free
    kWaiting,           // log2 of 1 + jobs waiting
    kHeld,              // log2 of 1 + jobs that hold GPUs
    kDemand,            // log2 of 1 + GPUs that waiting jobs ask for over all GPUs
    kPreempts,          // 1: jobs may be stopped
    kNothingSuggested,  // 1: the index would do nothing more
    kLive,              // jobs in the system: what is paid for
    kStopping,          // log2 of 1 + jobs that are saving: they stand in no row
  };

  static size_t memory_bytes(const View& view) { return UserHistory::bytes(view.num_users()); }

  // To be called once at every decision point, before the first observe().
  YARD_HD static void take_in(const View& view, const DispatchConfig& config, std::byte* memory) {
    UserHistory history(memory);
    history.take_in_changed(view);
    if (!idle(view, config)) {
      history.take_in_alive(view, config.life, config.shrink, config.spread);
    }
  }

  YARD_HD static void observe(const View& view, const DispatchConfig& config,
                              const std::byte* memory, Observation& out);

  // May the job start or stop now?
  YARD_HD static bool legal(const View& view, const DispatchConfig& config, int32_t slot);

  // Is there nothing to choose? Cheaper than an observation; may say no where only kNothing is
  // legal.
  YARD_HD static bool idle(const View& view, const DispatchConfig& config) {
    if (view.num_waiting() == 0) return true;
    if (config.preempt && view.num_held() > 0) return false;
    for (int32_t k = 0; k < view.num_classes() && view.class_gpus(k) <= view.free_gpus(); ++k) {
      if (view.class_head(k) != kNone) return false;
    }
    return true;
  }

  // When to look again if nothing happens before, kNever where only events matter.
  YARD_HD static int64_t wake_us(const View& view, const DispatchConfig& config) {
    const bool nothing_under_way = view.num_waiting() == view.num_live();
    return view.num_waiting() > 0 && (config.preempt || nothing_under_way)
               ? view.now_us() + config.tick_us
               : kNever;
  }

  // Carries an action out through `editor`, which has start(slot, pieces, n) and preempt(slot).
  // Requires: the action is legal and not kNothing; room for one placement in `scratch`.
  template <class Editor>
  YARD_HD static void apply(const View& view, const DispatchConfig& config, int32_t slot,
                            Piece* scratch, Editor&& editor) {
    if (view.phase(slot) == Phase::kWaiting) {
      const int32_t n = place(view, config.placement, view.gpus(slot), scratch);
      editor.start(slot, scratch, n);
    } else {
      editor.preempt(slot);
    }
  }

  // Job-seconds between two moments, negative. `*_job_time_us`: the state's integral of live jobs.
  YARD_HD static double reward(int64_t before_job_time_us, int64_t after_job_time_us) {
    return -1e-6 * static_cast<double>(after_job_time_us - before_job_time_us);
  }
};

namespace dispatch_detail {

struct Row {
  float key;       // the index, lower goes first; holders have their margin taken off
  float left;      // log2 s
  float attained;  // log2 s
  int32_t slot;
  int32_t gpus;
  int32_t serial;
};

YARD_HD inline bool before(const Row& a, const Row& b) {
  return a.key != b.key ? a.key < b.key : a.serial < b.serial;
}

// Keeps the `most` best rows in rising order of the index (`sign` 1) or falling (-1). Returns how
// many.
YARD_HD inline int32_t keep_best(Row* rows, int32_t n, int32_t most, const Row& row, int sign) {
  const auto goes_first = [sign](const Row& a, const Row& b) {
    return sign > 0 ? before(a, b) : before(b, a);
  };
  if (n == most) {
    if (!goes_first(row, rows[n - 1])) return n;
    --n;
  }
  int32_t i = n;
  for (; i > 0 && goes_first(row, rows[i - 1]); --i) rows[i] = rows[i - 1];
  rows[i] = row;
  return n + 1;
}

// Every kind of action (start, stop, nothing) shares out its probability by the index: e^-slope per
// doubling behind the kind's best. Kinds that the index would not pick now weigh prior_other each.
YARD_HD inline void write_prior(const DispatchConfig& config, const Row* held, int32_t num_held,
                                const Row* waiting, int32_t pick, Dispatch::Observation& out) {
  constexpr float kLog2E = 1.44269504F, kLn2 = 0.69314718F;
  enum { kStart, kStop, kNone, kKinds };
  const float slope = config.prior_slope * kLog2E;
  // Among waiting jobs the lower key is the better option, among holders (to stop) the higher.
  const auto merit = [&](int32_t r) {
    return r < num_held ? held[r].key : -waiting[r - num_held].key;
  };
  float best[kKinds] = {-1e9F, -1e9F, 0};
  for (int32_t r = 0; r < out.rows; ++r) {
    const int kind = r < num_held ? kStop : kStart;
    if (out.mask[r] && merit(r) > best[kind]) best[kind] = merit(r);
  }
  const int picked = pick == Dispatch::kNothing ? kNone : pick < num_held ? kStop : kStart;
  // Jobs that the index passes over because they do not fit lie before its pick: level with it.
  if (picked != kNone) best[picked] = merit(pick);
  const auto level = [&](int32_t r, int kind) {  // log2 of an option's weight in its kind
    const float merit_lost = best[kind] > merit(r) ? best[kind] - merit(r) : 0;
    const float behind = slope * merit_lost + (r == pick ? 0 : config.prior_gap * kLog2E);
    return behind < 60 ? -behind : -60.0F;
  };
  double sum[kKinds] = {0, 0, 1};
  for (int32_t r = 0; r < out.rows; ++r) {
    const int kind = r < num_held ? kStop : kStart;
    if (out.mask[r]) sum[kind] += exp2_coarse(level(r, kind));
  }
  const float other = log2_coarse(config.prior_other);
  for (int32_t r = 0; r < Dispatch::kJobs; ++r) {
    if (r >= out.rows || !out.mask[r]) {
      out.prior[r] = Dispatch::kMasked;
      continue;
    }
    const int kind = r < num_held ? kStop : kStart;
    const float share = level(r, kind) - log2_coarse(sum[kind]) + (kind == picked ? 0 : other);
    out.prior[r] = share * kLn2;
  }
  out.prior[Dispatch::kNothing] = (picked == kNone ? 0 : other) * kLn2;
}

}  // namespace dispatch_detail

YARD_HD inline bool Dispatch::legal(const View& view, const DispatchConfig& config, int32_t slot) {
  switch (view.phase(slot)) {
    case Phase::kWaiting:
      return view.gpus(slot) <= view.free_gpus() &&
             (config.placement != Placement::kConsolidate ||
              can_place(view, config.placement, view.gpus(slot)));
    case Phase::kRunning:
      return config.preempt && view.preemptible(slot) && view.num_waiting() > 0 &&
             view.now_us() - view.since_us(slot) >= config.quantum_us;
    default:
      return false;
  }
}

YARD_HD inline void Dispatch::observe(const View& view, const DispatchConfig& config,
                                      const std::byte* memory, Observation& out) {
  using dispatch_detail::Row;
  // The history is only read here; its columns are not const because take_in() shares the type.
  const UserHistory history(const_cast<std::byte*>(memory));
  const auto row_of = [&](int32_t slot) {
    Row row;
    row.slot = slot;
    row.gpus = view.gpus(slot);
    row.serial = view.serial(slot);
    row.attained = log2_seconds(view.attained_us(slot));
    const float median = history.log2_median(view.user(slot), config.shrink, view.submit_us(slot),
                                             config.sibling_prior);
    row.left = config.life.log2_left(median, row.attained);
    row.key = row.left + config.gpu_exponent * log2_coarse(row.gpus);
    return row;
  };

  // Holders that would be stopped first (highest index), then waiting jobs that would start first.
  Row held[kHeldRows], waiting[kJobs];
  int32_t num_held = 0, num_waiting = 0, other_gpus = 0;
  if (config.preempt) {
    int32_t held_gpus = 0;
    for (int32_t i = 0; i < view.num_held(); ++i) {
      Row row = row_of(view.held(i));
      row.key -= config.margin_log2;
      held_gpus += row.gpus;
      num_held = dispatch_detail::keep_best(held, num_held, config.held_rows, row, -1);
    }
    other_gpus = held_gpus;
    for (int32_t i = 0; i < num_held; ++i) other_gpus -= held[i].gpus;
  } else {
    other_gpus = view.total_gpus() - view.free_gpus();
  }
  const int32_t room = kJobs - num_held;
  const int32_t most_waiting = config.waiting_rows < room ? config.waiting_rows : room;
  int32_t scanned = 0;
  int64_t demand = 0;
  for (int32_t slot = view.queue_head(); slot != kNone && scanned < kScanned;
       slot = view.queue_next(slot), ++scanned) {
    demand += view.gpus(slot);
    num_waiting = dispatch_detail::keep_best(waiting, num_waiting, most_waiting, row_of(slot), 1);
  }

  // Who would hold GPUs if they were given out in order of the index? `held` runs from the worst to
  // the best. The first winner that fits starts; else the worst loser stops; else nothing.
  int32_t pick = kNothing;
  int32_t left = view.total_gpus() - other_gpus;
  int32_t worst_loser = kNone;
  bool winner_waits = false;
  for (int32_t h = num_held - 1, w = 0; left > 0 && (h >= 0 || w < num_waiting);) {
    const bool take_held =
        h >= 0 && (w == num_waiting || dispatch_detail::before(held[h], waiting[w]));
    if (take_held) {
      if (held[h].gpus <= left) {
        left -= held[h].gpus;
      } else if (legal(view, config, held[h].slot)) {
        worst_loser = h;  // later ones are worse
      }
      --h;
      if (h < 0) continue;
    } else {
      if (waiting[w].gpus <= left) {
        left -= waiting[w].gpus;
        winner_waits = true;
        if (pick == kNothing && legal(view, config, waiting[w].slot)) pick = num_held + w;
      }
      ++w;
    }
    if (left <= 0) {
      // Whoever holds GPUs from here on loses them; the worst that may be stopped goes first.
      for (int32_t k = 0; k <= h; ++k) {
        if (legal(view, config, held[k].slot)) {
          worst_loser = k;
          break;
        }
      }
    }
  }
  if (pick == kNothing && winner_waits && worst_loser != kNone) pick = worst_loser;

  out.suggested = pick;
  out.rows = num_held + num_waiting;
  out.legal = 1;
  const float age_unit = 1.0F / 8;
  for (int32_t r = 0; r < out.rows; ++r) {
    const bool holds = r < num_held;
    const Row& row = holds ? held[r] : waiting[r - num_held];
    const UserRecord own = history.record(view.user(row.slot));
    float* f = out.jobs + static_cast<int64_t>(r) * kJobFeatures;
    f[kHolds] = holds ? 1.0F : 0.0F;
    f[kGpus] = log2_coarse(row.gpus) * 0.25F;
    f[kAge] = (log2_seconds(view.now_us() - view.submit_us(row.slot)) - 8) * age_unit;
    f[kAttained] = (row.attained - 8) * age_unit;
    f[kLeft] = (row.left - 12) * 0.25F;
    const bool together = UserHistory::in_batch(own, view.submit_us(row.slot));
    const float siblings = (together ? own.batch_jobs : 0.0F) + own.alive_weight;
    f[kSiblings] = siblings / (siblings + config.sibling_prior);
    f[kKnown] = own.jobs / (own.jobs + config.shrink);
    f[kSuggested] = r == pick ? 1.0F : 0.0F;
    out.slots[r] = row.slot;
    // A job is stopped only for one that the index puts before it, margin or not: otherwise two
    // jobs could stop each other for ever.
    const bool beaten =
        !holds || (num_waiting > 0 && waiting[0].key < row.key + config.margin_log2);
    out.mask[r] = beaten && legal(view, config, row.slot);
    out.legal += out.mask[r];
  }
  for (int32_t r = out.rows; r < kJobs; ++r) {
    out.mask[r] = 0;
    float* f = out.jobs + static_cast<int64_t>(r) * kJobFeatures;
    for (int k = 0; k < kJobFeatures; ++k) f[k] = 0;
  }
  out.mask[kNothing] = 1;

  dispatch_detail::write_prior(config, held, num_held, waiting, pick, out);

  float* c = out.cluster;
  const auto total = static_cast<float>(view.total_gpus());
  c[kFree] = static_cast<float>(view.free_gpus()) / total;
  c[kWaiting] = log2_coarse(1.0 + view.num_waiting()) * 0.125F;
  c[kHeld] = log2_coarse(1.0 + view.num_held()) * 0.125F;
  c[kDemand] = log2_coarse(1.0 + static_cast<double>(demand) / view.total_gpus()) * 0.25F;
  c[kPreempts] = config.preempt ? 1.0F : 0.0F;
  c[kNothingSuggested] = pick == kNothing ? 1.0F : 0.0F;
  c[kLive] = static_cast<float>(view.num_live()) / 64;
  const int32_t stopping = view.num_live() - view.num_waiting() - view.num_held();
  c[kStopping] = log2_coarse(1.0 + stopping) * 0.5F;
}

}  // namespace yard
