// Agent `meta`, after Yang, Bao, Liu, Yang and Wu, "On a Meta Learning-Based Scheduler for Deep
// Learning Clusters", IEEE Transactions on Cloud Computing 11(4), 2023. A decision has up to two
// steps: which waiting job starts where, and how it exchanges gradients there.
//
// Only the abstract is public: meta-learning of worker placements from few samples, and exploration
// where a performance model may be inaccurate. The rest is this project's reading: the placements
// shown (candidate_placements.h), the linear performance model (exchange_terms.h), the second step,
// and the meta-training (agents/train/reptile.h). The row with the highest variance of its
// prediction is marked for exploration.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <tuple>

#include "env/scheduling/exchange_terms.h"
#include "env/task/agent.h"
#include "env/task/candidate_placements.h"

namespace yard {
namespace {

constexpr int kJobs = 6;
constexpr int kRows = kJobs * CandidatePlacement::kRules;
constexpr int kMaxPieces = 32;  // of a job whose exchange is chosen
static_assert(kRows >= kAllReduces * kLinkPriorities);

struct RowFeatures {
  float exchanges, size, length, no_length, waited, first, rule[CandidatePlacement::kRules];
  float nodes, beyond, left_over, occupied, slowness, own, link, crowd, longer, others;
  float ring, tree, two_levels, priority, predicted, variance;
};
struct StateFeatures {
  float free, fragmented, queue, waiting, live, links;
};

struct Config {
  double prior_gap = 1;
  bool second_head = true;
  bool model = true;

  void fields(FieldList& f) {
    f("prior_gap", prior_gap, 0.0, 100.0, "logit penalty of all actions except the expert action");
    f("second_head", second_head,
      "choose each job's all-reduce algorithm and link priority; false: use the defaults");
    f("model", model, "include predictions of the learned model in the features");
  }
};

// Progress of the decision: a job whose placement is chosen, and whose exchange is chosen next.
struct PartialPlacement {
  int32_t slot, count;
  Piece piece[kMaxPieces];

  std::span<const Piece> pieces() const { return {piece, static_cast<size_t>(count)}; }
};

using Learned = ExchangeInterferenceTerms::Learned;

class Meta final : public ConfiguredAgent<Config> {
 public:
  using ConfiguredAgent::ConfiguredAgent;

  int32_t max_actions() const override { return kRows; }
  std::vector<Feature> action_features() const override {
    return {{"exchanges", "1: the action chooses the exchange of a job whose placement is chosen"},
            {"size", "log2 of its GPUs, over 4"},
            {"length", "log2 s left by the user's limit, minus 12, over 8; 0: no limit"},
            {"no_length", "1: no limit"},
            {"waited", "log2 s, minus 12, over 8"},
            {"first", "1: the first job in the queue that fits"},
            {"tight", "1: the rule `tight` leads to its placement"},
            {"even", "1: the rule `even` does"},
            {"quiet", "1: the rule `quiet` does"},
            {"clear", "1: the rule `clear` does"},
            {"nodes", "log2 of its nodes, over 4"},
            {"beyond", "log2 of the nodes over the fewest possible"},
            {"left_over", "GPUs left free on them, in nodes"},
            {"occupied", "share of the fullest of them that other jobs hold"},
            {"slowness", "log2 of its time per work in isolation over the best"},
            {"own", "its traffic over the link's capacity, at most 4"},
            {"link", "other jobs' traffic on the busiest link over its capacity, at most 4"},
            {"crowd", "factor by which that link is overbooked at its priority, at most 4"},
            {"longer", "share of jobs on its links which have longer left"},
            {"others", "log2 of 1 + the number of these jobs, over 2"},
            {"ring", "1: all-reduce in a ring, if that is not the job's own"},
            {"tree", "1: in a tree"},
            {"two_levels", "1: hierarchical"},
            {"priority", "on links, over the highest"},
            {"predicted", "log2 of its predicted time per work over the best"},
            {"variance", "log2 of 1 + the variance of that prediction, over 4"}};
  }
  std::vector<Feature> state_features() const override {
    return {{"free", "share of GPUs free"},
            {"fragmented", "share of free GPUs on partly used nodes"},
            {"queue", "GPUs waited for over all GPUs, at most 4"},
            {"waiting", "log2 of 1 + waiting jobs, over 8"},
            {"live", "log2 of 1 + jobs in the system, over 8"},
            {"links", "mean utilisation of uplinks, 0 to 1"}};
  }
  InformationLevel level() const override { return InformationLevel::kEstimate; }
  PolicyWithSettings expert() const override { return {"greedy", {{"placement", "best-fit"}}}; }

  size_t memory_bytes(const View& view) const override {
    return BumpAllocator::bytes<PartialPlacement>(1) + Learned::bytes(view);
  }
  void on_events(const View& view, AgentMemory& memory) const override {
    const Learned learned = this->learned(view, memory.data());
    learned.begin(ExchangeInterferenceTerms::initial_weights());
    learned.on_events(view);
  }
  void begin_decision(const View&, AgentMemory& memory) const override {
    partial(memory.data()) = {.slot = kNone, .count = 0, .piece = {}};
  }

  // The expert takes the first of the tight placements, and the job's own exchange.
  void actions(const View& view, AgentMemory& memory, ActionList& out) const override {
    const PartialPlacement& b = partial(memory.data());
    const ThroughputModel throughput_model(view);
    const auto listed = std::make_shared<std::vector<Way>>();
    if (b.slot != kNone) {
      for (const AllReduceSettings& exchange :
           all_reduce_options(throughput_model, b.slot, b.pieces())) {
        listed->push_back({b.slot, {b.pieces().begin(), b.pieces().end()}, exchange, 0, false});
      }
    } else {
      const std::vector<int32_t> jobs = shown(view, kJobs);
      for (const int32_t slot : jobs) {
        for (CandidatePlacement& place : candidate_placements(view, throughput_model, slot)) {
          listed->push_back({slot, std::move(place.pieces), {}, place.rules, slot == jobs[0]});
        }
      }
    }
    if (listed->empty()) return;
    for (size_t i = 0; i < listed->size(); ++i) {
      out.actions.push_back({.slot = (*listed)[i].slot, .index = static_cast<int32_t>(i)});
    }
    out.expert = 0;
    out.noop_legal = false;
    out.set_priors_for_expert(config_.prior_gap);
    if (out.needs_exploration) out.actions[most_uncertain(view, memory, *listed)].explore = true;
    memory.cache = listed;
  }

  void describe_actions(const View& view, AgentMemory& memory, const ActionList& list,
                        float* out) const override {
    const ThroughputModel throughput_model(view);
    const ExchangeInterferenceTerms terms(view, throughput_model);
    const Learned learned = this->learned(view, memory.data());
    const bool exchanges = partial(memory.data()).slot != kNone;
    for (const Action& a : list.actions) {
      const Way& way = ways_of(memory)[static_cast<size_t>(a.index)];
      auto& f = append_feature_row<RowFeatures>(out);
      write_row(view, throughput_model, terms, learned, way, f);
      f.exchanges = exchanges;
      if (exchanges) {
        f.ring = way.exchange.all_reduce == Pattern::kRing;
        f.tree = way.exchange.all_reduce == Pattern::kTree;
        f.two_levels = way.exchange.all_reduce == Pattern::kHierarchical;
        f.priority = static_cast<float>(way.exchange.priority) / (kLinkPriorities - 1);
      } else {
        f.first = way.first;
        for (int rule = 0; rule < CandidatePlacement::kRules; ++rule) {
          f.rule[rule] = way.rules >> rule & 1;
        }
      }
    }
  }

  void describe_state(const View& view, AgentMemory&, const ActionList&,
                      float* out) const override {
    auto& f = append_feature_row<StateFeatures>(out);
    const SpecColumns& spec = view.spec();
    int32_t broken = 0;
    double links = 0;
    for (int32_t node = 0; node < spec.num_nodes; ++node) {
      if (view.node_free_gpus(node) < spec.node_gpus[node]) broken += view.node_free_gpus(node);
      if (spec.node_up_bytes[node] <= 0) continue;
      links += static_cast<double>(view.link_bytes_per_s(node)) /
               static_cast<double>(spec.node_up_bytes[node]);
    }
    const auto total = static_cast<float>(view.total_gpus());
    const auto free = static_cast<float>(view.free_gpus());
    f.free = free / total;
    f.fragmented = free > 0 ? static_cast<float>(broken) / free : 0;
    f.queue = std::min(4.0F, static_cast<float>(view.gpus_requested_by_waiting()) / total);
    f.waiting = log2_of(1.0 + view.num_waiting()) / 8;
    f.live = log2_of(1.0 + view.num_live()) / 8;
    f.links = static_cast<float>(links / std::max(1, spec.num_nodes));
  }

  void apply(const View& view, AgentMemory& memory, const Action& action,
             Draft& draft) const override {
    PartialPlacement& b = partial(memory.data());
    const Way& way = ways_of(memory)[static_cast<size_t>(action.index)];
    if (b.slot != kNone || !is_asked(view, way.slot, way.pieces)) {
      start(view, way.slot, way.pieces, way.exchange, draft);
      b.slot = kNone;
      return;
    }
    b.slot = way.slot;
    b.count = static_cast<int32_t>(way.pieces.size());
    std::ranges::copy(way.pieces, b.piece);
  }

  void commit(const View& view, AgentMemory& memory, Draft&) const override {
    const ThroughputModel throughput_model(view);
    const ExchangeInterferenceTerms terms(view, throughput_model);
    learned(view, memory.data()).scan(view, [&](int32_t slot) {
      return view.shaped(slot) ? ExchangeInterferenceTerms::Terms{}
                               : ExchangeInterferenceTerms::terms(terms.variables(slot));
    });
  }

 private:
  // A placement of a job, or the exchange of a job whose placement is chosen.
  struct Way {
    int32_t slot;
    std::vector<Piece> pieces;
    AllReduceSettings exchange;
    int rules;   // bits: the rules which lead to the placement
    bool first;  // of the first job in the queue that fits
  };
  static const std::vector<Way>& ways_of(const AgentMemory& memory) {
    return *static_cast<const std::vector<Way>*>(memory.cache.get());
  }

  static PartialPlacement& partial(std::byte* memory) {
    return *reinterpret_cast<PartialPlacement*>(memory);
  }
  Learned learned(const View& view, std::byte* memory) const {
    BumpAllocator bump(memory + BumpAllocator::bytes<PartialPlacement>(1));
    return Learned(view, bump);
  }

  bool is_asked(const View& view, int32_t slot, std::span<const Piece> pieces) const {
    return config_.second_head && view.gpus(slot) > 1 && view.may_choose_all_reduce(slot) &&
           !view.shaped(slot) && pieces.size() <= kMaxPieces;
  }

  // Starts the job as chosen. If the rules do not allow that, starts it best-fit.
  static void start(const View& view, int32_t slot, std::span<const Piece> pieces,
                    const AllReduceSettings& exchange, Draft& draft) {
    if (draft.start(slot, pieces.data(), static_cast<int32_t>(pieces.size()), exchange)) return;
    const int32_t n = place(view, PlacementRule::kBestFit, slot, draft.scratch());
    draft.start(slot, draft.scratch(), n);
  }

  static double seconds_left(const View& view, int32_t slot) {
    if (view.limit_us(slot) <= 0) return std::numeric_limits<double>::infinity();
    return 1e-6 * static_cast<double>(std::max<int64_t>(
                      0, view.limit_us(slot) -
                             (view.holds_gpus(slot) ? view.work_done_in_whole_us(slot) : 0)));
  }

  // Returns the first job in the queue with a placement, then the shortest of the others with one.
  static std::vector<int32_t> shown(const View& view, size_t most) {
    std::vector<int32_t> out, fits, unplaceable;  // slots, then classes
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      const int32_t request_class = view.request_class(slot);
      if (std::ranges::count(unplaceable, request_class) > 0) continue;
      if (std::ranges::count(fits, request_class) == 0) {
        const bool has = !best_fit(view, slot).empty();
        (has ? fits : unplaceable).push_back(request_class);
        if (!has) continue;
      }
      out.push_back(slot);
      if (out.size() == most && most == 1) return out;
    }
    if (out.size() <= most) return out;
    std::partial_sort(out.begin() + 1, out.begin() + static_cast<int64_t>(most), out.end(),
                      [&](int32_t a, int32_t b) {
                        return std::tuple(seconds_left(view, a), view.queue_rank(a)) <
                               std::tuple(seconds_left(view, b), view.queue_rank(b));
                      });
    out.resize(most);
    return out;
  }

  // Returns the row whose predicted time has the highest variance.
  size_t most_uncertain(const View& view, AgentMemory& memory, const std::vector<Way>& ways) const {
    const ThroughputModel throughput_model(view);
    const ExchangeInterferenceTerms terms(view, throughput_model);
    const Learned learned = this->learned(view, memory.data());
    size_t out = 0;
    double max_variance = -1;
    for (size_t i = 0; i < ways.size(); ++i) {
      const Way& way = ways[i];
      if (view.shaped(way.slot)) continue;
      const double variance = learned.variance(
          ExchangeInterferenceTerms::terms(terms.variables(way.slot, way.pieces, way.exchange)));
      if (variance > max_variance) max_variance = variance, out = i;
    }
    return out;
  }

  void write_row(const View& view, const ThroughputModel& throughput_model,
                 const ExchangeInterferenceTerms& exchange_terms, const Learned& learned,
                 const Way& way, RowFeatures& f) const {
    const SpecColumns& spec = view.spec();
    const int32_t slot = way.slot;
    const std::span<const Piece> pieces = way.pieces;
    const double left_s = seconds_left(view, slot);
    f.size = log2_of(view.gpus_at_least_one(slot)) / 4;
    f.no_length = std::isinf(left_s);
    if (!std::isinf(left_s)) f.length = scaled_log2_seconds(left_s);
    f.waited = scaled_log2_seconds(
        1e-6 * static_cast<double>(view.now_us() - view.phase_or_rate_since_us(slot)));
    const int32_t fewest =
        (view.gpus_at_least_one(slot) + spec.max_node_gpus - 1) / spec.max_node_gpus;
    const auto nodes = log2_of(static_cast<double>(pieces.size()));
    int32_t left_over = 0;
    for (const Piece& p : pieces) left_over += view.node_free_gpus(p.node) - p.gpus;
    f.nodes = nodes / 4;
    f.beyond = nodes - log2_of(fewest);
    f.left_over = static_cast<float>(left_over) / static_cast<float>(spec.max_node_gpus);
    if (view.shaped(slot)) return;
    const ExchangeInterferenceTerms::LinkVariables variables =
        exchange_terms.variables(slot, pieces, way.exchange);
    const double best = throughput_model.best_throughput(slot);
    const auto over_best = [&](double time) {
      return best > 0 ? log2_of(std::clamp(time * best, 1.0 / 16, 16.0)) : 0.0F;
    };
    f.occupied = static_cast<float>(variables.colocated_share);
    f.slowness = over_best(variables.time);
    f.own = static_cast<float>(std::min(variables.own_load, 4.0));
    f.link = static_cast<float>(std::min(variables.link, 4.0));
    f.crowd = static_cast<float>(std::min(variables.excess_load, 4.0));
    const std::vector<int32_t> others = exchange_terms.jobs_on_links(slot, pieces);
    if (pieces.size() > 1 && !others.empty()) {
      const auto longer = std::ranges::count_if(
          others, [&](int32_t other) { return seconds_left(view, other) > left_s; });
      f.longer = static_cast<float>(longer) / static_cast<float>(others.size());
      f.others = log2_of(1.0 + static_cast<double>(others.size())) / 2;
    }
    const ExchangeInterferenceTerms::Terms terms = ExchangeInterferenceTerms::terms(variables);
    if (!config_.model) return;
    f.predicted = over_best(std::max(learned.predicted_time_per_work(terms), 1e-3));
    f.variance = log2_of(1 + std::min(learned.variance(terms), 1e3)) / 4;
  }
};

const AgentRegistry::Add<Meta> kMeta{
    "meta",
    {.about =
         "decides which job starts where and with which all-reduce; intended for meta-learning",
     .source = "Yang et al., On a Meta Learning-Based Scheduler for DL Clusters, TCC 2023",
     .fidelity = "based on the abstract: only the idea is the paper's",
     .level = InformationLevel::kEstimate,
     .snapshot_fields = {"job.model"},
     .settings = describe<Config>}};

}  // namespace
}  // namespace yard
