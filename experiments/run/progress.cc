#include "experiments/run/progress.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <mutex>
#include <thread>

namespace yard {
namespace {

constexpr std::chrono::seconds kMinInterval(5);

std::string duration_text(double s) {
  if (s < 90) return std::to_string(std::llround(s)) + " s";
  if (s < 90 * 60) return std::to_string(std::llround(s / 60)) + " min";
  return std::to_string(std::llround(s / 3600)) + " h";
}

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
    if (now - shared->last < kMinInterval) return;
    shared->last = now;
    shared->log.info(line);
  };
}

void Eta::expect_work(const std::string& kind, double piece_size, int pieces) {
  kinds_[kind].left += piece_size * pieces;
  pieces_ += pieces;
}

void Eta::done(const std::string& kind, double size, double wall_s) {
  Kind& of = kinds_[kind];
  of.left -= size;
  of.done += size;
  of.wall_s += wall_s;
  ++done_;
}

std::string Eta::text() const {
  Kind all;
  for (const auto& [name, kind] : kinds_) {
    all.done += kind.done;
    all.wall_s += kind.wall_s;
  }
  double left_s = 0;
  for (const auto& [name, kind] : kinds_) {
    const Kind& like = kind.done > 0 ? kind : all;
    if (like.done > 0) left_s += kind.left * like.wall_s / like.done;
  }
  left_s /= std::max(1u, std::thread::hardware_concurrency());
  return "run " + std::to_string(done_) + " of " + std::to_string(pieces_) + ", about " +
         duration_text(left_s) + " left";
}

}  // namespace yard
