// Agent `dl2`, after DL2 (Peng et al., "DL2: A deep learning-driven scheduler for deep learning
// clusters", TPDS 2021): the numbers of workers and parameter servers of each job, by time slot.
// Each step of a slot adds a worker, a server or one of each to a job, or ends the slot (3 J + 1
// actions).
//
// From the paper: the actions, slots, reward, the job's state except for its type, and the start by
// cloning DRF (experiments/configs/dl2-start.yaml). Adapted: learner `group`; a job's type is given
// by the measured speed of its model; shares of the cluster are features; only the first J jobs to
// arrive are shown, and DRF serves the others; waiting jobs get a size at every event; DRF can be
// the prior.
#include <algorithm>
#include <array>
#include <memory>

#include "env/sim/placement/sizes.h"
#include "env/sim/placement/throughput_model.h"
#include "env/task/agent.h"
#include "env/task/progress.h"

namespace yard {
namespace {

constexpr int kShown = 30;  // jobs
enum Growth { kWorker, kServer, kPair, kWays };
constexpr int kRows = kShown * kWays;
constexpr int32_t kMaxGroups = 2;
constexpr int32_t kWorstRatio = 10;  // of workers to servers, or the reverse

struct RowFeatures {
  float slots, left, no_length, share, workers, servers, balance;
  float many[3], adds[kWays];
};
struct StateFeatures {
  float gpus_used, cpus_used, mem_used, open, live;
};

struct Config {
  double timer_s = 1200;
  double prior_gap = 1;

  void fields(FieldList& f) {
    f("timer_s", timer_s, 10.0, 1e6,
      "interval between resizings of running jobs, in seconds (the slot of DL2's paper)");
    f("prior_gap", prior_gap, 0.0, 100.0, "logit penalty of all actions except the expert action");
  }
};

class Dl2 final : public ConfiguredAgent<Config> {
 public:
  using ConfiguredAgent::ConfiguredAgent;

  int32_t max_actions() const override { return kRows; }
  std::vector<Feature> action_features() const override {
    return {{"slots", "log2 of 1 + slots that it has run, over 4"},
            {"left", "log2 s left at the requested size, minus 12, over 8; 0: no limit"},
            {"no_length", "1: no limit"},
            {"share", "its dominant share"},
            {"workers", "log2 of 1 + workers, including those granted so far, over 4"},
            {"servers", "log2 of 1 + parameter servers, likewise"},
            {"balance", "log2 of workers over servers, over 4"},
            {"many_w",
             "log2 of its model's speed with 4 workers and 1 server over that with 1 and "
             "1, over 4; 0: not measured"},
            {"many_s", "the same with 1 worker and 4 servers"},
            {"many_both", "the same with 4 workers and 4 servers"},
            {"adds_worker", "1: the action adds a worker"},
            {"adds_server", "1: it adds a server"},
            {"adds_pair", "1: it adds one of each"}};
  }
  std::vector<Feature> state_features() const override {
    return {{"gpus", "share of GPUs used, including what is granted so far"},
            {"cpus", "share of cores used"},
            {"mem", "share of host memory used"},
            {"open", "jobs to be sized at present, over 30"},
            {"live", "log2 of 1 + jobs in the system, over 8"}};
  }
  int feature_version() const override { return 2; }
  InformationLevel level() const override { return InformationLevel::kEstimate; }
  PolicyWithSettings expert() const override {
    return {"drf", {{"share", "job"}, {"timer_s", shortest_text(config_.timer_s)}}};
  }
  bool preempts() const override { return true; }

  // 1 if the slot is closed; then, by slot and group, the tasks granted beyond the minimum.
  size_t memory_bytes(const View& view) const override {
    return sizeof(int64_t) + static_cast<size_t>(view.num_slots()) *
                                 static_cast<size_t>(view.max_groups()) * sizeof(int32_t);
  }
  void begin_decision(const View& view, AgentMemory& memory) const override {
    std::fill_n(memory.data(), memory_bytes(view), std::byte{0});
    serve_inexpressible(view, memory.data());
  }

  void actions(const View& view, AgentMemory& memory, ActionList& out) const override {
    if (round_done(memory.data()) != 0) return;
    const auto sizes = std::make_shared<ElasticSizes>(sizes_of(view, memory.data()));
    bool any = false;
    for (int32_t i = 0; i < shown(*sizes); ++i) {
      const JobTaskCounts& size = sizes->jobs_with_sizes()[static_cast<size_t>(i)];
      const int corrects = out.needs_exploration ? correcting_growth(view, size) : int{kWays};
      for (int way = 0; way < kWays; ++way) {
        const bool legal = may_grow(view, *sizes, i, way);
        any = any || legal;
        out.actions.push_back({.slot = size.slot,
                               .kind = way,
                               .index = i,
                               .legal = legal,
                               .explore = way == corrects});
      }
    }
    if (!any) return out.clear();
    out.expert = expert_action(view, *sizes);
    out.set_priors_for_expert(config_.prior_gap);
    memory.cache = sizes;
  }

  void describe_actions(const View& view, AgentMemory& memory, const ActionList& list,
                        float* out) const override {
    const ElasticSizes& sizes = *static_cast<const ElasticSizes*>(memory.cache.get());
    const ThroughputModel throughput_model(view);
    const RowFeatures* first = nullptr;
    for (const Action& a : list.actions) {
      auto& f = append_feature_row<RowFeatures>(out);
      if (a.kind == 0) {
        write_job(view, throughput_model, sizes,
                  sizes.jobs_with_sizes()[static_cast<size_t>(a.index)], f);
        first = &f;
      } else {
        f = *first;
      }
      for (int way = 0; way < kWays; ++way) f.adds[way] = way == a.kind;
    }
  }

  void describe_state(const View& view, AgentMemory& memory, const ActionList&,
                      float* out) const override {
    auto& f = append_feature_row<StateFeatures>(out);
    const ElasticSizes& sizes = *static_cast<const ElasticSizes*>(memory.cache.get());
    f.gpus_used = static_cast<float>(sizes.used_shares().gpus);
    f.cpus_used = static_cast<float>(sizes.used_shares().cpus);
    f.mem_used = static_cast<float>(sizes.used_shares().mem);
    f.open = static_cast<float>(sizes.jobs_with_sizes().size()) / kShown;
    f.live = log2_of(1.0 + view.num_live()) / 8;
  }

  void apply(const View& view, AgentMemory& memory, const Action& action, Draft&) const override {
    if (action.is_noop()) {
      round_done(memory.data()) = 1;
    } else {
      for (const int32_t g : groups(view, action.slot, action.kind)) {
        ++added(view, memory.data(), action.slot)[g];
      }
    }
    serve_inexpressible(view, memory.data());
  }

  void commit(const View& view, AgentMemory& memory, Draft& draft) const override {
    sizes_of(view, memory.data()).apply(draft);
  }

  double cumulative_reward(const View& view, const AgentMemory&, double) const override {
    return total_job_progress(view);
  }

 private:
  static int64_t& round_done(std::byte* memory) { return *reinterpret_cast<int64_t*>(memory); }
  static int32_t* added(const View& view, std::byte* memory, int32_t slot) {
    return reinterpret_cast<int32_t*>(memory + sizeof(int64_t)) + int64_t{slot} * view.max_groups();
  }

  // Returns the sizes including what is granted so far.
  ElasticSizes sizes_of(const View& view, std::byte* memory) const {
    ElasticSizes sizes(view, static_cast<int64_t>(config_.timer_s * 1e6));
    for (int32_t i = 0; i < static_cast<int32_t>(sizes.jobs_with_sizes().size()); ++i) {
      const JobTaskCounts size = sizes.jobs_with_sizes()[static_cast<size_t>(i)];
      for (int32_t g = 0; g < static_cast<int32_t>(size.tasks.size()); ++g) {
        for (int32_t k = 0; k < added(view, memory, size.slot)[g]; ++k) sizes.grow({i, g});
      }
    }
    return sizes;
  }

  // Returns whether actions can express the job: it is shown and has only workers and servers.
  static bool is_expressible(const View& view, const ElasticSizes& sizes,
                             const JobTaskCounts& size) {
    return &size < sizes.jobs_with_sizes().data() + shown(sizes) && view.shaped(size.slot) &&
           view.num_groups(size.slot) <= kMaxGroups;
  }

  // Returns DRF's next grant: to any job if `said`, else to jobs that actions cannot express.
  static ElasticSizes::Grant next_drf_grant(const View& view, const ElasticSizes& sizes,
                                            bool said) {
    const ElasticSizes::TaskGain share = dominant_share_gain(view, sizes.shares());
    return sizes.best_grant([&](const JobTaskCounts& size, int32_t group) {
      return said || !is_expressible(view, sizes, size) ? share(size, group) : 0.0;
    });
  }

  // Serves jobs that actions cannot express, whenever DRF would serve them next. Once the slot is
  // closed, DRF grants the rest.
  void serve_inexpressible(const View& view, std::byte* memory) const {
    ElasticSizes sizes = sizes_of(view, memory);
    for (;;) {
      const ElasticSizes::Grant next = next_drf_grant(view, sizes, round_done(memory) == 0);
      if (next.index == kNone) return;
      const JobTaskCounts& size = sizes.jobs_with_sizes()[static_cast<size_t>(next.index)];
      if (is_expressible(view, sizes, size)) return;
      ++added(view, memory, size.slot)[next.group];
      sizes.grow(next);
    }
  }

  static int32_t shown(const ElasticSizes& sizes) {
    return std::min(kShown, static_cast<int32_t>(sizes.jobs_with_sizes().size()));
  }

  // Workers hold GPUs, servers do not. A job with a single group has only workers.
  static std::vector<int32_t> groups(const View& view, int32_t slot, int way) {
    std::vector<int32_t> out;
    if (!view.shaped(slot) || view.num_groups(slot) > kMaxGroups) return out;
    for (int32_t g = 0; g < view.num_groups(slot); ++g) {
      const TaskNeed need = view.task_need(slot, g);
      const bool server = need.gpus == 0 && need.gpu_milli == 0;
      if (way == kPair || (way == kServer) == server) out.push_back(g);
    }
    if (way == kPair && out.size() < 2) out.clear();
    return out;
  }

  static bool may_grow(const View& view, const ElasticSizes& sizes, int32_t index, int way) {
    const std::vector<int32_t> which =
        groups(view, sizes.jobs_with_sizes()[static_cast<size_t>(index)].slot, way);
    return !which.empty() && sizes.may_grow(index, which);
  }

  static int32_t count(const View& view, const JobTaskCounts& size, int way) {
    int32_t n = 0;
    for (const int32_t g : groups(view, size.slot, way)) n += size.tasks[static_cast<size_t>(g)];
    return n;
  }

  // Returns the growth that corrects a job with workers but no server, servers but no worker, or
  // far too many of one for the other; kWays if it needs no correction.
  static int correcting_growth(const View& view, const JobTaskCounts& size) {
    const int32_t workers = count(view, size, kWorker), servers = count(view, size, kServer);
    if (workers > kWorstRatio * servers) return kServer;
    if (servers > kWorstRatio * workers) return kWorker;
    return kWays;
  }

  // Returns the action for DRF's next grant; kNone: the no-op.
  static int32_t expert_action(const View& view, const ElasticSizes& sizes) {
    const ElasticSizes::Grant grant = next_drf_grant(view, sizes, true);
    if (grant.index == kNone) return kNone;
    const int32_t slot = sizes.jobs_with_sizes()[static_cast<size_t>(grant.index)].slot;
    for (const int way : {kWorker, kServer}) {
      const std::vector<int32_t> which = groups(view, slot, way);
      if (which.size() == 1 && which[0] == grant.group) return grant.index * kWays + way;
    }
    return kNone;
  }

  void write_job(const View& view, const ThroughputModel& throughput_model,
                 const ElasticSizes& sizes, const JobTaskCounts& size, RowFeatures& f) const {
    const int32_t slot = size.slot;
    const int32_t workers = count(view, size, kWorker), servers = count(view, size, kServer);
    const int64_t limit_us = view.limit_us(slot);
    const double left_s = 1e-6 * static_cast<double>(limit_us - view.work_done_in_whole_us(slot));
    f.slots = log2_of(1 + 1e-6 * static_cast<double>(view.attained_us(slot)) / config_.timer_s) / 4;
    if (limit_us > 0) f.left = scaled_log2_seconds(left_s);
    f.no_length = limit_us <= 0;
    f.share = static_cast<float>(ClusterShares::dominant_share(sizes.shares().of(size)));
    f.workers = log2_of(1 + workers) / 4;
    f.servers = log2_of(1 + servers) / 4;
    f.balance = servers > 0 ? log2_of(static_cast<double>(std::max(workers, 1)) / servers) / 4 : 0;
    const std::array<std::pair<int32_t, int32_t>, 3> shapes = {{{4, 1}, {1, 4}, {4, 4}}};
    const double one = speed(view, throughput_model, slot, 1, 1);
    for (size_t k = 0; k < shapes.size() && one > 0; ++k) {
      const double many = speed(view, throughput_model, slot, shapes[k].first, shapes[k].second);
      f.many[k] = log2_of(std::max(many / one, 1.0 / 16)) / 4;
    }
  }

  // Returns the measured speed of its model on the best type; 0 if not measured.
  static double speed(const View& view, const ThroughputModel& throughput_model, int32_t slot,
                      int32_t workers, int32_t servers) {
    if (!view.shaped(slot) || !throughput_model.has_speed_in_tables(slot)) return 0;
    std::vector<int32_t> tasks(static_cast<size_t>(view.num_groups(slot)), 0);
    for (const int32_t g : groups(view, slot, kWorker)) tasks[static_cast<size_t>(g)] = workers;
    for (const int32_t g : groups(view, slot, kServer)) tasks[static_cast<size_t>(g)] = servers;
    double best = 0;
    for (int32_t t = 0; t < throughput_model.num_types(); ++t) {
      best = std::max(best, throughput_model.throughput_at_size(slot, t, tasks));
    }
    return best;
  }
};

const AgentRegistry::Add<Dl2> kDl2{
    "dl2",
    {.about = "decides how many workers and parameter servers each job gets",
     .source = "Peng et al., DL2, TPDS 2021",
     .fidelity = "actions, slots, reward and initial cloning of DRF as published; job types given "
                 "by measured speeds; learner `group`",
     .level = InformationLevel::kEstimate,
     .preemptive = true,
     .resizes_jobs = true,
     .snapshot_fields = {"job.model"},
     .settings = describe<Config>}};

}  // namespace
}  // namespace yard
