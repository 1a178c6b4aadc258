#include "experiments/progress.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <memory>
#include <mutex>

namespace yard {
namespace {

constexpr std::chrono::seconds kPause(5);

}  // namespace

std::function<void(const std::string& line)> progress_log() {
  using Clock = std::chrono::steady_clock;
  struct Shared {
    std::mutex mutex;
    Clock::time_point last = Clock::now();
    spdlog::logger log{"yardmaster", std::make_shared<spdlog::sinks::stderr_color_sink_mt>()};
  };
  auto shared = std::make_shared<Shared>();
  return [shared](const std::string& line) {
    const std::lock_guard lock(shared->mutex);
    const auto now = Clock::now();
    if (now - shared->last < kPause) return;
    shared->last = now;
    shared->log.info(line);
  };
}

}  // namespace yard
