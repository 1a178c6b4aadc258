#include "policies/victim_index.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace yard {
namespace {

constexpr Key kFree{std::numeric_limits<double>::max(), 0};  // no holder has to stop

}  // namespace

bool VictimIndex::is_index_available(const View& view, PlacementRule placement) {
  const SpecColumns& spec = view.spec();
  if (placement != PlacementRule::kConsolidate || view.has_gpu_shares() || view.has_faults())
    return false;
  return spec.max_node_gpus * spec.nodes_of_size[spec.max_node_gpus] == spec.total_gpus;
}

// GPUs that one node may have to give: all of its own, or all of a job. Bit i: i + 1 GPUs.
uint64_t VictimIndex::indexed_sizes_mask(const View& view) {
  const int32_t max_gpus = view.spec().max_node_gpus;
  uint64_t sizes = uint64_t{1} << (max_gpus - 1);
  for (int32_t k = 0; k < view.num_request_classes(); ++k) {
    const int32_t gpus = view.class_gpus_to_start(k);
    if (gpus > 0) sizes |= uint64_t{1} << (std::min(gpus, max_gpus) - 1);
  }
  return sizes;
}

size_t VictimIndex::bytes(const View& view, PlacementRule placement) {
  if (!is_index_available(view, placement)) return 0;
  const int32_t nodes = view.spec().num_nodes;
  const auto sizes = static_cast<int32_t>(std::popcount(indexed_sizes_mask(view)));
  return BumpAllocator::bytes<uint64_t>(1) +
         static_cast<size_t>(sizes) * LinearKeyTreap::bytes(nodes) +
         BumpAllocator::bytes<uint8_t>(int64_t{sizes} * nodes) +
         BumpAllocator::bytes<int32_t>(view.num_slots()) +
         2 * BumpAllocator::bytes<int32_t>(view.total_gpus());
}

VictimIndex::VictimIndex(const View& view, PlacementRule placement, const LinearKeyTreap& held,
                         BumpAllocator& bump)
    : view_(view), held_(held), serves_(is_index_available(view, placement)) {
  if (!serves_) return;
  const int32_t nodes = view.spec().num_nodes;
  // The sizes never change and there are many classes: they are computed once.
  uint64_t* sizes = bump.allocate<uint64_t>(1);
  const bool made = *sizes != 0;
  if (!made) *sizes = indexed_sizes_mask(view);
  for (uint64_t rest = *sizes; rest != 0; rest &= rest - 1) {
    sizes_.push_back(1 + std::countr_zero(rest));
    by_size_.emplace_back(nodes, bump);
  }
  bound_ = bump.allocate<uint8_t>(static_cast<int64_t>(sizes_.size()) * nodes);
  first_ = bump.allocate<int32_t>(view.num_slots());
  next_ = bump.allocate<int32_t>(view.total_gpus());
  owner_ = bump.allocate<int32_t>(view.total_gpus());
  for (int32_t m = 0; !made && m < nodes; ++m) dirty_.push_back(m);
}

void VictimIndex::update(int32_t slot) {
  if (!serves_) return;
  for (int32_t gpu = first_[slot]; gpu != 0; gpu = next_[gpu - 1]) {
    dirty_.push_back(node_of(gpu - 1));
  }
  first_[slot] = 0;
  if (!view_.holds_gpus(slot)) return;
  for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
    uint64_t rest = view_.part_mask(p);
    const int32_t gpu0 = view_.spec().node_gpu0[view_.part_node(p)];
    const int32_t first = gpu0 + std::countr_zero(rest);
    for (; rest != 0; rest &= rest - 1) owner_[gpu0 + std::countr_zero(rest)] = slot;
    next_[first] = first_[slot];
    first_[slot] = 1 + first;
    dirty_.push_back(view_.part_node(p));
  }
}

int32_t VictimIndex::node_of(int32_t gpu) const {
  const int32_t* gpu0 = view_.spec().node_gpu0;
  return static_cast<int32_t>(std::upper_bound(gpu0, gpu0 + view_.spec().num_nodes, gpu) - gpu0) -
         1;
}

// Lists the holders on a node that may be preempted.
void VictimIndex::list_holders(int32_t node) {
  holders_.clear();
  const int32_t gpu0 = view_.spec().node_gpu0[node];
  uint64_t seen = 0;
  for (int32_t g = 0; g < view_.spec().node_gpus[node]; ++g) {
    const int32_t slot = owner_[gpu0 + g];
    if ((seen >> g & 1) != 0 || !held_.has(slot)) continue;
    uint64_t mask = 0;
    for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
      if (view_.part_node(p) == node) mask |= view_.part_mask(p);
    }
    if ((mask >> g & 1) == 0) continue;
    seen |= mask;
    holders_.push_back({slot, std::popcount(mask), held_.key(slot, view_.now_us())});
  }
  std::sort(holders_.begin(), holders_.end(),
            [](const Holder& a, const Holder& b) { return b.key < a.key; });
}

void VictimIndex::refresh(int32_t node) {
  list_holders(node);
  bool crossing = false;  // lines of different slopes cross in time
  for (const Holder& h : holders_) {
    crossing |= held_.line(h.slot).per_us != held_.line(holders_[0].slot).per_us;
  }
  size_t h = 0;
  int32_t free = view_.node_free_gpus(node);
  LinearDecrease line{kFree.value, 0};
  int32_t serial = kFree.serial;
  for (size_t z = 0; z < sizes_.size(); ++z) {
    while (free < sizes_[z] && h < holders_.size()) {
      free += holders_[h].gpus;
      serial = holders_[h].key.serial;
      line = crossing ? LinearDecrease{holders_[h].key.value, 0} : held_.line(holders_[h].slot);
      ++h;
    }
    if (free < sizes_[z]) {
      by_size_[z].remove(node);
      continue;
    }
    by_size_[z].put(node, line, serial);
    bound_[row(z) + node] = crossing && h > 0;
  }
}

// Returns the key of the last holder that has to stop so that node `next` of a walk has room for
// size `size_index`.
Key VictimIndex::last_victim_key(size_t size_index, const RankedJob& next) {
  if (bound_[row(size_index) + next.slot] == 0) return next.key;
  list_holders(next.slot);
  Key key;
  int32_t free = view_.node_free_gpus(next.slot);
  for (size_t h = 0; free < sizes_[size_index]; ++h) {
    free += holders_[h].gpus;
    key = holders_[h].key;
  }
  return key;
}

// Returns the key of the last holder that has to stop so that `count` nodes have room for a job
// size, or nothing if fewer ever have.
std::optional<Key> VictimIndex::last_victim_key(size_t size_index, size_t count) {
  std::vector<Key> keys;  // of the first nodes to have room, up to `count`, descending
  LinearKeyTreap::Walk walk(by_size_[size_index], view_.now_us());
  for (RankedJob next = walk.next(); next.slot != kNone; next = walk.next()) {
    // Later nodes have no higher key than this one, even if it is only a bound.
    if (keys.size() == count && next.key < keys.back()) break;
    const Key key = last_victim_key(size_index, next);
    const auto falling = [](const Key& a, const Key& b) { return b < a; };
    keys.insert(std::upper_bound(keys.begin(), keys.end(), key, falling), key);
    if (keys.size() > count) keys.pop_back();
  }
  if (keys.size() < count) return {};
  return keys.back();
}

// Lists holders from the last to `from`, on nodes where stopping them makes room for the job size.
void VictimIndex::list_victims(size_t size_index, const Key& from,
                               std::vector<RankedJob>& victims) {
  LinearKeyTreap::Walk walk(by_size_[size_index], view_.now_us());
  for (RankedJob next = walk.next(); next.slot != kNone && !(next.key < from); next = walk.next()) {
    if (last_victim_key(size_index, next) < from) continue;
    list_holders(next.slot);
    for (const Holder& h : holders_) {
      if (h.key < from) break;
      const bool listed = std::ranges::find(victims, h.slot, &RankedJob::slot) != victims.end();
      if (!listed) victims.push_back({h.key, h.slot});
    }
  }
}

bool VictimIndex::find_victims(const RankedJob& job, int32_t gpus, double margin,
                               std::vector<RankedJob>& victims) {
  refresh();
  const int32_t max_gpus = view_.spec().max_node_gpus;
  const int32_t of_a_node = std::min(gpus, max_gpus);
  const auto z = static_cast<size_t>(std::ranges::find(sizes_, of_a_node) - sizes_.begin());
  const std::optional<Key> from = last_victim_key(z, static_cast<size_t>(gpus / of_a_node));
  if (!from) return false;
  Key last = *from;
  last.value /= 1 + margin;
  if (!(job.key < last)) return false;
  list_victims(z, *from, victims);
  return true;
}

}  // namespace yard
