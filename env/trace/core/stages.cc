#include "env/trace/core/stages.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "env/base/core/check.h"

namespace yard {
namespace {

// Ids of stages are never shown. No trace has this character in its own ids.
constexpr char kStageMark = '\x1f';

struct Stage {
  std::vector<size_t> groups;
  std::vector<size_t> after;  // indices of earlier stages
  int64_t run_us = 0;
  bool last = true;  // no other stage comes after it
};

// Returns the stages, each after those it waits for. Requires: no cycle, as check_native_job()
// ensures.
std::vector<Stage> stages_of(const Job& job) {
  std::vector<std::pair<std::set<int32_t>, Stage>> open;  // by the groups they wait for
  for (size_t g = 0; g < job.groups.size(); ++g) {
    const std::set<int32_t> after(job.groups[g].after.begin(), job.groups[g].after.end());
    auto at = std::ranges::find(
        open, after, [](const auto& known) -> auto& { return known.first; });
    if (at == open.end()) at = open.insert(at, {after, {}});
    at->second.groups.push_back(g);
    const int64_t own_us = job.groups[g].run_us;
    at->second.run_us = std::max(at->second.run_us, own_us < 0 ? job.run_us : own_us);
  }
  std::vector<Stage> out;
  std::unordered_map<int32_t, size_t> stage_of;  // group -> index in `out`
  while (!open.empty()) {
    const auto ready = std::ranges::find_if(open, [&](const auto& stage) {
      return std::ranges::all_of(stage.first, [&](int32_t g) { return stage_of.contains(g); });
    });
    YARD_CHECK(ready != open.end(), "role groups must not wait for each other in a cycle");
    Stage stage = std::move(ready->second);
    for (const int32_t g : ready->first) {
      stage.after.push_back(stage_of[g]);
      out[stage_of[g]].last = false;
    }
    for (const size_t g : stage.groups) stage_of[static_cast<int32_t>(g)] = out.size();
    open.erase(ready);
    out.push_back(std::move(stage));
  }
  return out;
}

// Counts each share as a whole GPU. Shares may be packed on one GPU, but job.gpus gives this for
// all stages together. So each stage counts the most that it can need.
int32_t gpus_of(const std::vector<RoleGroup>& groups) {
  int32_t gpus = 0;
  for (const RoleGroup& g : groups) gpus += g.count * (g.task.gpus + (g.task.gpu_milli > 0));
  return gpus;
}

std::vector<RoleGroup> groups_of(const Job& job, const Stage& stage) {
  std::vector<RoleGroup> out;
  for (const size_t g : stage.groups) {
    out.push_back(job.groups[g]);
    out.back().after.clear();
  }
  return out;
}

}  // namespace

bool has_several_stages(const Job& job) {
  return std::ranges::any_of(job.groups, [](const RoleGroup& g) { return !g.after.empty(); });
}

bool any_job_has_stages(const Trace& trace) {
  return std::ranges::any_of(trace.jobs, has_several_stages);
}

void fill_in_stage_run_times(Trace& trace) {
  for (Job& job : trace.jobs) {
    if (!has_several_stages(job)) continue;
    const std::vector<Stage> stages = stages_of(job);
    std::vector<int64_t> end_us;
    for (const Stage& stage : stages) {
      int64_t begin_us = 0;
      for (const size_t before : stage.after) begin_us = std::max(begin_us, end_us[before]);
      end_us.push_back(begin_us + stage.run_us);
    }
    for (RoleGroup& group : job.groups) {
      if (group.run_us < 0) group.run_us = job.run_us;
    }
    job.run_us = *std::max_element(end_us.begin(), end_us.end());
  }
}

double gpu_time_us(const Job& job) {
  if (!has_several_stages(job)) return static_cast<double>(job.run_us) * job.gpus;
  double sum = 0;
  for (const Stage& stage : stages_of(job)) {
    sum += static_cast<double>(stage.run_us) * gpus_of(groups_of(job, stage));
  }
  return sum;
}

bool follows_stage_of_same_job(const Job& stage) {
  const size_t end = stage.id.find(kStageMark);
  return end != std::string::npos && !stage.after.empty() &&
         std::string_view(stage.after.front()).starts_with(stage.id.substr(0, end + 1));
}

StageJobs split_stages(const std::vector<Job>& jobs) {
  StageJobs out;
  std::unordered_map<std::string_view, std::vector<std::string>> last_of;  // ids of last stages
  for (size_t j = 0; j < jobs.size(); ++j) {
    const Job& job = jobs[j];
    if (!has_several_stages(job)) {
      out.jobs.push_back(job);
      out.job_of.push_back(static_cast<int32_t>(j));
      continue;
    }
    const std::vector<Stage> stages = stages_of(job);
    const auto id_of = [&](size_t s) { return job.id + kStageMark + std::to_string(s); };
    for (size_t s = 0; s < stages.size(); ++s) {
      Job stage = job;
      stage.id = id_of(s);
      stage.run_us = stages[s].run_us;
      stage.groups = groups_of(job, stages[s]);
      stage.gpus = gpus_of(stage.groups);
      if (!stages[s].after.empty()) stage.after.clear();
      for (const size_t before : stages[s].after) stage.after.push_back(id_of(before));
      if (stages[s].last) last_of[job.id].push_back(stage.id);
      out.jobs.push_back(std::move(stage));
      out.job_of.push_back(static_cast<int32_t>(j));
    }
  }
  for (Job& job : out.jobs) {
    std::vector<std::string> after;
    for (const std::string& id : job.after) {
      const auto staged = last_of.find(id);
      if (staged == last_of.end()) {
        after.push_back(id);
      } else {
        after.insert(after.end(), staged->second.begin(), staged->second.end());
      }
    }
    job.after = std::move(after);
  }
  return out;
}

}  // namespace yard
