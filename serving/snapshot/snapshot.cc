#include "serving/snapshot/snapshot.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <unordered_set>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/sim/state/free_map.h"
#include "serving/snapshot/cluster_memory.h"
#include "serving/snapshot/features.h"
#include "serving/snapshot/gpu_ledger.h"
#include "serving/snapshot/snapshot_readings.h"

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
  SnapshotReader(const pb::DecideRequest& request, Snapshot& out, SnapshotReadings& readings)
      : request_(request),
        out_(out),
        readings_(readings),
        now_us_(checked_us("request", "time_s", request.time_s())),
        nodes_(nodes_of(request, now_us_, readings)),
        jobs_(nodes_, request.time_s(), now_us_),
        gpus_(request, nodes_) {
    out_.quarantine_ = nodes_.quarantine();
  }

  void read() {
    check_head();
    out_.now_us_ = now_us_;
    rows_.reserve(static_cast<size_t>(request_.finished_size() + request_.jobs_size()));
    read_finished();
    read_jobs();
    make_tables();
    readings_.now_us_ = now_us_;
  }

 private:
  struct Row {
    const Job* job;
    LiveJob live;
    const JobReading* reading;
    int32_t request_index = kNone;
    std::string flaw = {};  // what is invalid about the job; empty: nothing
    bool left_out = false;  // set aside, and holds no GPUs
  };

  // Returns the table of the nodes, which is read if it has to be.
  static const NodeTable& nodes_of(const pb::DecideRequest& request, int64_t now_us,
                                   SnapshotReadings& readings) {
    if (now_us < readings.now_us_) readings = {};
    if (readings.nodes_ == nullptr) readings.nodes_ = std::make_unique<NodeTable>(request);
    return *readings.nodes_;
  }

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

  void read_finished() {
    JobReadings& readings = readings_.finished_;
    readings.resize(static_cast<size_t>(request_.finished_size()));
    for (int i = 0; i < request_.finished_size(); ++i) {
      const pb::FinishedJob& entry = request_.finished(i);
      const JobReading* reading = readings[static_cast<size_t>(i)];
      if (reading == nullptr || !reading->lasts) {
        JobReading& fresh = readings.renew(static_cast<size_t>(i));
        jobs_.read(entry, fresh);
        reading = &fresh;
      }
      if (reading->flaw.empty()) {
        rows_.push_back({.job = &reading->job, .live = reading->live, .reading = reading});
      } else {
        out_.quarantine_.add(pb::Quarantined::FINISHED_JOB,
                             entry.id().empty() ? std::to_string(i) : entry.id(), reading->flaw);
      }
    }
  }

  void read_jobs() {
    JobReadings& readings = readings_.jobs_;
    readings.resize(static_cast<size_t>(request_.jobs_size()));
    check_ids_are_unique();
    const size_t finished = rows_.size();
    bool has_dependencies = false;
    for (int i = 0; i < request_.jobs_size(); ++i) {
      const pb::Job& entry = request_.jobs(i);
      JobReading* reading = readings[static_cast<size_t>(i)];
      const bool lasts = reading != nullptr && reading->lasts && jobs_.update(entry, *reading);
      if (!lasts) {
        reading = &readings.renew(static_cast<size_t>(i));
        jobs_.read(entry, i, *reading);
      }
      has_dependencies |= entry.after_size() > 0;
      rows_.push_back({.job = &reading->job,
                       .live = reading->live,
                       .reading = reading,
                       .request_index = i,
                       .flaw = reading->flaw});
    }
    const std::span<Row> rows(rows_.begin() + static_cast<std::ptrdiff_t>(finished), rows_.end());
    if (has_dependencies) block_dependent_jobs(rows);
    enter_placements(rows);
    for (Row& row : rows) {
      if (row.flaw.empty()) continue;
      const pb::Job& entry = request_.jobs(row.request_index);
      const bool holds = !row.live.parts.empty();
      const bool leaves = entry.state() == pb::STOPPING && entry.placement_size() > 0;
      out_.quarantine_.add(pb::Quarantined::JOB, entry.id(), row.flaw, holds || leaves);
      row.left_out = !holds;
      if (holds) make_holder(row);
    }
  }

  // Deltas keep ids unique.
  void check_ids_are_unique() {
    if (readings_.has_unique_ids_) return;
    absl::flat_hash_set<std::string_view> ids;
    ids.reserve(static_cast<size_t>(request_.jobs_size()));
    for (int i = 0; i < request_.jobs_size(); ++i) {
      const std::string& id = request_.jobs(i).id();
      if (!id.empty() && !ids.insert(id).second) {
        throw InputError(label_of_job(request_, i), "unique ids", "a duplicate");
      }
    }
    readings_.has_unique_ids_ = true;
  }

  // A job depends on the listed jobs of which the request has any.
  void block_dependent_jobs(std::span<Row> rows) {
    std::unordered_set<std::string_view> ids;
    for (const pb::Job& job : request_.jobs()) ids.insert(job.id());
    for (Row& row : rows) {
      if (row.live.phase != Phase::kWaiting) continue;
      Job& job = readings_.jobs_[static_cast<size_t>(row.request_index)]->job;
      for (const std::string& id : request_.jobs(row.request_index).after()) {
        if (!id.empty() && ids.contains(id)) job.after.push_back(id);
      }
      if (!job.after.empty()) row.live.phase = Phase::kBlocked;
    }
  }

  // Enters what jobs hold: GPUs that they name, then others, then those of stopping jobs, on which
  // no job runs.
  void enter_placements(std::span<Row> rows) {
    const auto for_each = [&](bool stopping, const auto& enter) {
      for (Row& row : rows) {
        const pb::Job& entry = request_.jobs(row.request_index);
        if (entry.state() == pb::WAITING && entry.placement_size() == 0) continue;
        if ((entry.state() == pb::STOPPING) == stopping) enter(entry, row);
      }
    };
    for_each(false, [&](const pb::Job&, Row& row) {
      if (row.flaw.empty()) row.flaw = row.reading->placement_flaw;
      gpus_.claim_named_gpus(row.request_index, row.reading->nodes, row.live.parts);
    });
    for (const bool is_odd : {false, true}) {
      for_each(false, [&](const pb::Job& entry, Row& row) {
        LiveJob& live = row.live;
        if (row.flaw.empty() != is_odd) {
          gpus_.claim_unnamed_gpus(row.request_index, row.reading->nodes, is_odd, live.parts);
        }
        live.pinned = out_.bounds_.is_pinned(entry) || !may_preempt_ ||
                      gpus_.uses_failed_gpus(live.parts) ||
                      (pins_all_ && !out_.bounds_.preempts(entry));
      });
    }
    for (const bool named : {true, false}) {
      for_each(true, [&](const pb::Job& entry, Row& row) {
        if (names_gpus(entry) != named) return;
        if (row.flaw.empty()) row.flaw = row.reading->placement_flaw;
        const int64_t until_us = row.flaw.empty() ? row.live.until_us : now_us_ + kOddVacatingUs;
        const std::string more =
            gpus_.add_vacating_gpus(row.request_index, row.reading->nodes, until_us);
        if (row.flaw.empty()) row.flaw = more;
      });
    }
  }

  // Gives the row a job of which only its GPUs are known.
  void make_holder(Row& row) {
    LiveJob& live = row.live;
    int32_t gpus = 0;
    for (const LivePart& part : live.parts) gpus += count_bits(part.mask);
    for (LivePart& part : live.parts) part.group = part.tasks = 0;
    Job& holder = out_.holders_.emplace_back();
    holder.id = row.job->id;
    holder.submit_us = std::clamp<int64_t>(row.job->submit_us, 0, now_us_);
    holder.gpus = gpus;
    holder.user = row.job->user;
    holder.name = row.job->name;
    holder.tenant = row.job->tenant;
    row.job = &holder;
    live = {.phase = Phase::kRunning,
            .since_us = now_us_,
            .started = 1,
            .pinned = true,
            .parts = std::move(live.parts)};
  }

  static bool names_gpus(const pb::Job& job) {
    return std::ranges::any_of(job.placement(),
                               [](const pb::Piece& piece) { return piece.gpu_ids_size() > 0; });
  }

  // Returns the tables of the cluster. Those of an earlier state are used again if they can only be
  // the same: GPUs that are down count as long as a job holds them.
  std::shared_ptr<const ClusterTables> read_cluster() {
    if (readings_.cluster_ != nullptr) return readings_.cluster_;
    const int64_t set_aside = out_.quarantine_.count();
    auto out = std::make_shared<ClusterTables>();
    ClusterSpec& spec = out->cluster;
    spec.tenants = nodes_.tenants().list();
    std::unordered_map<std::string, int32_t> types;
    for (int i = 0; i < request_.gpu_types_size(); ++i) {
      const pb::GpuType& entry = request_.gpu_types(i);
      if (!types.try_emplace(entry.name(), i).second) {
        throw InputError("gpu_types[" + std::to_string(i) + "] '" + shortened(entry.name()) + "'",
                         "unique names", "a duplicate");
      }
      spec.types.push_back(read_gpu_type(entry, out_.quarantine_));
    }
    out->spec_index.assign(static_cast<size_t>(nodes_.size()), kNone);
    spec.nodes.reserve(static_cast<size_t>(nodes_.size()));
    for (int32_t i = 0; i < nodes_.size(); ++i) {
      const int32_t usable = count_bits(gpus_.up_or_held_gpu_mask(i));
      if (usable == 0) continue;
      const auto next = static_cast<int32_t>(spec.types.size());
      if (next == kMaxTypes && !types.contains(request_.nodes(i).gpu_type())) {
        throw InputError("nodes", "at most " + std::to_string(kMaxTypes) + " GPU types", "more");
      }
      const auto [type, fresh] = types.try_emplace(request_.nodes(i).gpu_type(), next);
      if (fresh) spec.types.push_back({.name = type->first});
      out->spec_index[static_cast<size_t>(i)] = static_cast<int32_t>(out->node_of.size());
      out->node_of.push_back(i);
      Node& node = spec.nodes.emplace_back();
      node.name = request_.nodes(i).name();
      node.gpus = usable;
      node.type = type->second;
      if (nodes_[i].has_valid_features) {
        read_node_features(request_.nodes(i), nodes_.tenants(), node);
      }
    }
    out->spec = std::make_unique<SpecTable>(spec);
    if (!nodes_.any_down() && out_.quarantine_.count() == set_aside) readings_.cluster_ = out;
    return out;
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

  void list_vacating_gpus(const std::vector<int32_t>& spec_index) {
    for (int32_t i = 0; i < nodes_.size(); ++i) {
      const int32_t node = spec_index[static_cast<size_t>(i)];
      const GpuTimes* times = node == kNone ? nullptr : gpus_.vacating_until_us(i);
      if (times == nullptr) continue;
      for (uint64_t rest = gpus_.up_or_held_gpu_mask(i); rest != 0; rest &= rest - 1) {
        const int64_t until_us = (*times)[static_cast<size_t>(lowest_set_bit_index(rest))];
        if (until_us <= now_us_) continue;
        out_.vacating_.push_back(
            {{node, gpus_.renumbered_without_gaps(i, rest & -rest)}, until_us});
      }
    }
  }

  void make_tables() {
    out_.tables_ = read_cluster();
    const std::vector<int32_t>& spec_index = out_.tables_->spec_index;
    list_vacating_gpus(spec_index);
    // Rows are large: their numbers are sorted.
    std::vector<size_t> order;
    order.reserve(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (!rows_[i].left_out) order.push_back(i);
    }
    std::ranges::stable_sort(order, {}, [this](size_t i) { return rows_[i].job->submit_us; });
    out_.request_index_.reserve(order.size());
    out_.jobs_.reserve(order.size());
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
      out_.jobs_.push_back(row.job);
    }
    // Finished jobs in the order of their ends, waiting ones in queue order.
    std::ranges::stable_sort(order, [this](size_t i, size_t k) {
      const Row &a = rows_[i], &b = rows_[k];
      const bool a_done = a.live.phase == Phase::kDone, b_done = b.live.phase == Phase::kDone;
      if (a_done != b_done) return a_done;
      if (a_done) return a.live.since_us < b.live.since_us;
      if (a.reading->queue_rank != b.reading->queue_rank) {
        return a.reading->queue_rank < b.reading->queue_rank;
      }
      return a.live.since_us < b.live.since_us;
    });
    out_.live_.reserve(order.size());
    for (const size_t i : order) out_.live_.push_back(std::move(rows_[i].live));
    out_.costs_ = read_costs();
    out_.allows_ = {.preempt = may_preempt_, .move = may_preempt_};
  }

  static constexpr int64_t kOddVacatingUs = 60'000'000;  // of a job that does not say when

  const pb::DecideRequest& request_;
  Snapshot& out_;
  SnapshotReadings& readings_;
  const int64_t now_us_;
  const NodeTable& nodes_;
  JobReader jobs_;
  GpuLedger gpus_;
  bool may_preempt_ = true;
  bool pins_all_ = false;
  std::vector<Row> rows_;  // finished jobs, then those of the request
};

Snapshot::Snapshot(const pb::DecideRequest& request, PreemptionBounds bounds,
                   SnapshotReadings* readings)
    : request_(request),
      bounds_(std::move(bounds)),
      own_readings_(readings == nullptr ? std::make_unique<SnapshotReadings>() : nullptr) {
  SnapshotReader(request, *this, readings == nullptr ? *own_readings_ : *readings).read();
}

Snapshot::~Snapshot() = default;

const ClusterSpec& Snapshot::cluster() const { return tables_->cluster; }

const SpecColumns& Snapshot::spec() const { return tables_->spec->columns(); }

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
      const std::vector<int32_t>& node_of = tables_->node_of;
      if (p.node >= 0 && p.node < static_cast<int32_t>(node_of.size())) {
        piece.set_node(request_.nodes(node_of[static_cast<size_t>(p.node)]).name());
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
  const std::vector<int32_t>& node_of = tables_->node_of;
  std::vector<Piece> out;
  for (const pb::Piece& entry : action.pieces()) {
    const auto named = [&](int32_t n) { return request_.nodes(n).name() == entry.node(); };
    const auto it = std::ranges::find_if(node_of, named);
    if (it == node_of.end()) return {};
    out.push_back({static_cast<int32_t>(it - node_of.begin()), static_cast<int32_t>(entry.gpus()),
                   static_cast<int32_t>(entry.group()), static_cast<int32_t>(entry.tasks())});
  }
  return out;
}

}  // namespace yard
