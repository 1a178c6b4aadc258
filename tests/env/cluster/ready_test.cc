// Ready-made clusters: each loads, is found by its name, and has the published sizes.
#include "env/cluster/ready.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/files/lines.h"
#include "env/base/text/text.h"
#include "env/cluster/topology.h"
#include "tests/support/require.h"
#include "tests/support/temp_file.h"

namespace yard {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using testing::TempFile;

// Whether the cluster reads the public traces.
bool needs_traces(const std::string& name) {
  return name == "lingjun" || name == "pai" || name.starts_with("openb");
}

void expect_whole(const std::string& name) {
  SCOPED_TRACE(name);
  const ClusterSpec spec = load_cluster(name);
  EXPECT_EQ(spec.text, name);
  EXPECT_FALSE(spec.about.empty());
  EXPECT_GT(spec.total_gpus(), 0);
  if (spec.slowdowns.shared_exchange) return;  // replaces links
  const Topology topology(spec);
  for (const int tier : {1, 2, 3, 4, 5}) {
    for (size_t m = 0; m < spec.nodes.size(); ++m) {
      ASSERT_GT(gbps_at(topology.columns(), static_cast<int32_t>(m), static_cast<Tier>(tier)), 0)
          << kTierNames[tier] << " of node " << m;
    }
  }
}

TEST(ReadyClusters, ListIsComplete) {
  EXPECT_THAT(
      predefined_cluster_names(),
      IsSupersetOf({"philly", "helios-earth", "itp-01", "itp-02", "itp-04", "itp-05", "itp-08",
                    "itp-09", "itp-10", "openb", "lingjun", "pai", "tacc-ls6", "mixed-9",
                    "servers-6", "servers-13", "rings-8", "dgx-a100-pod", "dgx-h100-pod"}));
  for (const PredefinedCluster& cluster : predefined_clusters()) {
    EXPECT_FALSE(cluster.about.empty()) << cluster.name;
    EXPECT_EQ(find_predefined_cluster_path(cluster.name), cluster.path);
    if (!needs_traces(cluster.name)) expect_whole(cluster.name);
  }
  EXPECT_EQ(find_predefined_cluster_path("nobody"), "");
}

TEST(ReadyClusters, ClustersOfPublicTracesLoad) {
  YARD_NEEDS_TRACES();
  for (const std::string& name : predefined_cluster_names()) {
    if (needs_traces(name)) expect_whole(name);
  }
}

TEST(ReadyClusters, HaveThePublishedSizes) {
  struct Size {
    const char* name;
    size_t nodes;
    int gpus;
  };
  for (const Size& size :
       {Size{"philly", 552, 2490}, Size{"helios-earth", 143, 1144}, Size{"tacc-ls6", 84, 252},
        Size{"helios-earth-2020-05", 107, 856}, Size{"dgx-a100-pod", 20, 160},
        Size{"dgx-h100-pod", 32, 256}, Size{"gavel", 27, 108}, Size{"itp-01", 16, 128},
        Size{"itp-02", 24, 192}, Size{"itp-04", 94, 752}, Size{"itp-05", 9, 72},
        Size{"itp-08", 18, 144}, Size{"itp-09", 12, 96}, Size{"itp-10", 4, 32}}) {
    const ClusterSpec spec = load_cluster(size.name);
    EXPECT_EQ(spec.nodes.size(), size.nodes) << size.name;
    EXPECT_EQ(spec.total_gpus(), size.gpus) << size.name;
  }
}

// Checks the GPUs of each virtual cluster against the published table for the spec's day.
void expect_earth(const std::string& name, const std::string& day) {
  SCOPED_TRACE(name);
  Lines lines =
      Lines::of_file(testing::traces_dir() / "helios-earth-load/earth" / "Earth_gpu_number.csv.gz");
  std::string_view line;
  ASSERT_TRUE(lines.next(line));
  const std::string head(line);
  const auto names = split(head, ',');
  std::map<std::string, int64_t> published;
  while (lines.next(line)) {
    const auto fields = split(line, ',');
    if (fields[0] != day) continue;
    for (size_t i = 1; i + 1 < fields.size(); ++i) {
      const int64_t gpus = parse_int(fields[i]).value();
      if (gpus > 0) published[std::string(names[i])] = gpus;
    }
  }
  std::map<std::string, int64_t> quotas;
  for (const Tenant& tenant : load_cluster(name).tenants) {
    quotas[tenant.name] = tenant.quota_gpus;
    EXPECT_EQ(tenant.limit_gpus, tenant.quota_gpus);
    EXPECT_FALSE(tenant.may_lend);
  }
  EXPECT_EQ(quotas, published);
}

TEST(ReadyClusters, EarthMatchesItsTable) {
  YARD_NEEDS_TRACES();
  expect_earth("helios-earth", "2020-08-31");
  expect_earth("helios-earth-2020-05", "2020-05-31");
}

// Returns the median; half of the sorted values are below it.
double median(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

TEST(ReadyClusters, GavelSpeedsMatchTheirTable) {
  YARD_NEEDS_TRACES();
  const auto file = testing::traces_dir() / "gavel/simulation_throughputs.json.gz";
  const auto table = nlohmann::json::parse(read_decompressed_file(file));
  const ClusterSpec spec = load_cluster("gavel");
  for (const GpuType& type : spec.types) {
    std::map<std::string, std::vector<double>> ratios;  // by model; "" holds all
    for (const auto& [key, entry] : table["v100"].items()) {
      if (!key.ends_with(", 1)")) continue;  // on one GPU
      const double ratio =
          table[type.name][key]["null"].get<double>() / entry["null"].get<double>();
      if (ratio == 0) continue;  // out of memory
      ratios[""].push_back(ratio);
      const std::string model = key.substr(2, key.find_first_of(" '", 2) - 2);
      ratios[model].push_back(ratio);
    }
    ASSERT_EQ(ratios.size(), 8u);
    for (const auto& [model, all] : ratios) {
      EXPECT_NEAR(type.speed_on(model), median(all), 0.0051)  // two digits
          << type.name << " " << model;
    }
  }
}

// The user's own folder takes precedence over the others.
TEST(ReadyClusters, UserClustersTakePrecedence) {
  const TempFile own("philly.yaml", "about: mine\nnodes: [{gpus: 3}]\n");
  setenv("YARD_CLUSTERS", own.folder().c_str(), 1);
  EXPECT_EQ(load_cluster("philly").total_gpus(), 3);
  EXPECT_EQ(load_cluster("itp-10").total_gpus(), 32) << "the others are still there";
  unsetenv("YARD_CLUSTERS");
  EXPECT_EQ(load_cluster("philly").total_gpus(), 2490);
}

TEST(ReadyClusters, MissingTracesErrorNamesTheVariable) {
  const char* before = std::getenv("YARD_TRACES");
  const std::string folder = before == nullptr ? "" : before;
  setenv("YARD_TRACES", "/no/such/folder", 1);
  std::string message;
  try {
    load_cluster("openb");
  } catch (const InputError& error) {
    message = error.what();
  }
  before == nullptr ? unsetenv("YARD_TRACES") : setenv("YARD_TRACES", folder.c_str(), 1);
  EXPECT_THAT(message, HasSubstr("openb.yaml:"));
  EXPECT_THAT(message, HasSubstr("in the environment variable YARD_TRACES, got '/no/such/folder'"));
}

}  // namespace
}  // namespace yard
