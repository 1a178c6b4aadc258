#include "env/sim/state/tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>

#include "env/base/core/error.h"
#include "env/cluster/topology.h"
#include "env/sim/state/exchange.h"
#include "env/sim/state/free_map.h"

namespace yard {
namespace {

int64_t mib(double gib) { return std::llround(1024 * gib); }

int64_t bytes_per_s(double gbps) { return std::llround(gbps * 1e9 / 8); }

int32_t fewest(const RoleGroup& g) { return g.max_count > 0 ? g.min_count : g.count; }
int32_t most(const RoleGroup& g) { return g.max_count > 0 ? g.max_count : g.count; }

// Returns value_of(item), which may be a member pointer, for each item.
auto each(const auto& items, auto value_of) {
  std::vector<std::decay_t<std::invoke_result_t<decltype(value_of), decltype(*items.begin())>>> out;
  out.reserve(items.size());
  for (const auto& item : items) out.push_back(std::invoke(value_of, item));
  return out;
}

auto each_job(std::span<const Job* const> jobs, auto value_of) {
  return each(jobs, [&](const Job* job) { return std::invoke(value_of, *job); });
}

std::vector<const Job*> pointers_to(const std::vector<Job>& jobs) {
  return each(jobs, [](const Job& job) { return &job; });
}

// Returns the column, empty if all its values are `usual`.
template <class T>
std::vector<T> unless_all(std::vector<T> column, std::type_identity_t<T> usual) {
  if (std::ranges::all_of(column, [&](T one) { return one == usual; })) column.clear();
  return column;
}

// Whether the node is only for the jobs of its tenant.
bool is_reserved(const Node& node, const ClusterSpec& spec) {
  return node.tenant >= 0 && !spec.tenants[static_cast<size_t>(node.tenant)].may_lend;
}

}  // namespace

SpecTable::SpecTable(const ClusterSpec& spec) {
  const Topology topology(spec);
  const TopologyColumns& net = topology.columns();
  const auto nodes = [&](auto value_of) { return kept_.keep(each(spec.nodes, value_of)); };
  const auto tenants = [&](auto value_of) { return kept_.keep(each(spec.tenants, value_of)); };
  const auto types = [&](auto value_of) { return kept_.keep(each(spec.types, value_of)); };
  const auto net_nodes = [&](const int32_t* column) {
    return kept_.keep(std::vector<int32_t>(column, column + net.num_nodes));
  };
  const auto uplinks = [&](const double* gbps, int32_t count) {
    return kept_.keep(each(std::span(gbps, static_cast<size_t>(count)), bytes_per_s));
  };
  std::vector<int32_t> gpu0;
  std::vector<double> node_gbps;
  for (int32_t m = 0; m < net.num_nodes; ++m) {
    const Node& node = spec.nodes[static_cast<size_t>(m)];
    gpu0.push_back(columns_.total_gpus);
    node_gbps.push_back(gbps_at(net, m, Tier::kRack));
    columns_.overloads |= node.cpus > 0 && node.cpu_overload > 1;
    columns_.total_gpus += node.gpus;
    columns_.max_node_gpus = std::max(columns_.max_node_gpus, node.gpus);
  }
  std::vector<int32_t> nodes_of_size(static_cast<size_t>(columns_.max_node_gpus) + 1);
  for (const Node& node : spec.nodes) ++nodes_of_size[static_cast<size_t>(node.gpus)];
  columns_.num_nodes = net.num_nodes;
  columns_.node_gpus = nodes(&Node::gpus);
  columns_.node_gpu0 = kept_.keep(std::move(gpu0));
  columns_.node_speed =
      nodes([&](const Node& node) { return spec.types[static_cast<size_t>(node.type)].speed; });
  columns_.node_rack = net_nodes(net.rack);
  columns_.nodes_of_size = kept_.keep(std::move(nodes_of_size));
  columns_.num_racks = net.num_racks;
  columns_.num_pods = net.num_pods;
  columns_.node_pod = net_nodes(net.pod);
  columns_.node_island_gpus = net_nodes(net.island_gpus);
  columns_.node_cores_milli = nodes([](const Node& node) {
    return node.cpus > 0 ? int64_t{std::llround(1000 * node.cpus)} : kUnlimited;
  });
  columns_.node_up_bytes = uplinks(node_gbps.data(), net.num_nodes);
  columns_.rack_up_bytes = uplinks(net.rack_up_gbps, net.num_racks);
  columns_.pod_up_bytes = uplinks(net.pod_up_gbps, net.num_pods);
  columns_.node_type = nodes(&Node::type);
  columns_.node_cpu_milli = nodes([](const Node& node) {
    return node.cpus > 0 ? int64_t{std::llround(1000 * node.cpus * node.cpu_overload)} : kUnlimited;
  });
  columns_.node_mem_mib =
      nodes([](const Node& node) { return node.mem_gib > 0 ? mib(node.mem_gib) : kUnlimited; });
  columns_.num_tenants = static_cast<int32_t>(spec.tenants.size());
  columns_.tenant_limit = tenants([](const Tenant& tenant) {
    const int32_t limit = tenant.limit_gpus > 0 ? tenant.limit_gpus : INT32_MAX;
    return tenant.may_borrow ? limit : std::min(limit, tenant.quota_gpus);
  });
  columns_.tenant_quota = tenants(&Tenant::quota_gpus);
  columns_.tenant_weight = tenants(&Tenant::weight);
  columns_.tenant_priority = tenants(&Tenant::priority);
  columns_.tenant_preempts =
      tenants([](const Tenant& tenant) { return static_cast<uint8_t>(tenant.may_preempt); });
  columns_.node_owner =
      nodes([&](const Node& node) { return is_reserved(node, spec) ? node.tenant : kNone; });
  columns_.type_shares =
      types([](const GpuType& type) { return uint8_t{type.shares == Shares::kMilli}; });
  columns_.type_mem_mib = types([](const GpuType& type) {
    return type.mem_gib > 0 ? static_cast<int32_t>(mib(type.mem_gib)) : INT32_MAX;
  });
  columns_.num_types = static_cast<int32_t>(spec.types.size());
  columns_.neighbour_weight = spec.slowdowns.neighbours;
  columns_.shared_exchange = spec.slowdowns.shared_exchange;
  columns_.one_type = spec.one_type;
}

uint64_t usable_type_bits(const Job& job, const ClusterSpec& spec) {
  if (job.gpu_types.empty()) return ~uint64_t{0};
  uint64_t bits = 0;
  for (size_t t = 0; t < spec.types.size(); ++t) {
    if (std::ranges::count(job.gpu_types, spec.types[t].name) > 0) bits |= uint64_t{1} << t;
  }
  return bits;
}

// The distinct shapes of jobs.
struct JobTable::Shapes {
  explicit Shapes(const ClusterSpec& cluster) : spec(cluster) {}

  // Adds the job's shape if it is new. Returns its index, or kNone for a plain job.
  int32_t add(const Job& job, int32_t job_tenant, int32_t job_kind);

  const ClusterSpec& spec;
  // Then a job's tenant determines what it can use.
  const bool has_reserved_nodes =
      std::ranges::any_of(spec.nodes, [this](const Node& node) { return is_reserved(node, spec); });
  std::vector<RoleGroup> groups;
  std::vector<int32_t> first_group{0}, tenant, kind, whole_gpus;  // whole_gpus: of the minimum
  std::vector<uint64_t> types;
  std::vector<int64_t> loose_tasks;
  int32_t max_groups = 1;

 private:
  std::map<std::vector<int64_t>, int32_t> known_;
};

int32_t JobTable::Shapes::add(const Job& job, int32_t job_tenant, int32_t job_kind) {
  if (!has_reserved_nodes) job_tenant = kNone;
  const uint64_t all = mask_of_low_bits(static_cast<int32_t>(spec.types.size()));
  // A job that names all types that there are has no restriction.
  const uint64_t usable = usable_type_bits(job, spec) & all;
  std::vector<RoleGroup> own = job.groups;
  if (own.empty()) {
    if (usable == all && !has_reserved_nodes) return kNone;
    own.emplace_back().count = job.gpus;  // one by one: split as the scheduler likes
    own[0].task.gpus = 1;
  }
  const auto share = [](const RoleGroup& g) { return g.task.gpu_milli > 0; };
  if (std::ranges::none_of(own, share)) job_kind = kNone;
  std::vector<int64_t> key{static_cast<int64_t>(usable), job_tenant, job_kind};
  for (const RoleGroup& g : own) {
    key.insert(key.end(), {g.count, fewest(g), most(g), g.task.gpus, g.task.gpu_milli,
                           mib(g.task.gpu_mem_gib), g.task.cpu_milli, g.task.mem_mib});
  }
  const auto [known, fresh] = known_.try_emplace(key, static_cast<int32_t>(types.size()));
  if (!fresh) return known->second;
  types.push_back(usable);
  tenant.push_back(job_tenant);
  kind.push_back(job_kind);
  loose_tasks.push_back(0);
  whole_gpus.push_back(0);
  for (const RoleGroup& g : own) {
    if (g.task.gpus == 0) loose_tasks.back() += most(g);
    whole_gpus.back() += fewest(g) * g.task.gpus;
  }
  groups.insert(groups.end(), own.begin(), own.end());
  first_group.push_back(static_cast<int32_t>(groups.size()));
  max_groups = std::max(max_groups, static_cast<int32_t>(own.size()));
  return known->second;
}

void JobTable::set_shapes(Shapes shapes, std::vector<int32_t> shape_of_job) {
  const auto groups = [&](auto value_of) { return kept_.keep(each(shapes.groups, value_of)); };
  ShapeColumns& out = columns_.shapes;
  out.num_shapes = static_cast<int32_t>(shapes.types.size());
  out.max_groups = shapes.max_groups;
  out.tasks = groups(&RoleGroup::count);
  out.min_tasks = groups(fewest);
  out.max_tasks = groups(most);
  out.gpus = groups([](const RoleGroup& g) { return g.task.gpus; });
  out.gpu_milli = groups([](const RoleGroup& g) { return g.task.gpu_milli; });
  out.gpu_mem_mib =
      groups([](const RoleGroup& g) { return static_cast<int32_t>(mib(g.task.gpu_mem_gib)); });
  out.cpu_milli = groups([](const RoleGroup& g) { return int64_t{g.task.cpu_milli}; });
  out.mem_mib = groups([](const RoleGroup& g) { return g.task.mem_mib; });
  std::vector<int64_t> loose = each(shape_of_job, [&](int32_t shape) {
    return shape == kNone ? 0 : shapes.loose_tasks[static_cast<size_t>(shape)];
  });
  std::ranges::sort(loose, std::greater());
  if (!loose.empty() && loose[0] > 0) {
    out.max_loose_tasks = static_cast<int32_t>(std::min<int64_t>(loose[0], INT32_MAX));
    loose.insert(loose.begin(), 0);
    std::partial_sum(loose.begin(), loose.end(), loose.begin());
    out.partial_gpu_task_sums = kept_.keep(std::move(loose));
  }
  out.first_group = kept_.keep(std::move(shapes.first_group));
  out.tenant = kept_.keep(std::move(shapes.tenant));
  out.types = kept_.keep(std::move(shapes.types));
  out.kind = kept_.keep(std::move(shapes.kind));
  columns_.shape = kept_.keep(unless_all(std::move(shape_of_job), kNone));
}

// Links jobs to those they depend on. Ids that are not among the jobs were cut off with a window
// and count as ended.
void JobTable::link_dependencies(std::span<const Job* const> jobs) {
  if (std::ranges::all_of(jobs, [](const Job* job) { return job->after.empty(); })) return;
  std::unordered_map<std::string_view, int32_t> index;
  for (size_t j = 0; j < jobs.size(); ++j) index.emplace(jobs[j]->id, static_cast<int32_t>(j));
  std::vector<int32_t> first_after{0}, after_job, parent(jobs.size(), kNone);
  for (const Job* job : jobs) {
    for (const std::string& id : job->after) {
      const auto found = index.find(id);
      if (found == index.end()) continue;
      after_job.push_back(found->second);
      int32_t& number = parent[static_cast<size_t>(found->second)];
      if (number == kNone) number = columns_.num_parents++;
    }
    first_after.push_back(static_cast<int32_t>(after_job.size()));
  }
  if (after_job.empty()) return;
  columns_.first_after = kept_.keep(std::move(first_after));
  columns_.after_job = kept_.keep(std::move(after_job));
  columns_.parent = kept_.keep(std::move(parent));
}

void JobTable::add_training_curves(std::span<const Job* const> jobs) {
  static_assert(TrainingCurveColumns::kNoTarget == Job::kNoTarget);
  std::vector<int32_t> first_point{0};
  std::vector<double> work_us, value;
  for (const Job* job : jobs) {
    for (const TrainingCurvePoint& point : job->curve) {
      work_us.push_back(std::round(point.share * static_cast<double>(job->run_us)));
      value.push_back(point.value);
    }
    first_point.push_back(static_cast<int32_t>(value.size()));
  }
  if (value.empty()) return;
  columns_.curves = {kept_.keep(std::move(first_point)), kept_.keep(std::move(work_us)),
                     kept_.keep(std::move(value)), kept_.keep(each_job(jobs, &Job::target)),
                     kept_.keep(each_job(jobs, &Job::enough))};
}

void JobTable::add_model_speeds(std::span<const Job* const> jobs, const ClusterSpec& spec) {
  std::map<std::string, int32_t> rows;
  std::vector<double> speeds;
  columns_.num_types = static_cast<int32_t>(spec.types.size());
  for (const GpuType& type : spec.types) {
    for (const auto& [model, speed] : type.speed_of_model) {
      const auto next = static_cast<int32_t>(rows.size());
      if (!rows.try_emplace(model, next).second) continue;
      for (const GpuType& other : spec.types) speeds.push_back(other.speed_on(model));
    }
  }
  columns_.model_speed = kept_.keep(std::move(speeds));
  const auto row_of = [&](const Job& job) {
    const auto row = rows.find(job.model);
    return row == rows.end() ? kNone : row->second;
  };
  columns_.model_row = kept_.keep(unless_all(each_job(jobs, row_of), kNone));
}

void JobTable::add_names(std::span<const Job* const> jobs, JobNames& names) {
  const auto user_of = [&](const Job& job) { return names.user_of(job); };
  const auto name_of = [&](const Job& job) { return names.name_of(job); };
  columns_.user = kept_.keep(each_job(jobs, user_of));
  columns_.name = kept_.keep(unless_all(each_job(jobs, name_of), kNone));
  columns_.num_users = names.num_users();
  columns_.num_job_names = names.num_names();
}

JobTable::JobTable(const std::vector<Job>& jobs, const ClusterSpec& spec,
                   GpuSharingConflicts conflicts, JobNames* names)
    : JobTable(pointers_to(jobs), spec, std::move(conflicts), names) {}

JobTable::JobTable(std::span<const Job* const> jobs, const ClusterSpec& spec,
                   GpuSharingConflicts conflicts, JobNames* names) {
  std::vector<std::array<int32_t, 3>> requests;  // (N)  whole GPUs of the minimum, shape, tenant
  std::vector<int32_t> shape_of_job, tenants;
  Shapes shapes(spec);
  std::unordered_map<std::string_view, int32_t> tenant_index;
  for (const Tenant& tenant : spec.tenants) {
    tenant_index.emplace(tenant.name, static_cast<int32_t>(tenant_index.size()));
  }
  for (const Job* one : jobs) {
    const Job& job = *one;
    const auto known = tenant_index.find(job.tenant);
    const int32_t tenant = known == tenant_index.end() ? kNone : known->second;
    tenants.push_back(tenant);
    const int32_t kind = conflicts.num_kinds > 0 ? conflicts.kind[shape_of_job.size()] : kNone;
    const int32_t shape = shapes.add(job, tenant, kind);
    shape_of_job.push_back(shape);
    requests.push_back(
        {shape == kNone ? job.gpus : shapes.whole_gpus[static_cast<size_t>(shape)], shape, tenant});
  }
  std::vector<std::array<int32_t, 3>> classes = requests;
  std::ranges::sort(classes);
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  const auto column = [&](auto value_of) { return kept_.keep(each_job(jobs, value_of)); };
  const auto given = [&](auto value_of, auto usual) {
    return kept_.keep(unless_all(each_job(jobs, value_of), usual));
  };
  const auto time = [](int64_t Job::*field) {
    return [field](const Job& job) { return job.*field < 0 ? int64_t{kNone} : job.*field; };
  };
  columns_.num_jobs = static_cast<int32_t>(jobs.size());
  columns_.num_classes = static_cast<int32_t>(classes.size());
  columns_.gpus = column(&Job::gpus);
  columns_.request_class = kept_.keep(each(requests, [&](const auto& request) {
    return static_cast<int32_t>(std::ranges::lower_bound(classes, request) - classes.begin());
  }));
  columns_.tenant = kept_.keep(unless_all(std::move(tenants), kNone));
  columns_.submit_us = column(&Job::submit_us);
  columns_.limit_us = column(time(&Job::limit_us));
  columns_.save_us = given(time(&Job::save_us), kNone);
  columns_.restore_us = given(time(&Job::restore_us), kNone);
  columns_.class_gpus = kept_.keep(each(classes, [](const auto& one) { return one[0]; }));
  columns_.priority = given(&Job::priority, 0);
  columns_.weight = given(&Job::weight, 1);
  const auto first_due_us = [](const Job& job) {
    return job.dues.empty() ? int64_t{kNone} : job.submit_us + job.dues[0].within_us;
  };
  columns_.due_us = given(first_due_us, kNone);
  set_shapes(std::move(shapes), std::move(shape_of_job));
  columns_.shapes.num_kinds = conflicts.num_kinds;
  columns_.shapes.conflicts = kept_.keep(std::move(conflicts.conflicts));
  link_dependencies(jobs);
  add_training_curves(jobs);
  JobNames own;
  add_names(jobs, names == nullptr ? own : *names);
  add_model_speeds(jobs, spec);
}

StateSizes sizes_for(const SimModel& fixed, int32_t slots) {
  const ShapeColumns& shapes = fixed.jobs.shapes;
  StateSizes z{.slots = std::max(slots, 1),
               .nodes = fixed.spec.num_nodes,
               .gpus = fixed.spec.total_gpus,
               .classes = fixed.jobs.num_classes,
               .max_node_gpus = fixed.spec.max_node_gpus};
  const int64_t* sums = shapes.partial_gpu_task_sums;
  const int64_t loose = sums == nullptr ? 0 : sums[std::min(z.slots, fixed.jobs.num_jobs)];
  if (loose > INT32_MAX - z.gpus) {
    throw InputError("jobs in the system at once",
                     "at most " + std::to_string(INT32_MAX - z.gpus) +
                         " tasks without whole GPUs (counts have 32 bits)",
                     std::to_string(loose));
  }
  z.parts = z.gpus + static_cast<int32_t>(loose);
  if (shapes.num_shapes > 0) z.resource_nodes = z.nodes;
  if (shapes.max_loose_tasks > 0) z.shared_gpus = z.gpus;
  if (shapes.num_kinds > 0) z.conflict_gpus = z.shared_gpus;
  z.tenants = fixed.spec.num_tenants;
  z.parent_words = (fixed.jobs.num_parents + 63) / 64;
  if (fixed.rated) z.rated_slots = z.slots, z.links = num_links(fixed.spec);
  if (any_job_may_choose_all_reduce(fixed))
    z.choosing_slots = z.rated_slots, z.choosing_links = z.links;
  if (fixed.faults) z.fault_slots = z.slots, z.fault_nodes = z.nodes, z.fault_gpus = z.gpus;
  return z;
}

}  // namespace yard
