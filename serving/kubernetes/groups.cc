#include "serving/kubernetes/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace yard::kubernetes {
namespace {

constexpr size_t kMaxGroups = 4096;

}  // namespace

// Gives the group's reserved slots up; those that pods got stay.
void PodGroups::release(Group& group) {
  std::erase_if(group.slots, [this](const PodReservation& slot) {
    if (!slot.pod.empty()) return false;
    int32_t& sum = reserved_[slot.node];
    sum -= slot.gpus;
    if (sum == 0) reserved_.erase(slot.node);
    return true;
  });
}

void PodGroups::expire(Time now) {
  for (auto& [name, group] : groups_) {
    const size_t before = group.slots.size();
    if (group.until <= now) release(group);
    expired_ += group.slots.size() < before;
  }
  std::erase_if(groups_, [&](const auto& entry) {
    return entry.second.until <= now && entry.second.seen < now - memory_;
  });
}

std::string PodGroups::place(const PodRequest& pod, std::span<const std::string> offered,
                             const std::function<int32_t(const std::string&)>& free,
                             const std::unordered_set<std::string>& running, Time now,
                             std::string& why) {
  const std::string& name = pod.group->name;
  if (!groups_.contains(name) && groups_.size() >= kMaxGroups) {
    why = fmt::format("group {} waits: {} groups are known already", name, kMaxGroups);
    return "";
  }
  Group& group = groups_[name];
  group.seen = now;
  const std::unordered_set<std::string_view> among(offered.begin(), offered.end());
  const auto is_offered = [&](const std::string& node) { return among.contains(node); };
  // A pod that comes again was not bound: its slot is reserved once more, if its node still fits.
  const auto own = std::ranges::find(group.slots, pod.id, &PodReservation::pod);
  if (own != group.slots.end()) {
    if (own->gpus == pod.gpus && is_offered(own->node)) return own->node;
    group.slots.erase(own);
  }
  const auto fits = std::ranges::find_if(group.slots, [&](const PodReservation& slot) {
    return slot.pod.empty() && slot.gpus == pod.gpus && is_offered(slot.node);
  });
  if (fits != group.slots.end()) {
    int32_t& sum = reserved_[fits->node];
    sum -= fits->gpus;
    if (sum == 0) reserved_.erase(fits->node);
    fits->pod = pod.id;
    return fits->node;
  }

  // Reserves anew for all pods that have no slot yet.
  release(group);
  const auto size = static_cast<size_t>(pod.group->size);
  if (group.slots.size() >= size) {
    group.slots.erase(group.slots.begin());  // of a pod that this one replaces
  }
  // Pods may run without a slot, as after a restart of the server.
  size_t there = group.slots.size() + running.size() - running.count(pod.id);
  for (const PodReservation& slot : group.slots) there -= running.count(slot.pod);
  const size_t missing = size - std::min(there, size - 1);
  std::vector<std::pair<int32_t, std::string>> room;
  for (const std::string& node : offered) {
    const auto at = reserved_.find(node);
    const int32_t left = free(node) - (at == reserved_.end() ? 0 : at->second);
    if (left >= pod.gpus) room.emplace_back(left, node);
  }
  // The tightest node first, as long as it has room: whole nodes stay free.
  std::ranges::sort(room);
  std::vector<PodReservation> slots;
  for (const auto& [left, node] : room) {
    for (int32_t rest = left; rest >= pod.gpus && slots.size() < missing; rest -= pod.gpus) {
      slots.push_back({node, pod.gpus, ""});
    }
  }
  group.waits = slots.size() < missing;
  if (group.waits) {
    why = fmt::format("group {} waits: there is room for {} of the {} pods that it lacks", name,
                      slots.size(), missing);
    return "";
  }
  slots.front().pod = pod.id;
  for (const PodReservation& slot : slots) {
    if (slot.pod.empty()) reserved_[slot.node] += slot.gpus;
  }
  const std::string out = slots.front().node;
  std::ranges::move(slots, std::back_inserter(group.slots));
  group.until = now + hold_;
  return out;
}

int32_t PodGroups::gpus_reserved_by_others(const std::string& node,
                                           const std::string& group) const {
  const auto sum = reserved_.find(node);
  if (sum == reserved_.end()) return 0;
  int32_t own = 0;
  const auto it = groups_.find(group);
  if (it != groups_.end()) {
    for (const PodReservation& slot : it->second.slots) {
      if (slot.pod.empty() && slot.node == node) own += slot.gpus;
    }
  }
  return sum->second - own;
}

int32_t PodGroups::waiting() const {
  return static_cast<int32_t>(
      std::ranges::count_if(groups_, [](const auto& entry) { return entry.second.waits; }));
}

}  // namespace yard::kubernetes
