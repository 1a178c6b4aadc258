// What `scontrol show config` and `show partition` say about the cluster as a whole.
#pragma once

#include <map>
#include <set>
#include <string>

namespace yard::slurm {

struct Site {
  std::string cluster;             // ClusterName
  bool memory_counts = true;       // jobs share a node's memory; false: Slurm does not divide it
  bool has_gate = false;           // JobSubmitPlugins has lua
  std::set<std::string> requeues;  // partitions with PreemptMode=REQUEUE
  std::set<std::string> qos_requeues;  // the same of QOS
};

// Each takes the command's output. Lines of another form are skipped.
void read_site_config(const std::string& text, Site& site);
void read_site_partitions(const std::string& text, Site& site);  // --oneliner
void read_site_qos(const std::string& text, Site& site);         // name|mode

}  // namespace yard::slurm
