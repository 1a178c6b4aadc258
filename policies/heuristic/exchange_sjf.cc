// Shortest limit first, and each job exchanges by the all-reduce that a closed form rates best:
// scheduling with a choice of exchange, but without learning. A waiting job starts on as few nodes
// as are free. Of ring, tree, hierarchical and its own all-reduce it gets the one with the highest
// isolated throughput. On full links shorter jobs go first, by four classes of the limit left:
//   limit <= short_s: 3, <= short_s ratio: 2, <= short_s ratio^2: 1, longer or without limit: 0
#include <optional>
#include <span>

#include "env/sim/placement/throughput_model.h"
#include "policies/order.h"
#include "policies/remaining_time.h"

namespace yard {
namespace {

struct Config : PlacementConfig {
  double short_s = 900;
  double ratio = 2;
  Config() { placement = "best-fit"; }
  void fields(FieldList& f) {
    PlacementConfig::fields(f);
    f("short_s", short_s, 10.0, 1e6,
      "remaining limit, in seconds, up to which a job has the highest priority on full links");
    f("ratio", ratio, 1.0, 100.0,
      "factor between the remaining limits of one priority class and the next");
  }
};

class ExchangeSjf final : public PlacementRulePolicy<Config, InformationLevel::kEstimate> {
 public:
  using PlacementRulePolicy::PlacementRulePolicy;

  size_t memory_bytes(const View& view) const override { return RankedQueue::bytes(view); }
  size_t kept_memory_bytes(const View&) const override { return 0; }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    BumpAllocator bump(memory.data());
    RankedQueue ranked(view, bump);
    push_newly_waiting(view, ranked, [&](int32_t slot) { return left_us(view, slot); });
    std::optional<ThroughputModel> throughput_model;  // built for the first job that has a choice
    const auto all_reduce_settings_of = [&](int32_t slot,
                                            std::span<const Piece> pieces) -> AllReduceSettings {
      if (!view.may_choose_all_reduce(slot) || view.shaped(slot)) return {};
      if (!throughput_model) throughput_model.emplace(view);
      return choose(view, *throughput_model, slot, pieces);
    };
    start_in_order(view, ranked, placement_, draft, all_reduce_settings_of);
  }

 private:
  static double left_us(const View& view, int32_t slot) {
    return RemainingTimeByLimit::line(view, slot).at(view.now_us());
  }

  AllReduceSettings choose(const View& view, const ThroughputModel& throughput_model, int32_t slot,
                           std::span<const Piece> pieces) const {
    AllReduceSettings out;
    double best = 0;
    for (const Pattern by :
         {Pattern::kNone, Pattern::kRing, Pattern::kTree, Pattern::kHierarchical}) {
      const double speed = throughput_model.isolated_throughput(slot, pieces, by).speed;
      if (speed > best) best = speed, out.all_reduce = by;
    }
    if (pieces.size() < 2) return out;  // it uses no link
    double longest_us = config_.short_s * 1e6;
    for (int priority = kLinkPriorities - 1; priority > 0; --priority) {
      if (left_us(view, slot) <= longest_us) {
        out.priority = static_cast<uint8_t>(priority);
        break;
      }
      longest_us *= config_.ratio;
    }
    return out;
  }
};

const PolicyRegistry::Add<ExchangeSjf> kExchangeSjf{
    "exchange-sjf",
    {.about = "shortest limit first; the best all-reduce by a closed form; short jobs have "
              "priority on links",
     .source = "our own, after shortest job first and the alpha-beta model of all-reduces",
     .fidelity = "our own",
     .level = InformationLevel::kEstimate,
     .uses_limits = true,
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
