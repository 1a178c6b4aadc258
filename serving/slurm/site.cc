#include "serving/slurm/site.h"

#include <string_view>

#include "env/base/text/text.h"

namespace yard::slurm {
namespace {

bool contains(const std::string& text, const char* word) {
  return text.find(word) != std::string::npos;
}

}  // namespace

void read_site_config(const std::string& text, SiteConfig& site) {
  for (const std::string_view line : split(text, '\n')) {
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, equals));
    const std::string value(trim(line.substr(equals + 1)));
    if (key == "ClusterName") site.cluster = value;
    if (key == "SelectTypeParameters") site.memory_counts = contains(lower_case(value), "memory");
    if (key == "JobSubmitPlugins") site.has_gate = contains(value, "lua");
  }
}

void read_site_partitions(const std::string& text, SiteConfig& site) {
  for (const std::string_view line : split(text, '\n')) {
    std::string name;
    bool requeues = false;
    for (const std::string_view word : split(line, ' ')) {
      if (word.starts_with("PartitionName=")) name = word.substr(word.find('=') + 1);
      if (word.starts_with("PreemptMode=")) requeues = contains(std::string(word), "REQUEUE");
    }
    if (!name.empty() && requeues) site.requeues.insert(name);
  }
}

void read_site_qos(const std::string& text, SiteConfig& site) {
  for (const std::string_view line : split(text, '\n')) {
    const size_t bar = line.find('|');
    if (bar == std::string_view::npos) continue;
    if (contains(lower_case(std::string(line.substr(bar + 1))), "requeue")) {
      site.qos_requeues.insert(std::string(line.substr(0, bar)));
    }
  }
}

}  // namespace yard::slurm
