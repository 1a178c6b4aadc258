#include "env/batch/batch_env.h"

#include <algorithm>
#include <cstring>

#include "env/base/error.h"
#include "env/batch/pool.h"
#include "env/task/task.h"

namespace yard {

static_assert(Task<Dispatch, DispatchConfig>);

namespace {

// A task's actions act on the rules at once: nobody takes them back.
struct RuleEditor {
  const Fixed& fixed;
  ClusterState& state;
  void start(int32_t slot, const Piece* pieces, int32_t n) {
    yard::start(fixed, state, slot, pieces, n);
  }
  void preempt(int32_t slot) { yard::preempt(fixed, state, slot); }
};

constexpr int64_t kRow = Dispatch::kJobFeatures;
constexpr int64_t kWindow = Dispatch::kJobs * kRow;

}  // namespace

struct BatchEnv::Player {
  Player(const Fixed& fixed, const BatchConfig& config, const Rng& stream)
      : world(fixed, config.episode_jobs),
        view(world.fixed(), world.state(), Level::kHistory),
        rng(stream),
        memory((Dispatch::memory_bytes(view) + 7) / 8),
        scratch(static_cast<size_t>(fixed.spec.num_nodes)) {}

  std::byte* memory_bytes() { return reinterpret_cast<std::byte*>(memory.data()); }

  World world;
  View view;
  Rng rng;                       // names this world's (or its group's) episodes
  std::vector<uint64_t> memory;  // the task's
  std::vector<Piece> scratch;
  int64_t episode = -1;
  int64_t decisions = 0;
  Dispatch::Observation sight{};  // its slice of the tensors
  double jct_sum_s = 0;
  EpisodeResult result{};
  bool has_result = false;
  bool waits = false;  // between episodes
};

BatchEnv::BatchEnv(const Fixed& fixed, const Workload& workload, const BatchConfig& config)
    : fixed_(fixed),
      workload_(&workload),
      config_(config),
      pool_(std::make_unique<ThreadPool>(config.threads)) {
  YARD_CHECK(config.group > 0 && config.worlds % config.group == 0, "worlds come in whole groups");
  YARD_CHECK(config.episode_jobs > 0 && config.episode_jobs <= workload.size(),
             "an episode needs so many jobs");
  const auto n = static_cast<size_t>(config.worlds);
  jobs_.resize(n * kWindow);
  final_jobs_.resize(n * kWindow);
  cluster_.resize(n * Dispatch::kClusterFeatures);
  final_cluster_.resize(n * Dispatch::kClusterFeatures);
  mask_.resize(n * Dispatch::kActions);
  if (config.prior) prior_.resize(n * Dispatch::kActions);
  slots_.resize(n * Dispatch::kJobs);
  for (auto* column : {&rows_, &suggested_, &final_rows_}) column->resize(n);
  reward_.resize(n);
  dt_s_.resize(n);
  ending_.resize(n);
  for (int w = 0; w < config.worlds; ++w) {
    const auto stream = static_cast<uint64_t>(w / config.group);
    players_.push_back(std::make_unique<Player>(fixed_, config_, Rng{config.seed}.split(stream)));
    players_.back()->sight = slice(w);
  }
}

BatchEnv::~BatchEnv() = default;

void BatchEnv::reset() {
  pool_->run(config_.worlds, [this](int from, int to) {
    for (int n = from; n < to; ++n) {
      players_[static_cast<size_t>(n)]->episode = -1;
      begin_episode(n);
    }
  });
}

void BatchEnv::begin_episodes() {
  pool_->run(config_.worlds, [this](int from, int to) {
    for (int n = from; n < to; ++n) begin_episode(n);
  });
}

bool BatchEnv::waits(int world) const { return players_[static_cast<size_t>(world)]->waits; }

int32_t BatchEnv::num_waiting(int world) const {
  return players_[static_cast<size_t>(world)]->view.num_waiting();
}

double BatchEnv::elapsed_s(int world) const {
  const Head& h = *players_[static_cast<size_t>(world)]->world.state().head;
  return 1e-6 * static_cast<double>(h.now_us - fixed_.jobs.submit_us[h.first_job]);
}

void BatchEnv::step(std::span<const int32_t> actions) {
  YARD_CHECK(actions.size() == static_cast<size_t>(config_.worlds), "one action a world");
  pool_->run(config_.worlds, [this, actions](int from, int to) {
    for (int n = from; n < to; ++n) step_world(n, actions[static_cast<size_t>(n)]);
  });
}

// Draws a window of jobs and goes on to its first decision.
void BatchEnv::begin_episode(int n) {
  Player& p = *players_[static_cast<size_t>(n)];
  p.waits = false;
  for (bool asked = false; !asked;) {
    ++p.episode;
    Rng rng = p.rng.split(static_cast<uint64_t>(p.episode));
    const auto starts = static_cast<uint32_t>(workload_->size() - config_.episode_jobs + 1);
    const auto first = static_cast<int32_t>(rng.below(starts));
    p.world.reset(first, first + config_.episode_jobs);
    std::fill(p.memory.begin(), p.memory.end(), 0);
    p.decisions = 0;
    p.jct_sum_s = 0;
    asked = go_on(n);  // an episode that never asks anything is over at once
  }
}

// Advances to the next moment at which there is a choice. Returns false when the episode is over.
bool BatchEnv::go_on(int n) {
  Player& p = *players_[static_cast<size_t>(n)];
  ClusterState& s = p.world.state();
  const Truth truth = workload_->truth();
  while (!all_done(s)) {
    s.head->timer_us = Dispatch::wake_us(p.view, config_.task);
    const bool moved = p.world.advance(truth);
    YARD_CHECK(moved, "a world stands still");
    for (int32_t i = 0; i < s.head->num_changed; ++i) {
      const int32_t slot = s.changed[i];
      if (s.phase[slot] != Phase::kDone) continue;
      p.jct_sum_s += 1e-6 * static_cast<double>(s.head->now_us - s.submit_us[slot]);
    }
    if (!Dispatch::take_in(p.view, config_.task, p.memory_bytes())) continue;
    observe(n);
    if (p.sight.choices > 0) return true;
  }
  return false;
}

Dispatch::Observation BatchEnv::slice(int n) {
  Dispatch::Observation out{};
  out.jobs = jobs_.data() + n * kWindow;
  out.cluster = cluster_.data() + n * Dispatch::kClusterFeatures;
  out.mask = mask_.data() + n * Dispatch::kActions;
  if (config_.prior) out.prior = prior_.data() + n * Dispatch::kActions;
  out.slots = slots_.data() + n * Dispatch::kJobs;
  out.filled = 0;  // all is zero at first
  return out;
}

void BatchEnv::observe(int n) {
  Player& p = *players_[static_cast<size_t>(n)];
  Dispatch::observe(p.view, config_.task, p.memory_bytes(), p.sight);
  rows_[static_cast<size_t>(n)] = p.sight.rows;
  suggested_[static_cast<size_t>(n)] = p.sight.suggested;
}

void BatchEnv::step_world(int n, int32_t action) {
  const auto i = static_cast<size_t>(n);
  Player& p = *players_[i];
  ClusterState& s = p.world.state();
  if (p.waits) {
    ending_[i] = Ending::kNone;
    reward_[i] = dt_s_[i] = 0;
    return;
  }
  const int64_t from_us = s.head->now_us, job_time_us = s.head->job_time_us;
  ending_[i] = Ending::kNone;
  ++p.decisions;
  bool goes_on = true;
  YARD_CHECK(action >= 0 && action < Dispatch::kActions && p.sight.mask[action] != 0,
             "illegal action");
  if (action != Dispatch::kNothing) {
    const int32_t slot = p.sight.slots[action];
    Dispatch::apply(p.view, config_.task, slot, p.scratch.data(), RuleEditor{fixed_, s});
    p.sight.choices = 0;
    if (!Dispatch::idle(p.view, config_.task)) observe(n);
    if (p.sight.choices == 0) goes_on = go_on(n);
  } else {
    goes_on = go_on(n);
  }
  reward_[i] = static_cast<float>(Dispatch::reward(job_time_us, s.head->job_time_us));
  dt_s_[i] = 1e-6F * static_cast<float>(s.head->now_us - from_us);
  const bool cut = goes_on && config_.max_decisions > 0 && p.decisions >= config_.max_decisions;
  if (goes_on && !cut) return;
  ending_[i] = goes_on ? Ending::kTruncated : Ending::kTerminated;
  if (cut) {
    std::copy_n(jobs_.begin() + n * kWindow, kWindow, final_jobs_.begin() + n * kWindow);
    std::copy_n(cluster_.begin() + n * Dispatch::kClusterFeatures, Dispatch::kClusterFeatures,
                final_cluster_.begin() + n * Dispatch::kClusterFeatures);
    final_rows_[i] = rows_[i];
  }
  p.result = {n, p.episode, s.head->first_job, p.jct_sum_s / std::max<double>(1, s.head->finished),
              p.decisions};
  p.has_result = true;
  if (config_.wait_at_end) {
    p.waits = true;
  } else {
    begin_episode(n);
  }
}

std::vector<EpisodeResult> BatchEnv::take_results() {
  std::vector<EpisodeResult> out;
  for (auto& p : players_) {
    if (!p->has_result) continue;
    out.push_back(p->result);
    p->has_result = false;
  }
  return out;
}

// What a world cannot work out anew from its seed: flat values, then the task's memory and the
// state.
struct Saved {
  int64_t episode, decisions, waits;
  double jct_sum_s;
};

std::vector<std::byte> BatchEnv::save() const {
  std::vector<std::byte> out;
  const auto put = [&out](const void* from, size_t bytes) {
    const auto* at = static_cast<const std::byte*>(from);
    out.insert(out.end(), at, at + bytes);
  };
  for (const auto& p : players_) {
    const Saved saved{p->episode, p->decisions, p->waits, p->jct_sum_s};
    put(&saved, sizeof saved);
    put(p->memory.data(), p->memory.size() * sizeof(uint64_t));
    put(p->world.block().data(), p->world.block().size());
  }
  return out;
}

void BatchEnv::restore(std::span<const std::byte> saved) {
  size_t bytes = 0;
  for (const auto& p : players_) {
    bytes += sizeof(Saved) + p->memory.size() * sizeof(uint64_t) + p->world.block().size();
  }
  if (saved.size() != bytes) {
    throw InputError("saved worlds", std::to_string(bytes) + " bytes",
                     std::to_string(saved.size()) + " (another configuration?)");
  }
  const std::byte* at = saved.data();
  const auto take = [&at](void* to, size_t n) {
    std::memcpy(to, at, n);
    at += n;
  };
  for (size_t n = 0; n < players_.size(); ++n) {
    Player& p = *players_[n];
    Saved s;
    take(&s, sizeof s);
    p.episode = s.episode;
    p.decisions = s.decisions;
    p.waits = s.waits != 0;
    p.jct_sum_s = s.jct_sum_s;
    take(p.memory.data(), p.memory.size() * sizeof(uint64_t));
    take(p.world.block().data(), p.world.block().size());
    p.world.plan_anew();
    observe(static_cast<int>(n));
  }
}

}  // namespace yard
