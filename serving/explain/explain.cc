#include "serving/explain/explain.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "env/base/core/error.h"
#include "policies/decision_trace.h"
#include "serving/explain/why_waiting.h"
#include "serving/snapshot/quarantine.h"
#include "serving/snapshot/run_policy.h"
#include "serving/snapshot/snapshot.h"

namespace yard {
namespace {

constexpr int kMaxWaiting = 100;  // jobs in one explanation

bool same_actions(const pb::DecideResponse& a, const pb::DecideResponse& b) {
  const auto text = [](const pb::DecideResponse& one) {
    pb::DecideResponse actions;
    *actions.mutable_actions() = one.actions();
    return actions.SerializeAsString();
  };
  return text(a) == text(b);
}

void write_steps(const pb::DecisionTrace& trace, const pb::DecideRequest& request,
                 const std::vector<std::string>& feature_names, pb::ExplainResponse& out) {
  for (const pb::Step& step : trace.steps()) {
    pb::ExplainedStep& explained = *out.add_steps();
    explained.set_chosen(step.chosen());
    const std::vector<double> chances = [&] {
      std::vector<double> all;
      double sum = 0, most = -1e30;
      for (const pb::Option& option : step.options()) most = std::max<double>(most, option.logit());
      for (const pb::Option& option : step.options()) {
        all.push_back(std::exp(option.logit() - most));
        sum += all.back();
      }
      for (double& one : all) one /= sum;
      return all;
    }();
    for (int i = 0; i < step.options_size(); ++i) {
      const pb::Option& option = step.options(i);
      pb::ExplainedOption& to = *explained.add_options();
      to.set_verb(option.verb());
      if (option.verb() != pb::VERB_UNSPECIFIED) {
        to.set_job(request.jobs(static_cast<int>(option.job())).id());
      }
      to.set_score(option.logit());
      to.set_probability(chances[static_cast<size_t>(i)]);
      const int count =
          std::min<int>(option.features_size(), static_cast<int>(feature_names.size()));
      for (int f = 0; f < count; ++f) {
        (*to.mutable_features())[feature_names[static_cast<size_t>(f)]] = option.features(f);
      }
    }
  }
}

}  // namespace

pb::ExplainResponse explain(const Policy& policy, const pb::DecideRequest& request,
                            const pb::DecideResponse* answer, const std::string& job) {
  const auto& jobs = request.jobs();
  if (!job.empty() && std::ranges::find(jobs, job, &pb::Job::id) == jobs.end()) {
    throw InputError("job", "a job of the request", "'" + shortened(job) + "'");
  }
  const Snapshot snapshot(request);
  const PolicyResult repeated = run_policy(policy, snapshot, request, Tracing::kWithFeatures);
  pb::ExplainResponse out;
  *out.mutable_decision() = answer == nullptr ? repeated.response : *answer;
  if (answer == nullptr) {
    out.mutable_decision()->set_reason(repeated.reason);
    out.mutable_decision()->set_detail(repeated.detail);
    out.mutable_decision()->set_source(pb::POLICY);
  }
  const auto* traced = dynamic_cast<const TracedPolicy*>(&policy);
  if (traced == nullptr) {
    out.set_detail("a rule decided: it scores no options");
  } else if (answer != nullptr && !same_actions(*answer, repeated.response)) {
    out.set_detail(
        "the decision rested on what the policy remembered then, and cannot be repeated");
  } else {
    write_steps(repeated.trace, request, traced->feature_names(), out);
  }
  for (const pb::Job& one : jobs) {
    if (out.waiting_size() == kMaxWaiting) break;
    if (one.state() != pb::WAITING || (!job.empty() && one.id() != job)) continue;
    if (auto why = why_waiting(one, request, out.decision())) *out.add_waiting() = std::move(*why);
  }
  return out;
}

}  // namespace yard
