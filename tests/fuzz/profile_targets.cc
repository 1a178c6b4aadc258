// Measurement files: model speeds, as read and as speed tables, and the throughput and goodput
// files of rule sets.
#include <cmath>
#include <string>

#include "env/base/config/registry.h"
#include "env/base/text/text.h"
#include "env/sim/speed/table.h"
#include "env/trace/profiles/goodputs.h"
#include "env/trace/profiles/profile.h"
#include "env/trace/profiles/throughputs.h"
#include "tests/fuzz/targets.h"

namespace yard::testing {
namespace {

constexpr int32_t kMaxGpus = 16;

bool counts(double value) { return std::isfinite(value) && value >= 0; }

void check_models(const Profiles& profiles) {
  for (const ModelProfile& profile : profiles.models) {
    YARD_CHECK(counts(profile.gradient_bytes), "bytes of a gradient");
    for (const MeasuredRun& run : profile.runs) {
      YARD_CHECK(!run.node_gpus.empty(), "a run on no node");
      int64_t gpus = 0;
      for (const int32_t on_node : run.node_gpus) {
        YARD_CHECK(on_node > 0, "a node without GPUs");
        gpus += on_node;
      }
      YARD_CHECK(gpus <= INT32_MAX, "too many GPUs to count");
      YARD_CHECK(counts(run.local_batch) && run.local_batch > 0, "a batch");
      YARD_CHECK(counts(run.iteration_s), "time of an iteration");
      YARD_CHECK(run.sync_s == -1 || counts(run.sync_s), "time of an exchange");
    }
    for (const ParameterServerRun& run : profile.parameter_server_runs) {
      YARD_CHECK(run.servers > 0 && run.workers > 0, "nobody works");
      YARD_CHECK(counts(run.batch) && counts(run.steps_per_s) && run.steps_per_s > 0, "a speed");
    }
  }
}

void check_others(const Profiles& profiles) {
  for (const MeasuredColocatedPair& pair : profiles.pairs) {
    YARD_CHECK(counts(pair.one.rate) && counts(pair.other.rate), "rates of a pair");
  }
  for (const MeasuredAllReduce& one : profiles.all_reduces) {
    YARD_CHECK(one.gpus > 0 && one.gpus_per_node > 0, "an exchange of nobody");
    YARD_CHECK(counts(one.bytes) && counts(one.seconds), "an exchange");
  }
  for (const MeasuredModelSize& size : profiles.sizes) YARD_CHECK(counts(size.bytes), "a size");
  for (const MeasuredRestart& one : profiles.restarts) {
    YARD_CHECK(one.save_s == -1 || counts(one.save_s), "time of a save");
    YARD_CHECK(one.restore_s == -1 || counts(one.restore_s), "time of a restore");
  }
  for (const MeasuredTrainingCurve& curve : profiles.curves) {
    double before = 0;
    for (const TrainingCurvePoint& point : curve.points) {
      YARD_CHECK(point.share >= before && point.share <= 1, "shares of the work that do not rise");
      YARD_CHECK(std::isfinite(point.value) && counts(point.noise), "a point of a curve");
      before = point.share;
    }
  }
}

std::optional<Profiles> measured(const std::string& path, std::string_view text) {
  return read_or_refused({path}, [&] {
    Profiles out;
    parse_profile(text, path, out);
    return out;
  });
}

bool try_profile(const std::string& path, std::string_view text) {
  const auto profiles = measured(path, text);
  if (!profiles) return false;
  check_models(*profiles);
  check_others(*profiles);
  return true;
}

void check_speeds(const SpeedColumns& c, int32_t job_class, int32_t gpus) {
  const double reference = c.class_reference[job_class];
  YARD_CHECK(counts(reference) && reference > 0, "a reference that is no speed");
  for (int32_t type = 0; type < c.num_types; ++type) {
    for (const int32_t nodes : {1, 2, gpus}) {
      if (nodes > gpus) continue;
      const Tier tier = nodes > 1 ? Tier::kRack : Tier::kIsland;
      YARD_CHECK(counts(speed_of(c, job_class, type, gpus, tier, nodes)), "a speed");
      YARD_CHECK(counts(exchange_share(c, job_class, type, gpus, tier, nodes)), "an exchange");
      YARD_CHECK(link_bytes_per_s(c, job_class, type, gpus, tier, nodes) >= 0, "bytes on a link");
    }
    YARD_CHECK(counts(pair_rate(c, job_class, job_class, type)), "a rate beside another");
  }
}

// Builds the speed table of all measured models, for GPU types with and without measurements.
bool try_speeds(const std::string& path, std::string_view text) {
  const auto profiles = measured(path, text);
  if (!profiles) return false;
  SpeedOptions options;
  options.types = {{.name = "V100"}, {.name = "T4", .speed = 0.5}};
  options.max_gpus = kMaxGpus;
  options.links.fill({1e-5, 1e9});
  SpeedTable table(*profiles, options);
  for (const ModelProfile& profile : profiles->models) {
    for (const int32_t gpus : {1, 2, kMaxGpus}) {
      const int32_t gang = table.class_of(profile.model, 0, gpus);
      const int32_t with_servers = table.parameter_server_class_of(profile.model, 0, 2, gpus);
      check_speeds(table.columns(), gang, gpus);
      check_speeds(table.columns(), with_servers, gpus);
    }
  }
  return true;
}

bool try_throughputs(std::string_view text) {
  const std::string path = write_input_file("throughputs.json", text);
  const auto table = read_or_refused({path}, [&] { return Throughputs::load(path); });
  if (!table) return false;
  const std::vector<std::string> types = table->types();
  YARD_CHECK(!types.empty(), "no type");
  const Throughputs::Kind one{"LM (batch size 5)", 1}, other{"A3C", 1};
  for (const std::string& type : types) {
    YARD_CHECK(counts(table->isolated_throughput(type, one).value_or(0)), "steps a second");
    const auto both = table->colocated_throughputs(type, one, other);
    YARD_CHECK(!both || (counts(both->first) && counts(both->second)), "steps beside another");
  }
  return true;
}

bool try_rates(std::string_view text) {
  const std::string path = write_input_file("rates.csv", text);
  const auto rates = read_or_refused({path}, [&] { return GoodputTable::load(path); });
  if (!rates) return false;
  for (const std::string_view line : split(text, '\n')) {
    const JobGoodputs* job = rates->find(trim(split(line, ',').front()));
    if (job == nullptr) continue;
    YARD_CHECK(job->num_epochs() > 0 && !job->placements.empty(), "a job without rates");
    YARD_CHECK(std::isfinite(job->isolated_run_s_on_fewest_nodes()), "time alone");
  }
  return true;
}

constexpr const char* kThroughputs = R"json({
"v100": {
  "('LM (batch size 5)', 1)": {"null": 100.0, "('A3C', 1)": [50.0, 6.0]},
  "('A3C', 1)": {"null": 8}},
"k80_unconsolidated": {
  "('LM (batch size 5)', 2)": {"null": 40.0}}
})json";

constexpr const char* kRates =
    "job,placement,epoch,goodput,next_progress,completion_epoch\n"
    "bert-0,1,0,20.5,1000,1\n"
    "bert-0,1,1,21,2500.5,1\n"
    "bert-0,4+2,1,80,2500.5,1\n"
    "cifar10-7,2,0,900,5000,0\n";

}  // namespace

std::vector<Target> profile_targets() {
  std::vector<Target> out = {{"throughputs", kThroughputs, try_throughputs, 200},
                             {"rates", kRates, try_rates, 200}};
  for (const std::string& name : Registry<ProfileReader>::names()) {
    const std::string path = "fuzz/" + Registry<ProfileReader>::info(name).example_path;
    const std::string example = Registry<ProfileReader>::info(name).example;
    out.push_back({"profile-" + name, example,
                   [path](std::string_view text) { return try_profile(path, text); }});
    // One of each form that is fitted, because fits are slow.
    if (name != "gavel" && name != "optimus" && name != "pollux-placements") continue;
    out.push_back({"speeds-" + name, example,
                   [path](std::string_view text) { return try_speeds(path, text); }, 300});
  }
  return out;
}

}  // namespace yard::testing
