#include "experiments/scenario/demand_draw.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "env/trace/profiles/training_curves.h"

namespace yard {
namespace {

constexpr double kUsPerHour = 3600e6;
constexpr double kEstimateSd = 0.25;  // sd of the log error of users' expectations

double uniform(Rng& rng, double from, double to) { return from + (to - from) * rng.uniform(); }

std::vector<RoleGroup> split_by_rows(int32_t gpus, Rng& rng) {
  int32_t most = 0;  // number of halvings
  while (most < 2 && gpus % (2 << most) == 0) ++most;
  const int32_t parts = 1 << rng.below(static_cast<uint32_t>(most + 1));
  const int32_t cores = 2 * (1 + static_cast<int32_t>(rng.below(6)));
  std::vector<RoleGroup> out(static_cast<size_t>(parts));
  for (size_t k = 0; k < out.size(); ++k) {
    out[k].role = parts == 1 ? "worker" : "stage" + std::to_string(k);
    out[k].count = gpus / parts;
    out[k].task = {.gpus = 1, .cpu_milli = 1000 * cores, .mem_mib = int64_t{4096} * cores};
  }
  return out;
}

LossCurveFormula loss_of(Rng& rng) {
  LossCurveFormula out;
  out.b2 = uniform(rng, 0.05, 0.3);
  out.b1 = 1 / (1 - out.b2);
  out.b0 = uniform(rng, 5, 50);
  return out;
}

}  // namespace

void draw_missing_job_attributes(Trace& trace, const Rng& rng) {
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    Job& job = trace.jobs[j];
    if (job.gpus < 1 || !job.groups.empty()) continue;
    Rng lot = rng.split(j);
    const double expected_us =
        static_cast<double>(job.run_us) * std::exp(kEstimateSd * lot.normal());
    const double within_us = std::max(1.1 * expected_us, uniform(lot, 0.5, 24) * kUsPerHour);
    job.dues = {{static_cast<int64_t>(within_us), 1}};
    job.priority = 1 + lot.below(10);
    job.groups = split_by_rows(job.gpus, lot);
    job.loss = loss_of(lot);
    const double share = uniform(lot, 0.4, 1);
    job.enough = 1 / (job.loss.b0 * share + job.loss.b1) + job.loss.b2;
  }
}

}  // namespace yard
