// Fits who submits the next batch: a new owner by the Pitman-Yor rule, the owner of a recent batch,
// or any owner by activity. The rule lets the number of owners grow as in real traces. The spread
// of activities makes the model's busiest tenth submit as much as the trace's.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "env/trace/fitted/fit_steps.h"
#include "env/trace/fitted/workload_sampling.h"

namespace yard {
namespace {

// Maximises, over a grid, the likelihood of the order of known and new owners.
void fit_newcomers(const std::vector<bool>& fresh, WorkloadModel& model) {
  double best = -INFINITY;
  for (double growth = 0; growth < 0.96; growth += 0.05) {
    for (double newcomers = 0.1; newcomers < 1e4; newcomers *= 1.25) {
      double likelihood = 0, owners = 1;
      for (size_t n = 1; n < fresh.size(); ++n) {
        const double share = std::min(
            (newcomers + growth * owners) / (newcomers + static_cast<double>(n)), 0.999999);
        likelihood += std::log(fresh[n] ? share : 1 - share);
        owners += fresh[n] ? 1 : 0;
      }
      if (likelihood <= best) continue;
      best = likelihood;
      model.newcomers = newcomers;
      model.growth = growth;
    }
  }
}

constexpr size_t kMemories = WorkloadModel::kMemory.size();
using Shares = std::array<double, kMemories + 1>;  // the last: by activity

// Returns, for each batch of a known owner, the likelihood of this owner under each memory alone,
// and by the owner's rate of batches since the first.
std::vector<Shares> shares_by_memory(const SubmissionBatches& batches) {
  struct Record {
    std::array<double, kMemories> weight;  // of the owner's batches, as of batch `at`
    double at, first, number;
  };
  std::vector<Record> records(static_cast<size_t>(batches.owners), {{}, -1, 0, 0});
  const auto end = static_cast<double>(batches.all.size());
  for (size_t n = 0; n < batches.all.size(); ++n) {
    Record& own = records[static_cast<size_t>(batches.all[n].owner)];
    if (own.number == 0) own.first = static_cast<double>(n);
    own.number += 1;
  }
  const auto activity = [&](const Record& own) { return own.number / (end - own.first); };
  std::vector<Shares> out;
  std::array<double, kMemories> all{};  // over all owners
  double active = 0;                    // sum over owners seen so far
  for (size_t n = 0; n < batches.all.size(); ++n) {
    const auto now = static_cast<double>(n);
    Record& own = records[static_cast<size_t>(batches.all[n].owner)];
    const bool known = own.at >= 0;
    Shares share{};
    for (size_t m = 0; m < kMemories; ++m) {
      const double length = WorkloadModel::kMemory[m];
      if (known) own.weight[m] *= std::exp(-(now - own.at) / length);
      all[m] *= std::exp(-1 / length);
      if (known) share[m] = own.weight[m] / all[m];
      own.weight[m] += 1;
      all[m] += 1;
    }
    if (known) {
      share[kMemories] = activity(own) / active;
      out.push_back(share);
    } else {
      active += activity(own);
    }
    own.at = now;
  }
  return out;
}

void fit_memory(const SubmissionBatches& batches, WorkloadModel& model) {
  constexpr int kRounds = 100;
  const std::vector<Shares> known = shares_by_memory(batches);
  Shares weight;
  weight.fill(1.0 / static_cast<double>(weight.size()));
  for (int round = 0; round < kRounds && !known.empty(); ++round) {
    Shares sums{};
    double total = 0;
    for (const Shares& share : known) {
      double all = 0;
      for (size_t m = 0; m < share.size(); ++m) all += weight[m] * share[m];
      if (all <= 0) continue;
      for (size_t m = 0; m < share.size(); ++m) sums[m] += weight[m] * share[m] / all;
      total += 1;
    }
    for (size_t m = 0; m < sums.size(); ++m) weight[m] = sums[m] / total;
  }
  model.memory.assign(weight.begin(), weight.end() - 1);
}

double busiest_tenth(std::vector<double> batches) {
  std::ranges::sort(batches, std::greater<>());
  double all = 0, top = 0;
  for (size_t o = 0; o < batches.size(); ++o) {
    all += batches[o];
    if (10 * o < batches.size()) top += batches[o];
  }
  return top / all;
}

// Bisection, since the share rises with the deviation; each step averages a few samples.
void fit_activity(const SubmissionBatches& batches, WorkloadModel& model) {
  constexpr int kHalvings = 12, kSamples = 8;
  constexpr double kMaxSd = 4;
  std::vector<double> count(static_cast<size_t>(batches.owners));
  for (const SubmissionBatches::Batch& batch : batches.all)
    count[static_cast<size_t>(batch.owner)] += 1;
  const double target = busiest_tenth(count);
  double low = 0, high = kMaxSd;
  for (int i = 0; i < kHalvings; ++i) {
    model.activity_sd = (low + high) / 2;
    double share = 0;
    for (uint64_t s = 0; s < kSamples; ++s) {
      OwnerSampler owners(model, Rng(s));
      std::vector<double> drawn;
      for (size_t n = 0; n < batches.all.size(); ++n) {
        const auto owner = static_cast<size_t>(owners.next());
        if (owner == drawn.size()) drawn.push_back(0);
        drawn[owner] += 1;
      }
      share += busiest_tenth(drawn) / kSamples;
    }
    (share < target ? low : high) = model.activity_sd;
  }
}

// A user's home is the tenant under which most of the user's jobs were submitted.
void fit_tenants(const FitData& data, WorkloadModel& model) {
  if (data.batches.kind != Owner::kUser) return;
  std::vector<std::map<std::string, int64_t>> of_owner(static_cast<size_t>(data.batches.owners));
  bool any = false;
  for (const SubmissionBatches::Batch& batch : data.batches.all) {
    for (const int32_t j : batch.jobs) {
      const std::string& tenant = data.job(j).tenant;
      ++of_owner[static_cast<size_t>(batch.owner)][tenant];
      any = any || !tenant.empty();
    }
  }
  if (!any) return;
  std::map<std::string, double> users;
  for (const auto& jobs : of_owner) {
    const auto home =
        std::ranges::max_element(jobs, {}, [](const auto& one) { return one.second; });
    users[home->first] += 1.0 / static_cast<double>(of_owner.size());
  }
  for (const auto& [tenant, share] : users) model.tenants.push_back(share);
  std::ranges::sort(model.tenants, std::greater<>());
}

}  // namespace

void fit_owners(const FitData& data, WorkloadModel& model) {
  if (data.batches.kind == Owner::kNone) {
    model.memory.assign(kMemories, 0);
    return;
  }
  std::vector<bool> seen(static_cast<size_t>(data.batches.owners)), fresh;
  for (const SubmissionBatches::Batch& batch : data.batches.all) {
    fresh.push_back(!seen[static_cast<size_t>(batch.owner)]);
    seen[static_cast<size_t>(batch.owner)] = true;
  }
  fit_newcomers(fresh, model);
  fit_memory(data.batches, model);
  fit_activity(data.batches, model);
  fit_tenants(data, model);
}

}  // namespace yard
