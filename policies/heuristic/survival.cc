// Indices from how long jobs like this one were seen to run (env/predict/survival.h): `gittins`
// goes by jobs of its size alone, as Tiresias does with its history, `survival` by the last
// of these, its user and its siblings, too.

#include "env/predict/survival.h"

#include "policies/index_order.h"

namespace yard {
namespace {

struct BySize {
  struct Config : IndexConfig {
    Config() { margin_log2 = 0.5; }
  };
  static constexpr Level kLevel = Level::kHistory;

  explicit BySize(const Config&) {}
  static size_t bytes(const View& view) { return Survival::bytes(view); }

  struct Now {
    Now(const BySize& source, const View& view, Carver& carver)
        : source(source), view(view), survival(view, carver) {
      survival.follow(view);
    }
    double seconds(int32_t slot) const {
      return look_ahead(source.edges, view.attained_us(slot), kUnlimitedUs,
                        survival.size_hazards(view, slot), survival.places(view, slot))
          .gittins_s;
    }
    const BySize& source;
    const View& view;
    Survival survival;
  };

  BinEdges edges;
};

template <Level kMost>
struct ByAll {
  struct Config : IndexConfig {
    Config() { margin_log2 = 2; }
    double gittins = 0.85, blind = 0, blind_s = 3600;
    double keep_s = 0;
    void fields(FieldList& f) {
      IndexConfig::fields(f);
      f("gittins", gittins, 0.0, 1.0,
        "1: Gittins' index; 0: the mean time left; between: a geometric mean of both");
      f("blind", blind, 0.0, 1.0,
        "how much of a geometric mean goes to what the job has run plus blind_s: what was learned "
        "may not hold any more");
      f("blind_s", blind_s, 1.0, 1e6, "seconds that every job is taken to have run in that part");
      f("keep_s", keep_s, 0.0, 86400.0,
        "how long an index may be kept while nothing happens to its siblings, a search is several "
        "times as fast with half an hour; 0: worked out anew at every decision");
    }
  };
  static constexpr Level kLevel = kMost;

  explicit ByAll(const Config& c)
      : gittins(c.gittins),
        blind(c.blind),
        blind_s(c.blind_s),
        keep_us(static_cast<int64_t>(c.keep_s * 1e6)) {}
  static size_t bytes(const View& view) {
    return Survival::bytes(view) + Carver::bytes<Known>(view.capacity());
  }

  struct Known {
    int64_t at_us, attained_us;
    double seconds;  // 0: nothing is known
  };
  static constexpr int64_t kMoved = 14;  // by one part in so many

  class Now {
   public:
    Now(const ByAll& source, const View& view, Carver& carver)
        : source_(source),
          view_(view),
          survival_(view, carver),
          known_(carver.take<Known>(view.capacity())) {
      survival_.follow(view);
      if (source.keep_us == 0) return;
      for (int32_t i = 0; i < view.num_changed(); ++i) known_[view.changed(i)] = {};
      for (int32_t i = 0; i < view.num_held(); ++i) forget_if_news(view.held(i));
      for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
        forget_if_news(slot);
      }
    }

    double seconds(int32_t slot) {
      if (source_.keep_us == 0) return work_out(slot);
      Known& known = known_[slot];
      if (stale(slot, known)) known = {view_.now_us(), view_.attained_us(slot), work_out(slot)};
      return known.seconds;
    }

   private:
    void forget_if_news(int32_t slot) {
      for (const Survival::News& news : survival_.news()) {
        if (Survival::near(view_, slot, news)) known_[slot] = {};
      }
    }

    bool stale(int32_t slot, const Known& known) const {
      return known.seconds == 0 || view_.now_us() - known.at_us > source_.keep_us ||
             (view_.attained_us(slot) - known.attained_us) * kMoved > known.attained_us;
    }

    double work_out(int32_t slot) const {
      float hazards[TimeBins::kBins] = {};
      survival_.hazards(view_, slot, hazards);
      const Outlook ahead =
          look_ahead(source_.edges, view_.attained_us(slot), Survival::until_us(view_, slot),
                     hazards, survival_.places(view_, slot));
      const double log2_s = (1 - source_.gittins) * log2_coarse(ahead.mean_s) +
                            source_.gittins * log2_coarse(ahead.gittins_s);
      const double attained_s = static_cast<double>(view_.attained_us(slot)) * 1e-6;
      return exp2_coarse((1 - source_.blind) * log2_s +
                         source_.blind * log2_coarse(attained_s + source_.blind_s));
    }

    const ByAll& source_;
    const View& view_;
    Survival survival_;
    Known* known_;  // (S)
  };

  double gittins, blind, blind_s;
  int64_t keep_us;
  BinEdges edges;
};

const PolicyRegistry::Add<IndexPolicy<BySize>> kGittins{
    "gittins",
    {.about = "Gittins' index of the run times seen so far, by size",
     .source = "Gittins 1979; Tiresias, NSDI 2019",
     .fidelity = "learned online, running jobs as censored; no queues; margin and timer are ours",
     .level = Level::kHistory,
     .preemptive = true,
     .fields = describe<BySize::Config>}};

template <Level kMost>
struct AddSurvival {
  AddSurvival(const char* name, const char* about)
      : add{name,
            {.about = about,
             .source = "our own",
             .fidelity = "our own predictor",
             .level = kMost,
             .preemptive = true,
             .fields = describe<typename ByAll<kMost>::Config>}} {}
  PolicyRegistry::Add<IndexPolicy<ByAll<kMost>>> add;
};

const AddSurvival<Level::kHistory> kSurvival{
    "survival", "mean time left or Gittins' index, by size, user, name and siblings"};
const AddSurvival<Level::kEstimate> kSurvivalEstimate{"survival-estimate",
                                                      "the same, ended by the users' limits"};

}  // namespace
}  // namespace yard
