#include "env/batch/yardmaster_env.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "env/base/error.h"
#include "env/base/text.h"
#include "env/batch/batch_env.h"
#include "env/cluster/spec.h"
#include "env/sim/fits.h"
#include "env/trace/curves.h"
#include "env/trace/reader.h"
#include "env/trace/stages.h"

namespace yard {
namespace {

struct EnvConfig {
  std::string trace = "synthetic:habits";
  std::string cluster = "8x8";
  std::string format;
  int worlds = 64;
  int threads = 1;
  int group = 1;
  int episode_jobs = 256;
  int max_decisions = 0;
  int generate_jobs = 0;
  bool preempt = false;
  bool skip_unusable = false;
  std::string placement = "first-fit";
  double cost_scale = 1;
  uint64_t seed = 1;

  void fields(FieldList& f) {
    f("trace", trace, "file or synthetic:NAME; several, joined by commas, are a course each");
    f("cluster", cluster, "one for all courses, or as many as traces");
    f("format", format, "of the traces; empty: recognised");
    f("worlds", worlds, 1, 1 << 20, "how many are played at once");
    f("threads", threads, 1, 1024, "that share them");
    f("group", group, 1, 1 << 20, "so many neighbours play the same jobs");
    f("episode_jobs", episode_jobs, 1, 1 << 24, "of one episode");
    f("max_decisions", max_decisions, 0, 1 << 30, "after which an episode is cut off; 0: never");
    f("generate_jobs", generate_jobs, 0, 1 << 24, "of a generator; 0: its own number");
    f("preempt", preempt, "whether running jobs may be stopped");
    f("skip_unusable", skip_unusable, "leave out rows and jobs that cannot be used");
    f("placement", placement, {std::begin(kPlacementNames), std::end(kPlacementNames)},
      "where jobs go");
    f("cost_scale", cost_scale, 0, 1000, "times the default costs of preemption");
    f("seed", seed, 0, UINT64_MAX, "of generators and episodes");
  }
};

// Owns what a course's columns point to.
struct OwnedCourse {
  OwnedCourse(Trace trace, const ClusterSpec& cluster, double cost_scale)
      : spec(cluster), workload(played(trace), cluster) {
    fixed = {spec.columns(), workload.jobs().columns(), {}};
    for (int64_t* cost :
         {&fixed.costs.save_us, &fixed.costs.restore_us, &fixed.costs.restore_large_us}) {
      *cost = std::llround(static_cast<double>(*cost) * cost_scale);
    }
    fixed.costs.scale = cost_scale;
  }
  // Stages are jobs to a world.
  static const Trace& played(Trace& trace) {
    if (any_staged(trace)) trace.jobs = take_apart(trace.jobs).jobs;
    return trace;
  }
  SpecTable spec;
  Workload workload;
  Fixed fixed;
};

std::vector<std::unique_ptr<OwnedCourse>> load_courses(const EnvConfig& config) {
  const std::vector<std::string_view> traces = split(config.trace, ',');
  const std::vector<std::string_view> clusters = split(config.cluster, ',');
  if (clusters.size() != 1 && clusters.size() != traces.size()) {
    throw InputError("cluster", "one, or as many as traces", std::to_string(clusters.size()));
  }
  std::vector<std::unique_ptr<OwnedCourse>> courses;
  for (size_t c = 0; c < traces.size(); ++c) {
    const ClusterSpec cluster =
        load_cluster(std::string(trim(clusters[clusters.size() == 1 ? 0 : c])));
    Trace trace = load_trace(std::string(trim(traces[c])), {.format = config.format,
                                                            .skip_unusable = config.skip_unusable,
                                                            .seed = config.seed,
                                                            .jobs = config.generate_jobs,
                                                            .cluster_gpus = cluster.total_gpus()});
    settle_curves(trace, {});
    check_fits(trace, cluster, config.skip_unusable);
    if (static_cast<size_t>(config.episode_jobs) > trace.jobs.size()) {
      throw InputError(
          "episode_jobs", "at most the jobs of " + trace.source,
          std::to_string(config.episode_jobs) + " of " + std::to_string(trace.jobs.size()));
    }
    courses.push_back(std::make_unique<OwnedCourse>(std::move(trace), cluster, config.cost_scale));
  }
  return courses;
}

BatchConfig batch_config(const EnvConfig& config) {
  if (config.worlds % config.group != 0) {
    throw InputError("group", "a divisor of worlds, " + std::to_string(config.worlds),
                     std::to_string(config.group));
  }
  BatchConfig out;
  out.worlds = config.worlds;
  out.threads = config.threads;
  out.group = config.group;
  out.episode_jobs = config.episode_jobs;
  out.max_decisions = config.max_decisions;
  out.prior = false;
  out.seed = config.seed;
  out.task.preempt = config.preempt;
  const auto* const at =
      std::find(std::begin(kPlacementNames), std::end(kPlacementNames), config.placement);
  out.task.placement = static_cast<Placement>(at - std::begin(kPlacementNames));
  return out;
}

std::vector<Course> courses_of(const std::vector<std::unique_ptr<OwnedCourse>>& owned) {
  std::vector<Course> courses;
  for (const auto& course : owned) courses.push_back({course->fixed, &course->workload, 1});
  return courses;
}

}  // namespace
}  // namespace yard

struct yardmaster_env {
  explicit yardmaster_env(const yard::EnvConfig& config)
      : owned(yard::load_courses(config)),
        batch(yard::courses_of(owned), yard::batch_config(config)) {}

  // Runs `does`; what it throws becomes the error.
  template <class Does>
  int guarded(Does does) {
    error.clear();
    try {
      does();
      return 0;
    } catch (const std::exception& problem) {
      error = problem.what();
      return -1;
    }
  }

  std::vector<std::unique_ptr<yard::OwnedCourse>> owned;
  yard::BatchEnv batch;
  std::string error;
};

namespace {

static_assert(static_cast<int>(yard::Ending::kTerminated) == YARDMASTER_TERMINATED);
static_assert(static_cast<int>(yard::Ending::kTruncated) == YARDMASTER_TRUNCATED);
static_assert(sizeof(yard::Ending) == 1);

yard::Settings settings_of(const char* text) {
  yard::Settings settings;
  for (const std::string_view line : yard::split(text, '\n')) {
    if (!yard::trim(line).empty()) settings.overlay(std::string(yard::trim(line)), "settings");
  }
  return settings;
}

}  // namespace

extern "C" {

int32_t yardmaster_env_abi(void) { return YARDMASTER_ENV_ABI; }

yardmaster_env* yardmaster_env_open(const char* settings, char* error, size_t size) {
  try {
    return new yardmaster_env(yard::parse<yard::EnvConfig>(settings_of(settings)));
  } catch (const std::exception& problem) {
    if (error != nullptr && size > 0) {
      const size_t length = std::min(size - 1, std::strlen(problem.what()));
      std::memcpy(error, problem.what(), length);
      error[length] = '\0';
    }
    return nullptr;
  }
}

void yardmaster_env_close(yardmaster_env* env) { delete env; }

const char* yardmaster_env_help(void) {
  static const std::string help = [] {
    std::string text;
    for (const auto& field : yard::describe<yard::EnvConfig>()) {
      text += field.key + "=" + field.value + "  " + field.help + "\n";
    }
    return text;
  }();
  return help.c_str();
}

const char* yardmaster_env_error(const yardmaster_env* env) { return env->error.c_str(); }

int32_t yardmaster_env_worlds(const yardmaster_env* env) { return env->batch.worlds(); }
int32_t yardmaster_env_rows(void) { return yard::Dispatch::kJobs; }
int32_t yardmaster_env_job_features(void) { return yard::Dispatch::kJobFeatures; }
int32_t yardmaster_env_cluster_features(void) { return yard::Dispatch::kClusterFeatures; }
int32_t yardmaster_env_actions(void) { return yard::Dispatch::kActions; }

int yardmaster_env_reset(yardmaster_env* env) {
  return env->guarded([&] { env->batch.reset(); });
}

int yardmaster_env_step(yardmaster_env* env, const int32_t* actions) {
  return env->guarded([&] {
    const auto worlds = static_cast<size_t>(env->batch.worlds());
    const auto mask = env->batch.mask();
    for (size_t n = 0; n < worlds; ++n) {
      const bool inside = actions[n] >= 0 && actions[n] < yard::Dispatch::kActions;
      if (inside && mask[n * yard::Dispatch::kActions + static_cast<size_t>(actions[n])] != 0) {
        continue;
      }
      throw yard::InputError("actions[" + std::to_string(n) + "]", "a legal action",
                             std::to_string(actions[n]));
    }
    env->batch.step({actions, worlds});
  });
}

const float* yardmaster_env_jobs(const yardmaster_env* env) { return env->batch.jobs().data(); }
const float* yardmaster_env_cluster(const yardmaster_env* env) {
  return env->batch.cluster().data();
}
const uint8_t* yardmaster_env_mask(const yardmaster_env* env) { return env->batch.mask().data(); }
const int32_t* yardmaster_env_suggested(const yardmaster_env* env) {
  return env->batch.suggested().data();
}
const float* yardmaster_env_reward(const yardmaster_env* env) { return env->batch.reward().data(); }
const float* yardmaster_env_dt_s(const yardmaster_env* env) { return env->batch.dt_s().data(); }
const uint8_t* yardmaster_env_ending(const yardmaster_env* env) {
  return reinterpret_cast<const uint8_t*>(env->batch.ending().data());
}
const float* yardmaster_env_final_jobs(const yardmaster_env* env) {
  return env->batch.final_jobs().data();
}
const float* yardmaster_env_final_cluster(const yardmaster_env* env) {
  return env->batch.final_cluster().data();
}

int yardmaster_env_set_weights(yardmaster_env* env, const double* weights, int32_t count) {
  return env->guarded([&] {
    const auto n = static_cast<size_t>(std::max(count, 0));
    if (n != env->owned.size()) {
      throw yard::InputError("weights", std::to_string(env->owned.size()), std::to_string(count));
    }
    double sum = 0;
    for (size_t c = 0; c < n; ++c) {
      if (!(weights[c] >= 0) || !std::isfinite(weights[c])) {
        throw yard::InputError("weights[" + std::to_string(c) + "]", "at least 0",
                               yard::shortest(weights[c]));
      }
      sum += weights[c];
    }
    if (sum <= 0) throw yard::InputError("weights", "one above 0", "none");
    env->batch.set_weights({weights, n});
  });
}

int yardmaster_env_fork(yardmaster_env* env, int32_t from, int32_t to) {
  return env->guarded([&] {
    for (const int32_t world : {from, to}) {
      if (world < 0 || world >= env->batch.worlds() || from == to) {
        throw yard::InputError("fork",
                               "two of the worlds 0 to " + std::to_string(env->batch.worlds() - 1),
                               std::to_string(from) + " to " + std::to_string(to));
      }
    }
    env->batch.fork(from, to);
  });
}

size_t yardmaster_env_save(const yardmaster_env* env, void* to, size_t size) {
  const std::vector<std::byte> saved = env->batch.save();
  if (to != nullptr && size >= saved.size()) std::memcpy(to, saved.data(), saved.size());
  return saved.size();
}

int yardmaster_env_restore(yardmaster_env* env, const void* from, size_t size) {
  return env->guarded([&] { env->batch.restore({static_cast<const std::byte*>(from), size}); });
}

}  // extern "C"
