#include "experiments/speeds.h"

#include <algorithm>

#include "env/base/text.h"

namespace yard {
namespace {

int32_t most_gpus(const Trace& trace) {
  int32_t most = 1;
  for (const Job& job : trace.jobs) {
    int32_t gpus = 0;
    for (const RoleGroup& g : job.groups) gpus += std::max(g.count, g.max_count) * g.task.gpus;
    most = std::max({most, job.gpus, gpus});
  }
  return most;
}

SpeedOptions options_for(const Trace& trace, const ClusterSpec& cluster) {
  SpeedOptions options;
  options.types = cluster.types;
  options.max_gpus = most_gpus(trace);
  options.node_gpus = std::max(1, cluster.max_gpus_per_node());
  for (const Node& node : cluster.nodes) {
    options.island_gpus = std::max(options.island_gpus, node.island_gpus);
  }
  for (size_t t = 0; t < options.links.size(); ++t) {
    options.links[t] = {1e-6 * cluster.tiers[t].latency_us,
                        1e9 / 8 * cluster.tiers[t].bandwidth_gbps};
  }
  // A share was measured as a share: nobody beside it slows it further, unless a pair was measured.
  options.unmeasured_pair = 1;
  return options;
}

}  // namespace

Speeds::Speeds(const std::string& paths, const Trace& trace, const ClusterSpec& cluster)
    : node_gpus_(std::max(1, cluster.max_gpus_per_node())) {
  for (const std::string_view path : split(paths, ',')) {
    load_profiles(std::string(trim(path)), profiles_);
  }
  table_ = std::make_unique<SpeedTable>(profiles_, options_for(trace, cluster));
}

std::vector<int32_t> Speeds::classes(const Trace& trace) {
  std::vector<int32_t> out;
  out.reserve(trace.jobs.size());
  for (const Job& job : trace.jobs) {
    const bool modelled = !job.model.empty() && job.gpus > 0;
    out.push_back(modelled ? table_->class_of(job.model, job.batch_size, job.gpus, job.pattern)
                           : 0);
  }
  return out;
}

void Speeds::restrict_types(Trace& trace, const ClusterSpec& cluster) {
  const std::vector<int32_t> of_job = classes(trace);
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
