#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>

namespace yard {

// Estimates how long work of a given size takes, from its latest durations. Thread-safe.
class DurationEstimate {
 public:
  void add(size_t size, double ms) {
    std::atomic<float>& mean = mean_ms_[class_of(size)];
    const float before = mean.load(std::memory_order_relaxed);
    const auto now = static_cast<float>(ms);
    mean.store(before == 0 ? now : before + kWeight * (now - before), std::memory_order_relaxed);
  }

  // Returns the estimate in milliseconds, or 0 if no work of about this size has ended.
  double of(size_t size) const { return mean_ms_[class_of(size)].load(std::memory_order_relaxed); }

 private:
  static constexpr float kWeight = 0.1F;  // weight of the newest duration in the mean

  static size_t class_of(size_t size) { return static_cast<size_t>(std::bit_width(size)); }

  std::array<std::atomic<float>, 65> mean_ms_{};
};

}  // namespace yard
