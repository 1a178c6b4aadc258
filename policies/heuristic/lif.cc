// Least interference first: jobs start in the order in which they came, every task on the node
// where a model of interference, fitted to what was observed of running jobs, foretells the least
// slowdown. The model knows how much of a node others use, not what they run:
//   linear      time per work = w . (1, g, c, s)
//   quadratic   the same with squares and products
// g, c: shares of the node's GPUs and CPUs that others use; s: 1 where the job is spread. Fitted by
// recursive least squares from a start that says: twice as slow beside a full node. Harmony
// (INFOCOM 2019) was compared with both; linear and quadratic models of interference are those of
// Chiang and Huang (TRACON, SC 2011). What exactly was compared is not public: this is our reading.
#include <algorithm>
#include <array>

#include "env/base/carver.h"
#include "policies/first_come.h"
#include "policies/policy.h"

namespace yard {
namespace {

constexpr double kRidge = 1;        // how many observations the start is worth
constexpr int64_t kLeastUs = 1000;  // of running, for one: less is rounding
constexpr double kMostTime = 20;    // a crawling job tells no more than this

template <bool kQuadratic>
class Interference {
 public:
  static constexpr size_t kTerms = kQuadratic ? 10 : 4;
  using Terms = std::array<double, kTerms>;
  struct Fit {
    Terms weight;
    std::array<Terms, kTerms> spread;  // the inverse of what was seen so far
    bool begun;
  };

  static Terms terms(double gpus, double cpus, bool apart) {
    const double s = apart ? 1 : 0;
    if constexpr (kQuadratic) {
      return {1, gpus, cpus, s, gpus * gpus, cpus * cpus, gpus * cpus, gpus * s, cpus * s, s * s};
    } else {
      return {1, gpus, cpus, s};
    }
  }

  static void begin(Fit& fit) {
    if (fit.begun) return;
    fit.begun = true;
    fit.weight[0] = fit.weight[1] = 1;
    for (size_t i = 0; i < kTerms; ++i) fit.spread[i][i] = 1 / kRidge;
  }

  static double foretold(const Fit& fit, const Terms& x) { return dot(fit.weight, x); }

  // P <- P - P x x' P / (1 + x' P x),   w <- w + P x (y - w . x)
  static void learn(Fit& fit, const Terms& x, double y) {
    Terms px;
    for (size_t i = 0; i < kTerms; ++i) px[i] = dot(fit.spread[i], x);
    const double scale = 1 + dot(px, x), error = y - dot(fit.weight, x);
    for (size_t i = 0; i < kTerms; ++i) {
      for (size_t j = 0; j < kTerms; ++j) fit.spread[i][j] -= px[i] * px[j] / scale;
    }
    for (size_t i = 0; i < kTerms; ++i) fit.weight[i] += px[i] * error / scale;
  }

 private:
  static double dot(const Terms& a, const Terms& b) {
    double sum = 0;
    for (size_t i = 0; i < kTerms; ++i) sum += a[i] * b[i];
    return sum;
  }
};

template <bool kQuadratic>
class Lif final : public Policy {
 public:
  using Model = Interference<kQuadratic>;

  explicit Lif(const Settings& settings) { parse<NoConfig>(settings); }

  Level level() const override { return Level::kBlind; }

  size_t memory_bytes(const View& view) const override {
    return Carver::bytes<typename Model::Fit>(1) + Carver::bytes<Stand>(view.capacity());
  }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    Carver carver(memory.data());
    const Remembered mine(view, carver);
    Model::begin(*mine.fit);
    observe(view, mine);
    const auto least_slowed = [&](const TaskPlacer::Seat& at) {
      return -Model::foretold(*mine.fit,
                              Model::terms(1 - at.room.gpus, 1 - at.room.cpus, at.others));
    };
    start_first_come(view, least_slowed, draft);
    look(view, mine);
  }

 private:
  // How a running job stood after the last decision.
  struct Stand {
    typename Model::Terms terms;
    int64_t attained_us, worked_us;
    uint32_t generation;
    bool runs;
  };

  struct Remembered {
    Remembered(const View& view, Carver& carver)
        : fit(carver.take<typename Model::Fit>(1)), stand(carver.take<Stand>(view.capacity())) {}
    typename Model::Fit* fit;
    Stand* stand;  // (S)
  };

  // Nothing changed between two decisions: what a job did in that time is what its place let it.
  static void observe(const View& view, const Remembered& mine) {
    for (int32_t i = 0; i < view.num_held(); ++i) {
      const int32_t slot = view.held(i);
      const Stand& before = mine.stand[slot];
      if (!before.runs || before.generation != view.ref(slot).generation) continue;
      const int64_t ran_us = view.attained_us(slot) - before.attained_us;
      if (ran_us < kLeastUs) continue;
      const auto ran = static_cast<double>(ran_us);
      const auto worked = static_cast<double>(view.worked_us(slot) - before.worked_us);
      Model::learn(*mine.fit, before.terms, ran / std::max(worked, ran / kMostTime));
    }
  }

  static void look(const View& view, const Remembered& mine) {
    const TaskPlacer placer(view);
    for (int32_t slot = 0; slot < view.high_water(); ++slot) mine.stand[slot].runs = false;
    for (int32_t i = 0; i < view.num_held(); ++i) {
      const int32_t slot = view.held(i);
      if (view.phase(slot) != Phase::kRunning) continue;
      mine.stand[slot] = {terms_of(view, placer, slot), view.attained_us(slot),
                          view.worked_us(slot), view.ref(slot).generation, true};
    }
  }

  // On the node that others use most.
  static typename Model::Terms terms_of(const View& view, const TaskPlacer& placer, int32_t slot) {
    double gpus = 0, cpus = 0;
    int32_t first = kNone;
    bool apart = false;
    for (int32_t p = view.first_part(slot); p != kNone; p = view.next_part(p)) {
      const int32_t node = view.part_node(p);
      if (first == kNone) first = node;
      apart = apart || node != first;
      TaskPlacer::Shares own;
      for (int32_t q = view.first_part(slot); q != kNone; q = view.next_part(q)) {
        if (view.part_node(q) != node) continue;
        own.gpus += static_cast<double>(count_bits(view.part_mask(q))) /
                    std::max(1, view.spec().node_gpus[node]);
        if (!view.shaped(slot)) continue;
        own.cpus += placer.need(slot, view.part_group(q), node).cpus * view.part_tasks(q);
      }
      const TaskPlacer::Shares room = placer.room(node);
      gpus = std::max(gpus, 1 - room.gpus - own.gpus);
      cpus = std::max(cpus, 1 - room.cpus - own.cpus);
    }
    return Model::terms(gpus, cpus, apart);
  }
};

template <bool kQuadratic>
Policy::Info info(const char* about) {
  return {.about = about,
          .source = "Harmony's rivals, INFOCOM 2019; models as in TRACON, SC 2011",
          .fidelity = "our reading: the papers' own models are not public in full",
          .level = Level::kBlind,
          .servable = false};
}

const PolicyRegistry::Add<Lif<false>> kLinear{
    "lif-linear",
    info<false>("first come first served; where a linear model foretells least interference")};
const PolicyRegistry::Add<Lif<true>> kQuadratic{
    "lif-quadratic", info<true>("the same by a quadratic model of interference")};

}  // namespace
}  // namespace yard
