#include "experiments/replay/series.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "env/base/text/csv.h"
#include "env/base/text/text.h"

namespace yard {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSlices = 240;
constexpr const char* kNames[] = {"held_gpus",    "free_gpus", "waiting",
                                  "waiting_gpus", "running",   "unusable_gpus"};

double slice_seconds(int64_t us) { return static_cast<double>(us) / 1e6; }

double to_thousandths(double value) { return std::round(value * 1000) / 1000; }

int64_t slice_us(int64_t from_us, int64_t to_us, int slices, int i) {
  return i == slices ? to_us : from_us + (to_us - from_us) / slices * i;
}

}  // namespace

Series::Series(const Scenario& scenario) : scenario_(scenario) {
  std::map<std::string, int32_t> index;
  for (const Job& job : scenario.trace.jobs) {
    if (!job.tenant.empty()) index.try_emplace(job.tenant, 0);
  }
  for (auto& [name, at] : index) {
    at = static_cast<int32_t>(tenants_.size());
    tenants_.push_back(name);
  }
  for (const Job& job : scenario.trace.jobs) {
    tenant_of_.push_back(job.tenant.empty() ? kNone : index.at(job.tenant));
  }
}

void Series::begin() {
  fragmentation_.reset();
  at_us_.clear();
  values_.clear();
}

void Series::count(const SimModel& fixed, const SimState& s, float* row) {
  const StateHeader& head = *s.head;
  const FreeGpuCounts& fragments = fragmentation_->of(s);
  std::fill(row, row + width(), 0.0F);
  row[kHeld] = static_cast<float>(fixed.spec.total_gpus - head.free_gpus - head.down_gpus);
  row[kFree] = static_cast<float>(head.free_gpus);
  row[kWaiting] = static_cast<float>(head.waiting);
  row[kWaitingGpus] = static_cast<float>(head.waiting_gpus);
  row[kRunning] = static_cast<float>(head.held);
  row[kUnusable] = static_cast<float>(fragments.unusable);
  if (tenants_.empty()) return;
  const auto column = [&](int32_t slot) -> float* {
    const int32_t tenant = tenant_of_[static_cast<size_t>(scenario_.original_job_of(s.job[slot]))];
    return tenant == kNone ? nullptr : row + kColumns + 2 * tenant;
  };
  for (int32_t i = 0; i < head.held; ++i) {
    const int32_t slot = s.holder_slots[i];
    if (float* of = column(slot)) of[0] += static_cast<float>(s.gpus[slot]);
  }
  for (int32_t slot = head.queue_head; slot != kNone; slot = s.queue_next[slot]) {
    if (float* of = column(slot)) of[1] += 1;
  }
}

void Series::record_state(const SimModel& fixed, const SimState& state) {
  if (!fragmentation_) fragmentation_.emplace(fixed);
  if (at_us_.empty() || at_us_.back() != state.head->now_us) {
    at_us_.push_back(state.head->now_us);
    values_.resize(at_us_.size() * width());
  }
  count(fixed, state, values_.data() + (at_us_.size() - 1) * width());
}

std::vector<Json> Series::means_by_slice(int64_t from_us, int64_t to_us, int slices) const {
  std::vector<Json> out(width(), Json::array());
  std::vector<double> sum(width());
  size_t at = 0;
  for (int i = 0; i < slices; ++i) {
    const int64_t begin_us = slice_us(from_us, to_us, slices, i);
    const int64_t end_us = slice_us(from_us, to_us, slices, i + 1);
    std::fill(sum.begin(), sum.end(), 0.0);
    for (;; ++at) {
      const int64_t until_us = at + 1 < at_us_.size() ? at_us_[at + 1] : end_us;
      const int64_t inside_us = std::min(until_us, end_us) - std::max(at_us_[at], begin_us);
      for (size_t c = 0; inside_us > 0 && c < width(); ++c) {
        sum[c] += static_cast<double>(inside_us) * values_[at * width() + c];
      }
      if (until_us >= end_us) break;
    }
    for (size_t c = 0; c < width(); ++c) {
      out[c].push_back(to_thousandths(sum[c] / static_cast<double>(end_us - begin_us)));
    }
  }
  return out;
}

// Adds slices for a long tail: at least an eighth of kSlices fall into the scored window.
int Series::num_slices(int64_t from_us, int64_t to_us) const {
  constexpr int64_t kMaxTimes = 20;
  const int64_t length_us = scenario_.window.to_us - scenario_.window.from_us;
  int64_t times = 1;
  if (length_us > 0) times = std::clamp<int64_t>((to_us - from_us) / (4 * length_us), 1, kMaxTimes);
  return static_cast<int>(std::min<int64_t>(kSlices * times, to_us - from_us));
}

void Series::end(const Run& run) {
  const int64_t from_us = at_us_.empty() ? 0 : at_us_.front();
  const int64_t to_us = at_us_.empty() ? 0 : run.outcome.end_us;
  const int slices = num_slices(from_us, to_us);
  Json t_s = Json::array();
  for (int i = 0; i < slices; ++i) {
    const int64_t begin_us = slice_us(from_us, to_us, slices, i);
    const int64_t end_us = slice_us(from_us, to_us, slices, i + 1);
    t_s.push_back(to_thousandths(slice_seconds(begin_us + (end_us - begin_us) / 2)));
  }
  const std::vector<Json> columns = means_by_slice(from_us, to_us, slices);
  Json one = {{"policy", run.policy},
              {"information", information_level_name(run.level)},
              {"bound", is_oracle_bound(run.level)},
              {"gpus", scenario_.cluster.total_gpus()},
              {"from_s", slice_seconds(scenario_.window.from_us)},
              {"to_s", slice_seconds(scenario_.window.to_us)},
              {"t_s", t_s}};
  for (size_t c = 0; c < kColumns; ++c) one[kNames[c]] = columns[c];
  one["tenants"] = Json::array();
  for (size_t t = 0; t < tenants_.size(); ++t) {
    one["tenants"].push_back({{"tenant", tenants_[t]},
                              {"held_gpus", columns[kColumns + 2 * t]},
                              {"waiting", columns[kColumns + 2 * t + 1]}});
  }
  done_.push_back(std::move(one));
}

std::string Series::csv() const {
  std::string out = "policy,t_s";
  for (const char* name : kNames) out += std::string(",") + name;
  for (const std::string& name : tenants_) {
    for (const char* figure : {"held_gpus:", "waiting:"}) {
      out += ',';
      append_csv_cell(figure + name, out);
    }
  }
  out += '\n';
  for (const Json& one : done_) {
    for (size_t i = 0; i < one["t_s"].size(); ++i) {
      append_csv_cell(one["policy"].get<std::string>(), out);
      const auto add = [&](const Json& values) {
        out += "," + shortest_text(values[i].get<double>());
      };
      add(one["t_s"]);
      for (const char* name : kNames) add(one[name]);
      for (const Json& tenant : one["tenants"]) {
        add(tenant["held_gpus"]);
        add(tenant["waiting"]);
      }
      out += '\n';
    }
  }
  return out;
}

}  // namespace yard
