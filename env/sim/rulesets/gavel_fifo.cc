#include "env/sim/rulesets/gavel_fifo.h"

#include <algorithm>

#include "env/sim/state/free_map.h"

namespace yard {
namespace {

// Seeds a Mersenne Twister like init_by_array() of its authors, with a key of one number.
class SeedByArray {
 public:
  using result_type = uint32_t;
  explicit SeedByArray(uint32_t key) : key_(key) {}

  template <class It>
  void generate(It begin, It end) {
    const auto n = static_cast<uint32_t>(end - begin);
    const auto at = [&](uint32_t i) -> auto& { return begin[i]; };
    const auto mixed = [&](uint32_t i) {
      const auto before = static_cast<uint32_t>(at(i - 1));
      return before ^ (before >> 30);
    };
    at(0) = 19650218u;
    for (uint32_t i = 1; i < n; ++i) at(i) = 1812433253u * mixed(i) + i;
    uint32_t i = 1;
    const auto next = [&] {
      if (++i < n) return;
      at(0) = at(n - 1);
      i = 1;
    };
    for (uint32_t k = 0; k < n; ++k, next()) {
      at(i) = (static_cast<uint32_t>(at(i)) ^ (mixed(i) * 1664525u)) + key_;
    }
    for (uint32_t k = 1; k < n; ++k, next()) {
      at(i) = (static_cast<uint32_t>(at(i)) ^ (mixed(i) * 1566083941u)) - i;
    }
    at(0) = 0x80000000u;
  }

 private:
  uint32_t key_;
};

std::mt19937 seeded(uint32_t seed) {
  SeedByArray sequence(seed);
  return std::mt19937(sequence);
}

}  // namespace

PythonRandom::PythonRandom(uint32_t seed) : bits_(seeded(seed)) {}

uint32_t PythonRandom::below(uint32_t n) {
  int32_t width = 0;
  while (width < 32 && n >> width != 0) ++width;
  for (;;) {
    const auto draw = static_cast<uint32_t>(bits_() >> (32 - width));
    if (draw < n) return draw;
  }
}

void GavelFifo::assign(int32_t j, int32_t type) {
  type_[static_cast<size_t>(j)] = type;
  free_[static_cast<size_t>(type)] -= gpus_[j];
  allocated_.push_back(j);
}

void GavelFifo::allocate(const std::vector<int32_t>& active) {
  free_ = workers_;
  std::vector<int32_t> before;
  before.swap(allocated_);
  std::vector<int32_t> queue;
  std::set_difference(active.begin(), active.end(), before.begin(), before.end(),
                      std::back_inserter(queue));
  size_t head = 0;
  auto still = active.begin();
  for (const int32_t j : before) {
    const int32_t type = type_of(j);
    still = std::lower_bound(still, active.end(), j);
    if (still != active.end() && *still == j) {
      assign(j, type);
    } else if (head < queue.size()) {
      const int32_t next = queue[head++];
      if (gpus_[next] <= free_[static_cast<size_t>(type)]) assign(next, type);
    }
  }
  std::vector<int32_t> open;  // types with free GPUs which are not closed
  for (size_t type = 0; type < workers_.size(); ++type) {
    if (free_[type] > 0) open.push_back(static_cast<int32_t>(type));
  }
  std::vector<size_t> with_room;  // indices into `open` of types with room for the job
  for (; head < queue.size() && !open.empty(); ++head) {
    const int32_t j = queue[head];
    with_room.clear();
    for (size_t i = 0; i < open.size(); ++i) {
      if (free_[static_cast<size_t>(open[i])] >= gpus_[j]) with_room.push_back(i);
    }
    if (with_room.empty()) break;
    const size_t drawn = with_room[random_.below(static_cast<uint32_t>(with_room.size()))];
    const int32_t type = open.back();
    assign(j, type);
    if (free_[static_cast<size_t>(type)] == 0) {
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(drawn));
    }
  }
  std::sort(allocated_.begin(), allocated_.end());
}

}  // namespace yard
