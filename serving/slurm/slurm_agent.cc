#include "serving/slurm/slurm_agent.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <set>
#include <string_view>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/core/unix_time.h"
#include "env/base/text/text.h"
#include "serving/slurm/gate.h"
#include "serving/slurm/read_cluster.h"
#include "serving/slurm/texts.h"
#include "serving/snapshot/utf8.h"

namespace yard::slurm {
namespace {

constexpr double kSiteS = 300;       // between two looks at the configuration of Slurm
constexpr double kFirstAvoidS = 30;  // after a failed action; doubles up to the most
constexpr double kMostAvoidS = 600;
constexpr size_t kRecordsPerCommand = 100;
constexpr std::chrono::seconds kLastReports{2};  // for outcomes of jobs when the agent ends

BootClock::duration duration_of(double seconds) {
  return std::chrono::duration_cast<BootClock::duration>(std::chrono::duration<double>(seconds));
}

// What may stand in an admin comment.
std::string comment_safe(std::string text) {
  std::erase_if(text, [](unsigned char c) {
    return std::isalnum(c) == 0 && c != '-' && c != '_' && c != '.' && c != ':';
  });
  return text.substr(0, 64);
}

}  // namespace

SlurmAgent::SlurmAgent(SlurmAgentOptions options)
    : options_(std::move(options)),
      config_(options_.config),
      lock_(options_.dry_run ? nullptr
                             : std::make_unique<LeaderLock>(config_.lock, config_.lock_s)),
      actor_(config_, {[this] { return why_forbidden(); },
                       [this](const std::string& command, const CommandResult& result) {
                         metrics_.ran(command,
                                      result.ok()        ? "ok"
                                      : result.timed_out ? "timeout"
                                                         : "failed",
                                      result.elapsed_s);
                       }}),
      client_({.to = config_.connection(),
               .fallback = config_.fallback,
               .deltas = config_.deltas,
               .on_registered =
                   [this](const std::string& server, const pb::RegisterResponse& answer) {
                     report_registered(server, answer);
                   }}),
      stepped_ns_(BootClock::now().time_since_epoch().count()) {}

SlurmAgent::~SlurmAgent() = default;

double SlurmAgent::seconds_since_step() const {
  return seconds_since(BootClock::time_point(BootClock::duration(stepped_ns_.load())));
}

void SlurmAgent::report_failure(const std::string& what, const std::string& why) {
  // Once, as long as every step fails in this way.
  const std::string text = what + ": " + why;
  if (!failures_.insert(text).second || last_failures_.contains(text)) return;
  options_.report({{"event", "failure"}, {"what", what}, {"why", escaped_as_utf8(why)}});
}

void SlurmAgent::report_action(const char* verb, const std::string& job, const ActionResult& result,
                               nlohmann::ordered_json more) {
  metrics_.count_action(verb, name_of(result.outcome));
  nlohmann::ordered_json line = {
      {"event", "action"}, {"action", verb}, {"job", job}, {"outcome", name_of(result.outcome)}};
  if (!result.detail.empty()) line["detail"] = escaped_as_utf8(result.detail);
  line["elapsed_s"] = result.elapsed_s;
  if (!more.is_null()) line.update(more);
  options_.report(line);
}

// Returns why no command may leave now. Keeps the leadership alive between commands.
std::string SlurmAgent::why_forbidden() {
  if (options_.dry_run) return "this is a dry run";
  if (detector_.gaps() != seen_gaps_) return "the process was stopped for over a second";
  if (!lock_->keep() || lock_->term() != term_) return "this agent no longer leads";
  return "";
}

bool SlurmAgent::renew_leadership() {
  if (const int gaps = detector_.gaps(); gaps != seen_gaps_) {
    seen_gaps_ = gaps;
    metrics_.gap();
    options_.report({{"event", "gap"}});
    in_flight_.clear();
  }
  if (options_.dry_run) return true;
  const int64_t before = term_;
  const bool leads = lock_->renew();
  term_ = lock_->term();
  metrics_.set_leader(leads);
  if (term_ != before) {
    options_.report({{"event", leads ? "leads" : "follows"}, {"term", term_}});
    in_flight_.clear();
    first_listing_ = true;
    site_read_ = false;
  }
  return leads;
}

bool SlurmAgent::read_site() {
  if (site_read_ && seconds_since(site_at_) < kSiteS) return true;
  SiteConfig site;
  const CommandResult config = actor_.show_config();
  if (!config.ok()) {
    report_failure("scontrol show config", config.err);
    return false;
  }
  read_site_config(config.out, site);
  if (config_.preempt) {
    // Without an answer no job is preempted.
    if (const CommandResult shown = actor_.show_partitions(); shown.ok()) {
      read_site_partitions(shown.out, site);
    }
    if (const CommandResult shown = actor_.show_qos(); shown.ok()) read_site_qos(shown.out, site);
  }
  if (!site.has_gate && !options_.dry_run) {
    report_failure("job_submit.lua",
                   "slurm.conf does not name it in JobSubmitPlugins: without leases "
                   "no job is the agent's");
  }
  site_ = std::move(site);
  site_at_ = BootClock::now();
  site_read_ = true;
  return true;
}

bool SlurmAgent::list_nodes(Listing& out) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const CommandResult result = actor_.list_nodes(nodes_by_scontrol_);
    if (!result.ok()) {
      report_failure("list of nodes", result.err);
      return false;
    }
    if (read_nodes(result.out, out)) return true;
    nodes_by_scontrol_ = true;  // sinfo of this version prints no single nodes
  }
  report_failure("list of nodes", "neither sinfo nor scontrol prints nodes");
  return false;
}

// Jobs first: what starts in between then counts as held, not as free.
bool SlurmAgent::list(Listing& out) {
  until_ = BootClock::now() + duration_of(config_.valid_s);
  now_s_ = unix_now_s();
  const CommandResult jobs = actor_.list_jobs();
  if (!jobs.ok()) {
    report_failure("squeue --json", jobs.err);
    return false;
  }
  try {
    read_jobs(jobs.out, out);
    if (!list_nodes(out)) return false;
  } catch (const InputError& error) {
    report_failure("listing", error.what());
    return false;
  }
  if (detector_.gaps() != seen_gaps_) return false;  // the next step starts anew
  return true;
}

void SlurmAgent::step() {
  try {
    Listing listing;
    if (renew_leadership() && read_site()) {
      if (list(listing)) {
        if (!listing.odd.empty()) {
          report_failure(std::to_string(listing.odd.size()) + " odd records", listing.odd.front());
        }
        settle(listing);
        report_ended(listing);
        run_times_.update(listing, now_s_);
        note_starts(listing);
        for (const std::string& partition : config_.partitions) serve(listing, partition);
        first_listing_ = false;
      } else {
        metrics_.count_failed_listing();
      }
    }
  } catch (const std::exception& error) {
    report_failure("step", error.what());
  }
  client_.send_outcomes(std::chrono::milliseconds(0));
  metrics_.set_client_counts(client_.counts());
  last_failures_ = std::exchange(failures_, {});
  stepped_ns_ = BootClock::now().time_since_epoch().count();
}

void SlurmAgent::stop() {
  client_.send_outcomes(kLastReports);
  if (options_.dry_run || !lock_->still_leads()) return;
  Listing listing;
  if (!list(listing)) return;
  for (const SlurmJob& job : listing.jobs) {
    if (in_any_scope(job) && job.waits() && has_pin(job)) unpin_and_report(job, "the agent stops");
  }
}

bool SlurmAgent::in_any_scope(const SlurmJob& job) const {
  return std::ranges::any_of(config_.partitions, [&](const std::string& partition) {
    return in_scope(job, {config_, partition, true, now_s_});
  });
}

// Whether Slurm may start a pinned job within its time. Reasons that name a limit, or a state of
// the nodes, end only when others do something.
bool SlurmAgent::may_still_start(const SlurmJob& job, double pinned_s) const {
  constexpr double kReasonS = 2;  // until Slurm has looked at the job
  constexpr std::array<std::string_view, 8> kLasting = {
      "QOS",  "Assoc",   "Partition", "ReqNodeNotAvail", "BadConstraints",
      "Resv", "JobHeld", "NodeDown"};
  const bool lasts = std::ranges::any_of(
      kLasting, [&](std::string_view prefix) { return job.reason.starts_with(prefix); });
  return pinned_s < (lasts ? kReasonS : config_.pin_s);
}

// Whether a listing shows how the action ended.
bool SlurmAgent::resolved(const ActionInFlight& flight, const SlurmJob* job) {
  if (job == nullptr || job->restarts != flight.restarts) return true;
  if (flight.verb == pb::PREEMPT)
    return !job->runs() || seconds_since(flight.since) > config_.pin_s;
  if (!job->waits()) return true;
  // A command that timed out may have had no effect.
  return seconds_since(flight.since) > config_.pin_s && !has_pin(*job);
}

void SlurmAgent::settle(const Listing& listing) {
  std::unordered_map<std::string_view, const SlurmJob*> jobs;
  for (const SlurmJob& job : listing.jobs) jobs[job.id] = &job;
  std::erase_if(in_flight_, [&](const auto& entry) {
    const auto job = jobs.find(entry.first);
    return resolved(entry.second, job == jobs.end() ? nullptr : job->second);
  });
  for (const SlurmJob& job : listing.jobs) {
    if (!in_any_scope(job) || !job.waits() || !has_pin(job)) continue;
    const auto flight = in_flight_.find(job.id);
    const bool was_ours = flight != in_flight_.end();
    if (was_ours && may_still_start(job, seconds_since(flight->second.since))) continue;
    if (options_.dry_run) continue;
    unpin_and_report(job, was_ours ? "it did not start on its nodes" : "an earlier pin");
    if (was_ours) avoid(job, "did_not_start");
    in_flight_.erase(job.id);
  }
  std::erase_if(avoided_, [&](const auto& entry) {
    const auto job = jobs.find(entry.first);
    return job == jobs.end() || !job->second->waits();
  });
}

void SlurmAgent::unpin_and_report(const SlurmJob& job, const char* why) {
  report_action("unpin", job.id, actor_.unpin(job, until_), {{"why", why}, {"reason", job.reason}});
}

void SlurmAgent::note_starts(const Listing& listing) {
  std::unordered_set<std::string> running;
  for (const SlurmJob& job : listing.jobs) {
    if (!job.runs() || !in_any_scope(job)) continue;
    if (options_.dry_run) gains_.saw_running(job);
    if (!has_lease(job)) continue;
    running.insert(job.run());
    if (first_listing_ || counted_.contains(job.run())) continue;
    const char* by = has_pin(job) ? "agent" : "slurm";
    metrics_.count_start(by);
    options_.report({{"event", "started"},
                     {"job", job.id},
                     {"restarts", job.restarts},
                     {"by", by},
                     {"nodes", job.node_list},
                     {"start_s", job.start_s},
                     {"submit_s", job.submit_s}});
  }
  gains_.end_first_listing();
  counted_ = std::move(running);
}

// A new leader reports the jobs that ended within the last minutes, even if the leader before it
// has done so: the decision log may have an outcome twice, but lacks none.
void SlurmAgent::report_ended(const Listing& listing) {
  for (const SlurmJob* job : ended_.update(listing)) {
    if (!options_.dry_run && !has_lease(*job)) continue;
    const auto outcome = outcome_of(*job, run_times_.earlier_runs_s(*job));
    if (!outcome) continue;
    for (const std::string& partition : config_.partitions) {
      if (!in_scope(*job, {config_, partition, true, now_s_})) continue;
      client_.report(cluster_name(site_, partition), *outcome);
      options_.report({{"event", "ended"},
                       {"job", job->id},
                       {"restarts", job->restarts},
                       {"end", pb::Outcome::End_Name(outcome->end())},
                       {"end_s", outcome->end_s()}});
    }
  }
}

void SlurmAgent::report_registered(const std::string& server, const pb::RegisterResponse& answer) {
  options_.report(
      {{"event", "registered"},
       {"server", server},
       {"epoch", answer.epoch()},
       {"term", term_},
       {"missing", std::vector<std::string>(answer.missing().begin(), answer.missing().end())}});
}

void SlurmAgent::avoid(const SlurmJob& job, const std::string& reason) {
  JobBackoff& avoided = avoided_[job.id];
  avoided.for_s = std::clamp(2 * avoided.for_s, kFirstAvoidS, kMostAvoidS);
  avoided.until = BootClock::now() + duration_of(avoided.for_s);
  avoided.reason = reason;
}

std::unordered_map<std::string, std::string> SlurmAgent::jobs_in_backoff() const {
  std::unordered_map<std::string, std::string> out;
  const auto now = BootClock::now();
  for (const auto& [id, avoided] : avoided_) {
    if (avoided.until > now) out[id] = avoided.reason;
  }
  return out;
}

void SlurmAgent::serve(const Listing& listing, const std::string& partition) {
  const auto avoided = jobs_in_backoff();
  ClusterSnapshot snapshot =
      make_snapshot({listing, config_, site_, partition, now_s_, !options_.dry_run, in_flight_,
                     run_times_.times_before_restart(), avoided});
  const auto show = [&] {
    metrics_.set_queue(partition, static_cast<int>(snapshot.waiting.size()), snapshot.held_gpus,
                       snapshot.left);
  };
  show();
  if (snapshot.waiting.empty() || snapshot.request.nodes().empty()) return;
  if (!options_.dry_run) {
    client_.set_manager(make_registration(config_, site_, partition, term_));
  }
  pb::DecideResponse answer;
  try {
    answer = client_.decide(snapshot.request, std::chrono::milliseconds(config_.deadline_ms));
  } catch (const InputError& error) {
    report_failure("the server refused the snapshot", error.what());
    return;
  } catch (const Deposed& error) {
    report_failure("another agent leads", error.what());
    return;
  }
  // What the server set aside, no decision will ever start: it must not be kept waiting.
  std::set<std::string> set_aside;
  for (const pb::Quarantined& one : answer.quarantined()) {
    if (one.record() == pb::Quarantined::JOB) set_aside.insert(one.id());
  }
  std::erase_if(snapshot.waiting, [&](const SlurmJob* job) { return set_aside.contains(job->id); });
  if (!set_aside.empty()) {
    snapshot.left["set_aside"] = static_cast<int>(set_aside.size());
    show();
  }
  const std::string source = pb::Source_Name(answer.source());
  metrics_.count_decision(source, pb::Reason_Name(answer.reason()));
  nlohmann::ordered_json line = {{"event", "decision"},
                                 {"partition", partition},
                                 {"decision", comment_safe(answer.decision_id())},
                                 {"source", source},
                                 {"reason", pb::Reason_Name(answer.reason())},
                                 {"waiting", snapshot.waiting.size()},
                                 {"actions", answer.actions_size()},
                                 {"left", snapshot.left}};
  if (!answer.detail().empty()) line["detail"] = answer.detail();
  options_.report(line);
  const bool acts = std::ranges::find(config_.act_on, source) != config_.act_on.end();
  if (!acts) {
    report_failure("decisions", source + " is not in act_on: jobs are left to Slurm");
    return;
  }
  if (answer.has_valid_for_s()) {
    until_ = std::min(until_, BootClock::now() + duration_of(std::clamp(answer.valid_for_s(), 0.0,
                                                                        config_.valid_s)));
  }
  // Leases first: many starts may take until the listing is too old.
  if (options_.dry_run || renew_leases(snapshot)) carry_out(answer, snapshot);
}

// Preemptions first.
void SlurmAgent::carry_out(const pb::DecideResponse& answer, ClusterSnapshot& snapshot) {
  const std::string decision = comment_safe(answer.decision_id());
  for (const pb::Verb verb : {pb::PREEMPT, pb::START}) {
    for (const pb::Action& action : answer.actions()) {
      if (action.verb() != verb) continue;
      const auto found = snapshot.jobs.find(action.job());
      if (found == snapshot.jobs.end() || in_flight_.contains(action.job())) continue;
      const SlurmJob& job = *found->second;
      if (action.restart() != static_cast<uint32_t>(job.restarts)) continue;
      if (action.expected() != (verb == pb::START ? pb::WAITING : pb::RUNNING)) continue;
      if (!(verb == pb::PREEMPT ? preempt(job, decision)
                                : start(action, job, snapshot, decision))) {
        return;
      }
    }
  }
}

bool SlurmAgent::preempt(const SlurmJob& job, const std::string& decision) {
  if (!may_preempt(job, config_, site_) || !job.runs()) return true;
  if (options_.dry_run) {
    options_.report({{"event", "would"}, {"action", "preempt"}, {"job", job.id}});
    return true;
  }
  const ActionResult result = actor_.requeue(job, until_);
  report_action("preempt", job.id, result, {{"restarts", job.restarts}, {"decision", decision}});
  if (result.outcome == Outcome::kDone || result.outcome == Outcome::kUnknown) {
    in_flight_[job.id] = {pb::PREEMPT, job.restarts, {}, 0, BootClock::now(), decision};
  }
  return result.outcome != Outcome::kForbidden;
}

bool SlurmAgent::start(const pb::Action& action, const SlurmJob& job, ClusterSnapshot& snapshot,
                       const std::string& decision) {
  if (!job.waits()) return true;
  std::vector<std::string> nodes;
  bool free = true, expressible = true;
  int gpus = 0;  // of one task: the same on each node
  std::set<std::string> once;
  for (const pb::Piece& piece : action.pieces()) {
    nodes.push_back(piece.node());
    gpus = static_cast<int>(piece.gpus());
    // Slurm could split the job in another way over nodes with several of its tasks.
    expressible &= piece.tasks() <= 1 && once.insert(piece.node()).second;
    free &= snapshot.free[piece.node()] >= gpus;
  }
  const nlohmann::ordered_json more = {
      {"restarts", job.restarts}, {"nodes", join(nodes, ",")}, {"decision", decision}};
  // GPUs that a job still vacates: the next step asks again.
  if (!free) return true;
  if (!expressible) {
    avoid(job, "several_tasks_a_node");
    return true;
  }
  for (const pb::Piece& piece : action.pieces()) {
    snapshot.free[piece.node()] -= static_cast<int>(piece.gpus());
  }
  if (options_.dry_run) {
    if (!gains_.propose(job, now_s_)) return true;
    nlohmann::ordered_json line = {{"event", "would"}, {"action", "start"}, {"job", job.id}};
    line.update(more);
    options_.report(line);
    return true;
  }
  const ActionResult result = actor_.start(job, nodes, decision, until_);
  report_action("start", job.id, result, more);
  if (result.outcome == Outcome::kDone || result.outcome == Outcome::kUnknown) {
    in_flight_[job.id] = {pb::START, job.restarts, nodes, gpus, BootClock::now(), decision};
  }
  if (result.outcome == Outcome::kRefused) avoid(job, "refused");
  return result.outcome != Outcome::kForbidden;
}

// Returns false if no command may be sent.
bool SlurmAgent::renew_leases(const ClusterSnapshot& snapshot) {
  // A command for a whole record would delay the tasks of it that are about to start.
  std::unordered_set<std::string> split;
  for (const auto& [id, job] : snapshot.jobs) {
    if (in_flight_.contains(id)) split.insert(job->record);
  }
  const auto avoided = jobs_in_backoff();
  std::vector<std::string> due;
  std::unordered_set<std::string> seen;
  for (const SlurmJob* job : snapshot.waiting) {
    if (avoided.contains(job->id)) continue;
    if (job->eligible_s - now_s_ > config_.lease_s / 2) continue;
    const std::string& name = split.contains(job->record) ? job->id : job->record;
    if (seen.insert(name).second) due.push_back(name);
  }
  for (size_t i = 0; i < due.size(); i += kRecordsPerCommand) {
    const std::vector<std::string> some(
        due.begin() + static_cast<std::ptrdiff_t>(i),
        due.begin() + static_cast<std::ptrdiff_t>(std::min(i + kRecordsPerCommand, due.size())));
    const ActionResult result = actor_.renew(some, until_);
    report_action("renew", join(some, ","), result);
    if (result.outcome == Outcome::kForbidden) return false;
  }
  return true;
}

}  // namespace yard::slurm
