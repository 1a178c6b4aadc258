#include "env/sim/placement/sizes.h"

#include <set>

#include "env/sim/placement/progressive_filling.h"

namespace yard {
namespace {

using Shares = TaskPlacer::Shares;

constexpr double kAll = 1 + 1e-9;  // sums of shares are not exact

Shares times(const Shares& one, double n) { return {one.gpus * n, one.cpus * n, one.mem * n}; }

// Few nodes: near other tasks, else on the freest node (Optimus, EuroSys 2018, section 4.2).
double few_nodes(const TaskPlacer::CandidateNode& at) {
  return (at.others ? 0 : 3) + at.room.gpus + at.room.cpus;
}

}  // namespace

ClusterShares::ClusterShares(const View& view) : view_(view) {
  const SpecColumns& spec = view.spec();
  gpus_ = view.usable_gpus();
  for (int32_t m = 0; m < spec.num_nodes; ++m) {
    if (spec.node_cpu_milli[m] < kUnlimited)
      cpu_milli_ += static_cast<double>(spec.node_cpu_milli[m]);
    if (spec.node_mem_mib[m] < kUnlimited) mem_mib_ += static_cast<double>(spec.node_mem_mib[m]);
  }
}

Shares ClusterShares::shares_of_task(int32_t slot, int32_t group) const {
  const TaskNeed need = view_.task_need(slot, group);
  const auto part = [](double of, double all) { return all > 0 ? of / all : 0; };
  return {part(need.gpus + need.gpu_milli / double{kWholeGpu}, gpus_),
          part(static_cast<double>(need.cpu_milli), cpu_milli_),
          part(static_cast<double>(need.mem_mib), mem_mib_)};
}

Shares ClusterShares::of(const JobTaskCounts& size) const {
  if (!view_.shaped(size.slot)) return {gpus_ > 0 ? view_.gpus(size.slot) / gpus_ : 0, 0, 0};
  Shares out;
  for (size_t g = 0; g < size.tasks.size(); ++g) {
    out = out + times(shares_of_task(size.slot, static_cast<int32_t>(g)), size.tasks[g]);
  }
  return out;
}

bool ElasticSizes::is_elastic(int32_t slot) const {
  if (!view_.shaped(slot)) return false;
  for (int32_t g = 0; g < view_.num_groups(slot); ++g) {
    if (view_.min_tasks(slot, g) < view_.max_tasks(slot, g)) return true;
  }
  return false;
}

// until_us() of a running job is when its run began, whatever its rate has been since.
bool ElasticSizes::may_resize(int32_t slot) const {
  return view_.phase(slot) == Phase::kRunning &&
         view_.transition_end_us(slot) < time_slot_begin_us() && view_.preemptible(slot) &&
         is_elastic(slot);
}

bool ElasticSizes::fits_in_cluster(const Shares& more) const {
  return ClusterShares::dominant_share(used_ + more) <= kAll;
}

JobTaskCounts ElasticSizes::minimum_size(int32_t slot) const {
  JobTaskCounts out{slot, {}};
  for (int32_t g = 0; view_.shaped(slot) && g < view_.num_groups(slot); ++g) {
    out.tasks.push_back(is_elastic(slot) ? view_.min_tasks(slot, g)
                                         : view_.requested_tasks(slot, g));
  }
  return out;
}

JobTaskCounts ElasticSizes::held_size(int32_t slot) const {
  JobTaskCounts out{slot, {}};
  for (int32_t g = 0; view_.shaped(slot) && g < view_.num_groups(slot); ++g) {
    out.tasks.push_back(view_.held_tasks(slot, g));
  }
  return out;
}

// Jobs that keep their size come first; then the others in order, with their minimum.
ElasticSizes::ElasticSizes(const View& view, int64_t slot_us, const OfferOrder& offers,
                           Draft* trial)
    : view_(view), slot_us_(slot_us), shares_(view) {
  struct Offer {
    double first;
    int32_t serial;
    JobTaskCounts least;
  };
  std::vector<Offer> all;
  const auto offer = [&](int32_t slot) {
    JobTaskCounts size = minimum_size(slot);
    all.push_back({offers.first ? offers.first(size) : 0, view_.serial(slot), std::move(size)});
  };
  for (int32_t slot = view_.queue_head(); slot != kNone; slot = view_.queue_next(slot)) {
    offer(slot);
  }
  std::optional<ProgressiveFilling> filling;
  if (offers.owners) filling.emplace(view_, *offers.owners);
  std::set<int32_t> running;
  for (const int32_t slot : view_.holder_slots()) {
    if (may_resize(slot)) {
      offer(slot);
      running.insert(slot);
      continue;
    }
    const Shares has = shares_.of(held_size(slot));
    used_ = used_ + has;
    if (filling) filling->count(slot, has);
  }
  std::ranges::sort(all, {}, [](const Offer& o) { return std::pair(o.first, o.serial); });
  for (const Offer& o : all) {
    if (filling) filling->add(o.least.slot);
  }
  const size_t before = trial == nullptr ? 0 : trial->mark();
  // In this order, since ties between owners depend on the order in which holders are summed up.
  for (const Offer& o : all) {
    if (trial != nullptr && running.contains(o.least.slot)) trial->preempt(o.least.slot);
  }
  for (Offer& o : all) {
    JobTaskCounts size = filling ? minimum_size(filling->next()) : std::move(o.least);
    const Shares needed = shares_.of(size);
    offered_.push_back(size.slot);
    if (!fits_in_cluster(needed)) continue;
    // A running job keeps what it has if it finds no other place.
    if (trial != nullptr && !start_with_largest_fitting_size(size, *trial) &&
        !running.contains(size.slot))
      continue;
    used_ = used_ + needed;
    if (filling) filling->count(size.slot, needed);
    open_.push_back(std::move(size));
  }
  if (trial != nullptr) trial->undo_to(before);
  std::ranges::sort(open_, {}, [&](const JobTaskCounts& size) { return view_.serial(size.slot); });
}

bool ElasticSizes::may_grow(int32_t index, std::span<const int32_t> groups) const {
  const JobTaskCounts& size = open_[static_cast<size_t>(index)];
  Shares more;
  for (const int32_t g : groups) {
    if (size.tasks[static_cast<size_t>(g)] >= view_.max_tasks(size.slot, g)) return false;
    more = more + shares_.shares_of_task(size.slot, g);
  }
  return fits_in_cluster(more);
}

void ElasticSizes::grow(Grant grant) {
  JobTaskCounts& size = open_[static_cast<size_t>(grant.index)];
  used_ = used_ + shares_.shares_of_task(size.slot, grant.group);
  ++size.tasks[static_cast<size_t>(grant.group)];
}

ElasticSizes::Grant ElasticSizes::best_grant(const TaskGain& gain) const {
  Grant out;
  double most = 0;
  for (int32_t i = 0; i < static_cast<int32_t>(open_.size()); ++i) {
    const JobTaskCounts& size = open_[static_cast<size_t>(i)];
    for (int32_t g = 0; g < static_cast<int32_t>(size.tasks.size()); ++g) {
      if (!may_grow(i, std::span(&g, 1))) continue;
      const double value = gain(size, g);
      if (value > most) out = {i, g}, most = value;
    }
  }
  return out;
}

// With fewer tasks, if not all can be placed.
bool ElasticSizes::start_with_largest_fitting_size(const JobTaskCounts& size, Draft& draft) const {
  const TaskPlacer placer(view_);
  JobTaskCounts less = size;
  for (;;) {
    const int32_t n = placer.place(less.slot, less.tasks, few_nodes, draft.scratch());
    if (n > 0 && draft.start(less.slot, draft.scratch(), n)) return true;
    int32_t largest = kNone;  // the group that can give up most tasks
    for (int32_t g = 0; g < static_cast<int32_t>(less.tasks.size()); ++g) {
      const auto at = static_cast<size_t>(g);
      if (less.tasks[at] <= view_.min_tasks(less.slot, g)) continue;
      if (largest == kNone || less.tasks[at] > less.tasks[static_cast<size_t>(largest)])
        largest = g;
    }
    if (largest == kNone) return false;
    --less.tasks[static_cast<size_t>(largest)];
  }
}

ElasticSizes::PlacementShortfall ElasticSizes::apply(Draft& draft, Places places) {
  std::vector<JobTaskCounts> starts;
  size_t stopped = 0;
  const size_t begun = draft.mark();
  for (const JobTaskCounts& size : open_) {
    if (view_.holds_gpus(size.slot)) {
      if (held_size(size.slot).tasks == size.tasks || !draft.preempt(size.slot)) continue;
      ++stopped;
    }
    starts.push_back(size);
  }
  if (places == Places::kSmallestFirst) {
    std::ranges::stable_sort(starts, {}, [&](const JobTaskCounts& size) {
      return ClusterShares::dominant_share(shares_.of(size));
    });
  }
  size_t started = 0;
  PlacementShortfall missed;
  for (const JobTaskCounts& size : starts) {
    if (!start_with_largest_fitting_size(size, draft)) {
      ++missed.jobs;
      continue;
    }
    ++started;
    const JobTaskCounts has = held_size(size.slot);
    for (size_t g = 0; g < size.tasks.size(); ++g) missed.tasks += size.tasks[g] - has.tasks[g];
  }
  // No job stops for nothing.
  if (stopped > 0 && started == 0) draft.undo_to(begun);
  wake_at_next_slot(draft);
  return missed;
}

void ElasticSizes::wake_at_next_slot(Draft& draft) const {
  const bool again =
      std::ranges::any_of(view_.holder_slots(), [&](int32_t s) { return is_elastic(s); });
  if (again) draft.wake_at(time_slot_begin_us() + slot_us_);
}

void ElasticSizes::size_and_place_jobs(const View& view, int64_t slot_us, const OfferOrder& offers,
                                       const Grow& grow, Draft& draft, Places places) {
  const size_t before = draft.mark();
  for (Draft* trial : {static_cast<Draft*>(nullptr), &draft}) {
    ElasticSizes sizes(view, slot_us, offers, trial);
    grow(sizes);
    const PlacementShortfall missed = sizes.apply(draft, places);
    if (missed.jobs > 0 && trial == nullptr) {
      draft.undo_to(before);
      continue;
    }
    if (missed.tasks == 0 && trial == nullptr) return;
    // Jobs that stopped in this draft wait, too: they are among the offered.
    for (const int32_t slot : sizes.offered_) {
      if (!view.holds_gpus(slot))
        sizes.start_with_largest_fitting_size(sizes.minimum_size(slot), draft);
    }
    return sizes.wake_at_next_slot(draft);
  }
}

ElasticSizes::Grow ElasticSizes::by(const TaskGain& gain) {
  return [gain](ElasticSizes& sizes) {
    for (Grant next = sizes.best_grant(gain); next.index != kNone; next = sizes.best_grant(gain)) {
      sizes.grow(next);
    }
  };
}

ElasticSizes::TaskGain dominant_share_gain(const View& view, const ClusterShares& shares) {
  return [&view, &shares](const JobTaskCounts& size, int32_t group) {
    const auto behind = [&](int32_t g) {
      return static_cast<double>(size.tasks[static_cast<size_t>(g)]) /
             view.requested_tasks(size.slot, g);
    };
    for (int32_t g = 0; g < view.num_groups(size.slot); ++g) {
      const bool grows = size.tasks[static_cast<size_t>(g)] < view.max_tasks(size.slot, g);
      if (grows && behind(g) < behind(group)) return 0.0;
    }
    return 2 - ClusterShares::dominant_share(shares.of(size));
  };
}

}  // namespace yard
