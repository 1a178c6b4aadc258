#include "env/sim/placement/unfit_reason.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "env/base/text/text.h"
#include "env/cluster/parse.h"

namespace yard {
namespace {

constexpr const char* kReason = "no placement on the empty cluster";

std::string counted(int64_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

std::string amount(double number) { return shortest_text(std::round(number * 1000) / 1000); }

std::string gib(double number) { return amount(number) + " GiB"; }
std::string mem_gib(const Resources& need) { return gib(static_cast<double>(need.mem_mib) / 1024); }
std::string cores(const Resources& need) { return amount(need.cpu_milli / 1000.0) + " cores"; }
std::string part(const Resources& need) { return amount(need.gpu_milli / 1000.0) + " of a GPU"; }

bool on_gpu(const Resources& need) { return need.gpus > 0 || need.gpu_milli > 0; }

// Returns " of type h100 or a100"; empty if the job runs on any type.
std::string types_text(const Job& job) {
  return job.gpu_types.empty() ? "" : " of type " + join(job.gpu_types, " or ");
}

// Returns "2 GPUs, 8 cores, 64 GiB of memory".
std::string needs_text(const Resources& need) {
  std::vector<std::string> parts;
  if (need.gpus > 0) parts.push_back(counted(need.gpus, "GPU"));
  if (need.gpu_milli > 0) parts.push_back(part(need));
  if (need.cpu_milli > 0) parts.push_back(cores(need));
  if (need.mem_mib > 0) parts.push_back(mem_gib(need) + " of memory");
  if (need.gpu_mem_gib > 0) parts.push_back(gib(need.gpu_mem_gib) + " of memory on each GPU");
  if (need.nic_gbps > 0) parts.push_back(amount(need.nic_gbps) + " Gbit/s");
  return parts.empty() ? "nothing" : join(parts, ", ");
}

double cores_of(const Node& node) { return node.cpus * node.cpu_overload; }

// Returns how many such tasks an empty node holds. Unspecified resources do not limit it.
int64_t tasks_on(const Node& node, const Resources& need, const ClusterSpec& spec) {
  const GpuType& type = spec.types[static_cast<size_t>(node.type)];
  double most = std::numeric_limits<int32_t>::max();
  if (need.gpus > 0) most = std::min(most, std::floor(1.0 * node.gpus / need.gpus));
  if (need.gpu_milli > 0) {
    const double each = type.shares == Shares::kMilli ? std::floor(1000.0 / need.gpu_milli) : 0;
    most = std::min(most, node.gpus * each);
  }
  if (on_gpu(need) && type.mem_gib > 0 && need.gpu_mem_gib > type.mem_gib) return 0;
  if (need.cpu_milli > 0 && node.cpus > 0) {
    most = std::min(most, std::floor(1000 * cores_of(node) / need.cpu_milli + 1e-9));
  }
  if (need.mem_mib > 0 && node.mem_gib > 0) {
    most =
        std::min(most, std::floor(1024 * node.mem_gib / static_cast<double>(need.mem_mib) + 1e-9));
  }
  return static_cast<int64_t>(most);
}

// Returns the first resource whose need exceeds what any node has; an empty reason if none.
UnusableReason task_unfit(const Job& job, const Resources& need, const ClusterSpec& spec,
                          const std::vector<const Node*>& nodes) {
  const auto most = [&](auto&& of) {
    double out = 0;
    for (const Node* node : nodes) out = std::max(out, static_cast<double>(of(*node)));
    return out;
  };
  const auto too_much = [&](const std::string& has, const std::string& asks) -> UnusableReason {
    return {kReason,
            "at most " + has + " for a task, the most that a node" + types_text(job) + " has",
            asks};
  };
  const double gpus = most([](const Node& n) { return n.gpus; });
  if (need.gpus > gpus) {
    return too_much(counted(static_cast<int64_t>(gpus), "GPU"), std::to_string(need.gpus));
  }
  const auto type_of = [&](const Node& n) -> const GpuType& {
    return spec.types[static_cast<size_t>(n.type)];
  };
  const auto shared = [&](const Node* n) {
    return n->gpus > 0 && type_of(*n).shares == Shares::kMilli;
  };
  if (need.gpu_milli > 0 && std::ranges::none_of(nodes, shared)) {
    return {kReason,
            "whole GPUs, since no node of the cluster shares GPUs (shares: milli in its YAML)",
            part(need)};
  }
  const bool all_say = std::ranges::all_of(
      nodes, [&](const Node* n) { return n->gpus == 0 || type_of(*n).mem_gib > 0; });
  const double gpu_gib = most([&](const Node& n) { return n.gpus > 0 ? type_of(n).mem_gib : 0; });
  if (all_say && on_gpu(need) && need.gpu_mem_gib > gpu_gib) {
    return too_much(gib(gpu_gib) + " of memory on each GPU", gib(need.gpu_mem_gib));
  }
  const bool cores_said = std::ranges::all_of(nodes, [](const Node* n) { return n->cpus > 0; });
  const double most_cores = most(cores_of);
  if (cores_said && need.cpu_milli > 1000 * most_cores + 1e-6) {
    return too_much(amount(most_cores) + " cores", cores(need));
  }
  const bool mem_said = std::ranges::all_of(nodes, [](const Node* n) { return n->mem_gib > 0; });
  const double most_gib = most([](const Node& n) { return n.mem_gib; });
  if (mem_said && static_cast<double>(need.mem_mib) > 1024 * most_gib) {
    return too_much(gib(most_gib) + " of memory", mem_gib(need));
  }
  return {};
}

}  // namespace

bool may_use_node(const Node& node, const std::string& tenant, const ClusterSpec& spec) {
  if (node.tenant < 0) return true;
  const Tenant& owner = spec.tenants[static_cast<size_t>(node.tenant)];
  return owner.may_lend || owner.name == tenant;
}

UnusableReason unfit_types_reason(const Job& job, const ClusterSpec& spec, uint64_t types) {
  if (job.gpus == 0) return {};
  std::vector<int64_t> of_type(spec.types.size(), 0);
  bool any = false;
  int64_t all = 0, most = 0;
  for (const Node& node : spec.nodes) {
    if ((types >> node.type & 1) == 0) continue;
    any = any || node.gpus > 0;
    if (!may_use_node(node, job.tenant, spec)) continue;
    all += node.gpus;
    most = std::max(most, of_type[static_cast<size_t>(node.type)] += node.gpus);
  }
  if (!any) {
    std::vector<std::string> names;
    for (const GpuType& type : spec.types) names.push_back(type.name);
    // NODESxGPUS without a type.
    const bool is_unnamed = names == std::vector<std::string>{kDefaultType};
    const std::string advice =
        is_unnamed ? " (a cluster with named types: 2x4:" + job.gpu_types.front() + ")" : "";
    return {"GPU types that the cluster lacks", "a GPU type of the cluster (" + join(names) + ")",
            join(job.gpu_types) + advice};
  }
  if (!job.gpu_types.empty() && job.gpus > all) {
    return {"more GPUs of its types than there are",
            "at most " + counted(all, "GPU") + types_text(job) + ", all that " +
                (spec.tenants.empty() ? "the cluster has" : "its tenant may use"),
            counted(job.gpus, "GPU") + types_text(job)};
  }
  if (spec.one_type && job.gpus > most) {
    return {kReason,
            "at most " + counted(most, "GPU") + types_text(job) +
                ", all that nodes of one type have (one_type)",
            std::to_string(job.gpus)};
  }
  return {};
}

UnusableReason no_placement_reason(const Job& job, const ClusterSpec& spec, uint64_t types) {
  std::vector<const Node*> on_gpus, all;
  for (const Node& node : spec.nodes) {
    if (!may_use_node(node, job.tenant, spec)) continue;
    all.push_back(&node);
    if (node.gpus > 0 && (types >> node.type & 1) != 0) on_gpus.push_back(&node);
  }
  for (const RoleGroup& group : job.groups) {
    const std::vector<const Node*>& nodes = on_gpu(group.task) ? on_gpus : all;
    if (nodes.empty()) continue;
    UnusableReason why = task_unfit(job, group.task, spec, nodes);
    if (!why.reason.empty()) return why;
    const int64_t count = group.min_count > 0 ? group.min_count : group.count;
    int64_t held = 0;
    for (const Node* node : nodes) held += tasks_on(*node, group.task, spec);
    if (held >= count) continue;
    const bool typed = on_gpu(group.task) && !job.gpu_types.empty();
    return {kReason,
            "at most " + counted(held, "task") + " of " + needs_text(group.task) + ", all that " +
                (typed ? "nodes" + types_text(job) : "the nodes") + " hold",
            std::to_string(count)};
  }
  return {kReason,
          spec.one_type          ? "GPUs that nodes of one type have (one_type)"
          : spec.tenants.empty() ? "tasks that the cluster's nodes can hold together"
                                 : "tasks that the nodes open to its tenant can hold together, "
                                   "within its limit",
          "no placement"};
}

}  // namespace yard
