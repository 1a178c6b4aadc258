#include "tests/reference/gavel_reference.h"

#include <algorithm>
#include <tuple>

namespace yard::reference {
namespace {

// Mersenne Twister (Matsumoto and Nishimura), with Python's seeding and bounded draw.
class Twister {
 public:
  explicit Twister(uint32_t key) {
    state_[0] = 19650218;
    for (uint32_t i = 1; i < 624; ++i) {
      state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
    }
    uint32_t i = 1;
    for (int k = 0; k < 624; ++k) {
      state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1664525u)) + key;
      if (++i == 624) {
        state_[0] = state_[623];
        i = 1;
      }
    }
    for (int k = 0; k < 623; ++k) {
      state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1566083941u)) - i;
      if (++i == 624) {
        state_[0] = state_[623];
        i = 1;
      }
    }
    state_[0] = 0x80000000u;
  }

  uint32_t randrange(uint32_t n) {
    int bits = 0;
    for (uint32_t rest = n; rest > 0; rest /= 2) ++bits;
    uint32_t drawn = n;
    while (drawn >= n) drawn = next() >> (32 - bits);
    return drawn;
  }

 private:
  uint32_t next() {
    if (at_ == 624) {
      for (uint32_t i = 0; i < 624; ++i) {
        const uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % 624] & 0x7fffffffu);
        state_[i] = state_[(i + 397) % 624] ^ (y >> 1) ^ (y % 2 == 0 ? 0 : 0x9908b0dfu);
      }
      at_ = 0;
    }
    uint32_t y = state_[at_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

  uint32_t state_[624];
  uint32_t at_ = 624;
};

using ByType = std::map<std::string, double>;

struct Round {
  double finish_s;
  int job;
  std::string type;
  int64_t steps;
};

class Simulation {
 public:
  Simulation(const std::vector<GavelJob>& jobs, const std::map<std::string, int>& workers,
             const GavelSettings& settings)
      : jobs_(jobs),
        workers_(workers),
        settings_(settings),
        random_(settings.seed),
        outcomes_(jobs.size()) {
    for (const auto& [type, count] : workers) worker_time_[type] = 0;
  }

  std::vector<GavelOutcome> run() {
    size_t remaining = jobs_.size();
    while (remaining > 0) {
      const bool no_arrivals = next_ == jobs_.size();
      const bool idle = no_arrivals && running_.empty();
      if (idle) last_reset_s_ = 0;
      double latest_s = 0;
      for (const Round& round : running_) latest_s = std::max(latest_s, round.finish_s);
      if (latest_s > 0) {
        if (round_end_s_ >= 0) round_start_s_ = round_end_s_;
        round_end_s_ = latest_s;
        now_s_ = latest_s;
      } else if (!no_arrivals) {
        now_s_ = jobs_[next_].arrival_s;
      }
      remaining -= finish_round();
      while (next_ < jobs_.size() && jobs_[next_].arrival_s <= now_s_) {
        const int j = static_cast<int>(next_++);
        for (const auto& [type, count] : workers_) {
          time_[j][type] = half_round();
          deficit_[j][type] = 0;
        }
        steps_[j] = 0;
        failures_[j] = 0;
        need_update_ = true;
      }
      update_allocation();
      const std::vector<Round> chosen = choose();
      if (idle && remaining > 0 && chosen.empty()) return {};
      for (const auto& [j, times] : time_) {
        if (was_running_[j] && !contains(chosen, j)) ++outcome(j).stops;
      }
      was_running_.clear();
      for (const Round& round : chosen) {
        was_running_[round.job] = true;
        if (outcome(round.job).start_s < 0) outcome(round.job).start_s = now_s_;
      }
      running_ = chosen;
    }
    return outcomes_;
  }

 private:
  GavelOutcome& outcome(int j) { return outcomes_[static_cast<size_t>(j)]; }
  const GavelJob& job(int j) const { return jobs_[static_cast<size_t>(j)]; }
  double half_round() const { return static_cast<double>(settings_.round_s) / 2.0; }
  static bool contains(const std::vector<Round>& rounds, int j) {
    return std::any_of(rounds.begin(), rounds.end(), [j](const Round& r) { return r.job == j; });
  }

  size_t finish_round() {
    std::sort(running_.begin(), running_.end(), [](const Round& a, const Round& b) {
      return std::make_tuple(-a.finish_s, a.job) < std::make_tuple(-b.finish_s, b.job);
    });
    size_t removed = 0;
    for (const Round& round : running_) {
      const int j = round.job;
      const double took_s = round.finish_s - round_start_s_;
      bool succeeded = took_s > 0;
      int64_t dealt = 0;
      for (int i = 0; i < job(j).gpus; ++i) {
        const int64_t part = i == job(j).gpus - 1 ? round.steps - dealt : round.steps / job(j).gpus;
        dealt += part;
        succeeded = succeeded && part > 0;
      }
      bool leaves = false;
      if (!succeeded) {
        need_update_ = true;
        if (++failures_[j] >= 5) leaves = true;
      } else {
        failures_[j] = 0;
        steps_[j] += dealt;
        time_[j][round.type] += took_s;
        worker_time_[round.type] += took_s;
        if (steps_[j] >= job(j).steps) {
          leaves = true;
          outcome(j).end_s = round.finish_s;
        }
      }
      if (!leaves) continue;
      time_.erase(j);
      deficit_.erase(j);
      was_running_.erase(j);
      need_update_ = true;
      ++removed;
    }
    running_.clear();
    return removed;
  }

  void update_allocation() {
    const double passed_s = now_s_ - last_reset_s_;
    const bool due = passed_s >= static_cast<double>(settings_.recompute_s) || last_reset_s_ == 0;
    if (!need_update_ || !due) return;
    for (const auto& [type, count] : workers_) {
      worker_time_[type] = 0;
      for (auto& [j, times] : time_) {
        const double received_s = times[type] - half_round();
        const bool given = policy_.contains(j) && policy_.at(j) == type;
        const double should_s = given ? 1.0 * passed_s : 0;
        deficit_[j][type] += should_s - received_s;
        times[type] = half_round();
        worker_time_[type] += times[type];
      }
    }
    last_reset_s_ = now_s_;
    allocate();
    need_update_ = false;
  }

  void allocate() {
    std::map<std::string, int> available = workers_;
    std::vector<int> queue;
    for (const auto& [j, times] : time_) {
      if (!policy_.contains(j)) queue.push_back(j);
    }
    const auto pop = [&queue] {
      const int j = queue.front();
      queue.erase(queue.begin());
      return j;
    };
    const std::map<int, std::string> scheduled = policy_;
    for (const auto& [j, type] : scheduled) {
      if (time_.contains(j)) {
        available[type] -= job(j).gpus;
        continue;
      }
      if (!queue.empty()) {
        const int next = pop();
        if (job(next).gpus <= available[type]) {
          policy_[next] = type;
          available[type] -= job(next).gpus;
        }
      }
      policy_.erase(j);
    }
    std::vector<std::string> types;
    for (const auto& [type, count] : available) {
      if (count > 0) types.push_back(type);
    }
    while (!queue.empty() && !types.empty()) {
      const int j = pop();
      std::vector<int> with_room;
      for (size_t i = 0; i < types.size(); ++i) {
        if (available[types[i]] >= job(j).gpus) with_room.push_back(static_cast<int>(i));
      }
      if (with_room.empty()) break;
      const int lot = with_room[random_.randrange(static_cast<uint32_t>(with_room.size()))];
      const std::string type = types.back();
      policy_[j] = type;
      available[type] -= job(j).gpus;
      if (available[type] == 0) types.erase(types.begin() + lot);
    }
  }

  std::vector<Round> choose() {
    std::vector<Round> chosen;
    for (const auto& [type, count] : workers_) {
      struct Entry {
        int job;
        double priority, deficit;
      };
      std::vector<Entry> entries;
      for (const auto& [j, times] : time_) {
        double priority = 0;
        if (policy_.contains(j) && policy_.at(j) == type && job(j).steps_per_s.at(type) > 0) {
          const double share = worker_time_[type] == 0 ? 0 : times.at(type) / worker_time_[type];
          priority = share > 0 ? 1.0 / share : 1e9;
        }
        entries.push_back({j, priority, deficit_[j][type]});
      }
      std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return std::make_tuple(a.priority, a.deficit) > std::make_tuple(b.priority, b.deficit);
      });
      int left = count;
      for (const Entry& entry : entries) {
        const GavelJob& one = job(entry.job);
        if (entry.priority <= 0 || one.gpus > left) continue;
        left -= one.gpus;
        const double rate = one.steps_per_s.at(type);
        const int64_t steps =
            std::min(static_cast<int64_t>(rate * static_cast<double>(settings_.round_s)),
                     one.steps - steps_[entry.job]);
        chosen.push_back(
            {std::max(now_s_, now_s_ + static_cast<double>(steps) / rate), entry.job, type, steps});
      }
    }
    return chosen;
  }

  const std::vector<GavelJob>& jobs_;
  const std::map<std::string, int>& workers_;
  const GavelSettings& settings_;
  Twister random_;
  std::vector<GavelOutcome> outcomes_;
  size_t next_ = 0;
  double now_s_ = 0, last_reset_s_ = 0, round_start_s_ = 0, round_end_s_ = -1;
  bool need_update_ = true;
  std::vector<Round> running_;
  std::map<int, bool> was_running_;
  std::map<int, ByType> time_, deficit_;  // of jobs in the system
  std::map<int, int64_t> steps_;
  std::map<int, int> failures_;
  ByType worker_time_;
  std::map<int, std::string> policy_;  // job -> type
};

}  // namespace

std::vector<GavelOutcome> gavel(const std::vector<GavelJob>& jobs,
                                const std::map<std::string, int>& workers,
                                const GavelSettings& settings) {
  return Simulation(jobs, workers, settings).run();
}

std::vector<uint32_t> python_randrange(uint32_t seed, uint32_t n, int count) {
  Twister random(seed);
  std::vector<uint32_t> drawn;
  for (int i = 0; i < count; ++i) drawn.push_back(random.randrange(n));
  return drawn;
}

}  // namespace yard::reference
