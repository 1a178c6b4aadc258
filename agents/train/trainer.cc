#include "agents/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "agents/train/collector.h"
#include "agents/train/divergence_monitor.h"
#include "agents/train/minibatch_optimizer.h"
#include "agents/train/reptile.h"
#include "agents/train/training_state.h"
#include "env/base/core/error.h"
#include "env/base/os/cpu_time.h"
#include "env/base/os/interrupt.h"
#include "env/base/text/json_flaw.h"

namespace yard {
namespace {

constexpr uint64_t kShuffleStream = 2, kReplayStream = 3;

// Progress of a training, apart from weights and environments.
struct Counters {
  int update = 0;
  int64_t samples = 0, episodes = 0;
  double reward_scale = 1;
  double best_score = 1e300, latest_score = 0;
  int since_best = 0;  // validations
  DivergenceMonitor divergence;
  NLOHMANN_DEFINE_TYPE_INTRUSIVE(Counters, update, samples, episodes, reward_scale, best_score,
                                 latest_score, since_best, divergence)
};

VectorEnvOptions worlds_options(const TrainConfig& c, const Learner::Requirements& requirements,
                                const Communicator& ranks) {
  VectorEnvOptions o;
  o.worlds = c.num_envs / ranks.size();
  o.first_world = o.worlds * ranks.rank();
  o.threads = c.threads;
  o.group = requirements.groups ? c.group : 1;
  o.episode_jobs = c.episode_jobs;
  o.max_decisions = c.max_decisions;
  o.wait_at_end = requirements.steps == 0;
  o.exploration_mask = requirements.explore > 0;
  o.seed = c.seed;
  return o;
}

// LibTorch's threads would split single products, which are too small for that: waiting threads
// spin, which on a busy machine costs twenty times the gain. Must be called on every thread.
void use_one_thread() { torch::set_num_threads(1); }

const TrainConfig& checked(const TrainConfig& config, const Learner& learner,
                           const Communicator& ranks) {
  config.check(ranks.size(), learner.requirements().groups);
  return config;
}

}  // namespace

class Trainer::Impl {
 public:
  Impl(const TrainConfig& config, const Settings& learner, const Settings& network,
       const MakeVectorEnv& make_worlds, Communicator& ranks, nlohmann::ordered_json provenance)
      : learner_(LearnerRegistry::make(config.learner, learner)),
        config_(checked(config, *learner_, ranks)),
        ranks_(ranks),
        worlds_(make_worlds(worlds_options(config, learner_->requirements(), ranks))),
        network_(make_network(config.network, network, worlds_->shape(), config.seed)),
        mean_network_(make_network(config.network, network, worlds_->shape(), config.seed)),
        threads_(config.threads, use_one_thread),
        minibatch_optimizer_(*network_, config.optimizer_config, threads_, ranks),
        collector_(*worlds_, *network_, *learner_,
                   {.seed = config.seed,
                    .group = config.group,
                    .first_world = config.num_envs / ranks.size() * ranks.rank(),
                    .all_worlds = config.num_envs,
                    .interruptible = ranks.size() == 1},
                   threads_, stage_timer_),
        provenance_(std::move(provenance)),
        initial_learner_state_(learner_->save()) {
    use_one_thread();
    if (config.meta_updates > 0) {
      meta_.emplace(config, make_network(config.network, network, worlds_->shape(), config.seed),
                    worlds_->num_env_specs());
    }
    worlds_->reset();
  }

  void run(const TrainCallbacks& events, int until) {
    if (config_.updates == 0) run_or_roll_back([&] { validate_untrained(events); });
    while (!done() && counters_.update < until) {
      stop_together_if_interrupted();
      collector_.trim_to_replay_buffer();
      if (at_task_start()) collector_.rollout().keep_first(0);
      run_or_roll_back([&] { make_update(events); });
    }
    // Stopped at `until`, between two validations.
    if (!done() && !validation_due() && events.save) events.save();
  }

  void save(const std::filesystem::path& folder) const {
    StateFiles files = rank_state();
    // Replays are saved between updates only, so no interrupted update leaves anything in them.
    if (replays()) files[replay_file(ranks_.rank())] = collector_.rollout().save();
    const auto gather = [&](const auto& name) {
      const std::vector<std::string> all = ranks_.gather(files[name(ranks_.rank())]);
      for (size_t r = 0; r < all.size(); ++r) files[name(static_cast<int>(r))] = all[r];
    };
    gather(worlds_file);
    if (replays()) gather(replay_file);
    if (ranks_.rank() == 0) write_state(files, folder);
  }

  void restore(const std::filesystem::path& folder) {
    const std::string all =
        ranks_.broadcast(ranks_.rank() == 0 ? join_state(read_state(folder)) : std::string());
    const StateFiles files = split_state(all);
    if (replays()) {
      const std::string name = replay_file(ranks_.rank());
      const auto kept = files.find(name);
      if (kept == files.end()) throw InputError(folder.string(), "a file " + name, "none");
      collector_.rollout().restore(kept->second, (folder / name).string());
    }
    load_state(files, folder);
  }

  bool done() const {
    return counters_.update >= config_.updates ||
           (config_.patience > 0 && counters_.since_best >= config_.patience);
  }

  TrainingResult trained() const {
    Network& kept = meta_ ? meta_->weights() : *mean_network_;
    TrainingResult out{config_.network, kept.export_policy(), golden_, provenance_, core_s_};
    for (GoldenState& g : out.golden) g.logits = logits_of(kept, worlds_->shape(), g);
    out.provenance["updates"] = counters_.update;
    out.provenance["samples"] = counters_.samples;
    out.provenance["episodes"] = counters_.episodes;
    return out;
  }

 private:
  friend class Trainer;
  static constexpr const char* kCostFile = "cost.json";
  static std::string worlds_file(int rank) { return "worlds-" + std::to_string(rank) + ".bin"; }
  static std::string replay_file(int rank) { return "replay-" + std::to_string(rank) + ".bin"; }
  bool replays() const { return learner_->requirements().replay > 0; }

  // All state of this rank, with its own environments, but without the replay buffer.
  StateFiles rank_state() const {
    StateFiles files;
    files[worlds_file(ranks_.rank())] = worlds_->save();
    files["network.pt"] = to_archive(*network_);
    files["mean_network.pt"] = to_archive(*mean_network_);
    if (meta_) files["meta_network.pt"] = to_archive(meta_->weights());
    files["adam.pt"] = to_archive(minibatch_optimizer_.optimizer());
    if (!golden_.empty()) files["golden.safetensors"] = pack_states(golden_);
    const nlohmann::json json = {{"learner", config_.learner},
                                 {"network", config_.network},
                                 {"ranks", ranks_.size()},
                                 {"meta_updates", config_.meta_updates},
                                 {"learner_state", learner_->save()},
                                 {"untrained_score", untrained_score_},
                                 {"counters", counters_}};
    files["counters.json"] = json.dump(2) + "\n";
    // In its own file: computing times differ even between identical trainings, all else is equal.
    files[kCostFile] = nlohmann::json{{"core_s", core_s_}}.dump() + "\n";
    return files;
  }

  // Throws InputError naming files in `folder`.
  void load_state(const StateFiles& files, const std::filesystem::path& folder) {
    const auto where = [&](const char* name) { return (folder / name).string(); };
    const auto file = [&](const std::string& name) -> const std::string& {
      const auto it = files.find(name);
      if (it == files.end()) throw InputError(folder.string(), "a file " + name, "none");
      return it->second;
    };
    try {
      const auto c = nlohmann::json::parse(file("counters.json"));
      const auto must_be = [&](const char* key, const auto& value) {
        if (c.at(key) == value) return;
        throw InputError(where("counters.json"), key + (" " + nlohmann::json(value).dump()),
                         c.at(key).dump());
      };
      must_be("learner", config_.learner);
      must_be("network", config_.network);
      must_be("ranks", ranks_.size());
      must_be("meta_updates", config_.meta_updates);
      from_archive(file("network.pt"), *network_, where("network.pt"));
      from_archive(file("mean_network.pt"), *mean_network_, where("mean_network.pt"));
      if (meta_) {
        from_archive(file("meta_network.pt"), meta_->weights(), where("meta_network.pt"));
      }
      from_archive(file("adam.pt"), minibatch_optimizer_.optimizer(), where("adam.pt"));
      restore_worlds(file(worlds_file(ranks_.rank())), where("worlds-*.bin"));
      golden_.clear();
      if (files.contains("golden.safetensors")) {
        golden_ = unpack_states(file("golden.safetensors"), worlds_->shape(),
                                where("golden.safetensors"));
      }
      learner_->restore(c.at("learner_state"));
      c.at("counters").get_to(counters_);
      untrained_score_ = c.value("untrained_score", 0.0);  // 0 if the state has none
      const auto cost = files.find(kCostFile);
      core_s_ = cost == files.end() ? 0 : nlohmann::json::parse(cost->second).value("core_s", 0.0);
    } catch (const nlohmann::json::exception& e) {
      throw InputError(where("counters.json"), "training counters", json_error_text(e));
    }
  }

  void restore_worlds(const std::string& saved, const std::string& where) {
    try {
      worlds_->restore(saved);
    } catch (const InputError&) {
      throw InputError(
          where,
          "environments with the configured agent, trace, cluster, seed, episodes and groups",
          "other or damaged environments");
    }
  }

  // Undoes an interrupted update, so that a resumed training repeats it as a whole.
  template <class Does>
  void run_or_roll_back(const Does& does) {
    const StateFiles before = rank_state();
    try {
      does();
    } catch (const Interrupted&) {
      collector_.discard_collected();
      load_state(before, "the state before the update");
      throw;
    }
  }

  // Whether the latest update is validated and saved.
  bool validation_due() const {
    return counters_.update % config_.validate_every == 0 || counters_.update == config_.updates;
  }

  void make_update(const TrainCallbacks& events) {
    const auto begin = StageTimer::Clock::now();
    if (counters_.update == 0) validate_untrained(events);
    if (counters_.update > 0 && at_task_start()) begin_task();
    if (counters_.update > 0) collector_.collect(counters_.update, nullptr);
    const UpdateStats stats = learn();
    average_weights();
    ++counters_.update;
    TrainStats report = report_of(stats);
    if (at_task_start()) end_task();
    report.samples_per_s = static_cast<double>(update_samples_) /
                           std::chrono::duration<double>(StageTimer::Clock::now() - begin).count();
    const bool validates = validation_due();
    if (validates) report.validation = validate(events);
    count_core_s();
    if (events.on_update && ranks_.rank() == 0) events.on_update(report);
    if (validates && events.save) {
      const auto timed = stage_timer_.enter(StageTimer::Stage::kSaving);
      events.save();
    }
  }

  // Collects the first samples and validates the untrained network, without learning.
  void validate_untrained(const TrainCallbacks& events) {
    begin_training();
    if (at_task_start()) begin_task();
    collector_.collect(0, &golden_);
    TrainStats report;
    report.validation = untrained_score_ = validate(events);
    count_core_s();
    if (events.on_update && report.validation > 0 && ranks_.rank() == 0) events.on_update(report);
  }

  // With meta-learning, a training is a sequence of tasks, each of which is an ordinary training.
  int task_updates() const { return meta_ ? config_.meta_updates : config_.updates; }
  int update_of_task(int update) const { return update % task_updates(); }
  double progress(int update) const {
    return static_cast<double>(update_of_task(update)) / task_updates();
  }
  bool at_task_start() const { return meta_ && update_of_task(counters_.update) == 0; }

  void begin_task() {
    worlds_->select_env_spec(meta_->env_spec_index(counters_.update));
    if (counters_.update == 0) {
      copy_network(*network_, meta_->weights());
      worlds_->reset();
    } else if (learner_->requirements().steps > 0) {
      worlds_->begin_next_episodes();
    }
  }

  void end_task() {
    meta_->outer_step(*mean_network_, counters_.update - 1);
    copy_network(meta_->weights(), *network_);
    copy_network(meta_->weights(), *mean_network_);
    minibatch_optimizer_.optimizer().state().clear();
    learner_->restore(initial_learner_state_);
  }

  // Adds the CPU time which all ranks used since the last call.
  void count_core_s() {
    const double now = process_cpu_s();
    double worked[1] = {now - counted_core_s_};
    counted_core_s_ = now;
    ranks_.sum(worked);
    core_s_ += worked[0];
  }

  // If one rank was interrupted, all ranks stop.
  void stop_together_if_interrupted() {
    double signals[1] = {interrupted() ? 1.0 : 0.0};
    ranks_.sum(signals);
    if (signals[0] > 0) throw Interrupted();
  }

  // Fits the reward scale and the normaliser to first samples, which are then collected again with
  // the fitted normaliser. Collects nothing if a start checkpoint and a reward scale are given.
  void begin_training() {
    if (!config_.start.empty() && config_.reward_scale > 0) {
      counters_.reward_scale = config_.reward_scale;
      return;
    }
    collector_.collect(0, nullptr);
    const Rollout& rollout = collector_.rollout();
    // Reward, seconds, episodes.
    double sums[3] = {0, 0, static_cast<double>(collector_.take_mean_jcts_s().size())};
    for (const float r : rollout.reward) sums[0] += r;
    for (const float dt : rollout.dt_s) sums[1] += dt;
    ranks_.sum(sums);
    counters_.episodes += std::llround(sums[2]);
    // One job costs 1 per second, so an idle cluster gets the scale of one job. Positive rewards
    // may be much smaller and have no such lower bound.
    const double mean = sums[0] / std::max(sums[1], 1.0);
    const double rate = mean > 0 ? mean : std::max(-mean, 1.0);
    counters_.reward_scale =
        config_.reward_scale > 0 ? config_.reward_scale : 1 / (rate * config_.horizon_s);
    std::vector<int64_t> all(static_cast<size_t>(rollout.size()));
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
    if (config_.start.empty()) {  // else the weights of `start` need their own normaliser
      const RaggedBatch seen = rollout.batch(all);
      network_->fit_normaliser(seen, ranks_);
      mean_network_->fit_normaliser(seen, ranks_);
    }
    collector_.discard_collected();
    worlds_->reset();
  }

  UpdateStats learn() {
    // Replayed samples were valued by earlier networks; learners with replay compute values anew.
    const bool replayed = replays();  // the same on all ranks, whatever each drew
    const bool validates = learner_->requirements().critic && !replayed;
    Rollout& rollout = collector_.rollout();
    std::vector<int64_t> samples = collector_.samples_to_learn();
    const Rng rng =
        Rng{config_.seed}.split(kShuffleStream).split(static_cast<uint64_t>(counters_.update));
    Returns returns;
    {
      const auto timed = stage_timer_.enter(StageTimer::Stage::kAdvantages);
      std::vector<float> last;
      if (validates) last = collector_.current_values();
      returns = learner_->compute_advantages({rollout, last, worlds_->count(), config_.group,
                                              config_.horizon_s, counters_.reward_scale, ranks_,
                                              *network_, *mean_network_, threads_,
                                              rng.split(kReplayStream)});
    }
    if (replayed) samples = std::move(returns.drawn);
    const auto timed = stage_timer_.enter(StageTimer::Stage::kUpdate);
    UpdateStats stats = minibatch_optimizer_.update(*learner_, rollout, returns, samples,
                                                    progress(counters_.update), rng);
    double explained = 0;
    if (validates) {
      explained = explained_variance(rollout.value, returns.target, samples, ranks_);
      stats.metrics.emplace_back("explained_variance", explained);
    }
    std::string why = stats.non_finite.empty() ? "" : stats.non_finite + " is not finite";
    if (why.empty())
      why = counters_.divergence.reason_to_stop(config_, stats.approx_kl,
                                                validates ? &explained : nullptr);
    if (!why.empty()) {
      throw RunError("update " + std::to_string(counters_.update + 1) + ": " + why +
                     "; lower learning_rate, then resume from the last saved state or start again");
    }
    return stats;
  }

  // mean <- d mean + (1 - d) net (Polyak and Juditsky 1992): steadier than any single update.
  void average_weights() {
    torch::NoGradGuard no_grad;
    const int update = update_of_task(counters_.update);
    const double decay = std::min(config_.average, update / (update + 1.0));
    auto mean = mean_network_->parameters();
    const auto now = network_->parameters();
    for (size_t i = 0; i < mean.size(); ++i) mean[i].lerp_(now[i], 1 - decay);
  }

  TrainStats report_of(const UpdateStats& stats) {
    const std::vector<double> jcts = collector_.take_mean_jcts_s();
    double sums[5] = {static_cast<double>(collector_.num_collected()),
                      collector_.num_expert_matches(), 0, static_cast<double>(jcts.size()),
                      static_cast<double>(collector_.collected_action_rows())};
    for (const double s : jcts) sums[2] += s;
    ranks_.sum(sums);
    update_samples_ = std::llround(sums[0]);
    counters_.samples += update_samples_;
    counters_.episodes += std::llround(sums[3]);
    TrainStats out;
    out.update = counters_.update;
    out.samples = counters_.samples;
    out.episodes = counters_.episodes;
    out.agreement = sums[1] / sums[0];
    out.rows = sums[4] / sums[0];
    out.mean_jct_s = sums[3] > 0 ? sums[2] / sums[3] : 0;
    out.lr = config_.optimizer_config.learning_rate * (1 - progress(counters_.update - 1));
    out.metrics = stats.metrics;
    out.metrics.emplace_back("approx_kl", stats.approx_kl);
    out.metrics.emplace_back("grad_norm", stats.grad_norm);
    return out;
  }

  double validate(const TrainCallbacks& events) {
    if (!events.validate && ranks_.size() == 1) return 0;
    double score[2] = {0, 0};  // score; whether it was interrupted, which stops the other ranks too
    if (ranks_.rank() == 0 && events.validate) {
      const TrainingResult now = trained();
      try {
        {
          const auto timed = stage_timer_.enter(StageTimer::Stage::kValidation);
          score[0] = events.validate(now, counters_.update);
        }
        const auto timed = stage_timer_.enter(StageTimer::Stage::kSaving);
        if (events.validated)
          events.validated(now, counters_.update, score[0], score[0] < counters_.best_score);
      } catch (const Interrupted&) {
        score[1] = 1;
      }
    }
    ranks_.sum(score);
    if (score[1] > 0) throw Interrupted();
    counters_.latest_score = score[0];
    ++counters_.since_best;
    if (score[0] < counters_.best_score) {
      counters_.best_score = score[0];
      counters_.since_best = 0;
    }
    return score[0];
  }

  std::unique_ptr<Learner> learner_;
  TrainConfig config_;
  Communicator& ranks_;
  std::unique_ptr<VectorEnv> worlds_;
  std::unique_ptr<Network> network_, mean_network_;
  ThreadPool threads_;
  mutable MinibatchOptimizer
      minibatch_optimizer_;  // LibTorch's optimisers cannot be saved as const
  StageTimer stage_timer_;
  Collector collector_;
  nlohmann::ordered_json provenance_;
  std::string initial_learner_state_;  // its state before any learning
  std::optional<Reptile> meta_;        // none: a training of one task
  std::vector<GoldenState> golden_;
  Counters counters_;
  double untrained_score_ = 0;  // of update 0; 0: not validated
  int64_t update_samples_ = 0;  // of the latest update
  double core_s_ = 0;           // of all ranks
  double counted_core_s_ = 0;   // of this process, including reading data
};

Trainer::Trainer(const TrainConfig& config, const Settings& learner, const Settings& network,
                 const MakeVectorEnv& make_worlds, Communicator& ranks,
                 nlohmann::ordered_json provenance)
    : impl_(std::make_unique<Impl>(config, learner, network, make_worlds, ranks,
                                   std::move(provenance))) {}
Trainer::~Trainer() = default;
void Trainer::start_from(const Tensors& weights, const std::string& where) {
  impl_->network_->import_policy(weights, where);
  impl_->mean_network_->import_policy(weights, where);
}
void Trainer::run(const TrainCallbacks& events, int until) { impl_->run(events, until); }
void Trainer::save(const std::filesystem::path& folder) const { impl_->save(folder); }
void Trainer::restore(const std::filesystem::path& folder) { impl_->restore(folder); }
int Trainer::update() const { return impl_->counters_.update; }
double Trainer::latest_score() const { return impl_->counters_.latest_score; }
double Trainer::untrained_score() const { return impl_->untrained_score_; }
bool Trainer::done() const { return impl_->done(); }
TrainingResult Trainer::trained() const { return impl_->trained(); }
std::vector<std::pair<std::string, double>> Trainer::stage_seconds() const {
  return impl_->stage_timer_.seconds();
}

}  // namespace yard
