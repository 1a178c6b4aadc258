// First come, first served, but what does not fit is skipped; no reservation protects the skipped.

#include "policies/order.h"
#include "policies/policy.h"

namespace yard {
namespace {

struct Config {
  std::string placement = "first-fit";
  void fields(FieldList& f) { f("placement", placement, placement_names(), "where a job goes"); }
};

class Backfill final : public Policy {
 public:
  explicit Backfill(const Settings& settings)
      : placement_(parse_placement(parse<Config>(settings).placement)) {}

  Level level() const override { return Level::kBlind; }

  // The state keeps the queue by size class, so the next that fits is the earliest of their heads.
  void decide(const View& view, Memory&, Draft& draft) const override {
    Piece* pieces = draft.scratch();
    std::vector<char> blocked;  // by size class: fragmentation leaves no place for it now
    while (view.num_waiting() > 0) {
      int32_t first = kNone;
      for (int32_t k = 0; k < view.num_classes() && view.class_gpus(k) <= view.free_gpus(); ++k) {
        const int32_t head = view.class_head(k);
        if (head == kNone || (!blocked.empty() && blocked[static_cast<size_t>(k)])) continue;
        if (first == kNone || view.queue_rank(head) < view.queue_rank(first)) first = head;
      }
      if (first == kNone) return;
      const int32_t n = place(view, placement_, first, pieces);
      if (n > 0) {
        draft.start(first, pieces, n);
      } else {
        blocked.resize(static_cast<size_t>(view.num_classes()), 0);
        blocked[static_cast<size_t>(view.size_class(first))] = 1;
      }
    }
  }

 private:
  Placement placement_;
};

const PolicyRegistry::Add<Backfill> kBackfill{
    "backfill",
    {.about = "first come, skipping what does not fit",
     .source = "folklore; Tiresias' simulator calls it fjf",
     .fidelity = "exact",
     .level = Level::kBlind,
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
