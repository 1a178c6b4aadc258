#include "env/sim/state/tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_map>

#include "env/base/core/error.h"
#include "env/cluster/topology.h"
#include "env/sim/state/exchange.h"

namespace yard {
namespace {

int64_t mib(double gib) { return std::llround(1024 * gib); }

int64_t bytes_per_s(double gbps) { return std::llround(gbps * 1e9 / 8); }

int32_t fewest(const RoleGroup& g) { return g.max_count > 0 ? g.min_count : g.count; }
int32_t most(const RoleGroup& g) { return g.max_count > 0 ? g.max_count : g.count; }

}  // namespace

SpecTable::SpecTable(const ClusterSpec& spec)
    : slowdowns_(spec.slowdowns), one_type_(spec.one_type) {
  const Topology topology(spec);
  const TopologyColumns& net = topology.columns();
  for (const Node& node : spec.nodes) {
    gpus_.push_back(node.gpus);
    gpu0_.push_back(total_gpus_);
    const auto m = static_cast<int32_t>(rack_.size());
    rack_.push_back(net.rack[m]);
    pod_.push_back(net.pod[m]);
    island_gpus_.push_back(net.island_gpus[m]);
    node_up_.push_back(bytes_per_s(gbps_at(net, m, Tier::kRack)));
    cores_milli_.push_back(node.cpus > 0 ? std::llround(1000 * node.cpus) : kUnlimited);
    overloads_ = overloads_ || (node.cpus > 0 && node.cpu_overload > 1);
    const bool lends = node.tenant < 0 || spec.tenants[static_cast<size_t>(node.tenant)].may_lend;
    owner_.push_back(lends ? kNone : node.tenant);
    speed_.push_back(spec.types[static_cast<size_t>(node.type)].speed);
    type_.push_back(node.type);
    cpu_milli_.push_back(node.cpus > 0 ? std::llround(1000 * node.cpus * node.cpu_overload)
                                       : kUnlimited);
    mem_mib_.push_back(node.mem_gib > 0 ? mib(node.mem_gib) : kUnlimited);
    total_gpus_ += node.gpus;
    max_node_gpus_ = std::max(max_node_gpus_, node.gpus);
  }
  for (int32_t r = 0; r < net.num_racks; ++r) rack_up_.push_back(bytes_per_s(net.rack_up_gbps[r]));
  for (int32_t p = 0; p < net.num_pods; ++p) pod_up_.push_back(bytes_per_s(net.pod_up_gbps[p]));
  for (const Tenant& tenant : spec.tenants) {
    int32_t limit = tenant.limit_gpus > 0 ? tenant.limit_gpus : INT32_MAX;
    if (!tenant.may_borrow) limit = std::min(limit, tenant.quota_gpus);
    tenant_limit_.push_back(limit);
    tenant_quota_.push_back(tenant.quota_gpus);
    tenant_weight_.push_back(tenant.weight);
    tenant_priority_.push_back(tenant.priority);
    tenant_preempts_.push_back(static_cast<uint8_t>(tenant.may_preempt));
  }
  for (const GpuType& type : spec.types) {
    type_shares_.push_back(type.shares == Shares::kMilli);
    type_mem_mib_.push_back(type.mem_gib > 0 ? static_cast<int32_t>(mib(type.mem_gib)) : INT32_MAX);
  }
  nodes_of_size_.resize(static_cast<size_t>(max_node_gpus_) + 1);
  for (const int32_t gpus : gpus_) ++nodes_of_size_[static_cast<size_t>(gpus)];
}

SpecColumns SpecTable::columns() const {
  return {.num_nodes = static_cast<int32_t>(gpus_.size()),
          .total_gpus = total_gpus_,
          .max_node_gpus = max_node_gpus_,
          .node_gpus = gpus_.data(),
          .node_gpu0 = gpu0_.data(),
          .node_speed = speed_.data(),
          .node_rack = rack_.data(),
          .nodes_of_size = nodes_of_size_.data(),
          .num_racks = static_cast<int32_t>(rack_up_.size()),
          .num_pods = static_cast<int32_t>(pod_up_.size()),
          .overloads = overloads_,
          .node_pod = pod_.data(),
          .node_island_gpus = island_gpus_.data(),
          .node_cores_milli = cores_milli_.data(),
          .node_up_bytes = node_up_.data(),
          .rack_up_bytes = rack_up_.data(),
          .pod_up_bytes = pod_up_.data(),
          .node_type = type_.data(),
          .node_cpu_milli = cpu_milli_.data(),
          .node_mem_mib = mem_mib_.data(),
          .num_tenants = static_cast<int32_t>(tenant_limit_.size()),
          .tenant_limit = tenant_limit_.data(),
          .tenant_quota = tenant_quota_.data(),
          .tenant_weight = tenant_weight_.data(),
          .tenant_priority = tenant_priority_.data(),
          .tenant_preempts = tenant_preempts_.data(),
          .node_owner = owner_.data(),
          .type_shares = type_shares_.data(),
          .type_mem_mib = type_mem_mib_.data(),
          .num_types = static_cast<int32_t>(type_shares_.size()),
          .neighbour_weight = slowdowns_.neighbours,
          .shared_exchange = slowdowns_.shared_exchange,
          .one_type = one_type_};
}

uint64_t type_bits(const Job& job, const ClusterSpec& spec) {
  if (job.gpu_types.empty()) return ~uint64_t{0};
  uint64_t bits = 0;
  for (size_t t = 0; t < spec.types.size(); ++t) {
    const auto& wanted = job.gpu_types;
    const bool runs = std::find(wanted.begin(), wanted.end(), spec.types[t].name) != wanted.end();
    if (runs) bits |= uint64_t{1} << t;
  }
  return bits;
}

namespace {

int32_t tenant_index(const Job& job, const ClusterSpec& spec) {
  const auto named = [&](const Tenant& tenant) { return tenant.name == job.tenant; };
  const auto it = std::find_if(spec.tenants.begin(), spec.tenants.end(), named);
  return it == spec.tenants.end() ? kNone : static_cast<int32_t>(it - spec.tenants.begin());
}

}  // namespace

// Adds the job's shape if it is new. Returns its index, or kNone for a plain job.
int32_t JobTable::shape_of(const Job& job, const ClusterSpec& spec, int32_t tenant, int32_t kind) {
  if (!has_reserved_nodes_) tenant = kNone;
  const uint64_t all =
      spec.types.size() >= 64 ? ~uint64_t{0} : (uint64_t{1} << spec.types.size()) - 1;
  // A job that names all types that there are has no restriction.
  const uint64_t types = type_bits(job, spec) & all;
  std::vector<RoleGroup> groups = job.groups;
  if (groups.empty()) {
    if (types == all && !has_reserved_nodes_) return kNone;
    RoleGroup one_by_one;  // split as the scheduler likes
    one_by_one.count = job.gpus;
    one_by_one.task.gpus = 1;
    groups.push_back(one_by_one);
  }
  const auto share = [](const RoleGroup& g) { return g.task.gpu_milli > 0; };
  if (std::none_of(groups.begin(), groups.end(), share)) kind = kNone;
  std::vector<int64_t> key{static_cast<int64_t>(types), tenant, kind};
  for (const RoleGroup& g : groups) {
    key.insert(key.end(), {g.count, fewest(g), most(g), g.task.gpus, g.task.gpu_milli,
                           mib(g.task.gpu_mem_gib), g.task.cpu_milli, g.task.mem_mib});
  }
  const auto [known, fresh] = shapes_.try_emplace(key, static_cast<int32_t>(types_.size()));
  if (!fresh) return known->second;
  types_.push_back(types);
  shape_tenant_.push_back(tenant);
  shape_kind_.push_back(kind);
  int64_t loose = 0;
  for (const RoleGroup& g : groups) {
    tasks_.push_back(g.count);
    min_tasks_.push_back(fewest(g));
    max_tasks_.push_back(most(g));
    task_gpus_.push_back(g.task.gpus);
    task_milli_.push_back(g.task.gpu_milli);
    task_gpu_mem_mib_.push_back(static_cast<int32_t>(mib(g.task.gpu_mem_gib)));
    task_cpu_milli_.push_back(g.task.cpu_milli);
    task_mem_mib_.push_back(g.task.mem_mib);
    if (g.task.gpus == 0) loose += most(g);
  }
  first_group_.push_back(static_cast<int32_t>(tasks_.size()));
  max_groups_ = std::max(max_groups_, static_cast<int32_t>(groups.size()));
  loose_tasks_.push_back(loose);
  return known->second;
}

// Links jobs to those they depend on. Ids that are not among the jobs were cut off with a window
// and count as ended.
void JobTable::link_dependencies(const std::vector<Job>& jobs) {
  const bool any =
      std::any_of(jobs.begin(), jobs.end(), [](const Job& job) { return !job.after.empty(); });
  if (!any) return;
  std::unordered_map<std::string_view, int32_t> index;
  for (size_t j = 0; j < jobs.size(); ++j) index.emplace(jobs[j].id, static_cast<int32_t>(j));
  parent_.assign(jobs.size(), kNone);
  first_after_.push_back(0);
  for (const Job& job : jobs) {
    for (const std::string& id : job.after) {
      const auto found = index.find(id);
      if (found == index.end()) continue;
      after_job_.push_back(found->second);
      int32_t& parent = parent_[static_cast<size_t>(found->second)];
      if (parent == kNone) parent = num_parents_++;
    }
    first_after_.push_back(static_cast<int32_t>(after_job_.size()));
  }
}

void JobTable::add_curves(const std::vector<Job>& jobs) {
  static_assert(CurveColumns::kNoTarget == Job::kNoTarget);
  if (std::all_of(jobs.begin(), jobs.end(), [](const Job& job) { return job.curve.empty(); })) {
    return;
  }
  first_point_.push_back(0);
  for (const Job& job : jobs) {
    for (const CurvePoint& point : job.curve) {
      point_work_us_.push_back(std::round(point.share * static_cast<double>(job.run_us)));
      point_value_.push_back(point.value);
    }
    first_point_.push_back(static_cast<int32_t>(point_value_.size()));
    target_.push_back(job.target);
    enough_.push_back(job.enough);
  }
}

// Columns with only default values stay empty.
void JobTable::add_priorities(const std::vector<Job>& jobs) {
  for (const Job& job : jobs) {
    priority_.push_back(job.priority);
    weight_.push_back(job.weight);
    due_us_.push_back(job.dues.empty() ? kNone : job.submit_us + job.dues[0].within_us);
  }
  const auto all = [](const auto& column, auto default_value) {
    return std::all_of(column.begin(), column.end(),
                       [&](auto one) { return one == default_value; });
  };
  if (all(priority_, int64_t{0})) priority_.clear();
  if (all(weight_, 1.0)) weight_.clear();
  if (all(due_us_, int64_t{kNone})) due_us_.clear();
}

void JobTable::add_model_speeds(const std::vector<Job>& jobs, const ClusterSpec& spec) {
  std::map<std::string, int32_t> rows;
  num_types_ = static_cast<int32_t>(spec.types.size());
  for (const GpuType& type : spec.types) {
    for (const auto& [model, speed] : type.speed_of_model) {
      const auto next = static_cast<int32_t>(rows.size());
      if (!rows.try_emplace(model, next).second) continue;
      for (const GpuType& other : spec.types) model_speed_.push_back(other.speed_on(model));
    }
  }
  if (rows.empty()) return;
  for (const Job& job : jobs) {
    const auto row = rows.find(job.model);
    model_row_.push_back(row == rows.end() ? kNone : row->second);
  }
  const auto plain = [](int32_t row) { return row == kNone; };
  if (std::all_of(model_row_.begin(), model_row_.end(), plain)) model_row_.clear();
}

void JobTable::add_names(const std::vector<Job>& jobs) {
  std::map<std::pair<std::string, std::string>, int32_t> names;
  for (const Job& job : jobs) {
    std::string kind;  // "train-12" and "train-13" are runs of one thing
    for (const char c : job.name) {
      if (c < '0' || c > '9') kind += c;
    }
    const auto next = static_cast<int32_t>(names.size());
    name_.push_back(kind.empty() ? kNone : names.try_emplace({job.user, kind}, next).first->second);
  }
  num_names_ = static_cast<int32_t>(names.size());
  if (num_names_ == 0) name_.clear();
}

void JobTable::add_loose_tasks() {
  std::vector<int64_t> of_jobs;
  for (const int32_t shape : shape_) {
    of_jobs.push_back(shape == kNone ? 0 : loose_tasks_[static_cast<size_t>(shape)]);
  }
  std::sort(of_jobs.rbegin(), of_jobs.rend());
  if (of_jobs.empty() || of_jobs[0] == 0) return;
  loose_task_sums_.push_back(0);
  for (const int64_t tasks : of_jobs) loose_task_sums_.push_back(loose_task_sums_.back() + tasks);
}

JobTable::JobTable(const std::vector<Job>& jobs, const ClusterSpec& spec, PairConflicts conflicts)
    : conflicts_(std::move(conflicts)) {
  std::unordered_map<std::string, int32_t> users;
  std::vector<std::array<int32_t, 3>> requests;  // (N)  whole GPUs of the minimum, shape, tenant
  bool shaped = false, costs_given = false;
  // If nodes are reserved for tenants, a job's tenant determines what it can use.
  has_reserved_nodes_ = std::any_of(spec.nodes.begin(), spec.nodes.end(), [&](const Node& n) {
    return n.tenant >= 0 && !spec.tenants[static_cast<size_t>(n.tenant)].may_lend;
  });
  for (const Job& job : jobs) {
    gpus_.push_back(job.gpus);
    submit_us_.push_back(job.submit_us);
    limit_us_.push_back(job.limit_us < 0 ? kNone : job.limit_us);
    save_us_.push_back(job.save_us < 0 ? kNone : job.save_us);
    restore_us_.push_back(job.restore_us < 0 ? kNone : job.restore_us);
    costs_given = costs_given || job.save_us >= 0 || job.restore_us >= 0;
    const auto next = static_cast<int32_t>(users.size());
    user_.push_back(job.user.empty() ? kNone : users.try_emplace(job.user, next).first->second);
    const int32_t tenant = tenant_index(job, spec);
    tenant_.push_back(tenant);
    const int32_t kind = conflicts_.num_kinds > 0 ? conflicts_.kind[gpus_.size() - 1] : kNone;
    const int32_t shape = shape_of(job, spec, tenant, kind);
    shape_.push_back(shape);
    shaped = shaped || shape != kNone;
    int32_t whole = job.gpus;
    if (shape != kNone) {
      whole = 0;
      for (int32_t r = first_group_[static_cast<size_t>(shape)];
           r < first_group_[static_cast<size_t>(shape) + 1]; ++r) {
        whole += min_tasks_[static_cast<size_t>(r)] * task_gpus_[static_cast<size_t>(r)];
      }
    }
    requests.push_back({whole, shape, tenant});
  }
  if (!shaped) shape_.clear();
  if (!costs_given) save_us_.clear(), restore_us_.clear();
  if (spec.tenants.empty()) tenant_.clear();
  link_dependencies(jobs);
  add_curves(jobs);
  add_priorities(jobs);
  add_names(jobs);
  add_model_speeds(jobs, spec);
  add_loose_tasks();
  num_users_ = static_cast<int32_t>(users.size());
  std::vector<std::array<int32_t, 3>> classes = requests;
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  for (const auto& one : classes) class_gpus_.push_back(one[0]);
  for (const auto& request : requests) {
    const auto at = std::lower_bound(classes.begin(), classes.end(), request);
    size_class_.push_back(static_cast<int32_t>(at - classes.begin()));
  }
}

JobColumns JobTable::columns() const {
  const auto or_null = [](const auto& column) { return column.empty() ? nullptr : column.data(); };
  return {.num_jobs = static_cast<int32_t>(gpus_.size()),
          .num_classes = static_cast<int32_t>(class_gpus_.size()),
          .num_users = num_users_,
          .num_names = num_names_,
          .gpus = gpus_.data(),
          .size_class = size_class_.data(),
          .tenant = tenant_.empty() ? nullptr : tenant_.data(),
          .shape = shape_.empty() ? nullptr : shape_.data(),
          .user = user_.data(),
          .submit_us = submit_us_.data(),
          .limit_us = limit_us_.data(),
          .speed_class = speed_class_.empty() ? nullptr : speed_class_.data(),
          .num_parents = num_parents_,
          .first_after = after_job_.empty() ? nullptr : first_after_.data(),
          .after_job = after_job_.data(),
          .parent = parent_.data(),
          .save_us = save_us_.empty() ? nullptr : save_us_.data(),
          .restore_us = restore_us_.empty() ? nullptr : restore_us_.data(),
          .class_gpus = class_gpus_.data(),
          .priority = or_null(priority_),
          .weight = or_null(weight_),
          .due_us = or_null(due_us_),
          .name = or_null(name_),
          .num_types = num_types_,
          .model_row = or_null(model_row_),
          .model_speed = model_speed_.data(),
          .shapes = {.num_shapes = static_cast<int32_t>(types_.size()),
                     .max_groups = max_groups_,
                     .max_loose_tasks = loose_task_sums_.empty()
                                            ? 0
                                            : static_cast<int32_t>(std::min<int64_t>(
                                                  loose_task_sums_[1], INT32_MAX)),
                     .loose_task_sums = or_null(loose_task_sums_),
                     .first_group = first_group_.data(),
                     .tenant = shape_tenant_.data(),
                     .types = types_.data(),
                     .tasks = tasks_.data(),
                     .min_tasks = min_tasks_.data(),
                     .max_tasks = max_tasks_.data(),
                     .gpus = task_gpus_.data(),
                     .gpu_milli = task_milli_.data(),
                     .gpu_mem_mib = task_gpu_mem_mib_.data(),
                     .cpu_milli = task_cpu_milli_.data(),
                     .mem_mib = task_mem_mib_.data(),
                     .num_kinds = conflicts_.num_kinds,
                     .kind = shape_kind_.data(),
                     .conflicts = conflicts_.conflicts.data()},
          .curves = {.first_point = first_point_.empty() ? nullptr : first_point_.data(),
                     .work_us = point_work_us_.data(),
                     .value = point_value_.data(),
                     .target = target_.data(),
                     .enough = enough_.data()}};
}

StateSizes sizes_for(const SimModel& fixed, int32_t slots) {
  const ShapeColumns& shapes = fixed.jobs.shapes;
  const int32_t most = std::max(slots, 1);
  StateSizes z;
  z.slots = most;
  z.nodes = fixed.spec.num_nodes;
  z.gpus = fixed.spec.total_gpus;
  z.classes = fixed.jobs.num_classes;
  z.max_node_gpus = fixed.spec.max_node_gpus;
  const int64_t loose = shapes.loose_task_sums == nullptr
                            ? 0
                            : shapes.loose_task_sums[std::min(most, fixed.jobs.num_jobs)];
  if (loose > INT32_MAX - z.gpus) {
    throw InputError("jobs in the system at once",
                     "at most " + std::to_string(INT32_MAX - z.gpus) +
                         " tasks without whole GPUs (counts have 32 bits)",
                     std::to_string(loose));
  }
  z.parts = z.gpus + static_cast<int32_t>(loose);
  if (shapes.num_shapes > 0) z.resource_nodes = z.nodes;
  if (shapes.max_loose_tasks > 0) z.shared_gpus = z.gpus;
  if (shapes.num_kinds > 0 && z.shared_gpus > 0) z.conflict_gpus = z.gpus;
  z.tenants = fixed.spec.num_tenants;
  z.parent_words = (fixed.jobs.num_parents + 63) / 64;
  if (fixed.rated) {
    z.rated_slots = z.slots;
    z.links = num_links(fixed.spec);
    if (has_exchange_choice(fixed)) {
      z.choosing_slots = z.slots;
      z.choosing_links = z.links;
    }
  }
  if (fixed.faults) {
    z.fault_slots = z.slots;
    z.fault_nodes = z.nodes;
    z.fault_gpus = z.gpus;
  }
  return z;
}

}  // namespace yard
