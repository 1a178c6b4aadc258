#include "experiments/scenario/speeds.h"

#include <algorithm>
#include <map>
#include <set>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/sim/speed/cluster_models.h"

namespace yard {
namespace {

int32_t max_job_gpus(const Trace& trace) {
  int32_t most = 1;
  for (const Job& job : trace.jobs) {
    int32_t gpus = 0;
    for (const RoleGroup& g : job.groups) gpus += std::max(g.count, g.max_count) * g.task.gpus;
    most = std::max({most, job.gpus, gpus});
  }
  return most;
}

// Returns the number of parameter servers if all workers have one GPU; otherwise 0.
int32_t servers_of(const Job& job) {
  if (job.pattern != Pattern::kParameterServer) return 0;
  int32_t servers = 0;
  for (const RoleGroup& g : job.groups) {
    if (g.role == "ps") {
      servers += g.count;
    } else if (g.task.gpus != 1) {
      return 0;
    }
  }
  return servers;
}

// Returns the maximum number of parameter servers; 0 if that number is fixed.
int32_t max_servers(const Job& job) {
  int32_t most = 0;
  bool elastic = false;
  for (const RoleGroup& g : job.groups) {
    if (g.role != "ps") continue;
    if (g.task.gpus + g.task.gpu_milli > 0) return 0;  // rules identify servers by having no GPU
    most += std::max(g.count, g.max_count);
    elastic = elastic || g.max_count > 0;
  }
  return elastic ? most : 0;
}

SpeedOptions options_for(const Trace& trace, const ClusterSpec& cluster) {
  SpeedOptions options;
  options.types = cluster.types;
  options.max_gpus = max_job_gpus(trace);
  options.node_gpus = std::max(1, cluster.max_gpus_per_node());
  for (const Node& node : cluster.nodes) {
    options.island_gpus = std::max(options.island_gpus, node.island_gpus);
  }
  for (size_t t = 0; t < options.links.size(); ++t) {
    options.links[t] = {1e-6 * cluster.tiers[t].latency_us,
                        1e9 / 8 * cluster.tiers[t].bandwidth_gbps};
  }
  // Speeds of shares were measured as shares: an unmeasured pair has no further slowdown.
  options.unmeasured_pair = 1;
  return options;
}

}  // namespace

Speeds::Speeds(const std::string& paths, const Trace& trace, const ClusterSpec& cluster)
    : node_gpus_(std::max(1, cluster.max_gpus_per_node())),
      choose_exchange_(cluster.choose_exchange) {
  if (!paths.empty()) {
    for (const std::string_view path : split(paths, ',')) {
      load_profiles(std::string(trim(path)), profiles_);
    }
  }
  add_profiles_from_cluster_spec(cluster, max_job_gpus(trace), profiles_);
  table_ = std::make_unique<SpeedTable>(profiles_, options_for(trace, cluster));
}

std::vector<int32_t> Speeds::speed_classes_of(const Trace& trace) {
  std::vector<int32_t> out;
  out.reserve(trace.jobs.size());
  for (const Job& job : trace.jobs) {
    const bool modelled = !job.model.empty() && job.gpus > 0;
    int32_t job_class = 0;
    const int32_t servers = modelled ? servers_of(job) : 0;
    if (servers > 0) {
      job_class = table_->parameter_server_class_of(job.model, job.batch_size, servers, job.gpus);
      const int32_t most = max_servers(job);
      if (job_class > 0 && most > 0) table_->allow_parameter_servers_up_to(job_class, most);
    }
    if (modelled && job_class == 0) {
      job_class = table_->class_of(job.model, job.batch_size, job.gpus, job.pattern);
    }
    if (choose_exchange_ && job_class > 0) table_->allow_all_reduce_choice(job_class);
    out.push_back(job_class);
  }
  return out;
}

GpuSharingConflicts Speeds::incompatible_pairs(const Trace& trace) {
  const std::vector<int32_t> of_job = speed_classes_of(trace);
  const SpeedColumns c = table_->columns();
  const auto kind_of = [&](size_t j) { return c.class_kind[of_job[j]]; };
  const auto shares = [](const RoleGroup& g) { return g.task.gpu_milli > 0; };
  std::set<int32_t> asked;  // kinds of jobs with shares
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    const auto& groups = trace.jobs[j].groups;
    if (kind_of(j) >= 0 && std::ranges::any_of(groups, shares)) asked.insert(kind_of(j));
  }
  const auto apart = [&](int32_t type, int32_t one, int32_t other) {
    const auto rate = [&](int32_t a, int32_t b) {
      return c.pair_rate[(static_cast<int64_t>(type) * c.num_kinds + a) * c.num_kinds + b];
    };
    return rate(one, other) <= 0 || rate(other, one) <= 0;
  };
  std::map<int32_t, int32_t> index;  // kind -> its bit
  for (const int32_t one : asked) {
    for (const int32_t other : asked) {
      for (int32_t type = 0; type < c.num_types; ++type) {
        if (apart(type, one, other)) index.try_emplace(one, static_cast<int32_t>(index.size()));
      }
    }
  }
  GpuSharingConflicts out;
  if (index.empty()) return out;
  out.num_kinds = static_cast<int32_t>(index.size());
  if (out.num_kinds > GpuSharingConflicts::kMaxKinds) {
    throw InputError("--profiles",
                     "at most " + std::to_string(GpuSharingConflicts::kMaxKinds) +
                         " kinds of jobs that may not share a GPU with some other kind",
                     std::to_string(out.num_kinds));
  }
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    const auto known = index.find(kind_of(j));
    out.kind.push_back(known == index.end() ? kNone : known->second);
  }
  out.conflicts.assign(static_cast<size_t>(c.num_types * out.num_kinds), 0);
  for (int32_t type = 0; type < c.num_types; ++type) {
    for (const auto& [one, bit] : index) {
      for (const auto& [other, other_bit] : index) {
        if (!apart(type, one, other)) continue;
        out.conflicts[static_cast<size_t>(type * out.num_kinds + bit)] |= uint64_t{1} << other_bit;
      }
    }
  }
  return out;
}

std::string Speeds::unused_profiles_note(const Trace& trace) {
  const auto known = [](int32_t job_class) { return job_class > 0; };
  if (std::ranges::any_of(speed_classes_of(trace), known)) return "";
  std::set<std::string> measured, models;
  for (const MeasuredRestart& one : profiles_.restarts)
    measured.insert(normalised_model_name(one.model));
  for (const MeasuredTrainingCurve& one : profiles_.curves)
    measured.insert(normalised_model_name(one.model));
  for (const Job& job : trace.jobs) {
    if (job.model.empty()) continue;
    const std::string plain = normalised_model_name(job.model);
    if (measured.contains(plain) || profiles_.parameter_bytes(plain) > 0) return "";
    models.insert(job.model);
  }
  const std::string why =
      models.empty()
          ? "no job has a model"
          : "they have no measurements of '" + *models.begin() + "'" +
                (models.size() > 1 ? " or any other model of a job" : ", the only model of jobs");
  return "the profiles have no effect: " + why +
         " (--set models.draw=true gives each job a measured model)";
}

void Speeds::remove_unfit_gpu_types(Trace& trace, const ClusterSpec& cluster) {
  const std::vector<int32_t> of_job = speed_classes_of(trace);
  const SpeedColumns columns = table_->columns();
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    Job& job = trace.jobs[j];
    if (columns.class_kind[of_job[j]] < 0) continue;
    const int32_t nodes = (job.gpus + node_gpus_ - 1) / node_gpus_;
    const Tier tier = nodes > 1 ? Tier::kRack : Tier::kNode;
    std::vector<std::string> fits;
    for (size_t t = 0; t < cluster.types.size(); ++t) {
      const auto type = static_cast<int32_t>(t);
      const std::string& name = cluster.types[t].name;
      const auto& asked = job.gpu_types;
      const bool wanted =
          asked.empty() || std::find(asked.begin(), asked.end(), name) != asked.end();
      if (wanted && speed_of(columns, of_job[j], type, job.gpus, tier, nodes) > 0) {
        fits.push_back(name);
      }
    }
    if (fits.size() < cluster.types.size()) job.gpu_types = fits;
  }
}

}  // namespace yard
