#include "serving/snapshot/delta.h"

#include <google/protobuf/arena.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "env/base/core/error.h"
#include "serving/snapshot/gang_speed.h"
#include "serving/snapshot/quarantine.h"

namespace yard {
namespace {

constexpr size_t kArenaBlock = size_t{32} << 10;  // bytes

const std::string& name_of(const pb::Node& node) { return node.name(); }
const std::string& id_of(const pb::Job& job) { return job.id(); }

// Lets running jobs run on for a time.
class RunOn {
 public:
  // Requires: the cluster outlives the object.
  RunOn(const pb::DecideRequest& cluster, double seconds)
      : seconds_(std::max(seconds, 0.0)), speeds_(cluster) {}

  void operator()(pb::Job& job) const {
    if (job.state() != pb::RUNNING) return;
    job.set_attained_s(job.attained_s() + seconds_);
    if (job.has_worked_s()) job.set_worked_s(job.worked_s() + seconds_ * rate_of(job));
  }
  void operator()(pb::Node&) const {}

 private:
  // A job progresses with the share of its first group's tasks that it has.
  double rate_of(const pb::Job& job) const {
    double tasks = 0;
    for (const pb::Piece& piece : job.placement()) {
      if (piece.group() == 0) tasks += piece.tasks();
    }
    const double asked = job.groups_size() == 0 ? 0 : job.groups(0).count();
    return speeds_.of(job.model(), job.placement()) * (asked > 0 && tasks > 0 ? tasks / asked : 1);
  }

  double seconds_;
  GangSpeeds speeds_;
};

std::vector<int32_t> own_places(int count) {
  std::vector<int32_t> out(static_cast<size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

// Erases the records for which erases(record) returns true, with their origins. The others keep
// their order.
template <class Records, class Erases>
void erase_records(Records& records, std::vector<int32_t>& origins, const Erases& erases) {
  int kept = 0;
  for (int i = 0; i < records.size(); ++i) {
    if (erases(records[i])) continue;
    if (kept != i) records.SwapElements(kept, i);
    origins[static_cast<size_t>(kept)] = origins[static_cast<size_t>(i)];
    ++kept;
  }
  records.DeleteSubrange(kept, records.size() - kept);
  origins.resize(static_cast<size_t>(kept));
}

// What a delta changes in a list of nodes or jobs. `key_of` returns a name or id; records without
// one are never the same.
template <class Records, class KeyOf>
class RecordChanges {
 public:
  // Throws InputError if the delta has a record twice. Requires: `changes` and `removed` outlive
  // the object.
  RecordChanges(const char* what, const Records& changes,
                const google::protobuf::RepeatedPtrField<std::string>& removed, KeyOf key_of)
      : changes_(changes), key_of_(key_of), removed_(removed.begin(), removed.end()) {
    changed_.reserve(static_cast<size_t>(changes.size()));
    for (const auto& one : changes) {
      const std::string& key = key_of(one);
      if (key.empty() || changed_.emplace(key, &one).second) continue;
      throw InputError(std::string(what) + " '" + shortened(key) + "'", "each once in a delta",
                       "a duplicate");
    }
  }

  // Removes and replaces records, then appends the new ones. Returns the origins of the records.
  std::vector<int32_t> apply_to(Records& records) const {
    std::vector<int32_t> origins = own_places(records.size());
    if (!removed_.empty()) {
      erase_records(records, origins,
                    [this](const auto& one) { return removed_.contains(key_of_(one)); });
    }
    std::unordered_set<std::string_view> replaced;
    for (int i = 0; i < records.size() && !changed_.empty(); ++i) {
      const auto it = changed_.find(key_of_(records[i]));
      if (it == changed_.end()) continue;
      records[i] = *it->second;
      origins[static_cast<size_t>(i)] = kNone;
      replaced.insert(it->first);
    }
    for (const auto& one : changes_) {
      if (replaced.contains(key_of_(one))) continue;
      *records.Add() = one;
      origins.push_back(kNone);
    }
    return origins;
  }

 private:
  const Records& changes_;
  KeyOf key_of_;
  std::unordered_set<std::string_view> removed_;
  std::unordered_map<std::string_view, const typename Records::value_type*> changed_;
};

// Replaces the fields that every request sends anew.
void replace_head(pb::DecideRequest& state, const pb::DecideRequest& delta) {
  state.set_request_id(delta.request_id());
  state.set_model(delta.model());
  state.set_time_s(delta.time_s());
  state.set_cluster(delta.cluster());
  state.set_budget_ms(delta.budget_ms());
  *state.mutable_allowed() = delta.allowed();
  state.set_state_version(delta.state_version());
  delta.has_age_s() ? state.set_age_s(delta.age_s()) : state.clear_age_s();
  delta.has_epoch() ? state.set_epoch(delta.epoch()) : state.clear_epoch();
  delta.has_max_preempted_gpus() ? state.set_max_preempted_gpus(delta.max_preempted_gpus())
                                 : state.clear_max_preempted_gpus();
  delta.has_max_starts() ? state.set_max_starts(delta.max_starts()) : state.clear_max_starts();
  if (delta.gpu_types_size() > 0) *state.mutable_gpu_types() = delta.gpu_types();
  if (delta.tenants_size() > 0) *state.mutable_tenants() = delta.tenants();
  if (delta.has_costs()) *state.mutable_costs() = delta.costs();
}

}  // namespace

DeltaOrigins apply_delta_in_place(pb::DecideRequest& state, const pb::DecideRequest& delta) {
  const RecordChanges nodes("nodes", delta.nodes(), delta.removed_nodes(), name_of);
  const RecordChanges jobs("jobs", delta.jobs(), delta.removed_jobs(), id_of);
  {
    const RunOn run_on(state, delta.time_s() - state.time_s());
    for (pb::Job& job : *state.mutable_jobs()) run_on(job);
  }
  replace_head(state, delta);
  nodes.apply_to(*state.mutable_nodes());
  DeltaOrigins out;
  out.cluster_changed = delta.nodes_size() > 0 || delta.removed_nodes_size() > 0 ||
                        delta.gpu_types_size() > 0 || delta.tenants_size() > 0;
  out.jobs = jobs.apply_to(*state.mutable_jobs());

  auto& finished = *state.mutable_finished();
  out.finished = own_places(finished.size());
  if (delta.removed_jobs_size() > 0) {
    const std::unordered_set<std::string_view> gone(delta.removed_jobs().begin(),
                                                    delta.removed_jobs().end());
    erase_records(finished, out.finished, [&](const pb::FinishedJob& job) {
      return !job.id().empty() && gone.contains(job.id());
    });
  }
  const int kept = std::clamp(kMaxKeptFinished - delta.finished_size(), 0, finished.size());
  out.finished.erase(out.finished.begin(), out.finished.end() - kept);
  finished.DeleteSubrange(0, finished.size() - kept);
  finished.MergeFrom(delta.finished());
  out.finished.resize(static_cast<size_t>(finished.size()), kNone);
  return out;
}

std::shared_ptr<pb::DecideRequest> copy_state(const pb::DecideRequest& state) {
  // Most of the time goes into small allocations, which an arena makes cheap.
  google::protobuf::ArenaOptions blocks;
  blocks.start_block_size = blocks.max_block_size = kArenaBlock;
  const auto arena = std::make_shared<google::protobuf::Arena>(blocks);
  const std::shared_ptr<pb::DecideRequest> out(
      arena, google::protobuf::Arena::CreateMessage<pb::DecideRequest>(arena.get()));
  *out = state;
  return out;
}

std::shared_ptr<pb::DecideRequest> apply_delta(const pb::DecideRequest& base,
                                               const pb::DecideRequest& delta) {
  std::shared_ptr<pb::DecideRequest> out = copy_state(base);
  apply_delta_in_place(*out, delta);
  return out;
}

namespace {

constexpr double kSameSeconds = 5e-7;  // times are read as whole microseconds

void round_alike(const pb::Job& exact, pb::Job& job) {
  if (std::abs(job.attained_s() - exact.attained_s()) < kSameSeconds) {
    job.set_attained_s(exact.attained_s());
  }
  if (job.has_worked_s() && exact.has_worked_s() &&
      std::abs(job.worked_s() - exact.worked_s()) < kSameSeconds) {
    job.set_worked_s(exact.worked_s());
  }
}
void round_alike(const pb::Node&, pb::Node&) {}

// Compares messages by their bytes.
class Comparison {
 public:
  template <class Message>
  bool same(const Message& a, const Message& b) {
    if (a.ByteSizeLong() != b.ByteSizeLong()) return false;
    a.SerializeToString(&a_);
    b.SerializeToString(&b_);
    return a_ == b_;
  }

  template <class Messages>
  bool same_lists(const Messages& a, const Messages& b) {
    return std::ranges::equal(a, b, [this](const auto& x, const auto& y) { return same(x, y); });
  }

 private:
  std::string a_, b_;  // their memory is used again
};

// Writes the delta between two snapshots.
class DeltaWriter {
 public:
  DeltaWriter(const pb::DecideRequest& before, const pb::DecideRequest& after)
      : before_(before), after_(after), run_on_(before, after.time_s() - before.time_s()) {}

  std::optional<pb::DecideRequest> write() {
    write_header();
    const bool expressed = write_lists() &&
                           write_records(before_.nodes(), after_.nodes(), name_of,
                                         *out_.mutable_nodes(), *out_.mutable_removed_nodes()) &&
                           write_records(before_.jobs(), after_.jobs(), id_of, *out_.mutable_jobs(),
                                         *out_.mutable_removed_jobs()) &&
                           write_finished();
    if (!expressed) return std::nullopt;
    return std::move(out_);
  }

 private:
  void write_header() {
    out_.set_request_id(after_.request_id());
    out_.set_model(after_.model());
    out_.set_time_s(after_.time_s());
    out_.set_cluster(after_.cluster());
    out_.set_budget_ms(after_.budget_ms());
    *out_.mutable_allowed() = after_.allowed();
    if (after_.has_age_s()) out_.set_age_s(after_.age_s());
    if (after_.has_epoch()) out_.set_epoch(after_.epoch());
    if (after_.has_max_preempted_gpus()) {
      out_.set_max_preempted_gpus(after_.max_preempted_gpus());
    }
    if (after_.has_max_starts()) out_.set_max_starts(after_.max_starts());
    out_.set_state_version(after_.state_version());
    out_.set_base_version(before_.state_version());
  }

  // An empty list in a delta means an unchanged list.
  template <class List>
  bool write_list(const List& before, const List& after, List& out) {
    if (comparison_.same_lists(before, after)) return true;
    out = after;
    return !after.empty();
  }

  bool write_lists() {
    if (!write_list(before_.gpu_types(), after_.gpu_types(), *out_.mutable_gpu_types()) ||
        !write_list(before_.tenants(), after_.tenants(), *out_.mutable_tenants())) {
      return false;
    }
    if (before_.has_costs() == after_.has_costs() &&
        comparison_.same(before_.costs(), after_.costs())) {
      return true;
    }
    if (after_.has_costs()) *out_.mutable_costs() = after_.costs();
    return after_.has_costs();
  }

  // Lists the records that apply_delta_in_place() has to replace, add and remove. Records in
  // another order than before are removed and added at the end, like new ones.
  template <class Records, class KeyOf>
  bool write_records(const Records& before, const Records& after, KeyOf key_of, Records& changes,
                     google::protobuf::RepeatedPtrField<std::string>& removed) {
    std::unordered_map<std::string_view, int> places;
    places.reserve(static_cast<size_t>(before.size()));
    for (const auto& one : before) {
      const auto place = static_cast<int>(places.size());
      if (key_of(one).empty() || !places.emplace(key_of(one), place).second) return false;
    }
    std::vector<bool> stays(static_cast<size_t>(before.size()), false);
    std::unordered_set<std::string_view> added;
    typename Records::value_type expected;
    int last = -1;
    for (const auto& one : after) {
      const std::string& key = key_of(one);
      const auto it = places.find(key);
      const bool known = it != places.end();
      const bool in_order = known && added.empty() && it->second > last;
      if (!in_order) {
        if (key.empty() || !added.insert(key).second) return false;
        if (known && stays[static_cast<size_t>(it->second)]) return false;
        *changes.Add() = one;
        continue;
      }
      last = it->second;
      stays[static_cast<size_t>(last)] = true;
      expected = before[last];
      run_on_(expected);
      round_alike(one, expected);
      if (!comparison_.same(expected, one)) *changes.Add() = one;
    }
    for (int i = 0; i < before.size(); ++i) {
      if (!stays[static_cast<size_t>(i)]) *removed.Add() = key_of(before[i]);
    }
    return true;
  }

  // The list of finished jobs may lose jobs at its beginning and get others at its end.
  bool write_finished() {
    const auto& before = before_.finished();
    const auto& after = after_.finished();
    const auto begins_after = [&](int dropped) {
      if (before.size() - dropped > after.size()) return false;
      for (int i = dropped; i < before.size(); ++i) {
        if (!comparison_.same(before[i], after[i - dropped])) return false;
      }
      return true;
    };
    int dropped = 0;
    while (!begins_after(dropped)) ++dropped;
    for (int i = before.size() - dropped; i < after.size(); ++i) *out_.add_finished() = after[i];
    const auto& removed = out_.removed_jobs();
    std::unordered_set<std::string_view> gone(removed.begin(), removed.end());
    std::unordered_set<std::string_view> live;
    if (dropped > 0) {
      for (const pb::Job& job : before_.jobs()) live.insert(job.id());
    }
    for (int i = 0; i < dropped; ++i) {
      const std::string& id = before[i].id();
      if (id.empty() || (live.contains(id) && !gone.contains(id))) return false;
      if (gone.insert(id).second) *out_.add_removed_jobs() = id;
    }
    const auto also_goes = [&](const pb::FinishedJob& job) { return gone.contains(job.id()); };
    return after.size() <= kMaxKeptFinished &&
           std::none_of(before.begin() + dropped, before.end(), also_goes);
  }

  const pb::DecideRequest &before_, &after_;
  const RunOn run_on_;
  Comparison comparison_;
  pb::DecideRequest out_;
};

}  // namespace

std::optional<pb::DecideRequest> delta_between(const pb::DecideRequest& before,
                                               const pb::DecideRequest& after) {
  return DeltaWriter(before, after).write();
}

}  // namespace yard
