// Errors of the speed tables against measurements, by source: as loaded, and with measurements held
// out. Each test prints figures of docs/design/speed.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "env/sim/speed/all_reduce.h"
#include "env/sim/speed/optimus.h"
#include "env/sim/speed/pollux.h"
#include "env/sim/speed/speed.h"
#include "env/sim/speed/table.h"
#include "env/trace/profiles/profile.h"
#include "tests/support/require.h"

namespace yard {
namespace {

using testing::traces_dir;

class Errors {
 public:
  void add(double predicted, double measured) {
    all_.push_back(std::abs(predicted / measured - 1));
  }
  void add(const Errors& other) { all_.insert(all_.end(), other.all_.begin(), other.all_.end()); }
  size_t size() const { return all_.size(); }
  double quantile(double part) {
    std::sort(all_.begin(), all_.end());
    const auto at = static_cast<size_t>(part * static_cast<double>(all_.size()));
    return all_.empty() ? INFINITY : all_[std::min(all_.size() - 1, at)];
  }

 private:
  std::vector<double> all_;
};

// The bounds are the observed errors, slightly rounded up.
void expect(Errors errors, size_t rows, double median, double p90, const std::string& what) {
  std::printf("| %s | %zu | %.1f %% | %.1f %% | %.0f %% |\n", what.c_str(), errors.size(),
              100 * errors.quantile(0.5), 100 * errors.quantile(0.9), 100 * errors.quantile(1));
  EXPECT_GE(errors.size(), rows) << what;
  EXPECT_LE(errors.quantile(0.5), median) << what;
  EXPECT_LE(errors.quantile(0.9), p90) << what;
}

std::vector<GpuType> types_of(const Profiles& profiles) {
  std::set<std::string> names;
  for (const ModelProfile& profile : profiles.models) {
    for (const MeasuredRun& run : profile.runs) names.insert(run.gpu_type);
  }
  std::vector<GpuType> types;
  for (const std::string& name : names) types.push_back({name, 1, 0});
  return types;
}

// Errors of tables made from `known`, on the runs of `asked` which `of_interest` selects.
Errors table_errors(const Profiles& known, const Profiles& asked,
                    const std::function<bool(const MeasuredRun&)>& of_interest,
                    bool same_source = true) {
  Errors errors;
  const std::vector<GpuType> types = types_of(asked);
  for (const ModelProfile& profile : asked.models) {
    Profiles one;
    for (const ModelProfile& other : known.models) {
      if ((other.source == profile.source || !same_source) && other.model == profile.model) {
        one.models.push_back(other);
      }
    }
    if (one.models.empty()) continue;
    SpeedTable table(one, {.types = types, .max_gpus = 64, .node_gpus = 64});
    for (const MeasuredRun& run : profile.runs) {
      if (run.iteration_s <= 0 || !of_interest(run)) continue;
      const auto batch = static_cast<int32_t>(std::lround(profile.identifying_batch_size(run)));
      const int32_t job_class = table.class_of(profile.model, batch, run.gpus());
      if (job_class == 0) continue;
      const SpeedColumns columns = table.columns();
      const auto type = std::find_if(types.begin(), types.end(),
                                     [&](const GpuType& t) { return t.name == run.gpu_type; });
      const double rate =
          speed_of(columns, job_class, static_cast<int32_t>(type - types.begin()), run.gpus(),
                   run.nodes() == 1 ? Tier::kNode : Tier::kRack, run.nodes()) *
          columns.class_reference[job_class];
      const double measured =
          (profile.scaling == BatchScaling::kWeak ? run.gpus() : 1) / run.iteration_s;
      errors.add(rate, measured);
    }
  }
  return errors;
}

bool every(const MeasuredRun&) { return true; }

Profiles without(Profiles profiles, const std::function<bool(const MeasuredRun&)>& held_out) {
  for (ModelProfile& profile : profiles.models) std::erase_if(profile.runs, held_out);
  return profiles;
}

// Holds out each number of GPUs in turn.
Errors held_out_errors(const Profiles& all, std::initializer_list<int32_t> numbers) {
  Errors errors;
  for (const int32_t n : numbers) {
    const auto held_out = [&](const MeasuredRun& run) { return run.gpus() == n; };
    errors.add(table_errors(without(all, held_out), all, held_out));
  }
  return errors;
}

// Errors of Pollux' seven-parameter form alone, fitted to all runs of a model on a type.
Errors form_errors(const Profiles& profiles) {
  Errors errors;
  for (const GpuType& type : types_of(profiles)) {
    for (const ModelProfile& profile : profiles.models) {
      std::vector<MeasuredRun> runs;
      for (const MeasuredRun& run : profile.runs) {
        if (run.gpu_type == type.name && run.iteration_s > 0) runs.push_back(run);
      }
      if (runs.empty()) continue;
      const PolluxForm form = fit_pollux(runs);
      for (const MeasuredRun& run : runs) {
        errors.add(form.iteration_s(run.gpus(), run.nodes(), run.local_batch), run.iteration_s);
      }
    }
  }
  return errors;
}

TEST(SpeedErrors, Pollux) {
  YARD_NEEDS_TRACES();
  const Profiles all = load_profiles(traces_dir() / "pollux-adaptdl");
  expect(table_errors(all, all, every), 7103, 0.024, 0.095, "Pollux: table");
  expect(form_errors(all), 7103, 0.065, 0.19, "Pollux: form alone");
  Profiles placements;
  for (const ModelProfile& profile : all.models) {
    load_profiles(traces_dir() / "pollux-adaptdl/traces" / profile.model / "placements.csv.gz",
                  placements);
  }
  const auto larger = [](const MeasuredRun& run) { return run.nodes() > 4; };
  expect(table_errors(placements, all, larger), 1561, 0.08, 0.25,
         "Pollux: 6 to 16 nodes from up to 4");
}

TEST(SpeedErrors, ElasticFlow) {
  YARD_NEEDS_TRACES();
  const Profiles all = load_profiles(traces_dir() / "elasticflow");
  expect(table_errors(all, all, every), 169, 1e-12, 1e-12, "ElasticFlow: table");
  expect(form_errors(all), 169, 0.02, 0.08, "ElasticFlow: form alone");
  expect(held_out_errors(all, {2, 4, 8, 16, 32}), 123, 0.036, 0.155,
         "ElasticFlow: each number of GPUs held out");
}

// The authors of ElasticFlow derived its T4 curves from Pollux' step times; ours must match them.
TEST(SpeedErrors, ElasticFlowsT4CurvesFromPolluxsTimes) {
  YARD_NEEDS_TRACES();
  const Profiles pollux = load_profiles(traces_dir() / "pollux-adaptdl");
  const Profiles curves = load_profiles(traces_dir() / "elasticflow/throughputs_T4");
  expect(table_errors(pollux, curves, every, false), 60, 0.001, 0.06,
         "ElasticFlow's T4 from Pollux' times");
}

TEST(SpeedErrors, Morphling) {
  YARD_NEEDS_TRACES();
  Profiles all = load_profiles(traces_dir() / "morphling-a800");
  expect(table_errors(all, all, every), 641, 0.005, 0.26, "Rubick: table");
  expect(held_out_errors(all, {2, 4, 8}), 538, 0.11, 0.58, "Rubick: 2, 4, 8 GPUs held out");
  std::erase_if(all.models, [](const ModelProfile& one) { return one.model.starts_with("vit"); });
  expect(table_errors(all, all, every), 516, 0.005, 0.10, "Rubick without ViT: table");
  expect(form_errors(all), 516, 0.048, 0.29, "Rubick without ViT: form alone");
}

TEST(SpeedErrors, Gavel) {
  YARD_NEEDS_TRACES();
  for (const char* file :
       {"gavel/simulation_throughputs.json.gz", "gavel/physical_cluster_throughputs.json.gz",
        "shockwave/tacc_throughputs.json.gz"}) {
    const Profiles all = load_profiles(traces_dir() / file);
    expect(table_errors(all, all, every), 404, 1e-12, 1e-12, std::string(file) + ": table");
    expect(form_errors(all), 404, 0.075, 0.26, std::string(file) + ": form alone");
    expect(held_out_errors(all, {2, 4, 8}), 330, 0.135, 0.39,
           std::string(file) + ": 2, 4, 8 GPUs held out");
  }
}

TEST(SpeedErrors, GavelPairsAreExact) {
  YARD_NEEDS_TRACES();
  const Profiles all = load_profiles(traces_dir() / "gavel/simulation_throughputs.json.gz");
  const std::vector<GpuType> types = types_of(all);
  SpeedTable table(all, {.types = types, .max_gpus = 8, .node_gpus = 8});
  for (const MeasuredColocatedPair& pair : all.pairs)
    table.class_of(pair.one.model, pair.one.batch, 1);
  const SpeedColumns columns = table.columns();
  EXPECT_EQ(columns.num_kinds, 26);
  int wrong = 0, asymmetric = 0;
  for (const MeasuredColocatedPair& pair : all.pairs) {
    const int32_t one = table.class_of(pair.one.model, pair.one.batch, 1);
    const int32_t other = table.class_of(pair.other.model, pair.other.batch, 1);
    const int32_t type = pair.gpu_type == "k80" ? 0 : pair.gpu_type == "p100" ? 1 : 2;
    wrong += pair_rate(columns, one, other, type) != pair.one.rate;
    asymmetric += pair_rate(columns, other, one, type) != pair.other.rate;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(asymmetric, 0) << "the file has each pair twice, with equal values";
}

TEST(SpeedErrors, AllReduceOnVidursNodes) {
  YARD_NEEDS_TRACES();
  const Profiles all = load_profiles(traces_dir() / "vidur");
  std::map<std::string, std::vector<MeasuredAllReduce>> nodes;
  for (const MeasuredAllReduce& one : all.all_reduces) nodes[one.nodes].push_back(one);
  Errors one_link, own_link;
  for (const auto& [name, measured] : nodes) {
    const Link inside = fit_link_inside_node(measured);
    const bool spread = name == "a100_dgx";
    const Link across = spread ? fit_link_between_nodes(measured, inside) : Link{};
    std::printf("%s: inside %.1f us %.0f GB/s, across %.1f us %.1f GB/s\n", name.c_str(),
                1e6 * inside.latency_s, 1e-9 * inside.bytes_per_s, 1e6 * across.latency_s,
                1e-9 * across.bytes_per_s);
    std::map<std::pair<int32_t, int32_t>, std::vector<MeasuredAllReduce>> arrangements;
    for (const MeasuredAllReduce& one : measured) {
      arrangements[{one.gpus, one.gpus_per_node}].push_back(one);
    }
    for (const auto& [gpus, part] : arrangements) {
      const bool alone = gpus.first == gpus.second;
      const Link own = alone ? fit_link_inside_node(part) : fit_link_between_nodes(part, inside);
      for (const MeasuredAllReduce& one : part) {
        const int32_t count = one.gpus / one.gpus_per_node;
        const auto seconds = [&](const Link& in, const Link& out) {
          return two_level_all_reduce_s(count, one.gpus_per_node, one.bytes, in, out);
        };
        one_link.add(seconds(inside, alone ? inside : across), one.seconds);
        own_link.add(seconds(alone ? own : inside, own), one.seconds);
      }
    }
  }
  expect(one_link, 16424, 0.23, 0.83, "Vidur: one link inside, one across");
  expect(own_link, 16424, 0.041, 0.31, "Vidur: a link for each arrangement");
}

// One server per worker. The measured jobs have no servers, so only the curve's shape is tested.
TEST(SpeedErrors, OptimusOnElasticFlowsCurves) {
  YARD_NEEDS_TRACES();
  Errors errors;
  for (const ModelProfile& profile :
       load_profiles(traces_dir() / "elasticflow/throughputs_A100").models) {
    std::map<double, std::vector<MeasuredOptimusSpeed>> by_batch;
    for (const MeasuredRun& run : profile.runs) {
      if (run.iteration_s <= 0) continue;
      by_batch[profile.identifying_batch_size(run)].push_back(
          {run.gpus(), run.gpus(), 1 / run.iteration_s});
    }
    for (const auto& [batch, runs] : by_batch) {
      const OptimusSync form = fit_optimus_sync(runs, batch);
      for (const MeasuredOptimusSpeed& run : runs) {
        errors.add(form.steps_per_s(run.servers, run.workers), run.steps_per_s);
      }
    }
  }
  expect(errors, 109, 0.019, 0.058, "Optimus' form on ElasticFlow's A100 curves");
}

}  // namespace
}  // namespace yard
