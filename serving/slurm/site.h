// Reads what `scontrol show config` and `scontrol show partition` say about the whole cluster.
#pragma once

#include <map>
#include <set>
#include <string>

namespace yard::slurm {

struct SiteConfig {
  std::string cluster;                 // ClusterName
  bool memory_counts = true;           // whether Slurm divides a node's memory among jobs
  bool has_gate = false;               // JobSubmitPlugins has lua
  std::set<std::string> requeues;      // partitions with PreemptMode=REQUEUE
  std::set<std::string> qos_requeues;  // QOS with PreemptMode=REQUEUE
};

// Reads the output of `scontrol show config` into `site`. Lines of unknown form are skipped.
void read_site_config(const std::string& text, SiteConfig& site);
void read_site_partitions(const std::string& text, SiteConfig& site);  // --oneliner
void read_site_qos(const std::string& text, SiteConfig& site);         // name|mode

}  // namespace yard::slurm
