#include "serving/snapshot/snapshot.h"

#include <algorithm>
#include <unordered_set>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/sim/state/free_map.h"
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
        now_us_(checked_seconds_to_us("request", "time_s", request.time_s())),
        gpus_(request, now_us_) {}

  void read() {
    check_head();
    out_.now_us_ = now_us_;
    table_rows_.reserve(static_cast<size_t>(request_.finished_size() + request_.jobs_size()));
    read_finished();
    read_jobs();
    make_tables();
  }

 private:
  struct Row {
    Job job;  // for the table
    LiveJob live;
    int32_t request_index = kNone;
    int64_t queue_rank = 0;
    int64_t end_us = 0;
  };

  void check_head() const {
    const auto check_count = [](const char* what, int count) {
      if (count > kMaxJobs) {
        throw InputError(what, "at most " + std::to_string(kMaxJobs), std::to_string(count));
      }
    };
    check_count("jobs", request_.jobs_size());
    check_count("finished", request_.finished_size());
    for (const int verb : request_.allowed()) {
      if (verb == pb::START || verb == pb::PREEMPT) continue;
      throw InputError("allowed", "START or PREEMPT", std::to_string(verb));
    }
    if (!allows(pb::START)) throw InputError("allowed", "START in the list", "only PREEMPT");
  }

  bool allows(pb::Verb verb) const {
    return request_.allowed().empty() ||
           std::ranges::find(request_.allowed(), verb) != request_.allowed().end();
  }

  void read_finished() {
    for (int i = 0; i < request_.finished_size(); ++i) {
      const pb::FinishedJob& entry = request_.finished(i);
      const std::string where = "finished[" + std::to_string(i) + "]";
      Row row;
      row.job.gpus = read_gpus(where, entry.gpus());
      row.job.submit_us = read_past(where, "submit_s", entry.submit_s());
      row.job.user = entry.user();
      row.end_us = read_past(where, "end_s", entry.end_s());
      row.live.phase = Phase::kDone;
      row.live.since_us = row.end_us;
      row.live.attained_us = checked_seconds_to_us(where, "run_s", entry.run_s());
      row.live.started = 1;
      table_rows_.push_back(std::move(row));
    }
  }

  void read_jobs() {
    std::unordered_set<std::string_view> ids;
    const int first = static_cast<int>(table_rows_.size());
    for (int i = 0; i < request_.jobs_size(); ++i) {
      const pb::Job& entry = request_.jobs(i);
      const std::string where = where_is(i);
      if (entry.id().empty()) throw InputError(where, "an id", "none");
      if (!ids.insert(entry.id()).second) throw InputError(where, "unique ids", "a duplicate");
      table_rows_.push_back(read_job(where, i));
    }
    // Claims which name their GPUs go first. Stopping jobs then get GPUs on which no job runs.
    for (const auto& [stopping, named] : {std::pair(false, true), std::pair(false, false),
                                          std::pair(true, true), std::pair(true, false)}) {
      for (int i = 0; i < request_.jobs_size(); ++i) {
        const pb::Job& entry = request_.jobs(i);
        if (entry.state() == pb::WAITING || (entry.state() == pb::STOPPING) != stopping) continue;
        if (names_gpus(entry) != named) continue;
        LiveJob& live = table_rows_[static_cast<size_t>(first + i)].live;
        if (stopping) {
          gpus_.vacate(where_is(i), entry, live.until_us);
        } else {
          live.parts = gpus_.hold(where_is(i), entry);
          live.pinned =
              entry.pinned() || !allows(pb::PREEMPT) || gpus_.uses_failed_gpus(live.parts);
        }
      }
    }
  }

  Row read_job(const std::string& where, int i) const {
    const pb::Job& entry = request_.jobs(i);
    Row row;
    row.request_index = i;
    row.queue_rank = entry.queue_rank();
    row.job.gpus = read_gpus(where, entry.gpus());
    row.job.submit_us = read_past(where, "submit_s", entry.submit_s());
    row.job.user = entry.user();
    const int64_t limit_us = checked_seconds_to_us(where, "limit_s", entry.limit_s());
    row.job.limit_us = limit_us > 0 ? limit_us : -1;
    LiveJob& live = row.live;
    live.phase = read_phase(where, entry.state());
    live.attained_us = checked_seconds_to_us(where, "attained_s", entry.attained_s());
    if (live.attained_us > now_us_ - row.job.submit_us) {
      throw InputError(where, "attained_s at most the time since submit_s",
                       shortest(entry.attained_s()));
    }
    live.since_us = live.phase == Phase::kWaiting ? row.job.submit_us : now_us_;
    if (entry.has_since_s()) live.since_us = read_past(where, "since_s", entry.since_s());
    if (live.phase == Phase::kRunning && live.attained_us < now_us_ - live.since_us) {
      throw InputError(where, "attained_s at least the time since since_s",
                       shortest(entry.attained_s()));
    }
    const bool timed = live.phase == Phase::kStarting || live.phase == Phase::kStopping;
    const int64_t until_us = checked_seconds_to_us(where, "until_s", entry.until_s());
    const int64_t saved_us = checked_seconds_to_us(where, "saved_s", entry.saved_s());
    live.until_us = timed ? std::max(until_us, now_us_) : live.since_us;
    live.saved_us = live.phase == Phase::kStopping ? live.until_us : saved_us;
    if (entry.preemptions() > kMaxRestarts || entry.starts() > kMaxRestarts) {
      throw InputError(where, "at most a million starts and preemptions", "more");
    }
    const bool holds = live.phase == Phase::kStarting || live.phase == Phase::kRunning;
    live.preempted = static_cast<int32_t>(entry.preemptions());
    live.started = static_cast<int32_t>(entry.starts());
    if (live.started == 0) live.started = live.preempted + holds;
    if (live.phase == Phase::kWaiting && entry.placement_size() > 0) {
      throw InputError(where, "no placement for a waiting job",
                       "'" + entry.placement(0).node() + "'");
    }
    return row;
  }

  // A job may need more GPUs than are up, and waits. More than are installed is an error.
  int32_t read_gpus(const std::string& where, uint32_t gpus) const {
    if (gpus < 1 || gpus > static_cast<uint32_t>(gpus_.installed_gpus())) {
      throw InputError(
          where,
          "1 to " + std::to_string(gpus_.installed_gpus()) + " GPUs, the size of the cluster",
          std::to_string(gpus));
    }
    return static_cast<int32_t>(gpus);
  }

  int64_t read_past(const std::string& where, const char* what, double seconds) const {
    const int64_t us = checked_seconds_to_us(where, what, seconds);
    if (us <= now_us_) return us;
    throw InputError(where,
                     std::string(what) + " up to time_s (" + shortest(request_.time_s()) + ")",
                     shortest(seconds));
  }

  static Phase read_phase(const std::string& where, pb::JobState state) {
    constexpr std::pair<pb::JobState, Phase> kPhases[] = {{pb::WAITING, Phase::kWaiting},
                                                          {pb::STARTING, Phase::kStarting},
                                                          {pb::RUNNING, Phase::kRunning},
                                                          {pb::STOPPING, Phase::kStopping}};
    for (const auto& [known, phase] : kPhases) {
      if (known == state) return phase;
    }
    throw InputError(where, "state WAITING, STARTING, RUNNING or STOPPING", std::to_string(state));
  }

  static bool names_gpus(const pb::Job& job) {
    return std::ranges::any_of(job.placement(),
                               [](const pb::Piece& piece) { return piece.gpu_ids_size() > 0; });
  }

  std::string where_is(int i) const {
    return "jobs[" + std::to_string(i) + "] '" + request_.jobs(i).id() + "'";
  }

  ClusterSpec read_cluster(std::vector<int32_t>& spec_index) {
    ClusterSpec spec;
    std::unordered_map<std::string, int32_t> types;
    for (int i = 0; i < request_.gpu_types_size(); ++i) {
      const pb::GpuType& entry = request_.gpu_types(i);
      const std::string where = "gpu_types[" + std::to_string(i) + "] '" + entry.name() + "'";
      if (!(entry.speed() >= 1e-3 && entry.speed() <= 1e3)) {
        throw InputError(where, "a speed from 0.001 to 1000", shortest(entry.speed()));
      }
      if (!types.try_emplace(entry.name(), i).second) {
        throw InputError(where, "unique names", "a duplicate");
      }
      spec.types.push_back({.name = entry.name(), .speed = entry.speed()});
    }
    spec_index.assign(static_cast<size_t>(gpus_.num_nodes()), kNone);
    for (int32_t i = 0; i < gpus_.num_nodes(); ++i) {
      const int32_t usable = count_bits(gpus_.usable(i));
      if (usable == 0) continue;
      const auto next = static_cast<int32_t>(spec.types.size());
      const auto [type, fresh] = types.try_emplace(request_.nodes(i).gpu_type(), next);
      if (fresh) spec.types.push_back({.name = type->first});
      spec_index[static_cast<size_t>(i)] = static_cast<int32_t>(out_.node_of_.size());
      out_.node_of_.push_back(i);
      spec.nodes.push_back(
          {.name = request_.nodes(i).name(), .gpus = usable, .type = type->second});
    }
    return spec;
  }

  Costs read_costs() const {
    Costs costs;
    if (!request_.has_costs()) return costs;
    const pb::Costs& entry = request_.costs();
    costs.save_us = checked_seconds_to_us("costs", "save_s", entry.save_s());
    costs.restore_us = checked_seconds_to_us("costs", "restore_s", entry.restore_s());
    costs.restore_large_us =
        checked_seconds_to_us("costs", "restore_large_s", entry.restore_large_s());
    costs.small_gpus = static_cast<int32_t>(std::min<uint32_t>(entry.small_gpus(), 1U << 30));
    return costs;
  }

  void make_tables() {
    std::vector<int32_t> spec_index;
    const ClusterSpec spec = read_cluster(spec_index);
    out_.spec_table_.emplace_back(spec);
    for (int32_t i = 0; i < gpus_.num_nodes(); ++i) {
      const int32_t node = spec_index[static_cast<size_t>(i)];
      for (uint64_t rest = node == kNone ? 0 : gpus_.usable(i); rest != 0; rest &= rest - 1) {
        const int64_t until_us = gpus_.until_us(i)[static_cast<size_t>(lowest_bit(rest))];
        if (until_us <= now_us_) continue;
        out_.vacating_.push_back(
            {{node, gpus_.renumbered_without_gaps(i, rest & -rest)}, until_us});
      }
    }
    std::ranges::stable_sort(table_rows_, {}, [](const Row& row) { return row.job.submit_us; });
    std::vector<Job> jobs;
    jobs.reserve(table_rows_.size());
    for (size_t j = 0; j < table_rows_.size(); ++j) {
      Row& row = table_rows_[j];
      row.live.job = static_cast<int32_t>(j);
      for (LivePart& part : row.live.parts) {
        part.mask = gpus_.renumbered_without_gaps(part.node, part.mask);
        part.node = spec_index[static_cast<size_t>(part.node)];
      }
      out_.request_index_.push_back(row.request_index);
      jobs.push_back(row.job);
    }
    out_.job_table_.emplace_back(jobs, spec);
    // Finished jobs in the order of their ends, waiting ones in queue order.
    std::ranges::stable_sort(table_rows_, [](const Row& a, const Row& b) {
      const bool a_done = a.live.phase == Phase::kDone, b_done = b.live.phase == Phase::kDone;
      if (a_done != b_done) return a_done;
      if (a_done) return a.end_us < b.end_us;
      if (a.queue_rank != b.queue_rank) return a.queue_rank < b.queue_rank;
      return a.live.since_us < b.live.since_us;
    });
    for (Row& row : table_rows_) out_.jobs_.push_back(std::move(row.live));
    out_.fixed_ = {out_.spec_table_[0].columns(), out_.job_table_[0].columns(), read_costs()};
  }

  static constexpr uint32_t kMaxRestarts = 1'000'000;

  const pb::DecideRequest& request_;
  Snapshot& out_;
  const int64_t now_us_;
  GpuLedger gpus_;
  std::vector<Row> table_rows_;
};

Snapshot::Snapshot(const pb::DecideRequest& request) : request_(request) {
  SnapshotReader(request, *this).read();
}

LiveState Snapshot::state() const {
  LiveState live(fixed_, num_jobs(), now_us_);
  for (const LiveJob& job : jobs_) restore_job(fixed_, live.state(), job);
  for (const Vacating& v : vacating_) {
    restore_vacating(fixed_, live.state(), v.part, v.until_us);
  }
  return live;
}

void Snapshot::write(const SimState& state, const Plan& plan, pb::DecideResponse& response) const {
  for (const Edit& edit : plan.edits) {
    pb::Action& action = *response.add_actions();
    if (edit.job.slot >= 0 && edit.job.slot < state.head->high_water) {
      const int32_t entry = request_index(state, edit.job.slot);
      if (entry != kNone) action.set_job(request_.jobs(entry).id());
    }
    action.set_verb(verb_of(edit.verb));
    for (int32_t i = 0; i < edit.num_pieces; ++i) {
      const Piece& p = plan.pieces[static_cast<size_t>(edit.first_piece + i)];
      pb::Piece& piece = *action.add_pieces();
      if (p.node >= 0 && p.node < static_cast<int32_t>(node_of_.size())) {
        piece.set_node(request_.nodes(node_of_[static_cast<size_t>(p.node)]).name());
      }
      piece.set_gpus(static_cast<uint32_t>(p.gpus));
    }
  }
  if (plan.wake_us != kNever) {
    response.set_wake_after_s(static_cast<double>(std::max<int64_t>(plan.wake_us - now_us_, 0)) *
                              1e-6);
  }
}

std::vector<Piece> Snapshot::pieces(const pb::Action& action) const {
  std::vector<Piece> out;
  for (const pb::Piece& entry : action.pieces()) {
    const auto named = [&](int32_t n) { return request_.nodes(n).name() == entry.node(); };
    const auto it = std::ranges::find_if(node_of_, named);
    if (it == node_of_.end()) return {};
    out.push_back(
        {static_cast<int32_t>(it - node_of_.begin()), static_cast<int32_t>(entry.gpus())});
  }
  return out;
}

}  // namespace yard
