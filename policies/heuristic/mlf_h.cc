// MLF-H, the heuristic that MLFS learns from (Wang, Liu and Shen, CoNEXT 2020, sections 3.3): who
// has the highest priority (mlf_priority.h) starts first, each task on the server that is nearest
// to an ideal one: as little used as the least used, with the job's other tasks on it. Once a
// minute, while somebody waits, the lowest priorities among those that run may be stopped for those
// who come before them. With `load_control` (MLF-C, mlf_load.h), jobs that may be ended early are
// so once a minute and whenever it decides.
//
// Ours, where the paper leaves it open: see mlf.h; a GPU that is held whole overloads no server, so
// that nobody moves from a server that is overloaded: stopping the lowest tenth for those in the
// queue is what stays of it.

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "env/sim/mlf.h"
#include "env/sim/mlf_load.h"
#include "policies/order.h"
#include "policies/policy.h"

namespace yard {
namespace {

struct Config {
  MlfWeights weights;
  double overloaded = 0.9;
  double stopped_share = 0.1;
  double margin = 0;
  double round_s = 60;
  bool load_control = false;
  MlfLoadRule load;
  void fields(FieldList& f) {
    f("alpha", weights.alpha, 0.0, 1.0, "what training counts against time");
    f("gamma", weights.gamma, 0.0, 1.0, "what a task counts for the one that it hangs on");
    f("deadline", weights.deadline, 0.0, 1e3, "weight of one over the hours to the deadline");
    f("left", weights.left, 0.0, 1e3, "of one over the hours that are left to run");
    f("waited", weights.waited, 0.0, 1e3, "of the hours waited");
    f("overloaded", overloaded, 0.0, 1.0, "share in use above which a server is overloaded");
    f("stopped_share", stopped_share, 0.0, 1.0, "of those that run, that may be stopped at a time");
    f("margin", margin, 0.0, 1e3, "how much better who stops another must be; not the paper's");
    f("round_s", round_s, 10.0, 1e6, "how often jobs may be stopped");
    f("load_control", load_control, "MLF-C: ends jobs early whose users let it");
    f("cluster_overloaded", load.overloaded, 0.0, 1.0, "mean use of servers above which it is so");
    f("about", load.about, 0.0, 1.0, "share of the way to its limit that is all of it");
  }
};

class MlfH final : public Policy {
 public:
  explicit MlfH(const Settings& settings) : config_(parse<Config>(settings)) {
    rule_.placement = Placement::kBestFit;
    rule_.margin = config_.margin;
    round_us_ = static_cast<int64_t>(config_.round_s * 1e6);
  }

  Level level() const override { return Level::kHistory; }
  size_t memory_bytes(const View& view) const override {
    return Carver::bytes<int64_t>(1) + RollingEstimate::bytes(view) + Ranked::bytes(view);
  }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    Carver carver(memory.data());
    int64_t& last_round = *carver.take<int64_t>(1);
    RollingEstimate estimate(view, carver);
    estimate.follow(view);
    const auto key = [&](int32_t slot) {
      return 1 / mlf_priority(view, estimate, config_.weights, slot);
    };
    start_first(view, key, draft);
    if (config_.load_control) control_load(view, key, draft);
    if (view.num_waiting() == 0 || view.num_held() == 0 || !view.may_preempt()) return;
    const int64_t round = view.now_us() / round_us_;
    if (round > last_round) {
      last_round = round;
      Ranked ranked(view, carver);
      rank_waiting(view, ranked, key);
      ListedHolders holders(lowest(view, key));
      run_first_in_order(view, ranked, holders, rule_, key, draft);
    }
    draft.wake_at((round + 1) * round_us_);
  }

 private:
  template <class KeyOf>
  void start_first(const View& view, KeyOf key, Draft& draft) const {
    if (view.num_waiting() == 0 || view.free_gpus() < view.least_gpus_waited_for()) return;
    std::vector<Claim> queue;
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      queue.push_back({{key(slot), view.serial(slot)}, slot});
    }
    std::ranges::sort(queue, std::less(), &Claim::key);
    std::set<int32_t> hopeless;  // classes
    for (const Claim& claim : queue) {
      const int32_t k = view.size_class(claim.slot);
      if (hopeless.contains(k)) continue;
      const TaskPlacer placer(view);
      const int32_t n = placer.place(
          claim.slot, {}, nearest_ideal_server(view, placer, config_.overloaded), draft.scratch());
      if (n == 0 || !draft.start(claim.slot, draft.scratch(), n)) hopeless.insert(k);
    }
  }

  // Ends jobs and gives what they leave to those who wait. Nothing happens by itself when one gets
  // so far: it looks every round.
  template <class KeyOf>
  void control_load(const View& view, KeyOf key, Draft& draft) const {
    const std::vector<int32_t> ended = mlf_to_end(view, config_.load);
    for (const int32_t slot : ended) draft.end(slot);
    if (!ended.empty()) start_first(view, key, draft);
    if (mlf_any_may_end(view)) draft.wake_at((view.now_us() / round_us_ + 1) * round_us_);
  }

  // Those who may be stopped now, the first of them in order first.
  template <class KeyOf>
  std::vector<Claim> lowest(const View& view, KeyOf key) const {
    std::vector<Claim> all;
    for (int32_t i = 0; i < view.num_held(); ++i) {
      const int32_t slot = view.held(i);
      if (view.phase(slot) != Phase::kRunning || !view.preemptible(slot)) continue;
      all.push_back({{key(slot), view.serial(slot)}, slot});
    }
    std::ranges::sort(all, std::less(), &Claim::key);
    const double some = std::ceil(config_.stopped_share * static_cast<double>(all.size()));
    all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(some));
    return all;
  }

  Config config_;
  PreemptionRule rule_;
  int64_t round_us_;
};

const PolicyRegistry::Add<MlfH> kMlfH{
    "mlf-h",
    {.about =
         "highest priority first: urgency, training's progress, deadline, time left and waited",
     .source = "MLFS, CoNEXT 2020",
     .fidelity = "its equations 2 to 6 and constants; hours, minutes of work as iterations and the "
                 "rolling estimate are ours; stops the lowest tenth, moves nobody",
     .level = Level::kHistory,
     .preemptive = true,
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
