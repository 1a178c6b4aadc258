#include "env/sim/exchange_terms.h"

#include <array>

namespace yard {
namespace {

std::vector<Piece> pieces_of(const View& view, int32_t slot) {
  std::vector<Piece> out;
  for (int32_t p = view.first_part(slot); p != kNone; p = view.next_part(p)) {
    out.push_back({view.part_node(p), count_bits(view.part_mask(p)), 0});
  }
  return out;
}

}  // namespace

ExchangeTerms::ExchangeTerms(const View& view, const Foretell& foretell)
    : view_(view), foretell_(foretell), senders_(static_cast<size_t>(view.spec().num_nodes)) {
  for (int32_t i = 0; i < view.num_held(); ++i) {
    const int32_t slot = view.held(i);
    if (view.shaped(slot) || view.first_part(slot) == kNone ||
        view.next_part(view.first_part(slot)) == kNone) {
      continue;
    }
    const std::vector<Piece> pieces = pieces_of(view, slot);
    const Exchange exchange = view.exchange(slot);
    const Undisturbed alone = foretell.alone_on(slot, pieces, exchange.all_reduce);
    for (const Piece& p : pieces) {
      senders_[static_cast<size_t>(p.node)].push_back(
          {slot, alone.link_bytes_per_s, exchange.priority});
    }
  }
}

ExchangeTerms::Stand ExchangeTerms::stand(int32_t slot) const {
  return stand(slot, pieces_of(view_, slot), view_.exchange(slot));
}

ExchangeTerms::Stand ExchangeTerms::stand(int32_t slot, std::span<const Piece> pieces,
                                          const Exchange& exchange) const {
  const SpecColumns& spec = view_.spec();
  Stand out;
  out.alone = foretell_.alone_on(slot, pieces, exchange.all_reduce);
  out.time = 1 / std::max(out.alone.speed, 1e-3);
  out.exchange = exchange;
  out.spread = pieces.size() > 1;
  out.model = std::max(0, foretell_.model(slot)) % kModels;
  for (const Piece& p : pieces) {
    int32_t others = 0;
    for (const Tenancy& other : foretell_.on(p.node)) {
      if (other.slot != slot) others += other.gpus;
    }
    out.beside = std::max(out.beside, static_cast<double>(others) / spec.node_gpus[p.node]);
    const auto capacity = static_cast<double>(spec.node_up_bytes[p.node]);
    if (!out.spread || capacity <= 0) continue;
    std::array<double, kLinkPriorities> loads{};
    for (const Sender& sender : senders_[static_cast<size_t>(p.node)]) {
      if (sender.slot == slot) continue;
      loads[static_cast<size_t>(sender.priority)] +=
          static_cast<double>(sender.bytes_per_s) / capacity;
    }
    const double own = static_cast<double>(out.alone.link_bytes_per_s) / capacity;
    double higher = 0, all = 0;
    for (size_t priority = 0; priority < loads.size(); ++priority) {
      all += loads[priority];
      if (priority > exchange.priority) higher += loads[priority];
    }
    const double left = std::max(1 - higher, 1.0 / kLeastLeft);
    out.crowd = std::max(out.crowd, (own + loads[exchange.priority]) / left - 1);
    out.link = std::max(out.link, all);
    out.ahead = std::max(out.ahead, higher);
    out.own = own;
  }
  return out;
}

std::vector<int32_t> ExchangeTerms::on_links(int32_t slot, std::span<const Piece> pieces) const {
  std::vector<int32_t> out;
  for (const Piece& p : pieces) {
    for (const Sender& sender : senders_[static_cast<size_t>(p.node)]) {
      if (sender.slot != slot && std::ranges::count(out, sender.slot) == 0) {
        out.push_back(sender.slot);
      }
    }
  }
  return out;
}

ExchangeTerms::Terms ExchangeTerms::terms(const Stand& s) {
  constexpr double kMost = 8;  // cap on the variables of links
  Terms x{};
  x[kAlone] = s.time;
  x[kBeside] = s.time * s.beside;
  x[static_cast<size_t>(kModel + s.model)] = s.time * s.beside;
  if (!s.spread) return x;
  x[kCrowd] = s.time * s.alone.exchange_share * std::min(s.crowd, kMost);
  x[kLink] = s.time * std::min(s.link, kMost);
  x[kAhead] = s.time * std::min(s.ahead, kMost);
  x[kSpread] = s.time;
  x[kTree] = s.time * (s.exchange.all_reduce == Pattern::kTree);
  x[kTwoLevels] = s.time * (s.exchange.all_reduce == Pattern::kHierarchical);
  return x;
}

}  // namespace yard
