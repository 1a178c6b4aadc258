#include "serving/engine/registrations.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "env/base/core/error.h"

namespace yard {
namespace {

// A manager that has been silent for longer may have lost the terms that it counted.
constexpr std::chrono::minutes kLeadership{10};

}  // namespace

uint64_t Registrations::add(const pb::RegisterRequest& request, Clock::time_point now) {
  if (request.cluster().empty()) {
    throw InputError("cluster", "the name that the manager's requests will carry", "none");
  }
  std::vector<pb::Verb> verbs;
  for (const int verb : request.verbs()) {
    if (verb != pb::START && verb != pb::PREEMPT) {
      throw InputError("verbs", "START or PREEMPT", std::to_string(verb));
    }
    verbs.push_back(static_cast<pb::Verb>(verb));
  }
  if (!verbs.empty() && std::ranges::find(verbs, pb::START) == verbs.end()) {
    throw InputError("verbs", "START in the list", "only PREEMPT");
  }
  const int granularity = request.granularity();
  if (!pb::RegisterRequest::Granularity_IsValid(granularity)) {
    throw InputError("granularity", "QUEUE or ONE_JOB", std::to_string(granularity));
  }
  const std::lock_guard lock(mutex_);
  const auto last = std::ranges::find(list_, request.cluster(), &ManagerCapabilities::cluster);
  const bool leads = last != list_.end() && now - last->used < kLeadership;
  if (leads && request.has_term() && last->term.value_or(0) > request.term()) {
    throw StaleRegistration("term " + std::to_string(request.term()) +
                            " is over: the cluster's manager of term " +
                            std::to_string(*last->term) + " has registered");
  }
  // A manager without a term does not end the term of another one that leads.
  std::optional<uint64_t> term = leads ? last->term : std::nullopt;
  if (request.has_term()) term = request.term();
  std::erase_if(list_,
                [&](const ManagerCapabilities& one) { return one.cluster == request.cluster(); });
  list_.push_front({request.cluster(), ++last_epoch_, std::move(verbs),
                    granularity == pb::RegisterRequest::ONE_JOB, term, now});
  if (list_.size() > max_clusters_) list_.pop_back();
  return last_epoch_;
}

void Registrations::restrict_to_capabilities(pb::DecideRequest& request, Clock::time_point now) {
  if (request.cluster().empty() && !request.has_epoch()) return;
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(list_, request.cluster(), &ManagerCapabilities::cluster);
  if (request.has_epoch() && (found == list_.end() || found->epoch != request.epoch())) {
    throw StaleRegistration("epoch " + std::to_string(request.epoch()) +
                            " is not that of the cluster's last registration: call Register again");
  }
  if (found == list_.end()) return;
  if (request.has_epoch()) found->used = now;
  if (!found->verbs.empty()) {
    std::vector<int> both;
    for (const pb::Verb verb : found->verbs) {
      const auto& allowed = request.allowed();
      if (allowed.empty() || std::ranges::find(allowed, verb) != allowed.end()) {
        both.push_back(verb);
      }
    }
    // A request that allows none of these verbs is refused when it is read.
    if (!both.empty()) request.mutable_allowed()->Assign(both.begin(), both.end());
  }
  if (found->one_job) {
    request.set_max_starts(request.has_max_starts() ? std::min(request.max_starts(), 1U) : 1U);
  }
}

}  // namespace yard
