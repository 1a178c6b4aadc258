// In which order those who wait are looked at, where a policy lets that be chosen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/sim/view.h"

namespace yard {

//   arrival   as they entered the queue
//   priority  the higher first
//   weight    the heavier first
//   deadline  whose first deadline is sooner; who has none last
// Equals as they entered the queue.
enum class QueueOrder : uint8_t { kArrival, kPriority, kWeight, kDeadline };

QueueOrder parse_queue_order(const std::string& name);  // throws InputError
std::vector<std::string> queue_order_names();

std::vector<int32_t> waiting_in_order(const View& view, QueueOrder order);

}  // namespace yard
