#include "agents/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>

#include "agents/ppo.h"
#include "agents/rollout.h"
#include "env/base/error.h"
#include "env/base/file.h"
#include "env/base/interrupt.h"
#include "policies/learned/job_scorer.h"

namespace yard {
namespace {

BatchConfig batch_config(const TrainConfig& c) {
  const bool groups = c.ppo.baseline == "group";
  BatchConfig batch;
  batch.worlds = c.worlds;
  batch.threads = c.threads;
  batch.group = groups ? c.group : 1;
  batch.episode_jobs = c.episode_jobs;
  batch.max_decisions = c.max_decisions;
  batch.wait_at_end = groups;
  batch.seed = c.seed;
  batch.task = c.task();
  return batch;
}

double seconds_since(std::chrono::steady_clock::time_point from) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
}

}  // namespace

void TrainConfig::fields(FieldList& f) {
  f("agent", agent, {"pilot"}, "what is trained");
  f("hidden", hidden, 1, 1024, "hidden units a layer");
  f("seed", seed, 0, UINT64_MAX, "decides everything random");
  f("updates", updates, 1, 1'000'000, "updates in all");
  f("validate_every", validate_every, 1, 1'000'000, "updates between validations");
  f("worlds", worlds, 1, 65'536, "worlds that play at once");
  f("threads", threads, 1, 256, "threads that move them");
  f("group", group, 1, 65'536, "neighbouring worlds that play the same jobs");
  f("episode_jobs", episode_jobs, 1, 1'000'000, "jobs an episode");
  f("max_decisions", max_decisions, 0, 1'000'000'000,
    "an episode is cut off after so many; 0: never");
  f("placement", placement, {"first-fit", "best-fit", "consolidate"}, "where a job goes");
  f("preempt", preempt, "may running jobs be stopped");
  f("gpu_exponent", gpu_exponent, 0.0, 2.0, "the index is expected time x GPUs to this power");
  f("margin_log2", margin_log2, 0.0, 10.0,
    "doublings by which the index must be better to stop a job");
  f("shrink", shrink, 0.01, 100.0, "jobs of all users that the prior of a user is worth");
  f("sibling_prior", sibling_prior, 0.01, 1e6,
    "finished siblings that the user's other jobs are worth");
  f("spread", spread, 0.2, 3.0, "sd of log run times between the jobs of a batch");
  f("spread_batch", spread_batch, 0.0, 5.0, "sd of log run times between a user's batches");
  f("spread_user", spread_user, 0.0, 5.0, "sd of log run times between users");
  f("quantum_s", quantum_s, 0.0, 1e6, "a job is not stopped before it ran this long");
  f("tick_s", tick_s, 1.0, 1e6, "while jobs wait, who runs is looked at again after this long");
  f("held_rows", held_rows, 1, 64, "running jobs that are shown, those the index would stop first");
  f("waiting_rows", waiting_rows, 1, 128, "waiting jobs that are shown, the first by the index");
  f("prior_gap", prior_gap, 0.0, 100.0, "logit lost by every action but the one suggested");
  f("prior_slope", prior_slope, 0.0, 100.0, "logit lost per doubling of the index");
  f("prior_other", prior_other, 1e-6, 1.0, "weight of a kind of action that is not suggested");
  f("average", average, 0.0, 0.9999,
    "what is kept is an average of weights with this decay an update");
  ppo.fields(f);
}

DispatchConfig TrainConfig::task() const {
  DispatchConfig task;
  for (size_t i = 0; i < std::size(kPlacementNames); ++i) {
    if (placement == kPlacementNames[i]) task.placement = static_cast<Placement>(i);
  }
  task.preempt = preempt;
  task.gpu_exponent = static_cast<float>(gpu_exponent);
  task.margin_log2 = static_cast<float>(margin_log2);
  task.sibling_prior = static_cast<float>(sibling_prior);
  task.shrink = static_cast<float>(shrink);
  task.quantum_us = std::llround(quantum_s * 1e6);
  task.tick_us = std::llround(tick_s * 1e6);
  task.held_rows = held_rows;
  task.waiting_rows = waiting_rows;
  task.prior_gap = static_cast<float>(prior_gap);
  task.prior_slope = static_cast<float>(prior_slope);
  task.prior_other = static_cast<float>(prior_other);
  task.run_times = RunTimes(static_cast<float>(spread), static_cast<float>(spread_batch),
                            static_cast<float>(spread_user));
  return task;
}

class Trainer::Impl {
 public:
  Impl(const TrainConfig& config, const Fixed& fixed, const Workload& workload,
       nlohmann::ordered_json provenance)
      : config_(config),
        env_(fixed, workload, batch_config(config)),
        net_(seeded_net(config)),
        mean_net_(seeded_net(config)),
        ppo_(net_, config.ppo),
        provenance_(std::move(provenance)) {
    // Small products are not worth a second thread: while it waits for work it spins, and on a busy
    // machine that costs twenty times what it gains.
    torch::set_num_threads(config.hidden >= 256 ? config.threads : 1);
    env_.reset();
  }

  void run(const TrainEvents& events) {
    while (update_ < config_.updates) {
      throw_if_interrupted();
      const auto begin = std::chrono::steady_clock::now();
      const double agreement = take_experience();
      const Returns returns = judge_actions();
      const double progress = static_cast<double>(update_) / config_.updates;
      const PpoStats stats = ppo_.update(rollout_, returns, progress,
                                         Rng{config_.seed}.split(kShuffle).split(number()));
      if (!stats.finite) {
        throw RunError("update " + std::to_string(update_ + 1) +
                       ": the loss is not finite; lower lr, or resume from the last state");
      }
      average_weights();
      ++update_;
      samples_ += rollout_.size();
      const double seconds = seconds_since(begin);
      const bool judges = update_ % config_.validate_every == 0 || update_ == config_.updates;
      const double validation = judges ? judge(events) : 0;
      report(events, stats, agreement, seconds, validation);
      if (judges && events.validated) events.validated();
    }
    if (events.keep) events.keep(checkpoint(), update_, best_score_, false);
  }

  void save(const std::filesystem::path& folder) const {
    AtomicDirectory out(folder);
    torch::serialize::OutputArchive archive;
    net_->save(archive);
    archive.save_to((out.path() / "net.pt").string());
    torch::serialize::OutputArchive mean;
    mean_net_->save(mean);
    mean.save_to((out.path() / "mean_net.pt").string());
    torch::serialize::OutputArchive adam;
    const_cast<Ppo&>(ppo_).optimizer().save(adam);
    adam.save_to((out.path() / "adam.pt").string());
    const std::vector<std::byte> worlds = env_.save();
    write_file_atomic(out.path() / "worlds.bin",
                      {reinterpret_cast<const char*>(worlds.data()), worlds.size()});
    write_file_atomic(out.path() / "golden.safetensors", to_safetensors(pack_golden(golden_)));
    const nlohmann::ordered_json counters = {{"update", update_},
                                             {"samples", samples_},
                                             {"reward_scale", reward_scale_},
                                             {"best_score", best_score_}};
    write_file_atomic(out.path() / "counters.json", counters.dump() + "\n");
    out.commit();
  }

  void restore(const std::filesystem::path& folder) {
    if (!std::filesystem::exists(folder / "counters.json")) {
      throw InputError(folder.string(), "the state of a training", "none");
    }
    try {
      const auto counters = nlohmann::ordered_json::parse(read_file(folder / "counters.json"));
      counters.at("update").get_to(update_);
      counters.at("samples").get_to(samples_);
      counters.at("reward_scale").get_to(reward_scale_);
      counters.at("best_score").get_to(best_score_);
      load(net_, folder / "net.pt");
      load(mean_net_, folder / "mean_net.pt");
      torch::serialize::InputArchive adam;
      adam.load_from((folder / "adam.pt").string());
      ppo_.optimizer().load(adam);
    } catch (const nlohmann::json::exception& e) {
      throw InputError((folder / "counters.json").string(), "a training's counters", e.what());
    } catch (const c10::Error& e) {
      throw InputError(folder.string(), "the state of a training with these settings",
                       e.what_without_backtrace());
    }
    const std::string worlds = read_file(folder / "worlds.bin");
    env_.restore({reinterpret_cast<const std::byte*>(worlds.data()), worlds.size()});
    const std::string golden = (folder / "golden.safetensors").string();
    golden_ = unpack_golden(from_safetensors(read_file(golden), golden), golden);
  }

  int update() const { return update_; }

 private:
  static constexpr uint64_t kAct = 1, kShuffle = 2;
  static constexpr size_t kGoldenStates = 64;

  static JobScorerNet seeded_net(const TrainConfig& config) {
    torch::manual_seed(static_cast<uint64_t>(config.seed));
    return JobScorerNet(config.hidden);
  }

  // LibTorch takes tensors of any shape.
  static void load(JobScorerNet& net, const std::filesystem::path& file) {
    std::vector<std::vector<int64_t>> shapes;
    for (const auto& p : net->parameters()) shapes.push_back(p.sizes().vec());
    torch::serialize::InputArchive archive;
    archive.load_from(file.string());
    net->load(archive);
    size_t i = 0;
    for (const auto& p : net->parameters()) {
      if (p.sizes() != shapes[i++]) {
        throw InputError(file.string(), "weights of a network with these settings",
                         "another shape");
      }
    }
  }

  uint64_t number() const { return static_cast<uint64_t>(update_); }

  bool has_critic() const { return config_.ppo.baseline == "critic"; }

  // Interrupted half way, the worlds go back to where the update began, so that a resumed training
  // makes it whole.
  double take_experience() {
    const std::vector<std::byte> worlds = env_.save();
    try {
      const double agreement = collect();
      if (update_ == 0) begin_training();
      return agreement;
    } catch (const Interrupted&) {
      env_.restore(worlds);
      if (update_ == 0) golden_.clear();
      throw;
    }
  }

  // With a critic T steps of all worlds, with groups one episode of each; actions are drawn from
  // the policy. Returns how often it did what the index suggests.
  double collect() {
    torch::NoGradGuard no_grad;
    rollout_.clear();
    if (!has_critic() && env_.waits(0)) env_.begin_episodes();
    std::vector<int32_t> action(static_cast<size_t>(config_.worlds)), active;
    int64_t agreed = 0;
    for (int t = 0; !has_critic() || t < config_.ppo.steps; ++t) {
      active.clear();
      for (int n = 0; n < config_.worlds; ++n) {
        if (!env_.waits(n)) active.push_back(n);
      }
      if (active.empty()) break;
      rollout_.add_observations(env_, active);
      const RaggedBatch batch = present_batch(env_, active);
      const auto log_probs = torch::log_softmax(net_->logits(batch), 1).contiguous();
      const float* row = log_probs.data_ptr<float>();
      for (const int32_t world : active) {
        const auto n = static_cast<size_t>(world);
        Rng rng = Rng{config_.seed}.split(kAct).split(number()).split(
            static_cast<uint64_t>(t) * action.size() + n);
        action[n] = draw(row, env_.mask().data() + n * Dispatch::kActions, rng.uniform());
        agreed += action[n] == env_.suggested()[n];
        rollout_.action.push_back(action[n]);
        rollout_.log_prob.push_back(row[action[n]]);
        row += Dispatch::kActions;
      }
      if (has_critic()) append(rollout_.value, net_->value(batch));
      if (update_ == 0 && golden_.size() < kGoldenStates) record_golden();
      env_.step(action);
      for (const int32_t world : active) {
        const auto n = static_cast<size_t>(world);
        rollout_.reward.push_back(env_.reward()[n]);
        rollout_.dt_s.push_back(env_.dt_s()[n]);
        rollout_.ending.push_back(env_.ending()[n]);
      }
      if (has_critic()) add_final_values();
      for (const EpisodeResult& result : env_.take_results()) jct_s_.push_back(result.mean_jct_s);
      throw_if_interrupted();
    }
    return static_cast<double>(agreed) / static_cast<double>(rollout_.size());
  }

  Returns judge_actions() {
    if (!has_critic()) {
      return group_advantages(rollout_, config_.worlds, config_.group, config_.ppo.horizon_s,
                              reward_scale_);
    }
    torch::NoGradGuard no_grad;
    std::vector<int32_t> all(static_cast<size_t>(config_.worlds));
    std::iota(all.begin(), all.end(), 0);
    std::vector<float> last;
    append(last, net_->value(present_batch(env_, all)));
    return time_aware_gae(rollout_, last, config_.ppo.horizon_s, config_.ppo.lambda, reward_scale_);
  }

  // Inverse of the cumulative distribution; rounding can leave `u` beyond it, then the last legal
  // one.
  static int32_t draw(const float* log_prob, const uint8_t* mask, double u) {
    int32_t last = Dispatch::kNothing;
    double sum = 0;
    for (int32_t a = 0; a < Dispatch::kActions; ++a) {
      if (!mask[a]) continue;
      sum += std::exp(static_cast<double>(log_prob[a]));
      last = a;
      if (u < sum) return a;
    }
    return last;
  }

  static void append(std::vector<float>& to, const torch::Tensor& values) {
    const auto flat = values.contiguous();
    to.insert(to.end(), flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
  }

  // What a truncated episode would still have been worth: the value of what it saw last.
  void add_final_values() {
    const auto& ending = env_.ending();
    if (std::find(ending.begin(), ending.end(), Ending::kTruncated) == ending.end()) {
      rollout_.final_value.resize(rollout_.final_value.size() + ending.size(), 0);
    } else {
      append(rollout_.final_value, net_->value(final_batch(env_)));
    }
  }

  // From the first experience: the scale of rewards and the normaliser; then the experience is
  // taken again, since the network sees it with other eyes now.
  void begin_training() {
    double reward = 0, time_s = 0;
    for (const float r : rollout_.reward) reward -= r;
    for (const float dt : rollout_.dt_s) time_s += dt;
    const double mean_live = std::max(reward / std::max(time_s, 1.0), 1.0);
    reward_scale_ = 1 / (mean_live * config_.ppo.horizon_s);
    std::vector<int64_t> all(static_cast<size_t>(rollout_.size()));
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
    const RaggedBatch seen = rollout_.batch(all);
    net_->fit_normaliser(seen);
    mean_net_->fit_normaliser(seen);
    jct_s_.clear();
    env_.reset();
    collect();
  }

  // One state a step, of another world each time, so that golden states differ.
  void record_golden() {
    const size_t n = golden_.size() * 7 % static_cast<size_t>(config_.worlds);
    const auto row = [n](const auto& column, size_t width) {
      return std::vector(column.begin() + static_cast<int64_t>(n * width),
                         column.begin() + static_cast<int64_t>((n + 1) * width));
    };
    GoldenState g;
    g.jobs = row(env_.jobs(), size_t{Dispatch::kJobs} * Dispatch::kJobFeatures);
    g.cluster = row(env_.cluster(), Dispatch::kClusterFeatures);
    g.prior = row(env_.prior(), Dispatch::kActions);
    g.mask = row(env_.mask(), Dispatch::kActions);
    g.slots.assign(Dispatch::kJobs, 0);
    g.logits.assign(Dispatch::kActions, 0);
    g.rows = env_.rows()[n];
    golden_.push_back(std::move(g));
  }

  // mean <- d mean + (1 - d) net (Polyak and Juditsky 1992): steadier than any single update.
  void average_weights() {
    torch::NoGradGuard no_grad;
    const double decay = std::min(config_.average, update_ / (update_ + 1.0));
    auto mean = mean_net_->parameters();
    const auto now = net_->parameters();
    for (size_t i = 0; i < mean.size(); ++i) mean[i].lerp_(now[i], 1 - decay);
  }

  Checkpoint checkpoint() {
    Checkpoint c;
    c.agent = config_.agent;
    c.network = "job-scorer";
    c.task = config_.task();
    c.weights = mean_net_->export_policy();
    std::vector<GoldenState> golden = golden_;
    torch::NoGradGuard no_grad;
    for (GoldenState& g : golden) {
      g.logits.clear();
      append(g.logits, mean_net_->logits(golden_batch(g)));
      for (size_t a = 0; a < g.logits.size(); ++a) {
        if (!g.mask[a]) g.logits[a] = Dispatch::kMasked;
      }
    }
    c.golden = pack_golden(golden);
    c.provenance = provenance_;
    c.provenance["updates"] = update_;
    c.provenance["samples"] = samples_;
    return c;
  }

  double judge(const TrainEvents& events) {
    if (!events.validate) return 0;
    const Checkpoint now = checkpoint();
    const double score = events.validate(now, update_);
    if (score < best_score_) {
      best_score_ = score;
      if (events.keep) events.keep(now, update_, score, true);
    }
    return score;
  }

  void report(const TrainEvents& events, const PpoStats& stats, double agreement, double seconds,
              double validation) {
    double jct = 0;
    for (const double s : jct_s_) jct += s / static_cast<double>(jct_s_.size());
    jct_s_.clear();
    if (!events.on_update) return;
    events.on_update({update_, samples_, static_cast<double>(rollout_.size()) / seconds, jct,
                      stats.policy_loss, stats.value_loss, stats.entropy, stats.approx_kl,
                      stats.clip_fraction, stats.explained_variance,
                      config_.ppo.lr * (1 - static_cast<double>(update_ - 1) / config_.updates),
                      validation, agreement});
  }

 public:
  static RaggedBatch golden_batch(GoldenState& g) {
    RaggedBatch batch;
    const int64_t rows = g.rows;
    batch.jobs = torch::from_blob(g.jobs.data(), {rows, Dispatch::kJobFeatures});
    batch.offset = torch::tensor({int64_t{0}, rows});
    batch.slot = torch::arange(rows, torch::kInt64);
    batch.count = torch::full({1, 1}, static_cast<float>(std::max<int64_t>(rows, 1)));
    batch.cluster = torch::from_blob(g.cluster.data(), {1, Dispatch::kClusterFeatures});
    batch.prior = torch::from_blob(g.prior.data(), {1, Dispatch::kActions});
    return batch;
  }

 private:
  TrainConfig config_;
  BatchEnv env_;
  JobScorerNet net_, mean_net_;
  Ppo ppo_;
  Rollout rollout_;
  nlohmann::ordered_json provenance_;
  std::vector<GoldenState> golden_;
  std::vector<double> jct_s_;
  int update_ = 0;
  int64_t samples_ = 0;
  double reward_scale_ = 1;
  double best_score_ = 1e300;
};

Trainer::Trainer(const TrainConfig& config, const Fixed& fixed, const Workload& workload,
                 nlohmann::ordered_json provenance)
    : impl_(std::make_unique<Impl>(config, fixed, workload, std::move(provenance))) {}
Trainer::~Trainer() = default;
void Trainer::run(const TrainEvents& events) { impl_->run(events); }
void Trainer::save(const std::filesystem::path& folder) const { impl_->save(folder); }
void Trainer::restore(const std::filesystem::path& folder) { impl_->restore(folder); }
int Trainer::update() const { return impl_->update(); }

double torch_difference(const Checkpoint& checkpoint) {
  torch::NoGradGuard no_grad;
  const JobScorer check(checkpoint.weights, "model.safetensors");  // shapes and finiteness
  JobScorerNet net(check.hidden());
  net->import_policy(checkpoint.weights);
  double most = 0;
  for (GoldenState& g : unpack_golden(checkpoint.golden, "golden.safetensors")) {
    const auto logits = net->logits(Trainer::Impl::golden_batch(g)).contiguous();
    for (size_t a = 0; a < g.logits.size(); ++a) {
      if (!g.mask[a]) continue;
      most = std::max<double>(most, std::abs(logits.data_ptr<float>()[a] - g.logits[a]));
    }
  }
  return most;
}

}  // namespace yard
