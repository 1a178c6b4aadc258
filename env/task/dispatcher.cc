// Agent `dispatcher`: chooses which waiting job starts or which running job is preempted, until the
// no-op ends the decision. Listed are the running jobs that the index would preempt first, then the
// waiting jobs that it would start first.
//
// The index is the Gittins index of the job's remaining time, times its GPUs to a power; or
// attained service by configuration. Run times are predicted from the user's finished jobs and the
// job's siblings (the user's jobs submitted together with it). The less is known, the wider the
// distribution. An untrained network follows the index, which gives the prior logits.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "env/base/core/error.h"
#include "env/predict/user_history.h"
#include "env/sim/placement/placement_rules.h"
#include "env/task/agent.h"
#include "env/task/candidates.h"

namespace yard {
namespace {

constexpr int kMaxJobs = 128;
constexpr int kMaxHeldRows = 64;
constexpr int32_t kNothing = kMaxJobs;  // the index would do nothing more

struct JobFeatures {
  float holds, gpus, age, attained, left, siblings, known, expert_action;
};
struct StateFeatures {
  float free, waiting, held, demand, preempts, expert_does_nothing, live, stopping;
};
static_assert(sizeof(CachedFeatures::values) == sizeof(JobFeatures));

struct Config {
  std::string index = "remaining";
  float limit_1_gpu_s = 3250;
  float limit_2_gpu_s = 7200;
  std::string placement = "first-fit";
  bool preempt = true;
  float gpu_exponent = 1;
  float margin_log2 = 1;
  float shrink = 1;
  float sibling_prior = 0.5F;
  float spread = 0.7F;
  float spread_batch = 0.9F;
  float spread_user = 0.6F;
  double quantum_s = 60;
  double tick_s = 300;
  int held_rows = 24;
  int waiting_rows = 56;
  float prior_gap = 0.5F;
  float prior_slope = 3;
  float prior_other = 0.02F;

  void fields(FieldList& f) {
    f("index", index, {"remaining", "attained"},
      "order of jobs: by expected remaining service, or by limits of attained service passed "
      "(Tiresias' queues, NSDI 2019)");
    f("limit_1_gpu_s", limit_1_gpu_s, 1, 1e9F,
      "largest attained service of the first queue, in GPU-seconds, if index=attained");
    f("limit_2_gpu_s", limit_2_gpu_s, 1, 1e9F,
      "largest attained service of the second queue, in GPU-seconds, if index=attained");
    f("placement", placement, {"first-fit", "best-fit", "consolidate"}, "placement of jobs");
    f("preempt", preempt, "allow waiting jobs to preempt running jobs");
    f("gpu_exponent", gpu_exponent, 0, 2, "exponent x of the index, expected time x GPUs^x");
    f("margin_log2", margin_log2, 0, 10,
      "doublings of the index by which a running job must exceed a job that preempts it");
    f("shrink", shrink, 0.01F, 100,
      "weight of all users' jobs in the estimate for one user, as a number of jobs");
    f("sibling_prior", sibling_prior, 0.01F, 1e6F,
      "weight of the user's other jobs, as a number of jobs, in the run time expected for the jobs "
      "of a batch");
    f("spread", spread, 0.2F, 3, "standard deviation of log run times within a batch");
    f("spread_batch", spread_batch, 0, 5,
      "standard deviation of log run times between a user's batches");
    f("spread_user", spread_user, 0, 5, "standard deviation of log run times between users");
    f("quantum_s", quantum_s, 0.0, 1e6, "shortest run before a job may be preempted, in seconds");
    f("tick_s", tick_s, 1.0, 1e6, "time between decisions while jobs wait, in seconds");
    f("held_rows", held_rows, 1, kMaxHeldRows,
      "largest number of running jobs that the agent lists, from the next to preempt on");
    f("waiting_rows", waiting_rows, 1, kMaxJobs,
      "largest number of waiting jobs that the agent lists, from the next to start on");
    f("prior_gap", prior_gap, 0, 100, "logit penalty of all actions except the expert action");
    f("prior_slope", prior_slope, 0, 100, "logit penalty per doubling of the index");
    f("prior_other", prior_other, 1e-6F, 1,
      "prior probability of each kind of action that the index would not take");
  }
};

enum class Index : uint8_t { kRemaining, kAttained };

// The configuration as the functions below read it.
struct Parameters : Config {
  explicit Parameters(const Config& config)
      : Config(config),
        by(index == "attained" ? Index::kAttained : Index::kRemaining),
        quantum_us(std::llround(quantum_s * 1e6)),
        tick_us(std::llround(tick_s * 1e6)),
        run_times(spread, spread_batch, spread_user) {
    const auto* const at = std::ranges::find(kPlacementRuleNames, placement);
    rule = static_cast<PlacementRule>(at - std::begin(kPlacementRuleNames));
  }

  Index by;
  PlacementRule rule = PlacementRule::kFirstFit;
  int64_t quantum_us, tick_us;
  RunTimeModel run_times;
};

// Returns whether the job may be started or preempted at present.
bool legal(const View& view, const Parameters& config, int32_t slot) {
  switch (view.phase(slot)) {
    case Phase::kWaiting:
      if (view.shaped(slot)) return can_place(view, config.rule, slot);
      return view.gpus(slot) <= view.free_gpus() &&
             (config.rule != PlacementRule::kConsolidate || can_place(view, config.rule, slot));
    case Phase::kRunning:
      return config.preempt && view.preemptible(slot) && view.num_waiting() > 0 &&
             view.now_us() - view.phase_or_rate_since_us(slot) >= config.quantum_us &&
             view.now_us() >
                 view.phase_or_rate_since_us(slot);  // a job that has just started continues
    default:
      return false;
  }
}

// Returns how many of the two limits the job's attained service has passed.
float passed_limits(const View& view, const Parameters& config, int32_t slot) {
  const double service_us =
      static_cast<double>(view.attained_us(slot)) * view.gpus_at_least_one(slot);
  return static_cast<float>((service_us >= 1e6 * static_cast<double>(config.limit_1_gpu_s)) +
                            (service_us >= 1e6 * static_cast<double>(config.limit_2_gpu_s)));
}

// Writes the features that stay constant throughout a decision.
void write_features(const View& view, const Parameters& config, const Candidate& c,
                    JobFeatures& f) {
  constexpr float kTimeUnit = 1.0F / 8;
  const ResidualLife& life = config.run_times.life[c.residual_life_bin];
  f.gpus = c.log2_gpus * 0.25F;
  f.age = (log2_seconds(view.now_us() - c.submit_us) - 8) * kTimeUnit;
  f.attained = (c.log2_attained - 8) * kTimeUnit;
  f.left = (life.log2_remaining_s(c.log2_median, c.log2_attained) - 12) * 0.25F;
  f.siblings = c.siblings / (c.siblings + config.sibling_prior);
  f.known = c.known;
}

// The jobs in the rows: first holders of GPUs in the order in which they would be preempted
// (highest index minus margin), then waiting jobs in the order in which they would start.
struct Window {
  const Candidate* rows[kMaxJobs];
  int32_t index[kMaxJobs];  // of the candidate
  int32_t gpus[kMaxJobs];
  uint8_t may[kMaxJobs];  // 1: the job may be started or preempted
  int32_t num_holders = 0;
  int32_t size = 0;
  int32_t legal = 0;     // number of rows with may = 1
  int32_t to_share = 0;  // GPUs that are free or held by jobs in the rows

  // Lower keys go first; `margin` is subtracted from the keys of holders.
  float key(int32_t r, float margin) const {
    return rows[r]->key() - (r < num_holders ? margin : 0);
  }
};

void fill(const View& view, const Parameters& config, const Candidates& candidates, Window& w) {
  const auto put = [&](int32_t index) {
    const Candidate& c = candidates[index];
    w.index[w.size] = index;
    w.gpus[w.size] = c.gpus;
    w.may[w.size] = legal(view, config, c.slot);
    w.legal += w.may[w.size];
    w.rows[w.size++] = &c;
  };
  memset(w.may, 0, sizeof w.may);
  w.to_share = view.free_gpus();
  if (config.preempt) {
    const int32_t most =
        config.held_rows < view.num_holders() ? config.held_rows : view.num_holders();
    for (int32_t i = candidates.size() - 1; w.size < most; --i) {
      const Candidate& c = candidates[i];
      const Phase phase = view.phase(c.slot);
      if (phase != Phase::kRunning && phase != Phase::kStarting) continue;
      w.to_share += c.gpus;
      put(i);
    }
    w.num_holders = w.size;
  }
  const int32_t room = kMaxJobs - w.num_holders;
  int32_t most = config.waiting_rows < room ? config.waiting_rows : room;
  if (view.num_waiting() < most) most = view.num_waiting();
  most += w.num_holders;
  for (int32_t i = 0; w.size < most; ++i) {
    if (view.phase(candidates[i].slot) == Phase::kWaiting) put(i);
  }
  // A job is preempted only for one that precedes it in the index even without the margin:
  // otherwise two jobs could preempt each other forever.
  for (int32_t r = 0; r < w.num_holders; ++r) {
    const bool beaten = w.num_holders < w.size && w.rows[w.num_holders]->key() < w.rows[r]->key();
    if (beaten || w.may[r] == 0) continue;
    w.may[r] = 0;
    --w.legal;
  }
}

// Gives out GPUs in order of the index. Returns the first winner that may start, else the worst
// loser that may be preempted, else kNothing.
int32_t suggest(const Window& w, float margin) {
  const auto holder_precedes = [&](int32_t h, int32_t r) {
    const float held = w.key(h, margin), waits = w.key(r, margin);
    return held < waits || (held == waits && w.rows[h]->serial() < w.rows[r]->serial());
  };
  int32_t left = w.to_share;
  int32_t worst_loser = kNone;
  bool winner_waits = false;
  for (int32_t h = w.num_holders - 1, r = w.num_holders; left > 0 && (h >= 0 || r < w.size);) {
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
    // The remaining holders lose their GPUs. The worst that may be preempted goes first.
    const auto* const first = std::find(w.may, w.may + h + 1, 1);
    if (first <= w.may + h) worst_loser = static_cast<int32_t>(first - w.may);
  }
  return winner_waits && worst_loser != kNone ? worst_loser : kNothing;
}

// Each kind of action (start, preempt, nothing) divides its probability by index: e^-slope per
// doubling behind the kind's best. Kinds that the index would not pick have weight prior_other.
void write_prior(const Parameters& config, const Window& w, int32_t pick, ActionList& list) {
  constexpr float kLog2E = 1.44269504F, kLn2 = 0.69314718F;
  const float other = log2_coarse(config.prior_other);
  const float slope = config.prior_slope * kLog2E, gap = config.prior_gap * kLog2E;
  const float margin = config.margin_log2;
  float prior[kMaxJobs];
  // For the rows [from, to) of a kind, in which lower sign * key is better.
  const auto share_out = [&](int32_t from, int32_t to, float sign) {
    if (from == to) return;
    int32_t first = from;  // rows of a kind are sorted from the best
    while (first < to && !w.may[first]) ++first;
    const bool picked = from <= pick && pick < to;
    // Jobs that precede the pick but do not fit count as level with it.
    const float best = sign * w.key(picked ? pick : first < to ? first : from, margin);
    // First log2 of each option's weight within its kind, then its share.
    double sum = 0;
    for (int32_t r = first; r < to; ++r) {
      if (!w.may[r]) continue;
      const float key = sign * w.key(r, margin);
      const float behind = slope * (key > best ? key - best : 0) + (r == pick ? 0 : gap);
      prior[r] = behind < 60 ? -behind : -60.0F;
      sum += exp2_coarse(prior[r]);
    }
    const float share = (picked ? 0 : other) - (sum > 0 ? log2_coarse(sum) : 0);
    for (int32_t r = from; r < to; ++r) {
      if (w.may[r]) list.actions[static_cast<size_t>(r)].prior = (prior[r] + share) * kLn2;
    }
  };
  share_out(0, w.num_holders, -1);
  share_out(w.num_holders, w.size, 1);
  list.noop_prior = pick == kNothing ? 0 : other * kLn2;
}

void write_state(const View& view, const Parameters& config, bool expert_noop, StateFeatures& c) {
  const auto total = static_cast<float>(view.total_gpus());
  const int32_t stopping = view.num_live() - view.num_blocked_by_dependencies() -
                           view.num_waiting() - view.num_holders();
  c.free = static_cast<float>(view.free_gpus()) / total;
  c.waiting = log2_coarse(1.0 + view.num_waiting()) * 0.125F;
  c.held = log2_coarse(1.0 + view.num_holders()) * 0.125F;
  c.demand =
      log2_coarse(1.0 + static_cast<double>(view.gpus_requested_by_waiting()) / view.total_gpus()) *
      0.25F;
  c.preempts = config.preempt ? 1.0F : 0.0F;
  c.expert_does_nothing = expert_noop ? 1.0F : 0.0F;
  c.live = static_cast<float>(view.num_live()) / 64;
  c.stopping = stopping == 0 ? 0.0F : log2_coarse(1.0 + stopping) * 0.5F;
}

class Dispatcher final : public ConfiguredAgent<Config> {
 public:
  explicit Dispatcher(const Settings& settings) : ConfiguredAgent(settings), parameters_(config_) {}

  int32_t max_actions() const override { return kMaxJobs; }
  std::vector<Feature> action_features() const override {
    return {{"holds", "1: it holds GPUs and would be preempted, 0: it waits"},
            {"gpus", "log2 of its GPUs, over 4"},
            {"age", "log2 s since submission, minus 8, over 8"},
            {"attained", "log2 s run so far, minus 8, over 8"},
            {"left", "log2 s of its expected remaining time, minus 12, over 4"},
            {"siblings", "share of the prediction that comes from siblings, 0 to 1"},
            {"known", "share of it that comes from the user's own history, 0 to 1"},
            {"expert_action", "1: the index would pick this action"}};
  }
  std::vector<Feature> state_features() const override {
    return {{"free", "share of GPUs free"},
            {"waiting", "log2 of 1 + waiting jobs, over 8"},
            {"held", "log2 of 1 + jobs that hold GPUs, over 8"},
            {"demand", "log2 of 1 + GPUs of waiting jobs over all GPUs, over 4"},
            {"preempts", "1: jobs may be preempted"},
            {"expert_noop", "1: the index would do nothing more"},
            {"live", "jobs in the system, over 64"},
            {"stopping", "log2 of 1 + jobs that save a checkpoint, over 2"}};
  }
  InformationLevel level() const override { return InformationLevel::kHistory; }
  PolicyWithSettings expert() const override {
    return {"srsf-history", {{"placement", config_.placement}}};
  }
  bool preempts() const override { return config_.preempt; }

  size_t memory_bytes(const View& view) const override {
    return sizeof(Round) + UserHistory::bytes(view) + Candidates::bytes(view.num_slots());
  }

  // Time and history do not change within a decision, so every job's index is computed here.
  void on_events(const View& view, AgentMemory& memory) const override {
    Round& round = round_of(memory.data());
    round.wakes = wakes(view);
    UserHistory history(memory.data() + sizeof(Round));
    history.learn_finished(view);
    round.open = may_choose(view);
    if (round.open != 0) rank_jobs(view, memory.data(), history);
  }
  void begin_decision(const View& view, AgentMemory& memory) const override {
    round_of(memory.data()).open = may_choose(view);
  }

  void actions(const View& view, AgentMemory& memory, ActionList& out) const override {
    if (round_of(memory.data()).open == 0) return;
    const Candidates candidates = candidates_of(view, memory.data());
    Window w;
    fill(view, parameters_, candidates, w);
    if (w.legal == 0) return;
    const int32_t pick = suggest(w, config_.margin_log2);
    out.actions.resize(static_cast<size_t>(w.size));
    for (int32_t r = 0; r < w.size; ++r) {
      out.actions[static_cast<size_t>(r)] = {.slot = w.rows[r]->slot,
                                             .kind = r < w.num_holders,
                                             .index = w.index[r],
                                             .legal = w.may[r] != 0};
    }
    // If only the policy keeps jobs waiting and none runs, one of those that fit must start.
    out.noop_legal = view.num_live() != view.num_waiting();
    out.expert = pick == kNothing ? kNone : pick;
    if (out.needs_prior) write_prior(parameters_, w, pick, out);
  }

  void describe_actions(const View& view, AgentMemory& memory, const ActionList& list,
                        float* out) const override {
    Candidates candidates = candidates_of(view, memory.data());
    // Computed in one pass and copied in another: a load right after its store would stall.
    const float* still[kMaxJobs];
    for (int32_t r = 0; r < list.size(); ++r) {
      const Candidate& c = candidates[list.actions[static_cast<size_t>(r)].index];
      still[r] = candidates.features(c, [&](float* values) {
        write_features(view, parameters_, c, append_feature_row<JobFeatures>(values));
      });
    }
    for (int32_t r = 0; r < list.size(); ++r) {
      auto& row = append_feature_row<JobFeatures>(out);
      memcpy(&row, still[r], sizeof row);
      row.holds = static_cast<float>(list.actions[static_cast<size_t>(r)].kind);
      row.expert_action = r == list.expert;
    }
  }
  void describe_state(const View& view, AgentMemory&, const ActionList& list,
                      float* out) const override {
    write_state(view, parameters_, list.expert == kNone, append_feature_row<StateFeatures>(out));
  }

  void apply(const View& view, AgentMemory& memory, const Action& action,
             Draft& draft) const override {
    Round& round = round_of(memory.data());
    if (action.is_noop()) {
      round.open = 0;
      return;
    }
    if (view.phase(action.slot) == Phase::kWaiting) {
      const int32_t n = place(view, parameters_.rule, action.slot, draft.scratch());
      draft.start(action.slot, draft.scratch(), n);
    } else {
      draft.preempt(action.slot);
    }
    round.open = may_choose(view);
  }

  void commit(const View& view, AgentMemory& memory, Draft& draft) const override {
    if (round_of(memory.data()).wakes != 0) draft.wake_at(view.now_us() + parameters_.tick_us);
  }

 private:
  struct Round {
    int32_t open;   // 1: there may be an action to choose
    int32_t wakes;  // 1: decide again after tick_s
  };

  static Round& round_of(std::byte* memory) { return *reinterpret_cast<Round*>(memory); }
  static Candidates candidates_of(const View& view, std::byte* memory) {
    return {memory + sizeof(Round) + UserHistory::bytes(view), view.num_slots()};
  }

  // Returns false if there is nothing to choose. May return true if only the no-op is legal.
  bool may_choose(const View& view) const {
    if (view.num_waiting() == 0) return false;
    if (config_.preempt && view.num_holders() > 0) return true;
    return view.min_gpus_to_start() <= view.free_gpus();
  }

  bool wakes(const View& view) const {
    const bool none_runs =
        view.num_waiting() + view.num_blocked_by_dependencies() == view.num_live();
    return view.num_waiting() > 0 && (config_.preempt || none_runs);
  }

  void rank_jobs(const View& view, std::byte* memory, UserHistory& history) const {
    const Parameters& config = parameters_;
    Candidates candidates = candidates_of(view, memory);
    bool some_ran = false;
    const int32_t point = candidates.advance_decision_number();
    candidates.gather(view, config.preempt, [&](const Candidate& c) {
      history.prepare(c.user, point, config.shrink);
      some_ran |= c.ran != 0;
    });
    const auto all_that_ran = [&](auto&& visit) {
      // Holders are candidates only where they may be preempted.
      for (int32_t i = 0; !config.preempt && i < view.num_holders(); ++i)
        visit(view.holder_slot(i));
      for (int32_t i = 0; some_ran && i < candidates.size(); ++i) {
        if (candidates[i].ran) visit(candidates[i].slot);
      }
    };
    history.add_unfinished(view, config.run_times.life[0], point, candidates.scratch(),
                           all_that_ran);
    candidates.rank([&](Candidate& c) {
      c.log2_attained = c.ran ? log2_seconds(view.attained_us(c.slot)) : 0;
      const auto expected = history.predict(c.user, c.submit_us, config.sibling_prior);
      c.log2_median = expected.log2_median;
      c.siblings = expected.siblings;
      c.known = 1 - expected.user_unknown;
      c.residual_life_bin =
          config.run_times.residual_life_bin(expected.batch_unknown, expected.user_unknown);
      if (config.by == Index::kAttained) return passed_limits(view, config, c.slot);
      return config.run_times.life[c.residual_life_bin].log2_inverse_gittins_s(c.log2_median,
                                                                               c.log2_attained) +
             config.gpu_exponent * c.log2_gpus;
    });
  }

  Parameters parameters_;
};

const AgentRegistry::Add<Dispatcher> kDispatcher{
    "dispatcher",
    {.about = "starts and preempts jobs, given an index of their expected remaining service",
     .source = "this project",
     .fidelity = "ours",
     .level = InformationLevel::kHistory,
     .preemptive = true,
     .settings = describe<Config>}};

}  // namespace
}  // namespace yard
