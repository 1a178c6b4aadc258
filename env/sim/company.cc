#include "env/sim/company.h"

#include <algorithm>

namespace yard {
namespace {

constexpr double kLeastTime = 1.0 / 16;

}  // namespace

Company::Terms Company::start() {
  Terms out{};
  out[kOne] = out[kCpus] = 1;
  std::fill_n(out.begin() + kOwn, 2 * kTypes, 0.5);
  return out;
}

Company::Company(const View& view, const Foretell& foretell, const Learned& learned)
    : view_(view), foretell_(foretell), learned_(learned), placer_(view) {
  const SpecColumns& spec = view.spec();
  for (int32_t m = 0; m < spec.num_nodes; ++m) {
    const double used = 1 - placer_.room(m).cpus;
    const auto cores = static_cast<double>(spec.node_cores_milli[m]);
    promised_.push_back(cores > 0 ? used * static_cast<double>(spec.node_cpu_milli[m]) / cores : 0);
  }
}

int Company::type(int32_t slot) const { return std::max(0, foretell_.model(slot)) % kTypes; }

std::vector<Piece> Company::pieces_of(int32_t slot) const {
  std::vector<Piece> out;
  for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
    out.push_back({view_.part_node(p), count_bits(view_.part_mask(p)),
                   view_.shaped(slot) ? view_.part_group(p) : 0,
                   view_.shaped(slot) ? view_.part_tasks(p) : 0});
  }
  return out;
}

double Company::cpus_beyond(int32_t node, const Newcomer& newcomer) const {
  const SpecColumns& spec = view_.spec();
  double promised = promised_[static_cast<size_t>(node)];
  for (const Piece& p : newcomer.pieces) {
    const auto cores = static_cast<double>(spec.node_cores_milli[node]);
    if (p.node != node || !view_.shaped(newcomer.slot) || cores <= 0) continue;
    promised +=
        p.tasks * static_cast<double>(view_.task_need(newcomer.slot, p.group).cpu_milli) / cores;
  }
  return std::max(0.0, promised - 1);
}

Company::Terms Company::terms(int32_t slot, std::span<const Piece> pieces,
                              const Newcomer& newcomer) const {
  const SpecColumns& spec = view_.spec();
  const int own = type(slot);
  const auto has_gpus = [&](int32_t node) {
    return std::ranges::any_of(pieces,
                               [&](const Piece& p) { return p.node == node && p.gpus > 0; });
  };
  Terms worst{}, out{};
  double most = 0, cpus = 0, load_there = 0;
  int32_t gpus = 0, nodes = 0;
  bool apart = false;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const int32_t node = pieces[i].node;
    cpus = std::max(cpus, cpus_beyond(node, newcomer));
    if (pieces[i].gpus == 0) {
      apart = apart || !has_gpus(node);
      continue;
    }
    gpus += pieces[i].gpus;
    const bool seen = std::ranges::any_of(
        pieces.first(i), [&](const Piece& p) { return p.node == node && p.gpus > 0; });
    if (seen) continue;
    ++nodes;
    Terms here{};
    double load = 0;
    const auto add = [&](int32_t other, int32_t its_gpus) {
      const double share = static_cast<double>(its_gpus) / std::max(1, spec.node_gpus[node]);
      here[static_cast<size_t>(kOthers + type(other))] += share;
      load += share;
    };
    for (const Tenancy& other : foretell_.on(node)) {
      if (other.slot != slot) add(other.slot, other.gpus);
    }
    for (const Piece& p : newcomer.pieces) {
      if (newcomer.slot != slot && p.node == node && p.gpus > 0) add(newcomer.slot, p.gpus);
    }
    here[static_cast<size_t>(kOwn + own)] = load;
    const double slower = learned_.time(here);
    if (nodes > 1 && slower <= most) continue;
    worst = here, most = slower, load_there = load;
  }
  out = worst;
  out[kOne] = 1;
  const int32_t needed = (gpus + spec.max_node_gpus - 1) / std::max(1, spec.max_node_gpus);
  out[static_cast<size_t>(kSpread + own)] = nodes > needed ? 1 : 0;
  out[kApart] = apart && gpus > 0 ? 1 : 0;
  out[kCpus] = cpus;
  out[kCpusBeside] = cpus * load_there;
  return out;
}

double Company::time(const Terms& terms) const {
  return std::max(learned_.time(terms), kLeastTime);
}

double Company::time(int32_t slot, std::span<const Piece> pieces) const {
  return time(terms(slot, pieces, {slot, pieces}));
}

double Company::harm(int32_t slot, std::span<const Piece> pieces) const {
  std::vector<int32_t> others;
  for (const Piece& p : pieces) {
    for (const Tenancy& other : foretell_.on(p.node)) {
      if (other.slot != slot && std::ranges::count(others, other.slot) == 0) {
        others.push_back(other.slot);
      }
    }
  }
  double lost = 0;
  for (const int32_t other : others) {
    const std::vector<Piece> its = pieces_of(other);
    const double before = time(terms(other, its, {})),
                 after = time(terms(other, its, {slot, pieces}));
    lost += view_.gpus(other) * (1 - before / after);
  }
  return lost;
}

}  // namespace yard
