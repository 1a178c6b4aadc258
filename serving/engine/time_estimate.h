#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>

namespace yard {

// How long a kind of work takes by its size, from its last runs. Thread-safe.
class TimeEstimate {
 public:
  void add(size_t size, double ms) {
    std::atomic<float>& mean = mean_ms_[class_of(size)];
    const float before = mean.load(std::memory_order_relaxed);
    const auto now = static_cast<float>(ms);
    mean.store(before == 0 ? now : before + kWeight * (now - before), std::memory_order_relaxed);
  }

  // Milliseconds; 0 if no work of about this size has ended.
  double of(size_t size) const { return mean_ms_[class_of(size)].load(std::memory_order_relaxed); }

 private:
  static constexpr float kWeight = 0.1F;  // of the newest run

  static size_t class_of(size_t size) { return static_cast<size_t>(std::bit_width(size)); }

  std::array<std::atomic<float>, 65> mean_ms_{};
};

}  // namespace yard
