#include "tests/reference/cluster_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace yard::reference {
namespace {

constexpr int64_t kPlenty = int64_t{1} << 50;

int64_t mib(double gib) { return std::llround(gib * 1024); }

bool has(const std::vector<int>& list, int what) {
  return std::find(list.begin(), list.end(), what) != list.end();
}

int64_t milli_of(const Resources& r) { return r.gpu_milli > 0 ? r.gpu_milli : 1000; }
int64_t gpu_mem_of(const Resources& r) { return mib(r.gpu_mem_gib); }

// The tenant for which the node is reserved, or -1 if it is open to all.
int owner_of(const ClusterSpec& spec, int node) {
  const int tenant = spec.nodes[static_cast<size_t>(node)].tenant;
  return tenant < 0 || spec.tenants[static_cast<size_t>(tenant)].may_lend ? -1 : tenant;
}

bool same_group(const RoleGroup& a, const RoleGroup& b) {
  return a.count == b.count && a.min_count == b.min_count && a.max_count == b.max_count &&
         a.task == b.task;
}

}  // namespace

int64_t Request::milli() const {
  int64_t sum = 0;
  for (const RoleGroup& g : groups) sum += g.count * (1000 * g.task.gpus + g.task.gpu_milli);
  return sum;
}

bool Request::same_request(const Request& other) const {
  return plain == other.plain && gpus == other.gpus && kind == other.kind &&
         runs_on == other.runs_on && tenant == other.tenant &&
         std::equal(groups.begin(), groups.end(), other.groups.begin(), other.groups.end(),
                    same_group);
}

Request request_of(const Job& job, const ClusterSpec& spec) {
  Request request;
  request.gpus = job.gpus;
  bool any_type = true;
  for (const GpuType& type : spec.types) {
    const auto& wanted = job.gpu_types;
    request.runs_on.push_back(wanted.empty() ||
                              std::find(wanted.begin(), wanted.end(), type.name) != wanted.end());
    any_type = any_type && request.runs_on.back();
  }
  for (size_t t = 0; t < spec.tenants.size(); ++t) {
    if (spec.tenants[t].name == job.tenant) request.tenant = static_cast<int>(t);
  }
  bool any_node = true;
  for (int m = 0; m < static_cast<int>(spec.nodes.size()); ++m) {
    any_node = any_node && owner_of(spec, m) < 0;
  }
  request.groups = job.groups;
  if (job.groups.empty()) {
    request.plain = any_type && any_node;
    RoleGroup one_by_one;
    one_by_one.count = job.gpus;
    one_by_one.task.gpus = 1;
    request.groups = {one_by_one};
  }
  return request;
}

Cluster::Cluster(const ClusterSpec& spec) : spec_(&spec) {
  for (const Node& node : spec.nodes) nodes.emplace_back(static_cast<size_t>(node.gpus));
  hosts.resize(nodes.size());
  closed_until_us.resize(nodes.size(), 0);
}

bool Cluster::down(int node, int gpu) const {
  return nodes[static_cast<size_t>(node)][static_cast<size_t>(gpu)].down_until_us > now_us;
}

bool Cluster::used(int node, int gpu) const {
  for (const Task& task : tasks) {
    if (task.node == node && has(task.gpus, gpu)) return true;
  }
  return false;
}

int Cluster::free_on(int node) const {
  int free = 0;
  const int gpus = static_cast<int>(nodes[static_cast<size_t>(node)].size());
  for (int g = 0; g < gpus; ++g) free += !used(node, g) && !down(node, g);
  return free;
}

int Cluster::idle_and_down() const {
  int sum = 0;
  for (int m = 0; m < static_cast<int>(nodes.size()); ++m) {
    const int gpus = static_cast<int>(nodes[static_cast<size_t>(m)].size());
    for (int g = 0; g < gpus; ++g) sum += !used(m, g) && down(m, g);
  }
  return sum;
}

int Cluster::total() const {
  size_t sum = 0;
  for (const std::vector<Gpu>& gpus : nodes) sum += gpus.size();
  return static_cast<int>(sum);
}

// --- Fit -----------------------------------------------------------------------------------------

struct Cluster::RemainingCapacity {
  struct Part {
    int64_t milli = 1000;
    int64_t mem_mib = 0;
    bool down = false;
    int64_t wait_us = 0;          // until it is vacated
    std::vector<int> kinds = {};  // of other jobs that share it
  };
  int type = 0;
  std::vector<Part> gpus;
  int64_t cpu_milli = 0;
  int64_t mem_mib = 0;
};

Cluster::RemainingCapacity Cluster::remaining_on(int node, int job) const {
  const Node& what = spec_->nodes[static_cast<size_t>(node)];
  const GpuType& type = spec_->types[static_cast<size_t>(what.type)];
  RemainingCapacity left;
  left.type = what.type;
  left.cpu_milli = what.cpus > 0 ? std::llround(1000 * what.cpus * what.cpu_overload) : kPlenty;
  left.mem_mib = what.mem_gib > 0 ? mib(what.mem_gib) : kPlenty;
  for (const Gpu& gpu : nodes[static_cast<size_t>(node)]) {
    left.gpus.push_back({1000, type.mem_gib > 0 ? mib(type.mem_gib) : kPlenty,
                         gpu.down_until_us > now_us,
                         std::max<int64_t>(gpu.vacated_us - now_us, 0)});
  }
  for (const Task& task : tasks) {
    if (task.node != node) continue;
    left.cpu_milli -= task.need.cpu_milli;
    left.mem_mib -= task.need.mem_mib;
    for (const int g : task.gpus) {
      RemainingCapacity::Part& gpu = left.gpus[static_cast<size_t>(g)];
      gpu.milli -= milli_of(task.need);
      gpu.mem_mib -= gpu_mem_of(task.need);
      if (task.job != job && task.kind >= 0) gpu.kinds.push_back(task.kind);
    }
  }
  return left;
}

// Whether the node is up, open to the job, and of a GPU type that the task can use.
bool Cluster::is_eligible(const Request& request, const Resources& need, int node) const {
  if (closed_until_us[static_cast<size_t>(node)] > now_us) return false;
  const int owner = owner_of(*spec_, node);
  if (owner >= 0 && owner != request.tenant) return false;
  if (need.gpus == 0 && need.gpu_milli == 0) return true;
  const auto type = static_cast<size_t>(spec_->nodes[static_cast<size_t>(node)].type);
  const double has_gib = spec_->types[type].mem_gib;
  return request.runs_on[type] && (has_gib == 0 || mib(need.gpu_mem_gib) <= mib(has_gib));
}

// The GPUs that one more task gets, or nothing if it does not fit. A share goes to the fullest GPU
// in use that has room. Whole GPUs are those that are vacated first.
std::optional<std::vector<int>> Cluster::pick(const RemainingCapacity& left, const Resources& need,
                                              int kind) const {
  if (need.cpu_milli > left.cpu_milli || need.mem_mib > left.mem_mib) return {};
  int best = -1;
  for (size_t g = 0; need.gpu_milli > 0 && g < left.gpus.size(); ++g) {
    const RemainingCapacity::Part& gpu = left.gpus[g];
    const bool room = gpu.milli >= need.gpu_milli && gpu.mem_mib >= mib(need.gpu_mem_gib);
    if (gpu.milli == 1000 || gpu.down || !room || conflicts(left.type, gpu.kinds, kind)) continue;
    if (best < 0 || gpu.milli < left.gpus[static_cast<size_t>(best)].milli) {
      best = static_cast<int>(g);
    }
  }
  if (best >= 0) return std::vector<int>{best};
  const int wanted = need.gpu_milli > 0 ? 1 : need.gpus;
  std::vector<int> whole;
  for (size_t g = 0; g < left.gpus.size(); ++g) {
    if (left.gpus[g].milli == 1000 && !left.gpus[g].down) whole.push_back(static_cast<int>(g));
  }
  if (static_cast<int>(whole.size()) < wanted) return {};
  std::stable_sort(whole.begin(), whole.end(), [&](int a, int b) {
    return left.gpus[static_cast<size_t>(a)].wait_us < left.gpus[static_cast<size_t>(b)].wait_us;
  });
  whole.resize(static_cast<size_t>(wanted));
  return whole;
}

// Whether a job of this kind may not share with one of the kinds present.
bool Cluster::conflicts(int type, const std::vector<int>& there, int kind) const {
  return std::any_of(pair_conflicts.begin(), pair_conflicts.end(), [&](const KindConflict& bar) {
    return bar.type == type && ((bar.one == kind && has(there, bar.other)) ||
                                (bar.other == kind && has(there, bar.one)));
  });
}

bool Cluster::take(RemainingCapacity& left, const Resources& need, int kind) const {
  const auto gpus = pick(left, need, kind);
  if (!gpus) return false;
  left.cpu_milli -= need.cpu_milli;
  left.mem_mib -= need.mem_mib;
  for (const int g : *gpus) {
    left.gpus[static_cast<size_t>(g)].milli -= need.gpu_milli > 0 ? need.gpu_milli : 1000;
    left.gpus[static_cast<size_t>(g)].mem_mib -= mib(need.gpu_mem_gib);
  }
  return true;
}

int Cluster::fits(RemainingCapacity& left, const Resources& need, int kind, int most) const {
  int n = 0;
  while (n < most && take(left, need, kind)) ++n;
  return n;
}

// --- Placements ----------------------------------------------------------------------------------

std::optional<std::vector<GroupTasks>> Cluster::place(const Request& request,
                                                      const std::string& placement) const {
  if (request.plain) return place_gpus(request.gpus, placement);
  return place_groups(request, placement == "first-fit", placement == "elastic");
}

// One node if any holds it: the first, or the one with the fewest free GPUs. Else first-fit splits
// it over nodes in order; the others fill the emptiest nodes and put the rest where it leaves
// least. consolidate waits rather than span more nodes than in an empty cluster.
std::optional<std::vector<GroupTasks>> Cluster::place_gpus(int gpus,
                                                           const std::string& placement) const {
  const bool first_fit = placement == "first-fit";
  const int num = static_cast<int>(nodes.size());
  std::vector<int> free;
  for (int m = 0; m < num; ++m) free.push_back(free_on(m));
  const auto free_of = [&](int m) { return free[static_cast<size_t>(m)]; };
  std::vector<GroupTasks> seats;
  const auto take_from = [&](int m, int n) {
    seats.push_back({0, m, n});
    free[static_cast<size_t>(m)] = 0;
  };
  int left = gpus;
  while (left > 0) {
    int tightest = -1, emptiest = -1, first = -1;
    for (int m = 0; m < num; ++m) {
      if (free_of(m) == 0) continue;
      if (first < 0) first = m;
      if (emptiest < 0 || free_of(m) > free_of(emptiest)) emptiest = m;
      const bool whole = free_of(m) >= left;
      const bool better = tightest < 0 || (!first_fit && free_of(m) < free_of(tightest));
      if (whole && better) tightest = m;
    }
    if (first < 0) return {};
    if (tightest >= 0 && !(first_fit && left < gpus)) {
      take_from(tightest, left);
      left = 0;
    } else {
      const int m = first_fit ? first : emptiest;
      const int n = std::min(left, free_of(m));
      take_from(m, n);
      left -= n;
    }
  }
  if (placement == "consolidate") {
    std::vector<int> sizes;
    for (const std::vector<Gpu>& node : nodes) sizes.push_back(static_cast<int>(node.size()));
    std::sort(sizes.rbegin(), sizes.rend());
    size_t least = 0;
    for (int n = 0; n < gpus; ++least) n += sizes[least];
    if (seats.size() > least) return {};
  }
  return seats;
}

// Group by group. first-fit fills nodes in order. Otherwise the next node takes the most remaining
// tasks; ties go to the tightest: fewest whole GPUs left over, then least of shared ones. elastic
// leaves out tasks that do not fit, down to the group's minimum.
std::optional<std::vector<GroupTasks>> Cluster::place_groups(const Request& request, bool first_fit,
                                                             bool elastic) const {
  std::vector<RemainingCapacity> left;
  for (int m = 0; m < static_cast<int>(nodes.size()); ++m) left.push_back(remaining_on(m));
  std::vector<GroupTasks> seats;
  for (int g = 0; g < static_cast<int>(request.groups.size()); ++g) {
    const RoleGroup& group = request.groups[static_cast<size_t>(g)];
    std::vector<int> full;
    for (int open = group.count; open > 0;) {
      GroupTasks best;
      int64_t best_whole = 0, best_shared = 0;
      for (int m = 0; m < static_cast<int>(nodes.size()); ++m) {
        if (has(full, m) || !is_eligible(request, group.task, m)) continue;
        RemainingCapacity trial = left[static_cast<size_t>(m)];
        const int n = fits(trial, group.task, request.kind, open);
        if (n == 0) continue;
        int64_t whole = 0, shared = 0;
        for (const RemainingCapacity::Part& gpu : trial.gpus) {
          if (!gpu.down) (gpu.milli == 1000 ? whole : shared) += gpu.milli;
        }
        const bool tighter = whole < best_whole || (whole == best_whole && shared < best_shared);
        if (n > best.tasks || (n == best.tasks && tighter)) {
          best = {g, m, n};
          best_whole = whole;
          best_shared = shared;
        }
        if (first_fit) break;
      }
      if (best.tasks == 0) {
        const int fewest = group.max_count > 0 ? group.min_count : group.count;
        if (!elastic || group.count - open < fewest) return {};
        break;
      }
      fits(left[static_cast<size_t>(best.node)], group.task, request.kind, best.tasks);
      seats.push_back(best);
      full.push_back(best.node);
      open -= best.tasks;
    }
  }
  return seats;
}

// --- Arrival and departure -----------------------------------------------------------------------

bool Cluster::has_room(const Request& request, const std::vector<GroupTasks>& seats) const {
  std::vector<RemainingCapacity> left;
  for (int m = 0; m < static_cast<int>(nodes.size()); ++m) left.push_back(remaining_on(m));
  for (const GroupTasks& seat : seats) {
    const Resources& need = request.groups[static_cast<size_t>(seat.group)].task;
    RemainingCapacity& there = left[static_cast<size_t>(seat.node)];
    if (fits(there, need, request.kind, seat.tasks) < seat.tasks) return false;
  }
  return true;
}

// Returns when a task can begin there. GPUs that other jobs wait for count as taken.
int64_t Cluster::earliest_start_us(int node, const std::vector<int>& gpus, const Resources& need,
                                   int kind) const {
  const RemainingCapacity left = remaining_on(node);
  const auto leaving = [&](const VacatedCapacity& room, auto what) {
    int64_t sum = 0;
    for (const Resources& r : room.leaving_requests) sum += room.vacated_us > now_us ? what(r) : 0;
    return sum;
  };
  const auto crowded = [&](const VacatedCapacity& room, int64_t has, auto what) {
    return what(need) > 0 && what(need) > has - leaving(room, what);
  };
  int64_t free_us = now_us;
  for (const int g : gpus) {
    const Gpu& gpu = nodes[static_cast<size_t>(node)][static_cast<size_t>(g)];
    const RemainingCapacity::Part& part = left.gpus[static_cast<size_t>(g)];
    const bool full = crowded(gpu, part.milli, milli_of) ||
                      crowded(gpu, part.mem_mib, gpu_mem_of) ||
                      conflicts(left.type, gpu.kinds, kind);
    if (need.gpus > 0 || full) free_us = std::max(free_us, gpu.vacated_us);
  }
  const VacatedCapacity& host = hosts[static_cast<size_t>(node)];
  const bool full =
      crowded(host, left.cpu_milli, [](const Resources& r) { return int64_t{r.cpu_milli}; }) ||
      crowded(host, left.mem_mib, [](const Resources& r) { return r.mem_mib; });
  return full ? std::max(free_us, host.vacated_us) : free_us;
}

int64_t Cluster::occupy(int job, const Request& request, const std::vector<GroupTasks>& seats) {
  int64_t free_us = now_us;
  for (const GroupTasks& seat : seats) {
    const Resources& need = request.groups[static_cast<size_t>(seat.group)].task;
    for (int i = 0; i < seat.tasks; ++i) {
      const std::vector<int> gpus = pick(remaining_on(seat.node, job), need, request.kind).value();
      free_us = std::max(free_us, earliest_start_us(seat.node, gpus, need, request.kind));
      tasks.push_back({job, seat.node, gpus, need, request.kind, seat.group});
    }
  }
  return free_us;
}

int64_t Cluster::occupy_gpus(const std::vector<Task>& those) {
  int64_t free_us = now_us;
  for (const Task& task : those) {
    free_us = std::max(free_us, earliest_start_us(task.node, task.gpus, task.need, task.kind));
    tasks.push_back(task);
  }
  return free_us;
}

// Whole GPUs on which nothing ran leave no trace. A share that leaves at once still counts while
// others are leaving.
void Cluster::vacate(int job, int64_t vacated_us) {
  const auto add = [&](VacatedCapacity& room, const Resources& need, int kind) {
    if (room.vacated_us <= now_us) room.leaving_requests.clear(), room.kinds.clear();
    room.kinds.push_back(kind);
    room.vacated_us = std::max(room.vacated_us, vacated_us);
    room.leaving_requests.push_back(need);
  };
  for (const Task& task : tasks) {
    if (task.job != job) continue;
    for (const int g : task.gpus) {
      if (task.need.gpus > 0 && vacated_us <= now_us) continue;
      add(nodes[static_cast<size_t>(task.node)][static_cast<size_t>(g)], task.need, task.kind);
    }
    if (task.need.cpu_milli > 0 || task.need.mem_mib > 0) {
      add(hosts[static_cast<size_t>(task.node)], task.need, task.kind);
    }
  }
}

void Cluster::leave(int job) {
  std::erase_if(tasks, [job](const Task& task) { return task.job == job; });
}

int Cluster::whole_gpus(int job) const {
  int sum = 0;
  for (const Task& task : tasks) sum += task.job == job ? task.need.gpus : 0;
  return sum;
}

}  // namespace yard::reference
