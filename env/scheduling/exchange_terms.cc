#include "env/scheduling/exchange_terms.h"

#include <array>

namespace yard {

ExchangeInterferenceTerms::ExchangeInterferenceTerms(const View& view,
                                                     const ThroughputModel& throughput_model)
    : view_(view),
      throughput_model_(throughput_model),
      sending_jobs_(static_cast<size_t>(view.spec().num_nodes)) {
  for (const int32_t slot : view.holder_slots()) {
    const int32_t part = view.first_part(slot);
    if (view.shaped(slot) || part == kNone || view.next_part(part) == kNone) continue;
    const std::vector<Piece> pieces = held_pieces(view, slot);
    const AllReduceSettings exchange = view.all_reduce_settings(slot);
    const UncontendedThroughput isolated =
        throughput_model.isolated_throughput(slot, pieces, exchange.all_reduce);
    for (const Piece& p : pieces) {
      sending_jobs_[static_cast<size_t>(p.node)].push_back(
          {slot, isolated.link_bytes_per_s, exchange.priority});
    }
  }
}

ExchangeInterferenceTerms::LinkVariables ExchangeInterferenceTerms::variables(
    int32_t slot, std::span<const Piece> pieces, const AllReduceSettings& exchange) const {
  const SpecColumns& spec = view_.spec();
  LinkVariables out;
  out.isolated = throughput_model_.isolated_throughput(slot, pieces, exchange.all_reduce);
  out.time = 1 / std::max(out.isolated.speed, 1e-3);
  out.exchange = exchange;
  out.spread = pieces.size() > 1;
  out.model = std::max(0, throughput_model_.model_variant_index(slot)) % kModels;
  for (const Piece& p : pieces) {
    int32_t others = 0;
    for (const NodeOccupant& other : throughput_model_.occupants(p.node)) {
      if (other.slot != slot) others += other.gpus;
    }
    out.colocated_share =
        std::max(out.colocated_share, static_cast<double>(others) / spec.node_gpus[p.node]);
    const auto capacity = static_cast<double>(spec.node_up_bytes[p.node]);
    if (!out.spread || capacity <= 0) continue;
    std::array<double, kLinkPriorities> loads{};
    for (const SendingJob& sender : sending_jobs_[static_cast<size_t>(p.node)]) {
      if (sender.slot == slot) continue;
      loads[static_cast<size_t>(sender.priority)] +=
          static_cast<double>(sender.bytes_per_s) / capacity;
    }
    const double own_load = static_cast<double>(out.isolated.link_bytes_per_s) / capacity;
    double higher = 0, all = 0;
    for (size_t priority = 0; priority < loads.size(); ++priority) {
      all += loads[priority];
      if (priority > exchange.priority) higher += loads[priority];
    }
    const double left = std::max(1 - higher, 1.0 / kMinLeftDivisor);
    out.excess_load = std::max(out.excess_load, (own_load + loads[exchange.priority]) / left - 1);
    out.link = std::max(out.link, all);
    out.higher_load = std::max(out.higher_load, higher);
    out.own_load = own_load;
  }
  return out;
}

std::vector<int32_t> ExchangeInterferenceTerms::jobs_on_links(int32_t slot,
                                                              std::span<const Piece> pieces) const {
  std::vector<int32_t> out;
  for (const Piece& p : pieces) {
    for (const SendingJob& sender : sending_jobs_[static_cast<size_t>(p.node)]) {
      const bool known = sender.slot == slot || std::ranges::count(out, sender.slot) > 0;
      if (!known) out.push_back(sender.slot);
    }
  }
  return out;
}

ExchangeInterferenceTerms::Terms ExchangeInterferenceTerms::terms(const LinkVariables& s) {
  constexpr double kMax = 8;  // cap on the variables of links
  Terms x{};
  x[kIsolated] = s.time;
  x[kColocated] = s.time * s.colocated_share;
  x[static_cast<size_t>(kModel + s.model)] = s.time * s.colocated_share;
  if (!s.spread) return x;
  x[kExcessLoad] = s.time * s.isolated.exchange_share * std::min(s.excess_load, kMax);
  x[kLinkLoad] = s.time * std::min(s.link, kMax);
  x[kHigherLoad] = s.time * std::min(s.higher_load, kMax);
  x[kSpread] = s.time;
  x[kTree] = s.time * (s.exchange.all_reduce == Pattern::kTree);
  x[kTwoLevels] = s.time * (s.exchange.all_reduce == Pattern::kHierarchical);
  return x;
}

}  // namespace yard
