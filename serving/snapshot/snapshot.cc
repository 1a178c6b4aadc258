#include "serving/snapshot/snapshot.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <unordered_set>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/sim/state/free_map.h"
#include "serving/snapshot/cluster_memory.h"
#include "serving/snapshot/features.h"
#include "serving/snapshot/gpu_ledger.h"

namespace yard {
namespace {

// A live cluster is never asked to end a job: the guard refuses an action without a verb.
pb::Verb verb_of(Verb verb) {
  return verb == Verb::kStart     ? pb::START
         : verb == Verb::kPreempt ? pb::PREEMPT
                                  : pb::VERB_UNSPECIFIED;
}

}  // namespace

// Reads and checks a request into a snapshot.
class SnapshotReader {
 public:
  SnapshotReader(const pb::DecideRequest& request, Snapshot& out)
      : request_(request),
        out_(out),
        now_us_(checked_us("request", "time_s", request.time_s())),
        left_to_manager_(request),
        tenants_(request),
        gpus_(request, now_us_, tenants_, out.quarantine_) {}

  void read() {
    check_head();
    out_.now_us_ = now_us_;
    jobs_.reserve(static_cast<size_t>(request_.finished_size() + request_.jobs_size()));
    rows_.reserve(jobs_.capacity());
    read_finished();
    read_jobs();
    make_tables();
  }

 private:
  struct Row {
    explicit Row(Job& for_table) : job(for_table) {}

    Job& job;  // element of jobs_, which must not be reallocated
    LiveJob live;
    int32_t request_index = kNone;
    int64_t queue_rank = 0;
    int64_t end_us = 0;
    bool left_out = false;  // set aside, and holds no GPUs
  };

  // A head that is wrong refuses the request.
  static int64_t checked_us(const char* where, const char* what, double seconds) {
    if (const auto us = seconds_to_us(seconds)) return *us;
    throw InputError(std::string(where) + ": " + invalid_seconds_text(what, seconds));
  }

  void check_head() {
    const auto check_count = [](const char* what, int count, int most) {
      if (count > most) {
        throw InputError(what, "at most " + std::to_string(most), std::to_string(count));
      }
    };
    if (request_.has_base_version() || request_.removed_jobs_size() > 0 ||
        request_.removed_nodes_size() > 0) {
      throw InputError("base_version", "a full snapshot", "a delta, without the state it changes");
    }
    check_count("jobs", request_.jobs_size(), kMaxJobs);
    check_count("finished", request_.finished_size(), kMaxJobs);
    check_count("gpu_types", request_.gpu_types_size(), kMaxSnapshotTypes);
    check_count("allowed", request_.allowed_size(), kMaxAllowed);
    bool starts = request_.allowed().empty();
    may_preempt_ = starts;
    for (const int verb : request_.allowed()) {
      if (verb != pb::START && verb != pb::PREEMPT) {
        throw InputError("allowed", "START or PREEMPT", std::to_string(verb));
      }
      starts |= verb == pb::START;
      may_preempt_ |= verb == pb::PREEMPT;
    }
    if (!starts) throw InputError("allowed", "START in the list", "only PREEMPT");
    // With nothing left to preempt, only what an earlier answer preempted may still be.
    pins_all_ = out_.bounds_.max_preempted_gpus(request_) == 0;
    if (!pins_all_) return;
    may_preempt_ &= std::ranges::any_of(
        request_.jobs(), [&](const pb::Job& job) { return out_.bounds_.preempts(job); });
  }

  // ---- fields of a record. Each sets `odd_` if the value makes no sense.

  int64_t us(const char* what, double seconds) {
    const auto read = seconds_to_us(seconds);
    if (!read) odd_ = invalid_seconds_text(what, seconds);
    return read.value_or(0);
  }

  // A time up to now. One that lies a little ahead comes from another clock, and is taken as now.
  int64_t past_us(const char* what, double seconds) {
    const int64_t at_us = us(what, seconds);
    if (at_us > now_us_ + kSkewUs) {
      odd_ = std::string("expected ") + what + " up to time_s (" +
             shortest_text(request_.time_s()) + "), got " + shortest_text(seconds);
    }
    return std::min(at_us, now_us_);
  }

  // Work of whole microseconds is read as it was written.
  double worked_us(double seconds) {
    us("worked_s", seconds);
    const double exact = seconds * 1e6, whole = std::round(exact);
    return std::abs(exact - whole) < 1e-3 ? whole : exact;
  }

  void check_id(const std::string& id) {
    if (id.empty()) odd_ = "expected an id, got none";
    if (id.size() > kMaxIdBytes) odd_ = "expected an id of at most 1024 bytes, got a longer one";
  }

  void read_finished() {
    for (int i = 0; i < request_.finished_size(); ++i) {
      const pb::FinishedJob& entry = request_.finished(i);
      odd_.clear();
      Row row(jobs_.emplace_back());
      // The cluster may have been larger then.
      row.job.gpus = static_cast<int32_t>(
          std::min(entry.gpus(), static_cast<uint32_t>(std::max(1, gpus_.installed_gpus()))));
      if (entry.gpus() == 0) odd_ = "expected GPUs, got 0";
      row.job.id = entry.id();
      row.job.submit_us = past_us("submit_s", entry.submit_s());
      row.job.user = entry.user();
      row.job.name = entry.name();
      row.end_us = past_us("end_s", entry.end_s());
      row.live.phase = Phase::kDone;
      row.live.since_us = row.end_us;
      row.live.attained_us = us("run_s", entry.run_s());
      if (entry.has_worked_s()) row.live.worked_us = worked_us(entry.worked_s());
      row.live.started = 1;
      if (odd_.empty()) {
        rows_.push_back(std::move(row));
      } else {
        jobs_.pop_back();
        out_.quarantine_.add(pb::Quarantined::FINISHED_JOB,
                             entry.id().empty() ? std::to_string(i) : entry.id(), odd_);
      }
    }
  }

  void read_jobs() {
    std::unordered_set<std::string_view> ids;
    ids.reserve(static_cast<size_t>(request_.jobs_size()));
    std::vector<std::string> odd;  // what is odd about each job, or ""
    odd.reserve(static_cast<size_t>(request_.jobs_size()));
    const size_t finished = rows_.size();
    for (int i = 0; i < request_.jobs_size(); ++i) {
      const std::string& id = request_.jobs(i).id();
      if (!id.empty() && !ids.insert(id).second) {
        throw InputError(label_of_job(request_, i), "unique ids", "a duplicate");
      }
      odd_.clear();
      read_job(i, rows_.emplace_back(jobs_.emplace_back()));
      odd.push_back(odd_);
    }
    const std::span<Row> rows(rows_.begin() + static_cast<std::ptrdiff_t>(finished), rows_.end());
    for (int i = 0; i < request_.jobs_size(); ++i) {
      Row& row = rows[static_cast<size_t>(i)];
      if (row.live.phase != Phase::kWaiting) continue;
      for (const std::string& id : request_.jobs(i).after()) {
        if (ids.contains(id)) row.job.after.push_back(id);
      }
      if (!row.job.after.empty()) row.live.phase = Phase::kBlocked;
    }
    enter_placements(rows, odd);
    for (int i = 0; i < request_.jobs_size(); ++i) {
      Row& row = rows[static_cast<size_t>(i)];
      std::string& why = odd[static_cast<size_t>(i)];
      if (!why.empty()) {
        const pb::Job& entry = request_.jobs(i);
        const bool holds = !row.live.parts.empty();
        const bool leaves = entry.state() == pb::STOPPING && entry.placement_size() > 0;
        out_.quarantine_.add(pb::Quarantined::JOB, entry.id(), why, holds || leaves);
        row.left_out = !holds;
        if (holds) make_holder(row);
      }
    }
  }

  // Enters what jobs hold: GPUs that they name, then others, then those of stopping jobs, on which
  // no job runs.
  void enter_placements(std::span<Row> rows, std::vector<std::string>& odd) {
    const auto for_each = [&](bool stopping, const auto& enter) {
      for (int i = 0; i < request_.jobs_size(); ++i) {
        const pb::Job& entry = request_.jobs(i);
        if (entry.state() == pb::WAITING && entry.placement_size() == 0) continue;
        if ((entry.state() == pb::STOPPING) != stopping) continue;
        enter(entry, i, rows[static_cast<size_t>(i)].live, odd[static_cast<size_t>(i)]);
      }
    };
    for_each(false, [&](const pb::Job& entry, int i, LiveJob& live, std::string& why) {
      if (why.empty()) why = gpus_.flaw_of_placement(entry);
      gpus_.claim_named_gpus(i, live.parts);
    });
    for (const bool is_odd : {false, true}) {
      for_each(false, [&](const pb::Job& entry, int i, LiveJob& live, const std::string& why) {
        if (why.empty() != is_odd) gpus_.claim_unnamed_gpus(i, is_odd, live.parts);
        live.pinned = out_.bounds_.is_pinned(entry) || !may_preempt_ ||
                      gpus_.uses_failed_gpus(live.parts) ||
                      (pins_all_ && !out_.bounds_.preempts(entry));
      });
    }
    for (const bool named : {true, false}) {
      for_each(true, [&](const pb::Job& entry, int i, const LiveJob& live, std::string& why) {
        if (names_gpus(entry) != named) return;
        if (why.empty()) why = gpus_.flaw_of_placement(entry);
        const int64_t until_us = why.empty() ? live.until_us : now_us_ + kOddVacatingUs;
        const std::string more = gpus_.add_vacating_gpus(i, until_us);
        if (why.empty()) why = more;
      });
    }
  }

  // Makes a row of a job of which only its GPUs are known.
  void make_holder(Row& row) const {
    LiveJob& live = row.live;
    int32_t gpus = 0;
    for (const LivePart& part : live.parts) gpus += count_bits(part.mask);
    for (LivePart& part : live.parts) part.group = part.tasks = 0;
    Job holder;
    holder.id = row.job.id;
    holder.submit_us = std::clamp<int64_t>(row.job.submit_us, 0, now_us_);
    holder.gpus = gpus;
    holder.user = row.job.user;
    holder.name = row.job.name;
    holder.tenant = row.job.tenant;
    row.job = std::move(holder);
    live = {.phase = Phase::kRunning,
            .since_us = now_us_,
            .started = 1,
            .pinned = true,
            .parts = std::move(live.parts)};
  }

  void read_job(int i, Row& row) {
    const pb::Job& entry = request_.jobs(i);
    row.request_index = i;
    // A job without an id, which is set aside, is another one in every snapshot.
    row.job.id = entry.id().empty() ? "\1" + std::to_string(i) : entry.id();
    row.queue_rank = entry.queue_rank();
    check_id(entry.id());
    // A job may need more GPUs than are up, and waits.
    const auto most = static_cast<uint32_t>(gpus_.installed_gpus());
    if (entry.gpus() < 1 || entry.gpus() > most) {
      odd_ = "expected 1 to " + std::to_string(most) + " GPUs, the size of the cluster, got " +
             std::to_string(entry.gpus());
    }
    row.job.gpus = static_cast<int32_t>(std::min(entry.gpus(), most));
    row.job.submit_us = past_us("submit_s", entry.submit_s());
    row.job.user = entry.user();
    row.job.name = entry.name();
    if (const std::string flaw = read_job_features(entry, row.job); !flaw.empty()) odd_ = flaw;
    if (const std::string why = left_to_manager_.why(entry); !why.empty()) odd_ = why;
    const int64_t limit_us = us("limit_s", entry.limit_s());
    row.job.limit_us = limit_us > 0 ? limit_us : -1;
    LiveJob& live = row.live;
    live.phase = read_phase(entry.state());
    live.since_us = live.phase == Phase::kWaiting ? row.job.submit_us : now_us_;
    if (entry.has_since_s()) live.since_us = past_us("since_s", entry.since_s());
    read_attained(entry, row);
    if (entry.has_worked_s()) live.worked_us = worked_us(entry.worked_s());
    const bool timed = live.phase == Phase::kStarting || live.phase == Phase::kStopping;
    const int64_t until_us = us("until_s", entry.until_s());
    const int64_t saved_us = us("saved_s", entry.saved_s());
    live.until_us = timed ? std::max(until_us, now_us_) : live.since_us;
    live.saved_us = live.phase == Phase::kStopping ? live.until_us : saved_us;
    if (entry.preemptions() > kMaxRestarts || entry.starts() > kMaxRestarts) {
      odd_ = "expected at most a million starts and preemptions, got more";
    }
    const bool holds = live.phase == Phase::kStarting || live.phase == Phase::kRunning;
    live.preempted = static_cast<int32_t>(std::min(entry.preemptions(), kMaxRestarts));
    live.started = static_cast<int32_t>(std::min(entry.starts(), kMaxRestarts));
    if (live.started == 0) live.started = live.preempted + holds;
    if (live.phase == Phase::kWaiting && entry.placement_size() > 0) {
      odd_ = "expected no placement for a waiting job, got '" +
             shortened(entry.placement(0).node()) + "'";
    }
  }

  // A job cannot have run for longer than it has been there. Rounding and two clocks make it seem
  // so.
  void read_attained(const pb::Job& entry, Row& row) {
    LiveJob& live = row.live;
    live.attained_us = us("attained_s", entry.attained_s());
    const int64_t there_us = now_us_ - row.job.submit_us;
    if (live.attained_us > there_us + std::max(kSkewUs, there_us / 100)) {
      odd_ = "expected attained_s of at most the time since submit_s, got " +
             shortest_text(entry.attained_s());
    }
    live.attained_us = std::min(live.attained_us, there_us);
    // It may have been suspended since: then it counts as running for what it attained.
    if (live.phase == Phase::kRunning) {
      live.since_us = std::max(live.since_us, now_us_ - live.attained_us);
    }
  }

  Phase read_phase(pb::JobState state) {
    constexpr std::pair<pb::JobState, Phase> kPhases[] = {{pb::WAITING, Phase::kWaiting},
                                                          {pb::STARTING, Phase::kStarting},
                                                          {pb::RUNNING, Phase::kRunning},
                                                          {pb::STOPPING, Phase::kStopping}};
    for (const auto& [known, phase] : kPhases) {
      if (known == state) return phase;
    }
    odd_ = "expected state WAITING, STARTING, RUNNING or STOPPING, got " + std::to_string(state);
    return Phase::kWaiting;
  }

  static bool names_gpus(const pb::Job& job) {
    return std::ranges::any_of(job.placement(),
                               [](const pb::Piece& piece) { return piece.gpu_ids_size() > 0; });
  }

  ClusterSpec read_cluster(std::vector<int32_t>& spec_index) {
    ClusterSpec spec;
    spec.tenants = tenants_.list();
    std::unordered_map<std::string, int32_t> types;
    for (int i = 0; i < request_.gpu_types_size(); ++i) {
      const pb::GpuType& entry = request_.gpu_types(i);
      if (!types.try_emplace(entry.name(), i).second) {
        throw InputError("gpu_types[" + std::to_string(i) + "] '" + shortened(entry.name()) + "'",
                         "unique names", "a duplicate");
      }
      spec.types.push_back(read_gpu_type(entry, out_.quarantine_));
    }
    spec_index.assign(static_cast<size_t>(gpus_.num_nodes()), kNone);
    for (int32_t i = 0; i < gpus_.num_nodes(); ++i) {
      const int32_t usable = count_bits(gpus_.up_or_held_gpu_mask(i));
      if (usable == 0) continue;
      const auto next = static_cast<int32_t>(spec.types.size());
      if (next == kMaxTypes && !types.contains(request_.nodes(i).gpu_type())) {
        throw InputError("nodes", "at most " + std::to_string(kMaxTypes) + " GPU types", "more");
      }
      const auto [type, fresh] = types.try_emplace(request_.nodes(i).gpu_type(), next);
      if (fresh) spec.types.push_back({.name = type->first});
      spec_index[static_cast<size_t>(i)] = static_cast<int32_t>(out_.node_of_.size());
      out_.node_of_.push_back(i);
      Node& node = spec.nodes.emplace_back();
      node.name = request_.nodes(i).name();
      node.gpus = usable;
      node.type = type->second;
      if (gpus_.has_valid_features(i)) read_node_features(request_.nodes(i), tenants_, node);
    }
    return spec;
  }

  PreemptionCosts read_costs() const {
    PreemptionCosts costs;
    if (!request_.has_costs()) return costs;
    const pb::Costs& entry = request_.costs();
    costs.save_us = checked_us("costs", "save_s", entry.save_s());
    costs.restore_us = checked_us("costs", "restore_s", entry.restore_s());
    costs.restore_large_us = checked_us("costs", "restore_large_s", entry.restore_large_s());
    costs.small_gpus = static_cast<int32_t>(std::min<uint32_t>(entry.small_gpus(), 1U << 30));
    return costs;
  }

  void make_tables() {
    std::vector<int32_t> spec_index;
    out_.cluster_ = read_cluster(spec_index);
    out_.spec_table_.emplace_back(out_.cluster_);
    for (int32_t i = 0; i < gpus_.num_nodes(); ++i) {
      const int32_t node = spec_index[static_cast<size_t>(i)];
      for (uint64_t rest = node == kNone ? 0 : gpus_.up_or_held_gpu_mask(i); rest != 0;
           rest &= rest - 1) {
        const int64_t until_us = gpus_.until_us(i)[static_cast<size_t>(lowest_set_bit_index(rest))];
        if (until_us <= now_us_) continue;
        out_.vacating_.push_back(
            {{node, gpus_.renumbered_without_gaps(i, rest & -rest)}, until_us});
      }
    }
    // Rows are large: their numbers are sorted.
    std::vector<size_t> order;
    order.reserve(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (!rows_[i].left_out) order.push_back(i);
    }
    std::ranges::stable_sort(order, {}, [this](size_t i) { return rows_[i].job.submit_us; });
    out_.request_index_.reserve(order.size());
    for (const size_t i : order) {
      Row& row = rows_[i];
      row.live.job = static_cast<int32_t>(out_.request_index_.size());
      for (LivePart& part : row.live.parts) {
        part.mask = gpus_.renumbered_without_gaps(part.node, part.mask);
        part.node = spec_index[static_cast<size_t>(part.node)];
      }
      // Tasks without GPUs, on a node whose GPUs are all down.
      std::erase_if(row.live.parts, [](const LivePart& part) { return part.node == kNone; });
      out_.request_index_.push_back(row.request_index);
    }
    take_jobs(order);
    // Finished jobs in the order of their ends, waiting ones in queue order.
    std::ranges::stable_sort(order, [this](size_t i, size_t k) {
      const Row &a = rows_[i], &b = rows_[k];
      const bool a_done = a.live.phase == Phase::kDone, b_done = b.live.phase == Phase::kDone;
      if (a_done != b_done) return a_done;
      if (a_done) return a.end_us < b.end_us;
      if (a.queue_rank != b.queue_rank) return a.queue_rank < b.queue_rank;
      return a.live.since_us < b.live.since_us;
    });
    out_.live_.reserve(order.size());
    for (const size_t i : order) out_.live_.push_back(std::move(rows_[i].live));
    out_.costs_ = read_costs();
    out_.allows_ = {.preempt = may_preempt_, .move = may_preempt_};
  }

  // Moves the jobs of these rows to the snapshot, at once if they lie in this order.
  void take_jobs(const std::vector<size_t>& order) {
    if (order.size() == jobs_.size() && std::ranges::is_sorted(order)) {
      out_.jobs_ = std::move(jobs_);
      return;
    }
    out_.jobs_.reserve(order.size());
    for (const size_t i : order) out_.jobs_.push_back(std::move(rows_[i].job));
  }

  static constexpr uint32_t kMaxRestarts = 1'000'000;
  static constexpr int64_t kSkewUs = 2'000'000;          // between two clocks
  static constexpr int64_t kOddVacatingUs = 60'000'000;  // of a job that does not say when

  const pb::DecideRequest& request_;
  Snapshot& out_;
  const int64_t now_us_;
  const JobsLeftToManager left_to_manager_;
  const SnapshotTenants tenants_;
  GpuLedger gpus_;
  bool may_preempt_ = true;
  bool pins_all_ = false;
  std::string odd_;        // what makes no sense in the record being read; "": nothing
  std::vector<Row> rows_;  // finished jobs, then those of the request
  std::vector<Job> jobs_;  // by row
};

Snapshot::Snapshot(const pb::DecideRequest& request, PreemptionBounds bounds)
    : request_(request), bounds_(std::move(bounds)) {
  SnapshotReader(request, *this).read();
}

void Snapshot::write(const SnapshotState& state, const Plan& plan,
                     pb::DecideResponse& response) const {
  for (const Edit& edit : plan.edits) {
    pb::Action& action = *response.add_actions();
    const int32_t slot = edit.job.slot;
    const bool exists = slot >= 0 && slot < state.state().head->high_water;
    const int32_t entry = exists ? state.request_index(slot) : kNone;
    if (entry != kNone) {
      const pb::Job& job = request_.jobs(entry);
      action.set_job(job.id());
      action.set_expected(job.state());
      if (job.has_restart()) action.set_restart(job.restart());
    }
    const bool has_groups = entry != kNone && request_.jobs(entry).groups_size() > 0;
    action.set_verb(verb_of(edit.verb));
    for (int32_t i = 0; i < edit.num_pieces; ++i) {
      const Piece& p = plan.pieces[static_cast<size_t>(edit.first_piece + i)];
      pb::Piece& piece = *action.add_pieces();
      if (p.node >= 0 && p.node < static_cast<int32_t>(node_of_.size())) {
        piece.set_node(request_.nodes(node_of_[static_cast<size_t>(p.node)]).name());
      }
      piece.set_gpus(static_cast<uint32_t>(p.gpus));
      if (!has_groups) continue;
      piece.set_group(static_cast<uint32_t>(p.group));
      piece.set_tasks(static_cast<uint32_t>(p.tasks));
    }
  }
  if (plan.wake_us != kNever) {
    response.set_wake_after_s(static_cast<double>(std::max<int64_t>(plan.wake_us - now_us_, 0)) *
                              1e-6);
  }
}

std::vector<Piece> Snapshot::placement_of(const pb::Action& action) const {
  std::vector<Piece> out;
  for (const pb::Piece& entry : action.pieces()) {
    const auto named = [&](int32_t n) { return request_.nodes(n).name() == entry.node(); };
    const auto it = std::ranges::find_if(node_of_, named);
    if (it == node_of_.end()) return {};
    out.push_back({static_cast<int32_t>(it - node_of_.begin()), static_cast<int32_t>(entry.gpus()),
                   static_cast<int32_t>(entry.group()), static_cast<int32_t>(entry.tasks())});
  }
  return out;
}

}  // namespace yard
