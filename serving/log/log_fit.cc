#include "serving/log/log_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/core/rng.h"
#include "serving/snapshot/gang_speed.h"

namespace yard {
namespace {

constexpr size_t kMinSamples = 5;  // jobs which a layer needs to be drawn from

int64_t to_us(double s) { return std::llround(s * 1e6); }

struct JobRecord {
  LogJob job;
  double submit_s = 0, attained_s = 0;
  double work_s = 0;  // of attained_s
  double speed = 1;   // on its GPUs, or the last it had
  double seen_s = 0, end_s = 0;
  double run_s = 0, max_run_s = 0;  // of an outcome
  bool reported = false;            // there was an outcome
  bool finished = false;
  bool exact = false;  // a manager reported the outcome
};

class Fitter {
 public:
  void take(const pb::LoggedDecision& decision) {
    const pb::DecideRequest& request = decision.request();
    if (fit_.decisions++ == 0) {
      first_s_ = request.time_s();
      cluster_ = request.cluster();
    }
    if (request.cluster() != cluster_) {
      throw InputError("decision " + decision.response().decision_id(),
                       "the cluster '" + cluster_ + "' of the first decision",
                       "'" + request.cluster() + "'");
    }
    ++fit_.deciders[decision.response().decided_by()];
    const auto& allowed = request.allowed();
    preempts_ |= allowed.empty() || std::ranges::find(allowed, pb::PREEMPT) != allowed.end();
    if (request.time_s() >= last_s_) {
      last_s_ = request.time_s();
      *last_.mutable_nodes() = request.nodes();
      *last_.mutable_gpu_types() = request.gpu_types();
      last_.clear_costs();
      if (request.has_costs()) *last_.mutable_costs() = request.costs();
    }
    const GangSpeeds speeds(request);
    for (const pb::Job& job : request.jobs()) take(job, request.time_s(), speeds);
    for (const pb::Action& action : decision.response().actions()) {
      if (action.verb() != pb::START) continue;
      const auto it = present_.find(action.job());
      if (it == present_.end()) continue;
      JobRecord& started = seen_[it->second];
      started.speed = speeds.of(started.job.job.model, action.pieces());
    }
  }

  void take(const pb::LoggedOutcome& outcome) {
    const auto it = index_.find({outcome.job().id(), outcome.job().submit_s()});
    if (it == index_.end()) return;
    JobRecord& seen = seen_[it->second];
    if (seen.exact) return;
    seen.reported = true;
    seen.finished = outcome.end() == pb::LoggedOutcome::FINISHED;
    seen.end_s = seen.finished ? outcome.end_s() : outcome.missed_s();
    seen.run_s = outcome.run_s();
    seen.max_run_s = outcome.max_run_s();
    // It waited and was never started, so it was cancelled.
    const bool never = outcome.run_s() == 0 && outcome.started_by().empty();
    if (!seen.finished && never) seen.max_run_s = 0;
  }

  // A reported run time is exact, whatever the snapshots showed.
  void take(const pb::Outcome& outcome) {
    const auto it = present_.find(outcome.job());
    const bool over =
        outcome.end() == pb::Outcome::COMPLETED || outcome.end() == pb::Outcome::FAILED ||
        outcome.end() == pb::Outcome::CANCELLED || outcome.end() == pb::Outcome::TIME_LIMIT;
    if (it == present_.end() || !over || !outcome.has_run_s() || !outcome.has_end_s()) return;
    JobRecord& seen = seen_[it->second];
    seen.reported = seen.exact = true;
    seen.finished = outcome.run_s() > 0;  // else the job was cancelled before it ran
    seen.end_s = outcome.end_s();
    seen.run_s = seen.max_run_s = outcome.run_s();
  }

  uint64_t decisions() const { return fit_.decisions; }

  // Requires: at least one decision.
  FittedScenario finish() {
    fit_.may_preempt = preempts_;
    fit_.cluster_yaml = cluster_text();
    double zero_s = first_s_;
    for (const JobRecord& seen : seen_) zero_s = std::min(zero_s, seen.submit_s);
    fit_.zero_s = zero_s;
    fit_.begin_s = first_s_ - zero_s;
    fit_.end_s = last_s_ - zero_s;
    std::ranges::stable_sort(seen_, {}, &JobRecord::submit_s);
    std::set<std::string> ids;
    for (JobRecord& seen : seen_) {
      LogJob& job = seen.job;
      while (!ids.insert(job.job.id).second) job.job.id += "'";  // an id which was reused
      job.job.submit_us = to_us(seen.submit_s - zero_s);
      set_end_and_work(seen);
      if (job.max_work_us <= 0 && job.end != LogEnd::kCensored) {
        ++fit_.never_ran;
        continue;
      }
      ++(job.end == LogEnd::kFinished ? fit_.finished
         : job.end == LogEnd::kGone   ? fit_.gone
                                      : fit_.censored);
      if (job.end != LogEnd::kCensored) job.job.logged_end_us = to_us(seen.end_s - zero_s);
      job.job.status = kLogEndStatusTexts[static_cast<size_t>(job.end)];
      fit_.jobs.push_back(std::move(job));
    }
    return std::move(fit_);
  }

 private:
  void take(const pb::Job& job_now, double now_s, const GangSpeeds& speeds) {
    const auto [it, fresh] = index_.try_emplace({job_now.id(), job_now.submit_s()}, seen_.size());
    if (fresh) {
      JobRecord& seen = seen_.emplace_back();
      Job& job = seen.job.job;
      job.id = job_now.id();
      job.user = job_now.user();
      job.name = job_now.name();
      job.model = job_now.model();
      job.gpus = static_cast<int32_t>(job_now.gpus());
      if (job_now.limit_s() > 0) job.limit_us = to_us(job_now.limit_s());
      take_costs(job_now);
      seen.submit_s = job_now.submit_s();
    }
    present_[job_now.id()] = it->second;
    JobRecord& seen = seen_[it->second];
    seen.reported = seen.finished = seen.exact = false;  // it was only absent for a while
    const bool holds = job_now.state() == pb::STARTING || job_now.state() == pb::RUNNING;
    if (fresh && holds) seen.speed = speeds.of(job_now.model(), job_now.placement());
    seen.work_s += std::max(0.0, job_now.attained_s() - seen.attained_s) * seen.speed;
    seen.attained_s = job_now.attained_s();
    seen.seen_s = now_s;
    if (holds) seen.speed = speeds.of(job_now.model(), job_now.placement());
  }

  void take_costs(const pb::Job& job_now) {
    if (!last_.has_costs()) return;
    const pb::Costs& costs = last_.costs();
    Job& job = seen_.back().job.job;
    const bool small = job_now.gpus() <= costs.small_gpus();
    const double restore_s = small ? costs.restore_s() : costs.restore_large_s();
    const double default_s = job_now.gpus() <= 8 ? 30 : 60;
    if (costs.save_s() != 10) job.save_us = to_us(costs.save_s());
    if (restore_s != default_s) job.restore_us = to_us(restore_s);
  }

  // Determines how a job ended, and its work.
  void set_end_and_work(JobRecord& seen) const {
    LogJob& job = seen.job;
    const auto work_us = [&](double run_s) {
      return to_us(seen.work_s + std::max(0.0, run_s - seen.attained_s) * seen.speed);
    };
    const bool still_there = !seen.reported && seen.seen_s == last_s_;
    job.end = seen.finished ? LogEnd::kFinished : still_there ? LogEnd::kCensored : LogEnd::kGone;
    if (!seen.reported) {
      seen.run_s = seen.max_run_s = seen.attained_s;
      seen.end_s = seen.seen_s;  // its outcome was lost: it ended some time later
    }
    job.work_us = work_us(seen.run_s);
    job.max_work_us = work_us(seen.max_run_s);
    if (seen.finished) job.work_us = job.max_work_us = std::max<int64_t>(1, job.work_us);
  }

  static std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
    return out + "\"";
  }

  // The key of a cluster file with the speeds of models on a type; "": there are none.
  static std::string speeds_of_models(const pb::GpuType& type) {
    std::map<std::string, double> speeds;
    for (const pb::ModelSpeed& one : type.speed_of_model()) {
      if (is_valid_speed(one.speed())) speeds.try_emplace(quoted(one.model()), one.speed());
    }
    std::string out;
    for (const auto& [model, speed] : speeds) {
      out += fmt::format("{}{}: {}", out.empty() ? "" : ", ", model, speed);
    }
    return out.empty() ? "" : ", speed_of_model: {" + out + "}";
  }

  std::string cluster_text() const {
    const auto type_of = [](const pb::Node& node) {
      return node.gpu_type().empty() ? std::string("gpu") : node.gpu_type();
    };
    std::string out = "about: \"from the last snapshot of a decision log\"\n";
    if (last_.gpu_types_size() > 0) out += "gpu_types:\n";
    for (const pb::GpuType& type : last_.gpu_types()) {
      out +=
          fmt::format("  {}: {{speed: {}{}}}\n", quoted(type.name().empty() ? "gpu" : type.name()),
                      type.speed(), speeds_of_models(type));
    }
    out += "nodes:\n";
    for (int i = 0, n = 0; i < last_.nodes_size(); i += n) {
      const pb::Node& node = last_.nodes(i);
      const auto alike = [&](const pb::Node& other) {
        return other.gpus() == node.gpus() && other.gpu_type() == node.gpu_type();
      };
      for (n = 1; i + n < last_.nodes_size() && alike(last_.nodes(i + n));) ++n;
      out += fmt::format("  - {{count: {}, gpus: {}, type: {}}}\n", n, node.gpus(),
                         quoted(type_of(node)));
    }
    return out;
  }

  FittedScenario fit_;
  std::string cluster_;
  double first_s_ = 0, last_s_ = -1;
  pb::DecideRequest last_;  // the latest snapshot's cluster and costs
  bool preempts_ = false;
  std::vector<JobRecord> seen_;
  std::map<std::pair<std::string, double>, size_t> index_;  // id and submission
  std::unordered_map<std::string, size_t> present_;         // latest job with an id
};

// Work of finished jobs, by user and size.
class FinishedWork {
 public:
  explicit FinishedWork(const std::vector<LogJob>& jobs) {
    for (const LogJob& one : jobs) {
      if (one.end != LogEnd::kFinished) continue;
      all_.push_back(one.work_us);
      of_size_[one.job.gpus].push_back(one.work_us);
      of_user_[{one.job.user, one.job.gpus}].push_back(one.work_us);
    }
    std::ranges::sort(all_);
    for (auto& [gpus, work] : of_size_) std::ranges::sort(work);
    for (auto& [who, work] : of_user_) std::ranges::sort(work);
  }

  // Returns the work values above that of `job`, from the narrowest layer with enough of them.
  std::span<const int64_t> longer_than(const LogJob& job) const {
    const auto longer = [&](const std::vector<int64_t>& work) {
      return std::span<const int64_t>(std::ranges::upper_bound(work, job.work_us), work.end());
    };
    const auto enough = [&](const auto& layer) {
      return longer(layer.second).size() >= kMinSamples;
    };
    const auto user = of_user_.find({job.job.user, job.job.gpus});
    if (user != of_user_.end() && enough(*user)) return longer(user->second);
    const auto size = of_size_.find(job.job.gpus);
    if (size != of_size_.end() && enough(*size)) return longer(size->second);
    return longer(all_);
  }

 private:
  std::vector<int64_t> all_;
  std::map<int32_t, std::vector<int64_t>> of_size_;
  std::map<std::pair<std::string, int32_t>, std::vector<int64_t>> of_user_;
};

}  // namespace

FittedScenario fit_scenario(LogReader& log) {
  Fitter fitter;
  for (const pb::LogRecord& record : log) {
    if (record.has_decision()) fitter.take(record.decision());
    if (record.has_outcome()) fitter.take(record.outcome());
    if (record.has_reported()) fitter.take(record.reported().outcome());
  }
  if (fitter.decisions() == 0) {
    throw log.damage().first.empty() ? InputError(log.files().front().path.parent_path().string(),
                                                  "a decision log with decisions", "none")
                                     : InputError(log.damage().first);
  }
  return fitter.finish();
}

Trace FittedScenario::trace(uint64_t seed, int draw) const {
  const FinishedWork donors(jobs);
  const Rng stream = Rng(seed).split(static_cast<uint64_t>(draw));
  Trace out;
  for (size_t j = 0; j < jobs.size(); ++j) {
    const LogJob& from = jobs[j];
    Rng rng = stream.split(j);
    int64_t work_us = from.work_us;
    if (from.end == LogEnd::kGone) {
      work_us += static_cast<int64_t>(rng.uniform() *
                                      static_cast<double>(from.max_work_us - from.work_us));
    } else if (from.end == LogEnd::kCensored) {
      const std::span<const int64_t> longer = donors.longer_than(from);
      work_us = longer.empty() ? 2 * from.work_us
                               : longer[rng.below(static_cast<uint32_t>(longer.size()))];
    }
    out.jobs.push_back(from.job);
    out.jobs.back().run_us = std::max<int64_t>(1, work_us);
  }
  return out;
}

uint64_t FittedScenario::jobs_with_doubled_work() const {
  const FinishedWork donors(jobs);
  return static_cast<uint64_t>(std::ranges::count_if(jobs, [&](const LogJob& job) {
    return job.end == LogEnd::kCensored && donors.longer_than(job).empty();
  }));
}

}  // namespace yard
