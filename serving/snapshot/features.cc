#include "serving/snapshot/features.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <unordered_set>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/sim/state/columns.h"
#include "serving/snapshot/gang_speed.h"
#include "serving/snapshot/gpu_ledger.h"
#include "serving/snapshot/quarantine.h"

namespace yard {
namespace {

constexpr double kMostGib = 1e6;
constexpr double kMostCores = 1e6;
constexpr int kMaxDues = 64;

bool within(double value, double most) { return value >= 0 && value <= most; }  // false: NaN

std::string expected(const std::string& what, const std::string& got) {
  return "expected " + what + ", got " + got;
}

std::string read_group(const pb::TaskGroup& entry, RoleGroup& group) {
  const std::string name = "group '" + shortened(entry.role()) + "'";
  const auto most = static_cast<uint32_t>(kMaxShapeTasks);
  if (entry.count() < 1 || entry.count() > most) {
    return expected("1 to " + std::to_string(most) + " tasks in " + name,
                    std::to_string(entry.count()));
  }
  const uint32_t min_count = entry.has_min_count() ? entry.min_count() : entry.count();
  const uint32_t max_count = entry.has_max_count() ? entry.max_count() : entry.count();
  if (min_count < 1 || min_count > entry.count() || max_count < entry.count() || max_count > most) {
    return expected("min_count <= count <= max_count in " + name,
                    std::to_string(min_count) + ", " + std::to_string(entry.count()) + ", " +
                        std::to_string(max_count));
  }
  const pb::Resources& task = entry.task();
  if (task.gpus() > kMaxNodeGpus) {
    return expected("at most 64 GPUs in a task of " + name, std::to_string(task.gpus()));
  }
  if (task.gpu_milli() > 0) {
    return name + " asks for shares of GPUs, which this server leaves to the manager";
  }
  if (!within(task.gpu_mem_gib(), kMostGib) || task.mem_mib() > 1024 * uint64_t{1'000'000} ||
      task.cpu_milli() > 1'000'000'000) {
    return expected("at most a million cores and GiB in a task of " + name, "more");
  }
  if (!entry.role().empty()) group.role = entry.role();
  group.count = static_cast<int32_t>(entry.count());
  if (min_count != max_count) {
    group.min_count = static_cast<int32_t>(min_count);
    group.max_count = static_cast<int32_t>(max_count);
  }
  group.task = {.gpus = static_cast<int32_t>(task.gpus()),
                .gpu_mem_gib = task.gpu_mem_gib(),
                .cpu_milli = static_cast<int32_t>(task.cpu_milli()),
                .mem_mib = static_cast<int64_t>(task.mem_mib())};
  return "";
}

std::string read_groups(const pb::Job& entry, Job& job) {
  if (entry.groups_size() > kMaxSnapshotGroups) {
    return expected("at most " + std::to_string(kMaxSnapshotGroups) + " groups",
                    std::to_string(entry.groups_size()));
  }
  int64_t gpus = 0, tasks = 0;
  std::unordered_set<std::string_view> roles;
  for (const pb::TaskGroup& group : entry.groups()) {
    if (std::string flaw = read_group(group, job.groups.emplace_back()); !flaw.empty()) return flaw;
    if (!roles.insert(group.role()).second) return expected("roles once each", group.role());
    const RoleGroup& read = job.groups.back();
    gpus += int64_t{read.count} * read.task.gpus;
    tasks += std::max(read.count, read.max_count);
  }
  if (job.groups.empty()) return "";
  if (tasks > kMaxShapeTasks) {
    return expected("at most " + std::to_string(kMaxShapeTasks) + " tasks", std::to_string(tasks));
  }
  if (gpus != entry.gpus()) {
    return expected("gpus to be those of its groups, " + std::to_string(gpus),
                    std::to_string(entry.gpus()));
  }
  return "";
}

std::string read_dues(const pb::Job& entry, Job& job) {
  if (entry.dues_size() > kMaxDues) {
    return expected("at most " + std::to_string(kMaxDues) + " deadlines",
                    std::to_string(entry.dues_size()));
  }
  for (const pb::Due& due : entry.dues()) {
    const auto at_us = seconds_to_us(due.at_s());
    if (!at_us) return invalid_seconds_text("dues.at_s", due.at_s());
    const double value = due.has_value() ? due.value() : 1;
    if (!within(value, 1e9)) return expected("a value from 0 to 1e9", shortest_text(value));
    const Deadline read{*at_us - job.submit_us, value};
    if (!job.dues.empty() &&
        (read.within_us <= job.dues.back().within_us || read.value > job.dues.back().value)) {
      return expected("deadlines by rising time and falling value", shortest_text(due.at_s()));
    }
    job.dues.push_back(read);
  }
  return "";
}

std::string read_training(const pb::Job& entry, Job& job) {
  constexpr uint32_t kMostBatch = 1'000'000'000;
  if (entry.batch_size() > kMostBatch) {
    return expected("a batch_size of at most 1e9", std::to_string(entry.batch_size()));
  }
  for (const double value : {entry.iterations(), entry.done_iterations(), entry.iteration_ms()}) {
    if (!within(value, 1e15)) return expected("iterations from 0 to 1e15", shortest_text(value));
  }
  job.model = entry.model();
  job.batch_size = static_cast<int32_t>(entry.batch_size());
  job.iterations = entry.iterations();
  job.iteration_ms = entry.iteration_ms();
  return "";
}

Preempts read_preempts(const std::string& where, pb::Tenant::Preempts value) {
  constexpr Preempts kAll[] = {Preempts::kNoJobs, Preempts::kBorrowers, Preempts::kLower,
                               Preempts::kAnyJob};
  if (value >= 0 && static_cast<size_t>(value) < std::size(kAll)) return kAll[value];
  throw InputError(where, "may_preempt from 0 to 3", std::to_string(value));
}

}  // namespace

std::string read_job_features(const pb::Job& entry, Job& job) {
  if (std::string flaw = read_groups(entry, job); !flaw.empty()) return flaw;
  if (std::string flaw = read_dues(entry, job); !flaw.empty()) return flaw;
  if (std::string flaw = read_training(entry, job); !flaw.empty()) return flaw;
  if (entry.has_weight() && !within(entry.weight(), 1e9)) {
    return expected("a weight from 0 to 1e9", shortest_text(entry.weight()));
  }
  job.gpu_types.assign(entry.gpu_types().begin(), entry.gpu_types().end());
  job.tenant = entry.tenant();
  job.priority = entry.priority();
  if (entry.has_weight()) job.weight = entry.weight();
  job.array = entry.array();
  return "";
}

JobsLeftToManager::JobsLeftToManager(const pb::DecideRequest& request) {
  for (const pb::Node& node : request.nodes()) {
    restricted_nodes_ += node.partitions_size() > 0;
    const std::unordered_set<std::string_view> names(node.partitions().begin(),
                                                     node.partitions().end());
    for (const std::string_view name : names) ++nodes_of_[name];
  }
}

std::string JobsLeftToManager::why(const pb::Job& entry) const {
  const char* what = nullptr;
  const auto of_partition = nodes_of_.find(entry.partition());
  const int open = of_partition == nodes_of_.end() ? 0 : of_partition->second;
  if (!entry.partition().empty() && open < restricted_nodes_) {
    what = "its partition has only a part of the nodes";
  }
  if (entry.required_nodes_size() > 0 || entry.excluded_nodes_size() > 0) what = "it names nodes";
  if (entry.exclusive()) what = "it shares its nodes with no other job";
  return what == nullptr
             ? ""
             : std::string(what) + ", which no policy of this server heeds: left to the manager";
}

GpuType read_gpu_type(const pb::GpuType& entry, Quarantine& quarantine) {
  GpuType out;
  out.name = entry.name();
  const auto set_aside = [&](const std::string& why) {
    quarantine.add(pb::Quarantined::GPU_TYPE, entry.name(), why);
  };
  if (is_valid_speed(entry.speed())) {
    out.speed = entry.speed();
  } else {
    set_aside(expected("a speed from 0.001 to 1000", shortest_text(entry.speed())) +
              "; it counts as the reference type");
  }
  if (entry.speed_of_model_size() > kMaxModelSpeeds) {
    throw InputError("gpu_types '" + shortened(entry.name()) + "': speed_of_model",
                     "at most " + std::to_string(kMaxModelSpeeds) + " models",
                     std::to_string(entry.speed_of_model_size()));
  }
  for (const pb::ModelSpeed& one : entry.speed_of_model()) {
    if (is_valid_speed(one.speed()) && !one.model().empty()) {
      out.speed_of_model.try_emplace(one.model(), one.speed());
      continue;
    }
    set_aside(
        expected("models with a speed from 0.001 to 1000",
                 "model '" + shortened(one.model()) + "' with " + shortest_text(one.speed())) +
        "; that model has the speed of the type");
  }
  // More memory than any GPU has, or none: not given.
  if (entry.mem_gib() > 0 && entry.mem_gib() <= kMostGib) out.mem_gib = entry.mem_gib();
  if (entry.shares()) out.shares = Shares::kMilli;
  return out;
}

std::string flaw_of_node_features(const pb::Node& entry, const SnapshotTenants& tenants) {
  if (!within(entry.cpus(), kMostCores)) {
    return expected("cpus from 0 to a million", shortest_text(entry.cpus()));
  }
  if (!within(entry.mem_gib(), kMostGib)) {
    return expected("mem_gib from 0 to a million", shortest_text(entry.mem_gib()));
  }
  const bool overloads = entry.has_cpu_overload();
  if (overloads && !(entry.cpu_overload() >= 1 && entry.cpu_overload() <= 1000)) {
    return expected("a cpu_overload from 1 to 1000", shortest_text(entry.cpu_overload()));
  }
  if (!entry.tenant().empty() && tenants.find(entry.tenant()) == kNoTenant) {
    return expected("a tenant that `tenants` lists", "'" + shortened(entry.tenant()) + "'");
  }
  return "";
}

void read_node_features(const pb::Node& entry, const SnapshotTenants& tenants, Node& node) {
  static constexpr auto kMost = static_cast<uint32_t>(std::numeric_limits<int32_t>::max());
  const auto number = [](uint32_t value) { return static_cast<int32_t>(std::min(value, kMost)); };
  node.cpus = entry.cpus();
  node.mem_gib = entry.mem_gib();
  node.rack = number(entry.rack());
  node.pod = number(entry.pod());
  node.zone = number(entry.zone());
  node.spot = entry.spot();
  if (entry.has_cpu_overload()) node.cpu_overload = entry.cpu_overload();
  node.tenant = tenants.find(entry.tenant());
}

int32_t SnapshotTenants::find(std::string_view name) const {
  const auto it = index_.find(name);
  return it == index_.end() ? kNoTenant : it->second;
}

SnapshotTenants::SnapshotTenants(const pb::DecideRequest& request) {
  if (request.tenants_size() > kMaxSnapshotTenants) {
    throw InputError("tenants", "at most " + std::to_string(kMaxSnapshotTenants),
                     std::to_string(request.tenants_size()));
  }
  static constexpr auto kMost = static_cast<uint32_t>(std::numeric_limits<int32_t>::max());
  const auto gpus = [](uint32_t value) { return static_cast<int32_t>(std::min(value, kMost)); };
  for (int i = 0; i < request.tenants_size(); ++i) {
    const pb::Tenant& entry = request.tenants(i);
    const std::string where =
        "tenants[" + std::to_string(i) + "] '" + shortened(entry.name()) + "'";
    if (entry.name().empty() || !index_.try_emplace(entry.name(), i).second) {
      throw InputError(where, "unique names", entry.name().empty() ? "none" : "a duplicate");
    }
    const double weight = entry.has_weight() ? entry.weight() : 1;
    if (!within(weight, 1e9))
      throw InputError(where, "a weight from 0 to 1e9", shortest_text(weight));
    const int64_t priority = entry.priority();
    static constexpr int64_t kMostPriority = std::numeric_limits<int32_t>::max();
    list_.push_back(
        {.name = entry.name(),
         .quota_gpus = gpus(entry.quota_gpus()),
         .limit_gpus = gpus(entry.limit_gpus()),
         .weight = weight,
         .priority = static_cast<int32_t>(std::clamp(priority, -kMostPriority, kMostPriority)),
         .may_borrow = !entry.has_may_borrow() || entry.may_borrow(),
         .may_lend = !entry.has_may_lend() || entry.may_lend(),
         .may_preempt = read_preempts(where, entry.may_preempt())});
  }
}

}  // namespace yard
