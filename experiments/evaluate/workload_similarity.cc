#include "experiments/evaluate/workload_similarity.h"

#include <limits>
#include <numeric>
#include <set>

#include "env/base/core/check.h"
#include "env/base/core/nearest_rank.h"
#include "env/trace/core/batches.h"
#include "env/trace/fitted/shared_variance.h"
#include "experiments/stats/moments.h"

namespace yard {
namespace {

constexpr double kHourS = 3600;
constexpr size_t kDayHours = 24, kWeekDays = 7;
constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

double seconds_of(int64_t us) { return static_cast<double>(us) * 1e-6; }

double log_run(const Job& job) { return std::log(std::max(1.0, seconds_of(job.run_us))); }

// Sums over stretches of `hours` hours; an incomplete last one is dropped.
std::vector<double> sums(const std::vector<double>& hourly, size_t hours) {
  std::vector<double> out;
  for (size_t h = 0; h + hours <= hourly.size(); h += hours) {
    out.push_back(std::accumulate(hourly.begin() + static_cast<std::ptrdiff_t>(h),
                                  hourly.begin() + static_cast<std::ptrdiff_t>(h + hours), 0.0));
  }
  return out;
}

// Variance / mean of arrivals in stretches of `hours` hours: 1 for a Poisson process.
double dispersion(const std::vector<double>& hourly, size_t hours) {
  const std::vector<double> counts = sums(hourly, hours);
  return counts.size() >= 8 && mean(counts) > 0 ? variance(counts) / mean(counts) : kUndefined;
}

// Hourly arrivals, and the mean number of busy GPUs if every job started at submission.
struct Load {
  std::vector<double> arrivals, gpus;
};

Load load_of(const std::vector<Job>& jobs, double from_s, double to_s) {
  const auto hours = static_cast<size_t>(std::max(1.0, std::ceil((to_s - from_s) / kHourS)));
  Load load{std::vector<double>(hours), std::vector<double>(hours)};
  for (const Job& job : jobs) {
    const double begin = (seconds_of(job.submit_us) - from_s) / kHourS;
    const double end =
        std::min(begin + seconds_of(job.run_us) / kHourS, static_cast<double>(hours));
    const auto first = std::min(static_cast<size_t>(std::max(0.0, begin)), hours - 1);
    load.arrivals[first] += 1;
    for (size_t h = first; h < hours && static_cast<double>(h) < end; ++h) {
      const double here =
          std::min(end, static_cast<double>(h + 1)) - std::max(begin, static_cast<double>(h));
      load.gpus[h] += here * job.gpus;
    }
  }
  return load;
}

// Squared correlation between log run times and their prediction, the mean over earlier jobs of the
// same owner or batch.
class SquaredCorrelation {
 public:
  void add(double predicted, double actual) {
    n_ += 1, x_ += predicted, y_ += actual, xx_ += predicted * predicted, yy_ += actual * actual,
        xy_ += predicted * actual;
  }
  double share() const {
    if (n_ < 20) return kUndefined;
    const double covariance = xy_ / n_ - x_ / n_ * y_ / n_;
    const double spread = (xx_ / n_ - x_ / n_ * x_ / n_) * (yy_ / n_ - y_ / n_ * y_ / n_);
    return spread > 0 ? covariance * covariance / spread : kUndefined;
  }

 private:
  double n_ = 0, x_ = 0, y_ = 0, xx_ = 0, yy_ = 0, xy_ = 0;
};

void add_structure(const std::vector<Job>& jobs, const SubmissionBatches& batches,
                   WorkloadStatistics& out) {
  constexpr size_t kHistory = 32;
  constexpr double kSame = 0.02;
  GroupVarianceSplit siblings, owners;
  std::vector<std::vector<double>> of_owner(static_cast<size_t>(batches.owners));
  double same = 0, pairs = 0;
  std::vector<double> logs_of_all;
  for (const Job& job : jobs) logs_of_all.push_back(log_run(job));
  for (const SubmissionBatches::Batch& batch : batches.all) {
    std::vector<double> logs;
    for (const int32_t j : batch.jobs) logs.push_back(log_run(jobs[static_cast<size_t>(j)]));
    siblings.add(logs);
    of_owner[static_cast<size_t>(batch.owner)].push_back(mean(logs));
    for (size_t i = 1; i < logs.size(); ++i) {
      pairs += 1;
      same += std::abs(logs[i] - logs[i - 1]) < kSame ? 1 : 0;
    }
  }
  for (const auto& group : of_owner) owners.add(group);
  const bool owned = batches.kind != Owner::kNone;
  const double of_owners =
      owned ? std::min(owners.between_group_variance(), siblings.between_group_variance()) : 0;
  out.add_scalar_statistic("sd of log run time", std::sqrt(variance(logs_of_all)));
  out.add_scalar_statistic("  between owners", owned ? std::sqrt(of_owners) : kUndefined);
  out.add_scalar_statistic("  between an owner's batches",
                           std::sqrt(siblings.between_group_variance() - of_owners));
  out.add_scalar_statistic("  within batches", std::sqrt(siblings.within_group_variance()));
  out.add_scalar_statistic("siblings within 2 % of the previous one",
                           pairs > 0 ? same / pairs : kUndefined);

  SquaredCorrelation by_owner, by_sibling;
  std::vector<std::vector<double>> history(static_cast<size_t>(batches.owners));
  std::vector<size_t> at(batches.all.size());
  for (size_t j = 0; j < jobs.size(); ++j) {
    const auto b = static_cast<size_t>(batches.of_job[j]);
    const SubmissionBatches::Batch& batch = batches.all[b];
    std::vector<double>& past = history[static_cast<size_t>(batch.owner)];
    const double log = log_run(jobs[j]);
    if (owned && !past.empty()) by_owner.add(mean(past), log);
    if (at[b] > 0) {
      double sum = 0;
      const size_t from = at[b] > WorkloadModel::kRecent ? at[b] - WorkloadModel::kRecent : 0;
      for (size_t i = from; i < at[b]; ++i) {
        sum += log_run(jobs[static_cast<size_t>(batch.jobs[i])]);
      }
      by_sibling.add(sum / static_cast<double>(at[b] - from), log);
    }
    ++at[b];
    if (past.size() == kHistory) past.erase(past.begin());
    past.push_back(log);
  }
  out.add_scalar_statistic("R2 of log run time by the owner's last 32 jobs", by_owner.share());
  out.add_scalar_statistic("R2 of log run time by the last 8 siblings", by_sibling.share());
}

void add_owners(const std::vector<Job>& jobs, const SubmissionBatches& batches,
                WorkloadStatistics& out) {
  if (batches.kind == Owner::kNone) return;
  std::vector<double> count(static_cast<size_t>(batches.owners));
  std::set<int32_t> by_half;
  for (size_t j = 0; j < jobs.size(); ++j) {
    const int32_t owner = batches.all[static_cast<size_t>(batches.of_job[j])].owner;
    count[static_cast<size_t>(owner)] += 1;
    if (2 * j < jobs.size()) by_half.insert(owner);
  }
  out.add_scalar_statistic("owners", batches.owners);
  out.add_scalar_statistic("  seen in the first half of the jobs",
                           static_cast<double>(by_half.size()));
  std::vector<double> sorted = count;
  std::ranges::sort(sorted, std::greater<>());
  const size_t top = (sorted.size() + 9) / 10;
  out.add_scalar_statistic(
      "  share of jobs of the busiest tenth",
      std::accumulate(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(top), 0.0) /
          static_cast<double>(jobs.size()));
  out.values["jobs per owner"] = std::move(count);
}

void add_arrivals(const std::vector<Job>& jobs, double from_s, double to_s,
                  WorkloadStatistics& out) {
  const Load load = load_of(jobs, from_s, to_s);
  for (const size_t hours : {size_t{1}, size_t{6}, size_t{24}}) {
    out.add_scalar_statistic("dispersion of arrivals in " + std::to_string(hours) + " h",
                             dispersion(load.arrivals, hours));
  }
  const std::vector<double> days = sums(load.arrivals, kDayHours);
  out.add_scalar_statistic("arrivals in a day, sd over mean",
                           days.empty() ? kUndefined : std::sqrt(variance(days)) / mean(days));
  for (size_t lag = 1; lag <= kWeekDays; ++lag) {
    out.add_scalar_statistic("  autocorrelation after " + std::to_string(lag) + " d",
                             autocorrelation(days, lag));
  }
  std::vector<double> by_size = load.gpus;
  out.add_scalar_statistic("GPUs requested at a time, mean", mean(load.gpus));
  out.add_scalar_statistic("  95th percentile over mean",
                           nearest_rank_quantile(by_size, 0.95) / mean(load.gpus));
  out.add_scalar_statistic("  sd over mean", std::sqrt(variance(load.gpus)) / mean(load.gpus));
  for (const size_t lag : {1, 6, 24, 48, 72, 96, 120, 144, 168}) {
    out.add_scalar_statistic("  autocorrelation after " + std::to_string(lag) + " h",
                             autocorrelation(load.gpus, lag));
  }
}

}  // namespace

double ks_distance(std::vector<double> a, std::vector<double> b) {
  if (a.empty() || b.empty()) return 0;
  std::ranges::sort(a);
  std::ranges::sort(b);
  double most = 0;
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    const double x = std::min(a[i], b[j]);
    while (i < a.size() && a[i] <= x) ++i;
    while (j < b.size() && b[j] <= x) ++j;
    most = std::max(most, std::abs(static_cast<double>(i) / static_cast<double>(a.size()) -
                                   static_cast<double>(j) / static_cast<double>(b.size())));
  }
  return most;
}

double total_variation(const std::map<int64_t, double>& a, const std::map<int64_t, double>& b) {
  const auto sum = [](const std::map<int64_t, double>& of) {
    double all = 0;
    for (const auto& [what, n] : of) all += n;
    return all;
  };
  const double all_a = sum(a), all_b = sum(b);
  if (all_a <= 0 || all_b <= 0) return 0;
  std::map<int64_t, double> apart;
  for (const auto& [what, n] : a) apart[what] += n / all_a;
  for (const auto& [what, n] : b) apart[what] -= n / all_b;
  double total = 0;
  for (const auto& [what, difference] : apart) total += std::abs(difference) / 2;
  return total;
}

WorkloadStatistics workload_statistics(const std::vector<Job>& jobs, double from_s, double to_s,
                                       double shift_s, const std::vector<SizeClass>& classes) {
  YARD_CHECK(!jobs.empty(), "a workload needs jobs");
  WorkloadStatistics out;
  const SubmissionBatches batches = find_submission_batches(jobs);
  double gpu_s = 0;
  for (size_t j = 0; j < jobs.size(); ++j) {
    const Job& job = jobs[j];
    const double run_s = seconds_of(job.run_us), submit_s = seconds_of(job.submit_us) + shift_s;
    if (j > 0) {
      out.values["time between arrivals"].push_back(
          seconds_of(job.submit_us - jobs[j - 1].submit_us));
    }
    out.values["run time"].push_back(run_s);
    out.values["GPU time"].push_back(run_s * job.gpus);
    int32_t least = 0;
    for (const SizeClass& one : classes) {
      if (job.gpus <= one.most_gpus) {
        const std::string sizes =
            least >= one.most_gpus || least + 1 == one.most_gpus
                ? std::to_string(one.most_gpus)
                : std::to_string(least + 1) + " to " + std::to_string(one.most_gpus);
        out.values["run time, " + sizes + " GPUs"].push_back(run_s);
        break;
      }
      least = one.most_gpus;
    }
    if (job.limit_us > 0) {
      out.values["limit"].push_back(seconds_of(job.limit_us));
      out.values["run time over limit"].push_back(run_s / seconds_of(job.limit_us));
    }
    const auto hour = static_cast<int64_t>(std::floor(submit_s / kHourS));
    out.counts["arrivals by hour of the day"][((hour % 24) + 24) % 24] += 1;
    out.counts["sizes"][job.gpus] += 1;
    out.counts["sizes, by GPU time"][job.gpus] += run_s * job.gpus;
    gpu_s += run_s * job.gpus;
  }
  for (const SubmissionBatches::Batch& batch : batches.all) {
    out.values["jobs per batch"].push_back(static_cast<double>(batch.jobs.size()));
  }
  out.add_scalar_statistic("jobs", static_cast<double>(jobs.size()));
  out.add_scalar_statistic("  share in batches of one", static_cast<double>(std::ranges::count(
                                                            out.values["jobs per batch"], 1)) /
                                                            static_cast<double>(jobs.size()));
  out.add_scalar_statistic("batches", static_cast<double>(batches.all.size()));
  out.add_scalar_statistic("GPU hours per job", gpu_s / kHourS / static_cast<double>(jobs.size()));
  add_owners(jobs, batches, out);
  add_arrivals(jobs, from_s, to_s, out);
  add_structure(jobs, batches, out);
  return out;
}

WorkloadSimilarity compare_workloads(const WorkloadStatistics& real,
                                     const std::vector<WorkloadStatistics>& generated,
                                     const WorkloadStatistics& first_part,
                                     const WorkloadStatistics& second_part) {
  YARD_CHECK(!generated.empty(), "a comparison needs generated workloads");
  WorkloadSimilarity out;
  const auto n = static_cast<double>(generated.size());
  const auto add = [&](const char* kind, const auto& of, auto distance) {
    for (const auto& [name, values] : of(real)) {
      const auto at = [&name = name, &of](const WorkloadStatistics& one) {
        const auto it = of(one).find(name);
        return it == of(one).end() ? std::decay_t<decltype(it->second)>() : it->second;
      };
      WorkloadSimilarity::DistanceComparison d{name, kind, 0,
                                               distance(at(first_part), at(second_part))};
      for (const WorkloadStatistics& one : generated)
        d.generated += distance(at(real), at(one)) / n;
      out.distances.push_back(d);
    }
  };
  add(
      "KS", [](const WorkloadStatistics& l) -> const auto& { return l.values; }, ks_distance);
  add(
      "TV", [](const WorkloadStatistics& l) -> const auto& { return l.counts; }, total_variation);
  const auto figure = [](const WorkloadStatistics& of, const std::string& name) {
    for (const auto& [known, value] : of.figures) {
      if (known == name) return value;
    }
    return kUndefined;
  };
  for (const auto& [name, value] : real.figures) {
    WorkloadSimilarity::ScalarComparison f{name, value, 0, figure(first_part, name),
                                           figure(second_part, name)};
    for (const WorkloadStatistics& one : generated) f.generated += figure(one, name) / n;
    out.figures.push_back(f);
  }
  return out;
}

}  // namespace yard
