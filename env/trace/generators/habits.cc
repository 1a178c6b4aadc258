#include "env/trace/generators/habits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "env/base/config/registry.h"
#include "env/base/core/error.h"

namespace yard {
namespace {

constexpr double kHourS = 3600;
constexpr size_t kHoursPerWeek = 168;
enum Stream : uint64_t { kUserStream, kBatchStream, kStartStream };

struct User {
  double log_offset = 0;
  int32_t size = 1;
};

// Draws users. Their offsets, weighted by activity, are normalised to mean 0 and deviation
// `log_sd_user`. Otherwise a few busy users would decide how long a seed's jobs are.
std::vector<User> make_users(const UserHabitJobsParams& p, const std::vector<double>& activity,
                             const WeightedSampler& sizes, const Rng& seed) {
  std::vector<User> users(activity.size());
  double sum = 0, sum_x = 0;
  for (size_t u = 0; u < users.size(); ++u) {
    Rng rng = seed.split(kUserStream).split(u);
    users[u].log_offset = rng.normal();
    users[u].size = kGpuCounts[sizes(rng)];
    sum += activity[u];
    sum_x += activity[u] * users[u].log_offset;
  }
  double sum_xx = 0;
  for (size_t u = 0; u < users.size(); ++u) {
    users[u].log_offset -= sum_x / sum;
    sum_xx += activity[u] * users[u].log_offset * users[u].log_offset;
  }
  const double sd = std::sqrt(sum_xx / sum);
  for (User& user : users) user.log_offset *= sd > 0 ? p.log_sd_user / sd : 0;
  return users;
}

// Arrivals of a week as a function of time, and its inverse.
class Week {
 public:
  explicit Week(const UserHabitJobsParams& p) {
    for (size_t h = 0; h < kHoursPerWeek; ++h) {
      cumulative_[h + 1] = cumulative_[h] + p.hours[h % 24] * p.weekdays[h / 24];
    }
  }

  // Returns the arrivals up to `t_s`, in units of the weights.
  double arrived(double t_s) const {
    const double hours = t_s / kHourS;
    const double weeks = std::floor(hours / kHoursPerWeek);
    const double into = hours - weeks * kHoursPerWeek;
    const size_t h = std::min(static_cast<size_t>(into), kHoursPerWeek - 1);
    return weeks * cumulative_.back() + cumulative_[h] + (into - static_cast<double>(h)) * rate(h);
  }

  // Returns the time by which `arrived` arrivals have happened.
  double time_s(double arrived) const {
    const double weeks = std::floor(arrived / cumulative_.back());
    const double left = arrived - weeks * cumulative_.back();
    // The last hour with at most `left` arrivals before it; never an hour without arrivals.
    const auto it = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, left);
    const size_t h = static_cast<size_t>(it - cumulative_.begin()) - 1;
    const double into = rate(h) > 0 ? (left - cumulative_[h]) / rate(h) : 0;
    return (weeks * kHoursPerWeek + static_cast<double>(h) + into) * kHourS;
  }

 private:
  double rate(size_t h) const { return cumulative_[h + 1] - cumulative_[h]; }

  std::array<double, kHoursPerWeek + 1> cumulative_ = {};
};

struct Batch {
  size_t first = 0, end = 0;  // range of jobs
};

void check_weights(const std::vector<double>& weights, size_t count, const std::string& name) {
  const bool positive = std::ranges::all_of(weights, [](double w) { return w >= 0 && w < 1e6; });
  if (weights.size() == count && positive &&
      std::accumulate(weights.begin(), weights.end(), 0.0) > 0) {
    return;
  }
  throw InputError("synthetic:habits, " + name,
                   std::to_string(count) + " weights of at least 0, one of them positive",
                   std::to_string(weights.size()) + " numbers");
}

const Registry<TraceGenerator>::Add<
    FunctionTraceGenerator<UserHabitJobsParams, generate_user_habit_jobs>>
    kAdd{"habits",
         {.help =
              "batches of similar jobs of 1 to 16 GPUs, by users with typical sizes and run times; "
              "arrivals by hour and weekday",
          .fields = describe<UserHabitJobsParams>}};

}  // namespace

std::vector<Job> generate_user_habit_jobs(const UserHabitJobsParams& params,
                                          const GenerateOptions& options) {
  const UserHabitJobsParams p =
      with_options(params, options, "synthetic:habits", 1, "at least one job and one GPU");
  check_weights(p.hours, 24, "hours");
  check_weights(p.weekdays, 7, "weekdays");
  const WeightedSampler sizes(
      shares_of_fitting_sizes({p.share_1, p.share_2, p.share_4, p.share_8, p.share_16},
                              p.cluster_gpus, p.shortest_s, p.longest_s, "synthetic:habits"));

  std::vector<double> activity(static_cast<size_t>(p.users));
  for (size_t u = 0; u < activity.size(); ++u) {
    activity[u] = std::pow(static_cast<double>(u + 1), -p.activity_exponent);
  }
  const WeightedSampler active(activity);
  const Rng seed(options.seed);
  const std::vector<User> users = make_users(p, activity, sizes, seed);

  // Draws batches until there are enough jobs. submit_us is first the delay within the batch.
  std::vector<Job> jobs(static_cast<size_t>(p.jobs));
  std::vector<Batch> batches;
  double work_gpu_s = 0;
  for (size_t next = 0; next < jobs.size();) {
    Rng rng = seed.split(kBatchStream).split(batches.size());
    const size_t user_index = active(rng);
    const User& user = users[user_index];
    const bool own_size = rng.uniform() < p.own_size_share;
    const int32_t size = own_size ? user.size : kGpuCounts[sizes(rng)];
    const double log_batch = std::log(p.median_s) + user.log_offset + p.log_sd_batch * rng.normal();
    size_t count = 1;
    if (p.batch_jobs > 1) {
      // A geometric number is an exponential one, rounded up.
      count += static_cast<size_t>(rng.exponential() / -std::log1p(-1 / p.batch_jobs));
    }
    const size_t end = std::min(next + count, jobs.size());
    batches.push_back({next, end});
    double delay_s = 0;
    for (; next < end; ++next) {
      const double drawn_s = std::exp(log_batch + p.log_sd_job * rng.normal());
      const double run_s = std::round(std::clamp(drawn_s, p.shortest_s, p.longest_s));
      Job& job = jobs[next];
      job.gpus = size;
      job.user = "user" + std::to_string(user_index + 1);
      job.run_us = static_cast<int64_t>(run_s) * 1'000'000;
      job.submit_us = static_cast<int64_t>(std::round(delay_s)) * 1'000'000;
      delay_s += p.sibling_gap_s * rng.exponential();
      work_gpu_s += run_s * size;
    }
  }

  // Places batches, by hour and weekday, in the time in which the cluster offers work / load.
  const double span_s = work_gpu_s / (p.load * p.cluster_gpus);
  const Week week(p);
  const double all = week.arrived(span_s);
  Rng starts = seed.split(kStartStream);
  for (const Batch& batch : batches) {
    const double start_s = week.time_s(starts.uniform() * all);
    const auto start_us = static_cast<int64_t>(std::floor(start_s)) * 1'000'000;
    for (size_t j = batch.first; j < batch.end; ++j) jobs[j].submit_us += start_us;
  }
  sort_and_number(jobs);
  return jobs;
}

}  // namespace yard
