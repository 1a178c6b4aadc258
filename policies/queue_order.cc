#include "policies/queue_order.h"

#include <algorithm>
#include <array>

#include "env/base/core/error.h"
#include "env/base/text/text.h"

namespace yard {
namespace {

constexpr std::array<const char*, 4> kNames = {"arrival", "priority", "weight", "deadline"};

}  // namespace

QueueOrder parse_queue_order(const std::string& name) {
  const auto it = std::find(kNames.begin(), kNames.end(), name);
  if (it == kNames.end()) {
    throw InputError("order", "one of: " + join(queue_order_names()), "'" + name + "'");
  }
  return static_cast<QueueOrder>(it - kNames.begin());
}

std::vector<std::string> queue_order_names() { return {kNames.begin(), kNames.end()}; }

std::vector<int32_t> waiting_in_order(const View& view, QueueOrder order) {
  std::vector<int32_t> slots;
  slots.reserve(static_cast<size_t>(view.num_waiting()));
  for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
    slots.push_back(slot);
  }
  const auto due_us = [&](int32_t slot) {
    return view.due_us(slot) == kNone ? kNever : view.due_us(slot);
  };
  const auto before = [&](int32_t a, int32_t b) {
    switch (order) {
      case QueueOrder::kPriority:
        return view.priority(a) > view.priority(b);
      case QueueOrder::kWeight:
        return view.weight(a) > view.weight(b);
      case QueueOrder::kDeadline:
        return due_us(a) < due_us(b);
      default:
        return false;
    }
  };
  if (order != QueueOrder::kArrival) std::stable_sort(slots.begin(), slots.end(), before);
  return slots;
}

}  // namespace yard
