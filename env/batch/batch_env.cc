#include "env/batch/batch_env.h"

#include <algorithm>
#include <cstring>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/os/huge_pages.h"
#include "env/batch/episode_state.h"
#include "env/batch/pool.h"
#include "env/batch/saved.h"

namespace yard {

namespace {

// Applies a task's actions to the simulator at once; they cannot be undone.
struct RuleEditor {
  const SimModel& fixed;
  SimState& state;
  void start(int32_t slot, const Piece* pieces, int32_t n) {
    yard::start(fixed, state, slot, pieces, n);
  }
  void preempt(int32_t slot) { yard::preempt(fixed, state, slot); }
};

constexpr uint64_t kEnvSpecStream = 0x636F75727365;
constexpr int kIdleEpisodes = 1000;  // consecutive episodes without a decision

}  // namespace

template <Task T>
BasicBatchEnv<T>::BasicBatchEnv(const SimModel& fixed, const Workload& workload,
                                const BasicBatchConfig<T>& config)
    : BasicBatchEnv(std::vector<EnvSpec>{{fixed, &workload, 1}}, config) {}

template <Task T>
BasicBatchEnv<T>::BasicBatchEnv(std::vector<EnvSpec> env_specs, const BasicBatchConfig<T>& config)
    : env_specs_(std::move(env_specs)),
      config_(config),
      shape_(T::shape(config.task)),
      pages_(std::make_unique<HugePages>()),
      jobs_(pages_.get()),
      mask_(pages_.get()),
      pool_(std::make_unique<ThreadPool>(config.threads)) {
  YARD_CHECK(!env_specs_.empty(), "a batch needs an environment");
  YARD_CHECK(config.group > 0 && config.worlds % config.group == 0 &&
                 config.first_world % config.group == 0,
             "worlds and first_world must be multiples of group");
  for (const EnvSpec& env_spec : env_specs_) {
    YARD_CHECK(config.episode_jobs > 0 && config.episode_jobs <= env_spec.workload->size(),
               "episode_jobs must be from 1 to the number of jobs in the workload");
  }
  signature_ = signature_of(env_specs_, config_);
  const auto n = static_cast<size_t>(config.worlds);
  jobs_.resize(n * floats_per_window());
  final_jobs_.resize(n * floats_per_window());
  cluster_.resize(n * shape_.cluster_features);
  final_cluster_.resize(n * shape_.cluster_features);
  mask_.resize(n * shape_.actions());
  if (config.prior) prior_.resize(n * shape_.actions());
  if (config.exploration_mask) exploration_mask_.resize(n * shape_.actions());
  at_ = next_ = {jobs_.data(), cluster_.data(), mask_.data()};
  slots_.resize(n * shape_.rows);
  for (auto* column : {&rows_, &expert_action_, &final_rows_}) column->resize(n);
  reward_.resize(n);
  dt_s_.resize(n);
  ending_.resize(n);
  for (int w = 0; w < config.worlds; ++w) {
    const auto stream = static_cast<uint64_t>((config.first_world + w) / config.group);
    EnvInstance& p =
        *instances_.emplace_back(std::make_unique<EnvInstance>(Rng{config.seed}.split(stream)));
    p.episode_states.resize(env_specs_.size());
    bind_to_tensors(p.observation, w, at_, 0);  // initially zero
    if (config.prior) p.observation.prior = prior_.data() + w * shape_.actions();
    if (config.exploration_mask)
      p.observation.exploration_mask = exploration_mask_.data() + w * shape_.actions();
    p.observation.slots = slots_.data() + w * shape_.rows;
    select_env_spec(p, 0);
  }
}

template <Task T>
void BasicBatchEnv<T>::select_env_spec(EnvInstance& p, int32_t env_spec) {
  auto& episode_state = p.episode_states[static_cast<size_t>(env_spec)];
  if (!episode_state) {
    episode_state =
        std::make_unique<EpisodeState>(env_specs_[static_cast<size_t>(env_spec)], config_, *pages_);
  }
  p.episode_state = episode_state.get();
  p.env_spec = env_spec;
}

template <Task T>
int32_t BasicBatchEnv<T>::draw_env_spec(const Rng& rng) const {
  if (env_specs_.size() == 1) return 0;
  double sum = 0;
  for (const EnvSpec& env_spec : env_specs_) sum += env_spec.weight;
  double at = rng.split(kEnvSpecStream).uniform() * sum;
  int32_t last = 0;
  for (size_t c = 0; c < env_specs_.size(); ++c) {
    if (env_specs_[c].weight <= 0) continue;
    last = static_cast<int32_t>(c);
    at -= env_specs_[c].weight;
    if (at < 0) break;
  }
  return last;
}

template <Task T>
void BasicBatchEnv<T>::set_env_spec_weights(std::span<const double> weights) {
  YARD_CHECK(weights.size() == env_specs_.size(), "expected one weight per environment");
  YARD_CHECK(*std::max_element(weights.begin(), weights.end()) > 0,
             "expected at least one positive weight");
  for (size_t c = 0; c < env_specs_.size(); ++c) env_specs_[c].weight = weights[c];
}

template <Task T>
BasicBatchEnv<T>::~BasicBatchEnv() = default;

template <Task T>
void BasicBatchEnv<T>::reset() {
  begun_ = true;
  for (const auto& p : instances_) p->episode = -1;
  begin_next_episodes();
}

template <Task T>
void BasicBatchEnv<T>::begin_next_episodes() {
  pool_->run(config_.worlds, [this](int from, int to) {
    for (int n = from; n < to; ++n) begin_episode(n);
  });
  throw_if_no_decisions();
}

template <Task T>
bool BasicBatchEnv<T>::is_done(int world) const {
  return instances_[static_cast<size_t>(world)]->is_done != 0;
}

template <Task T>
int32_t BasicBatchEnv<T>::num_waiting(int world) const {
  return instances_[static_cast<size_t>(world)]->episode_state->view.num_waiting();
}

template <Task T>
double BasicBatchEnv<T>::elapsed_s(int world) const {
  const World& played = instances_[static_cast<size_t>(world)]->episode_state->world;
  const StateHeader& h = *played.state().head;
  return 1e-6 * static_cast<double>(h.now_us - played.fixed().jobs.submit_us[h.first_job]);
}

// `nonzero_rows`: number of rows of the world's slice that may be non-zero.
template <Task T>
void BasicBatchEnv<T>::bind_to_tensors(Observation& observation, int world, const Tensors& tensors,
                                       int32_t nonzero_rows) const {
  observation.jobs = tensors.jobs + world * floats_per_window();
  observation.cluster = tensors.cluster + world * shape_.cluster_features;
  observation.mask = tensors.mask + world * shape_.actions();
  observation.filled = nonzero_rows;
}

template <Task T>
void BasicBatchEnv<T>::bind_buffers(float* jobs, float* cluster, uint8_t* mask) {
  next_ = {jobs, cluster, mask};
}

template <Task T>
void BasicBatchEnv<T>::step(std::span<const int32_t> actions) {
  YARD_CHECK(actions.size() == static_cast<size_t>(config_.worlds),
             "expected one action per world");
  pool_->run(config_.worlds, [this, actions](int from, int to) {
    for (int n = from; n < to; ++n) step_world(n, actions[static_cast<size_t>(n)]);
  });
  throw_if_no_decisions();
  at_ = next_;
}

// Draws a window of jobs and advances to its first decision.
template <Task T>
void BasicBatchEnv<T>::begin_episode(int world) {
  EnvInstance& p = *instances_[static_cast<size_t>(world)];
  p.is_done = 0;
  int idle = 0;
  for (bool asked = false; !asked; ++idle) {
    if (idle == kIdleEpisodes) {
      idle_.store(true, std::memory_order_relaxed);
      p.is_done = 1;
      return;
    }
    ++p.episode;
    Rng rng = p.rng.split(static_cast<uint64_t>(p.episode));
    select_env_spec(p, draw_env_spec(rng));
    const Workload& workload = *env_specs_[static_cast<size_t>(p.env_spec)].workload;
    const auto starts = static_cast<uint32_t>(workload.size() - config_.episode_jobs + 1);
    const auto first = static_cast<int32_t>(rng.below(starts));
    p.episode_state->world.reset(first, first + config_.episode_jobs);
    // A truncated episode leaves an unfinished decision.
    p.episode_state->draft.reset();
    p.episode_state->actions_taken.clear();
    std::fill(p.episode_state->memory.begin(), p.episode_state->memory.end(), 0);
    p.decisions = 0;
    p.jct_sum_s = 0;
    asked = advance_to_choice(world);  // skip episodes without a decision
  }
}

// Deferred, because a thread of the pool must not throw.
template <Task T>
void BasicBatchEnv<T>::throw_if_no_decisions() const {
  if (!idle_.load(std::memory_order_relaxed)) return;
  throw InputError("trace", "jobs that need a decision by the agent",
                   "none in " + std::to_string(kIdleEpisodes) + " episodes");
}

// Advances to the next decision with a choice. Returns false when the episode is over.
template <Task T>
bool BasicBatchEnv<T>::advance_to_choice(int world) {
  EnvInstance& p = *instances_[static_cast<size_t>(world)];
  EpisodeState& episode_state = *p.episode_state;
  SimState& s = episode_state.world.state();
  const Truth truth = env_specs_[static_cast<size_t>(p.env_spec)].workload->truth();
  while (!all_done(s)) {
    if constexpr (DeviceTask<T>) s.head->timer_us = T::wake_us(episode_state.view, config_.task);
    const bool moved = episode_state.world.advance(truth);
    YARD_CHECK(moved, "a world has no next event");
    for (int32_t i = 0; i < s.head->num_changed; ++i) {
      const int32_t slot = s.changed[i];
      if (s.phase[slot] != Phase::kDone) continue;
      p.jct_sum_s += 1e-6 * static_cast<double>(s.head->now_us - s.submit_us[slot]);
    }
    if constexpr (!DeviceTask<T>) {
      episode_state.agent_memory.cache.reset();
      config_.task->on_events(episode_state.view, episode_state.agent_memory);
      config_.task->begin_decision(episode_state.view, episode_state.agent_memory);
      if (continue_or_commit_decision(world)) return true;
    } else {
      if (!T::on_events(episode_state.view, config_.task, episode_state.memory_bytes())) continue;
      observe_world(world);
      if (p.observation.choices > 0) return true;
    }
  }
  return false;
}

// Observes if the agent lists actions in the current decision, else closes it and returns false.
template <Task T>
bool BasicBatchEnv<T>::continue_or_commit_decision(int world) {
  if constexpr (!DeviceTask<T>) {
    EpisodeState& episode_state = *instances_[static_cast<size_t>(world)]->episode_state;
    episode_state.list_actions(*config_.task);
    if (!episode_state.list.empty()) {
      observe_world(world);
      return true;
    }
    config_.task->commit(episode_state.view, episode_state.agent_memory, episode_state.draft);
    const int64_t wake_us = episode_state.draft.plan().wake_us;
    if (wake_us != kNever) episode_state.world.state().head->timer_us = wake_us;
    episode_state.draft.reset();
    episode_state.actions_taken.clear();
  }
  return false;
}

// Rebuilds the current decision after its draft was undone.
template <Task T>
void BasicBatchEnv<T>::rebuild_decision(EpisodeState& episode_state) const {
  episode_state.draft.reset();
  if constexpr (!DeviceTask<T>) {
    const Agent& agent = *config_.task;
    AgentMemory& memory = episode_state.agent_memory;
    memory.cache.reset();
    agent.begin_decision(episode_state.view, memory);
    for (const int32_t action : episode_state.actions_taken) {
      episode_state.list_actions(agent);
      agent.apply(episode_state.view, memory, episode_state.list.at(action), episode_state.draft);
    }
    episode_state.list_actions(agent);
  }
}

template <Task T>
void BasicBatchEnv<T>::observe_world(int world) {
  EnvInstance& p = *instances_[static_cast<size_t>(world)];
  if (config_.exploration_mask)
    std::fill_n(p.observation.exploration_mask, shape_.actions(), uint8_t{0});
  EpisodeState& episode_state = *p.episode_state;
  if constexpr (DeviceTask<T>) {
    T::observe(episode_state.view, config_.task, episode_state.memory_bytes(), p.observation);
  } else {
    config_.task->observe(episode_state.view, episode_state.agent_memory, episode_state.list,
                          shape_, p.observation);
  }
  rows_[static_cast<size_t>(world)] = p.observation.rows;
  expert_action_[static_cast<size_t>(world)] = p.observation.expert_action;
}

// job_s: jobs in the system, integrated over time since the last action.
template <Task T>
double BasicBatchEnv<T>::cumulative_reward(EpisodeState& episode_state, double job_s) const {
  if constexpr (DeviceTask<T>) {
    return -job_s;
  } else {
    return config_.task->cumulative_reward(episode_state.view, episode_state.agent_memory, job_s);
  }
}

template <Task T>
void BasicBatchEnv<T>::step_world(int world, int32_t action) {
  const auto i = static_cast<size_t>(world);
  EnvInstance& p = *instances_[i];
  EpisodeState& episode_state = *p.episode_state;
  SimState& s = episode_state.world.state();
  if (p.is_done != 0) {
    ending_[i] = Ending::kNone;
    reward_[i] = dt_s_[i] = 0;
    return;
  }
  const int64_t from_us = s.head->now_us;
  const int64_t job_us = s.head->job_time_us;
  const double before = cumulative_reward(episode_state, 0);
  ending_[i] = Ending::kNone;
  ++p.decisions;
  bool continues = true;
  YARD_CHECK(action >= 0 && action < shape_.actions() && p.observation.mask[action] != 0,
             "illegal action");
  if (next_ != at_) bind_to_tensors(p.observation, world, next_, shape_.rows);
  if constexpr (!DeviceTask<T>) {
    config_.task->apply(episode_state.view, episode_state.agent_memory,
                        episode_state.list.at(action), episode_state.draft);
    episode_state.actions_taken.push_back(action);
    if (!continue_or_commit_decision(world)) continues = advance_to_choice(world);
  } else if (action != T::kNothing) {
    const int32_t slot = p.observation.slots[action];
    T::apply(episode_state.view, config_.task, episode_state.memory_bytes(), slot,
             episode_state.scratch.data(), RuleEditor{episode_state.world.fixed(), s});
    p.observation.choices = 0;
    if (!T::idle(episode_state.view, config_.task)) observe_world(world);
    if (p.observation.choices == 0) continues = advance_to_choice(world);
  } else {
    continues = advance_to_choice(world);
  }
  reward_[i] = static_cast<float>(
      cumulative_reward(episode_state, 1e-6 * static_cast<double>(s.head->job_time_us - job_us)) -
      before);
  dt_s_[i] = 1e-6F * static_cast<float>(s.head->now_us - from_us);
  const bool cut = continues && config_.max_decisions > 0 && p.decisions >= config_.max_decisions;
  if (continues && !cut) return;
  ending_[i] = continues ? Ending::kTruncated : Ending::kTerminated;
  if (cut) {
    std::copy_n(p.observation.jobs, floats_per_window(),
                final_jobs_.begin() + world * floats_per_window());
    std::copy_n(p.observation.cluster, shape_.cluster_features,
                final_cluster_.begin() + world * shape_.cluster_features);
    final_rows_[i] = rows_[i];
  }
  p.result = {world,
              p.episode,
              static_cast<int32_t>(p.env_spec),
              s.head->first_job,
              p.jct_sum_s / std::max<double>(1, s.head->finished),
              p.decisions};
  p.has_result = true;
  if (config_.wait_at_end) {
    p.is_done = 1;
  } else {
    begin_episode(world);
  }
}

template <Task T>
std::vector<EpisodeResult> BasicBatchEnv<T>::take_results() {
  std::vector<EpisodeResult> out;
  for (auto& p : instances_) {
    if (!p->has_result) continue;
    out.push_back(p->result);
    p->has_result = false;
  }
  return out;
}

template <Task T>
std::vector<std::byte> BasicBatchEnv<T>::save() const {
  YARD_CHECK(begun_, "worlds that have begun");
  std::vector<std::byte> out(kHashBytes);
  const auto put = [&out](const void* from, size_t bytes) {
    const auto* at = static_cast<const std::byte*>(from);
    out.insert(out.end(), at, at + bytes);
  };
  for (const EnvSpec& env_spec : env_specs_) put(&env_spec.weight, sizeof env_spec.weight);
  for (const auto& p : instances_) {
    EpisodeState& episode_state = *p->episode_state;
    SavedWorldState saved = *p;
    saved.actions_taken = static_cast<int64_t>(episode_state.actions_taken.size());
    put(&saved, sizeof saved);
    put(episode_state.memory.data(), episode_state.memory.size() * sizeof(uint64_t));
    // The draft is saved as its actions, from which restore() rebuilds it.
    episode_state.draft.undo_to(0);
    put(episode_state.world.raw_state().data(), episode_state.world.raw_state().size());
    put(episode_state.actions_taken.data(), episode_state.actions_taken.size() * sizeof(int32_t));
    rebuild_decision(episode_state);
  }
  const std::string hash = hash_of(signature_, std::span(out).subspan(kHashBytes));
  std::memcpy(out.data(), hash.data(), kHashBytes);
  return out;
}

template <Task T>
void BasicBatchEnv<T>::restore(std::span<const std::byte> saved) {
  // After this check the bytes are known to be from save() with equal settings.
  if (saved.size() < kHashBytes ||
      hash_of(signature_, saved.subspan(kHashBytes)) !=
          std::string_view(reinterpret_cast<const char*>(saved.data()), kHashBytes)) {
    throw InputError("saved worlds", "the complete output of save() with the same settings",
                     std::to_string(saved.size()) + " bytes of other data");
  }
  begun_ = true;
  std::span<const std::byte> rest = saved.subspan(kHashBytes);
  const auto apply = [&](void* to, size_t n) {
    YARD_CHECK(n <= rest.size(), "the saved worlds are truncated");
    if (n > 0) std::memcpy(to, rest.data(), n);  // empty: null
    rest = rest.subspan(n);
  };
  for (EnvSpec& env_spec : env_specs_) apply(&env_spec.weight, sizeof env_spec.weight);
  for (size_t n = 0; n < instances_.size(); ++n) {
    EnvInstance& p = *instances_[n];
    apply(static_cast<SavedWorldState*>(&p), sizeof(SavedWorldState));
    select_env_spec(p, static_cast<int32_t>(p.env_spec));
    EpisodeState& episode_state = *p.episode_state;
    apply(episode_state.memory.data(), episode_state.memory.size() * sizeof(uint64_t));
    apply(episode_state.world.raw_state().data(), episode_state.world.raw_state().size());
    episode_state.actions_taken.resize(static_cast<size_t>(p.actions_taken));
    apply(episode_state.actions_taken.data(), episode_state.actions_taken.size() * sizeof(int32_t));
    episode_state.world.invalidate_event_queue();
    rebuild_decision(episode_state);
    if (DeviceTask<T> || p.is_done == 0) observe_world(static_cast<int>(n));
  }
}

template <Task T>
void BasicBatchEnv<T>::fork(int from, int to) {
  YARD_CHECK(from != to && from >= 0 && to >= 0 && from < worlds() && to < worlds(),
             "expected two different worlds of the batch");
  EnvInstance& a = *instances_[static_cast<size_t>(from)];
  EnvInstance& b = *instances_[static_cast<size_t>(to)];
  static_cast<SavedWorldState&>(b) = a;
  select_env_spec(b, static_cast<int32_t>(b.env_spec));
  a.episode_state->draft.undo_to(0);
  b.episode_state->memory = a.episode_state->memory;
  b.episode_state->world.copy_from(a.episode_state->world);
  b.episode_state->actions_taken = a.episode_state->actions_taken;
  rebuild_decision(*a.episode_state);
  rebuild_decision(*b.episode_state);
  if (DeviceTask<T> || b.is_done == 0) observe_world(to);
}

template class BasicBatchEnv<AnyAgentTask>;
template class BasicBatchEnv<JobSelectionTask>;

}  // namespace yard
