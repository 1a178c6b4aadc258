// Measures how training time divides into stages. Only one thread may enter stages, one stage at a
// time. Time outside all stages counts as "other".
//   const auto timed = profile.enter(StageTimer::Stage::kUpdate);
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace yard {

class StageTimer {
 public:
  enum class Stage { kEnvironment, kInference, kAdvantages, kUpdate, kValidation, kSaving };
  using Clock = std::chrono::steady_clock;

  class ScopedTimer {
   public:
    explicit ScopedTimer(double& seconds) : seconds_(seconds) {}
    ~ScopedTimer() { seconds_ += std::chrono::duration<double>(Clock::now() - from_).count(); }
    ScopedTimer(const ScopedTimer&) = delete;

   private:
    double& seconds_;
    Clock::time_point from_ = Clock::now();
  };

  ScopedTimer enter(Stage stage) { return ScopedTimer(seconds_[static_cast<size_t>(stage)]); }

  // Returns the seconds of each stage since construction, then of "other", the time outside all
  // stages.
  std::vector<std::pair<std::string, double>> seconds() const {
    std::vector<std::pair<std::string, double>> out;
    double other = std::chrono::duration<double>(Clock::now() - begin_).count();
    for (size_t i = 0; i < seconds_.size(); ++i) {
      out.emplace_back(kNames[i], seconds_[i]);
      other -= seconds_[i];
    }
    out.emplace_back("other", other);
    return out;
  }

 private:
  static constexpr const char* kNames[] = {"environment", "inference",  "advantages",
                                           "update",      "validation", "saving"};
  std::array<double, std::size(kNames)> seconds_{};
  Clock::time_point begin_ = Clock::now();
};

}  // namespace yard
