#include "experiments/contest.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "env/base/check.h"
#include "env/base/interrupt.h"
#include "env/base/text.h"
#include "experiments/parallel.h"

namespace yard {
namespace {

constexpr double kUsPerS = 1e6;
constexpr int64_t kEnoughOfAClass = 10;
constexpr const char* kMargins[] = {"0", "0.1", "0.3", "1", "3"};
constexpr const char* kNoisyMargins[] = {"0", "0.3", "1"};

bool has_field(const std::string& policy, const std::string& key) {
  const std::vector<Field> fields = PolicyRegistry::info(policy).fields();
  return std::any_of(fields.begin(), fields.end(), [&](const Field& f) { return f.key == key; });
}

// What one run says, to be averaged.
struct Part {
  std::vector<double> jct_s;  // by scored job of the scenario
  Summary summary;
  double largest_class_jct_s = 0;
};

Part part_of(const Scenario& replica, const Run& run,
             const std::unordered_map<std::string_view, int32_t>& index, int32_t largest) {
  Part part;
  part.jct_s.resize(index.size(), 0);
  for (size_t j = 0; j < replica.trace.jobs.size(); ++j) {
    const Job& job = replica.trace.jobs[j];
    const int64_t end_us = run.outcome.jobs[j].end_us;
    if (!job.scored || end_us == kNone) continue;
    part.jct_s[static_cast<size_t>(index.at(job.id))] =
        static_cast<double>(end_us - job.submit_us) / kUsPerS;
  }
  part.summary = run.summary;
  for (const ClassSummary& of : run.summary.classes) {
    if (of.gpus == largest) part.largest_class_jct_s = of.all.mean_jct_s;
  }
  return part;
}

Score average(const Entrant& entrant, const std::vector<Part>& parts) {
  Score score;
  score.name = entrant.name;
  score.level = entrant.contestant.level;
  score.jct_s.resize(parts.front().jct_s.size(), 0);
  const double share = 1.0 / static_cast<double>(parts.size());
  for (const Part& part : parts) {
    for (size_t j = 0; j < score.jct_s.size(); ++j) score.jct_s[j] += share * part.jct_s[j];
    const Summary& s = part.summary;
    score.mean_jct_s += share * s.all.mean_jct_s;
    score.p99_jct_s += share * s.all.p99_jct_s;
    score.max_wait_s += share * s.all.max_wait_s;
    score.preemptions += share * static_cast<double>(s.preemptions);
    score.largest_class_jct_s += share * part.largest_class_jct_s;
    score.unfinished += s.all.jobs - s.all.finished;
  }
  return score;
}

}  // namespace

Entrant enter(const std::string& policy, const RunOptions& options) {
  return {policy, prepare(policy, options), options};
}

std::vector<Entrant> oracle_family(const RunOptions& base) {
  RunOptions options = base;
  options.information.reset();
  std::vector<Entrant> family;
  const std::vector<std::string>& own = PacingRegistry::info(base.rules).oracles;
  for (const std::string& name : own) family.push_back(enter(name, options));
  if (!PacingRegistry::info(base.rules).policies.empty()) return family;
  for (const std::string& name : PolicyRegistry::names()) {
    if (!is_bound(PolicyRegistry::info(name).level)) continue;
    RunOptions noisy = options;
    noisy.information = Level::kNoisyOracle;
    if (!has_field(name, "margin")) {
      family.push_back(enter(name, options));
      family.push_back(enter(name, noisy));
      family.back().name += " noisy";
      continue;
    }
    const auto add = [&](RunOptions how, const std::string& margin, const std::string& suffix) {
      how.policy.set("margin", margin, "oracle family");
      family.push_back(enter(name, how));
      family.back().name += " margin=" + margin + suffix;
    };
    for (const char* margin : kMargins) add(options, margin, "");
    for (const char* margin : kNoisyMargins) add(noisy, margin, " noisy");
  }
  return family;
}

std::vector<Entrant> servable_heuristics(Level most, const RunOptions& options) {
  std::vector<Entrant> out;
  const Pacing::Info& rules = PacingRegistry::info(options.rules);
  const bool own = !rules.policies.empty();
  for (const std::string& name : own ? rules.policies : PolicyRegistry::names()) {
    if (!own) {
      const Policy::Info& info = PolicyRegistry::info(name);
      if (!info.servable || info.level > most) continue;
    } else if (std::count(rules.oracles.begin(), rules.oracles.end(), name) > 0) {
      continue;
    }
    out.push_back(enter(name, options));
  }
  return out;
}

int32_t largest_class(const Scenario& scenario) {
  std::map<int32_t, int64_t> jobs;
  for (const Job& job : scenario.trace.jobs) {
    if (job.scored) ++jobs[job.gpus];
  }
  for (auto it = jobs.rbegin(); it != jobs.rend(); ++it) {
    if (it->second >= kEnoughOfAClass) return it->first;
  }
  return jobs.empty() ? 0 : jobs.rbegin()->first;
}

std::vector<Score> play(const Scenario& scenario, const std::vector<Scenario>& replicas,
                        const std::vector<Entrant>& entrants,
                        const std::function<void(const std::string&)>& progress) {
  std::unordered_map<std::string_view, int32_t> index;
  for (const Job& job : scenario.trace.jobs) {
    if (job.scored) index.emplace(job.id, static_cast<int32_t>(index.size()));
  }
  const int32_t largest = largest_class(scenario);
  const size_t per = replicas.size();
  std::vector<std::vector<Part>> parts(entrants.size(), std::vector<Part>(per));
  std::mutex mutex;
  size_t done = 0;
  for_each_index(static_cast<int>(entrants.size() * per), [&](int i) {
    throw_if_interrupted();
    const size_t who = static_cast<size_t>(i) / per, r = static_cast<size_t>(i) % per;
    const Entrant& entrant = entrants[who];
    const Run run = run_prepared(replicas[r], entrant.contestant, entrant.options);
    parts[who][r] = part_of(replicas[r], run, index, largest);
    const std::lock_guard lock(mutex);
    ++done;
    if (progress) {
      progress("run " + std::to_string(done) + " of " + std::to_string(entrants.size() * per) +
               ": " + entrant.name);
    }
  });
  std::vector<Score> scores;
  for (size_t i = 0; i < entrants.size(); ++i) scores.push_back(average(entrants[i], parts[i]));
  return scores;
}

size_t best_of(const std::vector<Score>& scores) {
  YARD_CHECK(!scores.empty(), "the best of nobody");
  const auto less = [](const Score& a, const Score& b) { return a.mean_jct_s < b.mean_jct_s; };
  return static_cast<size_t>(std::min_element(scores.begin(), scores.end(), less) - scores.begin());
}

}  // namespace yard
