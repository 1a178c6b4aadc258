// Agent `meta`, after Yang, Bao, Liu, Yang and Wu, "On a Meta Learning-Based Scheduler for Deep
// Learning Clusters", IEEE Transactions on Cloud Computing 11(4), 2023: placements of workers,
// learned from few samples of a changing workload. A decision has up to two steps: which waiting
// job starts where, and then how it exchanges gradients there.
//
// Only the paper's abstract is public: closed-loop meta-reinforcement-learning for the placement of
// workers; exploration of combinatorial subspaces where a performance model may be inaccurate,
// instead of random exploration; adaptation to a changed workload from few samples. The rest is
// this project's reading: the placements shown (ring_placements.h); a linear performance model
// learned online by recursive least squares (exchange_terms.h), whose variance x' P x is shown, and
// whose maximum is marked for exploration; the second head (all-reduce algorithm and priority on a
// full link), which the abstract lacks; the meta-training (agents/train/reptile.h).
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "env/scheduling/exchange_terms.h"
#include "env/task/ring_placements.h"
#include "env/task/row_task.h"

namespace yard {
namespace {

constexpr int kJobs = 6;
constexpr int kRows = kJobs * RingPlacement::kRules;
constexpr int kMaxPieces = 32;  // of a job whose exchange is chosen
static_assert(kRows >= kAllReduces * kLinkPriorities);

enum RowFeature {
  kExchanges,  // 1: the second step
  kSize,       // log2 of its GPUs
  kLength,     // log2 s left by the user's limit; 0: no limit
  kNoLength,   // 1: no limit
  kWaited,     // log2 s
  kFirst,      // 1: the first job in the queue that fits
  kTight,      // the rules that lead to its placement
  kEven,
  kQuiet,
  kClear,
  kNodes,     // log2
  kBeyond,    // log2 of the nodes over the fewest possible
  kLeftOver,  // GPUs left free on them, in nodes
  kOccupied,  // share of the fullest of them that other jobs hold
  kSlowness,  // log2 of its time per work in isolation over the best
  kOwn,       // its traffic over the link's capacity
  kLink,      // other jobs' traffic on the busiest link over its capacity
  kCrowd,     // factor by which that link is overbooked at its priority
  kLonger,    // share of jobs on its links that have longer left
  kOthers,    // log2 of 1 + the number of these jobs
  kRing,
  kTree,
  kTwoLevels,  // 1: the all-reduce, if it is not the job's own
  kPriority,   // on links, over the highest
  kPredicted,  // log2 of its predicted time per work over the best
  kVariance,   // log2 of 1 + the variance of that prediction
  kRowFeatures
};
enum ClusterFeature {
  kFree,        // share of GPUs
  kFragmented,  // share of free GPUs on partly used nodes
  kQueue,       // GPUs waited for over all GPUs, at most 4
  kWaiting,     // log2 of 1 + jobs
  kLive,        // log2 of 1 + jobs
  kLinks,       // mean utilisation of uplinks, 0 to 1
  kClusterFeatures
};

struct Config {
  double prior_gap = 1;
  bool second_head = true;
  bool model = true;

  void fields(FieldList& f) {
    f("prior_gap", prior_gap, 0.0, 100.0, "logit penalty of all actions except the suggested one");
    f("second_head", second_head,
      "choose each job's all-reduce algorithm and priority; false: defaults, without priority");
    f("model", model, "include predictions of the learned model in the features");
  }
};

// Progress of the decision: a job whose placement is chosen, and whose exchange is chosen next.
struct PartialPlacement {
  int32_t slot, count;
  Piece piece[kMaxPieces];

  std::span<const Piece> pieces() const { return {piece, static_cast<size_t>(count)}; }
};

using Learned = ExchangeTerms::Learned;

class Meta final : public RowTask {
 public:
  explicit Meta(const Settings& settings) : config_(parse<Config>(settings)) {}

  TaskShape shape() const override { return {kRows, kRowFeatures, kClusterFeatures}; }
  std::string feature_schema() const override {
    return "meta 1, 6 jobs x 4 places, or 4 all-reduces x 4 priorities: exchanges size length "
           "no_length waited first tight even quiet clear nodes beyond left_over beside slowness "
           "own link crowd longer others ring tree two_levels priority foretold doubt; "
           "cluster: free fragmented queue waiting live links";
  }
  Level level() const override { return Level::kEstimate; }
  std::vector<std::pair<std::string, std::string>> settings() const override {
    return record(config_);
  }
  Heuristic heuristic() const override {
    Heuristic out{"greedy", {}};
    out.settings.set("placement", "best-fit", "training");
    return out;
  }

  size_t memory_bytes(const View& view) const override {
    return BumpAllocator::bytes<PartialPlacement>(1) + Learned::bytes(view);
  }
  void on_events(const View& view, std::byte* memory) const override {
    const Learned learned = this->learned(view, memory);
    learned.begin(ExchangeTerms::start());
    learned.on_events(view);
  }
  void begin_round(const View&, std::byte* memory) const override {
    partial(memory) = {.slot = kNone, .count = 0, .piece = {}};
  }

  bool needs_action(const View& view, std::byte* memory) const override {
    const PartialPlacement& b = partial(memory);
    return b.slot != kNone || !shown(view, 1).empty();
  }

  void observe(const View& view, std::byte* memory, Observation& o) const override {
    const ThroughputModel throughput_model(view);
    const RowContext context{view, throughput_model, ExchangeTerms(view, throughput_model),
                             learned(view, memory), o};
    std::fill_n(o.mask, kRows + 1, uint8_t{0});
    o.choices = o.expert_action = 0;
    const PartialPlacement& b = partial(memory);
    if (b.slot != kNone) {
      ask_for_exchange(context, b);
    } else {
      ask_for_place(context);
    }
    write_prior(o, config_.prior_gap);
    clear_rest(o, o.choices);
    write_cluster(view, o.cluster);
  }

  void apply(const View& view, std::byte* memory, int32_t action, Draft& draft) const override {
    PartialPlacement& b = partial(memory);
    const ThroughputModel throughput_model(view);
    if (b.slot != kNone) {
      const std::vector<Exchange> ways = exchange_options(throughput_model, b.slot, b.pieces());
      start(view, b.slot, b.pieces(), ways[static_cast<size_t>(action)], draft);
      b.slot = kNone;
      return;
    }
    int32_t row = 0;
    for (const int32_t slot : shown(view, kJobs)) {
      const std::vector<RingPlacement> placements = ring_placements(view, throughput_model, slot);
      const auto n = static_cast<int32_t>(placements.size());
      if (action >= row + n) {
        row += n;
        continue;
      }
      const std::vector<Piece>& pieces = placements[static_cast<size_t>(action - row)].pieces;
      if (!is_asked(view, slot, pieces)) {
        start(view, slot, pieces, {}, draft);
        return;
      }
      b.slot = slot;
      b.count = static_cast<int32_t>(pieces.size());
      std::ranges::copy(pieces, b.piece);
      return;
    }
  }

  void commit(const View& view, std::byte* memory, Draft&) const override {
    const ThroughputModel throughput_model(view);
    const ExchangeTerms terms(view, throughput_model);
    learned(view, memory).scan(view, [&](int32_t slot) {
      return view.shaped(slot) ? ExchangeTerms::Terms{}
                               : ExchangeTerms::terms(terms.variables(slot));
    });
  }

 private:
  // What rows are computed from, and the observation to write.
  struct RowContext {
    const View& view;
    const ThroughputModel& throughput_model;
    ExchangeTerms terms;
    Learned learned;
    Observation& o;
  };

  static PartialPlacement& partial(std::byte* memory) {
    return *reinterpret_cast<PartialPlacement*>(memory);
  }
  Learned learned(const View& view, std::byte* memory) const {
    BumpAllocator bump(memory + BumpAllocator::bytes<PartialPlacement>(1));
    return Learned(view, bump);
  }

  bool is_asked(const View& view, int32_t slot, std::span<const Piece> pieces) const {
    return config_.second_head && view.gpus(slot) > 1 && view.may_choose_exchange(slot) &&
           !view.shaped(slot) && pieces.size() <= kMaxPieces;
  }

  // Starts the job as chosen. If the rules do not allow that, starts it best-fit.
  static void start(const View& view, int32_t slot, std::span<const Piece> pieces,
                    const Exchange& exchange, Draft& draft) {
    if (draft.start(slot, pieces.data(), static_cast<int32_t>(pieces.size()), exchange)) return;
    const int32_t n = place(view, PlacementRule::kBestFit, slot, draft.scratch());
    draft.start(slot, draft.scratch(), n);
  }

  static double seconds_left(const View& view, int32_t slot) {
    if (view.limit_us(slot) <= 0) return std::numeric_limits<double>::infinity();
    return 1e-6 * static_cast<double>(std::max<int64_t>(
                      0, view.limit_us(slot) - (view.holds(slot) ? view.worked_us(slot) : 0)));
  }

  // Returns the first job in the queue with a placement, then the shortest of the others with one.
  static std::vector<int32_t> shown(const View& view, size_t most) {
    std::vector<Piece> room(static_cast<size_t>(view.spec().num_nodes) *
                            static_cast<size_t>(std::max(1, view.max_groups())));
    std::vector<int32_t> out, fits, unplaceable;  // slots, then classes
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      const int32_t size_class = view.size_class(slot);
      if (std::ranges::count(unplaceable, size_class) > 0) continue;
      if (std::ranges::count(fits, size_class) == 0) {
        const bool has = place(view, PlacementRule::kBestFit, slot, room.data()) > 0;
        (has ? fits : unplaceable).push_back(size_class);
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

  void ask_for_place(const RowContext& s) const {
    int32_t most_uncertain = 0;
    double max_variance = -1;
    const std::vector<int32_t> jobs = shown(s.view, kJobs);
    for (const int32_t slot : jobs) {
      for (const RingPlacement& place : ring_placements(s.view, s.throughput_model, slot)) {
        const int32_t row = s.o.choices;
        float* f = write_row(s, slot, place.pieces, {}, max_variance, most_uncertain);
        f[kFirst] = slot == jobs[0];
        for (int rule = 0; rule < RingPlacement::kRules; ++rule) {
          f[kTight + rule] = place.rules >> rule & 1;
        }
        s.o.mask[row] = 1;
      }
    }
    mark_for_exploration(s.o, most_uncertain);
  }

  void ask_for_exchange(const RowContext& s, const PartialPlacement& b) const {
    int32_t most_uncertain = 0;
    double max_variance = -1;
    for (const Exchange& way : exchange_options(s.throughput_model, b.slot, b.pieces())) {
      const int32_t row = s.o.choices;
      float* f = write_row(s, b.slot, b.pieces(), way, max_variance, most_uncertain);
      f[kExchanges] = 1;
      f[kRing] = way.all_reduce == Pattern::kRing;
      f[kTree] = way.all_reduce == Pattern::kTree;
      f[kTwoLevels] = way.all_reduce == Pattern::kHierarchical;
      f[kPriority] = static_cast<float>(way.priority) / (kLinkPriorities - 1);
      s.o.mask[row] = 1;
    }
    mark_for_exploration(s.o, most_uncertain);
  }

  // Appends a row and returns it. Sets `most_uncertain` to the row with the highest variance so
  // far.
  float* write_row(const RowContext& s, int32_t slot, std::span<const Piece> pieces,
                   const Exchange& exchange, double& max_variance, int32_t& most_uncertain) const {
    const View& view = s.view;
    const SpecColumns& spec = view.spec();
    const int32_t row = s.o.choices++;
    float* f = s.o.jobs + int64_t{row} * kRowFeatures;
    std::fill_n(f, int{kRowFeatures}, 0.0F);
    s.o.slots[row] = slot;
    const double left_s = seconds_left(view, slot);
    f[kSize] = log2_of(view.weight_gpus(slot)) / 4;
    f[kNoLength] = std::isinf(left_s);
    if (!std::isinf(left_s)) f[kLength] = log2_of_s(left_s);
    f[kWaited] = log2_of_s(1e-6 * static_cast<double>(view.now_us() - view.since_us(slot)));
    const int32_t fewest = (view.weight_gpus(slot) + spec.max_node_gpus - 1) / spec.max_node_gpus;
    const auto nodes = log2_of(static_cast<double>(pieces.size()));
    int32_t left_over = 0;
    for (const Piece& p : pieces) left_over += view.node_free(p.node) - p.gpus;
    f[kNodes] = nodes / 4;
    f[kBeyond] = nodes - log2_of(fewest);
    f[kLeftOver] = static_cast<float>(left_over) / static_cast<float>(spec.max_node_gpus);
    if (view.shaped(slot)) return f;
    const ExchangeTerms::LinkVariables variables = s.terms.variables(slot, pieces, exchange);
    const double best = s.throughput_model.best_throughput(slot);
    const auto over_best = [&](double time) {
      return best > 0 ? log2_of(std::clamp(time * best, 1.0 / 16, 16.0)) : 0.0F;
    };
    f[kOccupied] = static_cast<float>(variables.colocated_share);
    f[kSlowness] = over_best(variables.time);
    f[kOwn] = static_cast<float>(std::min(variables.own_load, 4.0));
    f[kLink] = static_cast<float>(std::min(variables.link, 4.0));
    f[kCrowd] = static_cast<float>(std::min(variables.excess_load, 4.0));
    const std::vector<int32_t> others = s.terms.jobs_on_links(slot, pieces);
    if (pieces.size() > 1 && !others.empty()) {
      const auto longer = std::ranges::count_if(
          others, [&](int32_t other) { return seconds_left(view, other) > left_s; });
      f[kLonger] = static_cast<float>(longer) / static_cast<float>(others.size());
      f[kOthers] = log2_of(1.0 + static_cast<double>(others.size())) / 2;
    }
    const ExchangeTerms::Terms terms = ExchangeTerms::terms(variables);
    const double variance = s.learned.variance(terms);
    if (variance > max_variance) max_variance = variance, most_uncertain = row;
    if (!config_.model) return f;
    f[kPredicted] = over_best(std::max(s.learned.time(terms), 1e-3));
    f[kVariance] = log2_of(1 + std::min(variance, 1e3)) / 4;
    return f;
  }

  static void write_cluster(const View& view, float* f) {
    const SpecColumns& spec = view.spec();
    int32_t broken = 0;
    double links = 0;
    for (int32_t node = 0; node < spec.num_nodes; ++node) {
      if (view.node_free(node) < spec.node_gpus[node]) broken += view.node_free(node);
      if (spec.node_up_bytes[node] <= 0) continue;
      links += static_cast<double>(view.link_bytes_per_s(node)) /
               static_cast<double>(spec.node_up_bytes[node]);
    }
    const auto total = static_cast<float>(view.total_gpus());
    const auto free = static_cast<float>(view.free_gpus());
    f[kFree] = free / total;
    f[kFragmented] = free > 0 ? static_cast<float>(broken) / free : 0;
    f[kQueue] = std::min(4.0F, static_cast<float>(view.waiting_gpus()) / total);
    f[kWaiting] = log2_of(1.0 + view.num_waiting()) / 8;
    f[kLive] = log2_of(1.0 + view.num_live()) / 8;
    f[kLinks] = static_cast<float>(links / std::max(1, spec.num_nodes));
  }

  Config config_;
};

const RowTasks::Add<Meta> kMeta{
    "meta",
    {.about =
         "decides which job starts where and with which all-reduce; intended for meta-learning",
     .source = "Yang et al., On a Meta Learning-Based Scheduler for DL Clusters, TCC 2023",
     .fidelity = "based on the abstract: only the idea is the paper's",
     .level = Level::kEstimate,
     .settings = describe<Config>}};

}  // namespace
}  // namespace yard
