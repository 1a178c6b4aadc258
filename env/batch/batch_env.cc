#include "env/batch/batch_env.h"

#include <algorithm>
#include <cstring>

#include "env/base/error.h"
#include "env/base/file.h"
#include "env/base/huge_pages.h"
#include "env/batch/pool.h"
#include "env/batch/saved.h"

namespace yard {

namespace {

// Applies a task's actions to the simulator at once; they cannot be undone.
struct RuleEditor {
  const Fixed& fixed;
  ClusterState& state;
  void start(int32_t slot, const Piece* pieces, int32_t n) {
    yard::start(fixed, state, slot, pieces, n);
  }
  void preempt(int32_t slot) { yard::preempt(fixed, state, slot); }
};

constexpr uint64_t kCourseStream = 0x636F75727365;
constexpr int kIdleEpisodes = 1000;  // consecutive episodes without a decision

}  // namespace

// One world on one Course, with the task's memory.
template <Task T>
struct BasicBatchEnv<T>::Stage {
  Stage(const Course& course, const BasicBatchConfig<T>& config, HugePages& pages)
      : world(course.fixed, config.episode_jobs, &pages),
        view(world.fixed(), world.state(), level_of<T>(config.task)),
        memory((memory_bytes_of<T>(view, config.task) + 7) / 8, &pages),
        scratch(static_cast<size_t>(course.fixed.spec.num_nodes) *
                static_cast<size_t>(course.fixed.jobs.shapes.max_groups)),
        draft(world.fixed(), world.state()) {}

  std::byte* memory_bytes() { return reinterpret_cast<std::byte*>(memory.data()); }

  World world;
  View view;
  std::pmr::vector<uint64_t> memory;  // of the task
  std::vector<Piece> scratch;
  // For drafting tasks: the draft of the current decision and its actions so far.
  Draft draft;
  std::vector<int32_t> taken;
};

template <Task T>
struct BasicBatchEnv<T>::Player {
  explicit Player(const Rng& stream) : rng(stream) {}

  Rng rng;                                     // stream of episodes of this world, or its group
  std::vector<std::unique_ptr<Stage>> stages;  // by Course, created on first use
  Stage* stage = nullptr;                      // that of the current episode
  int32_t course = 0;
  int64_t episode = -1;
  int64_t decisions = 0;
  Observation sight{};  // its slice of the tensors
  double jct_sum_s = 0;
  EpisodeResult result{};
  bool has_result = false;
  bool waits = false;  // between episodes
};

template <Task T>
BasicBatchEnv<T>::BasicBatchEnv(const Fixed& fixed, const Workload& workload,
                                const BasicBatchConfig<T>& config)
    : BasicBatchEnv(std::vector<Course>{{fixed, &workload, 1}}, config) {}

template <Task T>
BasicBatchEnv<T>::BasicBatchEnv(std::vector<Course> courses, const BasicBatchConfig<T>& config)
    : courses_(std::move(courses)),
      config_(config),
      shape_(shape_of<T>(config.task)),
      pages_(std::make_unique<HugePages>()),
      jobs_(pages_.get()),
      mask_(pages_.get()),
      pool_(std::make_unique<ThreadPool>(config.threads)) {
  YARD_CHECK(!courses_.empty(), "a batch needs a course");
  YARD_CHECK(config.group > 0 && config.worlds % config.group == 0 &&
                 config.first_world % config.group == 0,
             "worlds come in whole groups");
  for (const Course& course : courses_) {
    YARD_CHECK(config.episode_jobs > 0 && config.episode_jobs <= course.workload->size(),
               "an episode needs so many jobs");
  }
  signature_ = signature_of(courses_, config_);
  const auto n = static_cast<size_t>(config.worlds);
  jobs_.resize(n * window());
  final_jobs_.resize(n * window());
  cluster_.resize(n * shape_.cluster_features);
  final_cluster_.resize(n * shape_.cluster_features);
  mask_.resize(n * shape_.actions());
  if (config.prior) prior_.resize(n * shape_.actions());
  if (config.hints) hints_.resize(n * shape_.actions());
  at_ = next_ = {jobs_.data(), cluster_.data(), mask_.data()};
  slots_.resize(n * shape_.rows);
  for (auto* column : {&rows_, &suggested_, &final_rows_}) column->resize(n);
  reward_.resize(n);
  dt_s_.resize(n);
  ending_.resize(n);
  for (int w = 0; w < config.worlds; ++w) {
    const auto stream = static_cast<uint64_t>((config.first_world + w) / config.group);
    players_.push_back(std::make_unique<Player>(Rng{config.seed}.split(stream)));
    players_.back()->stages.resize(courses_.size());
    players_.back()->sight = slice(w);
    enter(*players_.back(), 0);
  }
}

template <Task T>
void BasicBatchEnv<T>::enter(Player& p, int32_t course) {
  std::unique_ptr<Stage>& stage = p.stages[static_cast<size_t>(course)];
  if (!stage) {
    stage = std::make_unique<Stage>(courses_[static_cast<size_t>(course)], config_, *pages_);
  }
  p.stage = stage.get();
  p.course = course;
}

template <Task T>
int32_t BasicBatchEnv<T>::draw_course(const Rng& rng) const {
  if (courses_.size() == 1) return 0;
  double sum = 0;
  for (const Course& course : courses_) sum += course.weight;
  double at = rng.split(kCourseStream).uniform() * sum;
  int32_t last = 0;
  for (size_t c = 0; c < courses_.size(); ++c) {
    if (courses_[c].weight <= 0) continue;
    last = static_cast<int32_t>(c);
    at -= courses_[c].weight;
    if (at < 0) break;
  }
  return last;
}

template <Task T>
void BasicBatchEnv<T>::set_weights(std::span<const double> weights) {
  YARD_CHECK(weights.size() == courses_.size(), "one weight a course");
  YARD_CHECK(*std::max_element(weights.begin(), weights.end()) > 0, "a course must be played");
  for (size_t c = 0; c < courses_.size(); ++c) courses_[c].weight = weights[c];
}

template <Task T>
BasicBatchEnv<T>::~BasicBatchEnv() = default;

template <Task T>
void BasicBatchEnv<T>::reset() {
  pool_->run(config_.worlds, [this](int from, int to) {
    for (int n = from; n < to; ++n) {
      players_[static_cast<size_t>(n)]->episode = -1;
      begin_episode(n);
    }
  });
  throw_if_idle();
}

template <Task T>
void BasicBatchEnv<T>::begin_episodes() {
  pool_->run(config_.worlds, [this](int from, int to) {
    for (int n = from; n < to; ++n) begin_episode(n);
  });
  throw_if_idle();
}

template <Task T>
bool BasicBatchEnv<T>::waits(int world) const {
  return players_[static_cast<size_t>(world)]->waits;
}

template <Task T>
int32_t BasicBatchEnv<T>::num_waiting(int world) const {
  return players_[static_cast<size_t>(world)]->stage->view.num_waiting();
}

template <Task T>
double BasicBatchEnv<T>::elapsed_s(int world) const {
  const World& played = players_[static_cast<size_t>(world)]->stage->world;
  const Head& h = *played.state().head;
  return 1e-6 * static_cast<double>(h.now_us - played.fixed().jobs.submit_us[h.first_job]);
}

// `filled`: number of rows there that may be non-zero.
template <Task T>
void BasicBatchEnv<T>::look_at(Observation& sight, int n, const Tensors& tensors,
                               int32_t filled) const {
  sight.jobs = tensors.jobs + n * window();
  sight.cluster = tensors.cluster + n * shape_.cluster_features;
  sight.mask = tensors.mask + n * shape_.actions();
  sight.filled = filled;
}

template <Task T>
void BasicBatchEnv<T>::aim(float* jobs, float* cluster, uint8_t* mask) {
  next_ = {jobs, cluster, mask};
}

template <Task T>
void BasicBatchEnv<T>::step(std::span<const int32_t> actions) {
  YARD_CHECK(actions.size() == static_cast<size_t>(config_.worlds), "one action a world");
  pool_->run(config_.worlds, [this, actions](int from, int to) {
    for (int n = from; n < to; ++n) step_world(n, actions[static_cast<size_t>(n)]);
  });
  throw_if_idle();
  at_ = next_;
}

// Draws a window of jobs and advances to its first decision.
template <Task T>
void BasicBatchEnv<T>::begin_episode(int n) {
  Player& p = *players_[static_cast<size_t>(n)];
  p.waits = false;
  int idle = 0;
  for (bool asked = false; !asked; ++idle) {
    if (idle == kIdleEpisodes) {
      idle_.store(true, std::memory_order_relaxed);
      p.waits = true;
      return;
    }
    ++p.episode;
    Rng rng = p.rng.split(static_cast<uint64_t>(p.episode));
    enter(p, draw_course(rng));
    const Workload& workload = *courses_[static_cast<size_t>(p.course)].workload;
    const auto starts = static_cast<uint32_t>(workload.size() - config_.episode_jobs + 1);
    const auto first = static_cast<int32_t>(rng.below(starts));
    p.stage->world.reset(first, first + config_.episode_jobs);
    // A truncated episode leaves an unfinished decision.
    p.stage->draft.reset();
    p.stage->taken.clear();
    std::fill(p.stage->memory.begin(), p.stage->memory.end(), 0);
    p.decisions = 0;
    p.jct_sum_s = 0;
    asked = go_on(n);  // skip episodes without a decision
  }
}

// Deferred, because a thread of the pool must not throw.
template <Task T>
void BasicBatchEnv<T>::throw_if_idle() const {
  if (!idle_.load(std::memory_order_relaxed)) return;
  throw InputError("trace", "jobs about which the agent has something to decide",
                   "none in " + std::to_string(kIdleEpisodes) + " episodes");
}

// Advances to the next decision with a choice. Returns false when the episode is over.
template <Task T>
bool BasicBatchEnv<T>::go_on(int n) {
  Player& p = *players_[static_cast<size_t>(n)];
  Stage& stage = *p.stage;
  ClusterState& s = stage.world.state();
  const Truth truth = courses_[static_cast<size_t>(p.course)].workload->truth();
  while (!all_done(s)) {
    if constexpr (!DraftingTask<T>) s.head->timer_us = T::wake_us(stage.view, config_.task);
    const bool moved = stage.world.advance(truth);
    YARD_CHECK(moved, "a world stands still");
    for (int32_t i = 0; i < s.head->num_changed; ++i) {
      const int32_t slot = s.changed[i];
      if (s.phase[slot] != Phase::kDone) continue;
      p.jct_sum_s += 1e-6 * static_cast<double>(s.head->now_us - s.submit_us[slot]);
    }
    const bool choice = T::take_in(stage.view, config_.task, stage.memory_bytes());
    if constexpr (DraftingTask<T>) {
      if (choice && asks_on(n)) return true;
    } else {
      if (!choice) continue;
      observe(n);
      if (p.sight.choices > 0) return true;
    }
  }
  return false;
}

// Observes if the current decision needs another action, else closes it and returns false.
template <Task T>
bool BasicBatchEnv<T>::asks_on(int n) {
  if constexpr (DraftingTask<T>) {
    Stage& stage = *players_[static_cast<size_t>(n)]->stage;
    if (T::asks(stage.view, config_.task, stage.memory_bytes())) {
      observe(n);
      return true;
    }
    T::close(stage.view, config_.task, stage.memory_bytes(), stage.draft);
    const int64_t wake_us = stage.draft.plan().wake_us;
    if (wake_us != kNever) stage.world.state().head->timer_us = wake_us;
    stage.draft.reset();
    stage.taken.clear();
  }
  return false;
}

// Rebuilds the current decision after its draft was undone.
template <Task T>
void BasicBatchEnv<T>::take_again(Stage& stage) const {
  stage.draft.reset();
  if constexpr (DraftingTask<T>) {
    if (stage.taken.empty()) return;
    T::open(stage.view, config_.task, stage.memory_bytes());
    for (const int32_t action : stage.taken) {
      T::take(stage.view, config_.task, stage.memory_bytes(), action, stage.draft);
    }
  }
}

template <Task T>
Observation BasicBatchEnv<T>::slice(int n) {
  Observation out{};
  look_at(out, n, at_, 0);  // initially zero
  if (config_.prior) out.prior = prior_.data() + n * shape_.actions();
  if (config_.hints) out.hints = hints_.data() + n * shape_.actions();
  out.slots = slots_.data() + n * shape_.rows;
  return out;
}

template <Task T>
void BasicBatchEnv<T>::observe(int n) {
  Player& p = *players_[static_cast<size_t>(n)];
  if (config_.hints) std::fill_n(p.sight.hints, shape_.actions(), uint8_t{0});
  T::observe(p.stage->view, config_.task, p.stage->memory_bytes(), p.sight);
  rows_[static_cast<size_t>(n)] = p.sight.rows;
  suggested_[static_cast<size_t>(n)] = p.sight.suggested;
}

template <Task T>
void BasicBatchEnv<T>::step_world(int n, int32_t action) {
  const auto i = static_cast<size_t>(n);
  Player& p = *players_[i];
  Stage& stage = *p.stage;
  ClusterState& s = stage.world.state();
  if (p.waits) {
    ending_[i] = Ending::kNone;
    reward_[i] = dt_s_[i] = 0;
    return;
  }
  const int64_t from_us = s.head->now_us;
  const Earned before =
      earned<T>(stage.view, config_.task, stage.memory_bytes(), s.head->job_time_us);
  ending_[i] = Ending::kNone;
  ++p.decisions;
  bool goes_on = true;
  YARD_CHECK(action >= 0 && action < shape_.actions() && p.sight.mask[action] != 0,
             "illegal action");
  if (next_ != at_) look_at(p.sight, n, next_, shape_.rows);
  if constexpr (DraftingTask<T>) {
    T::take(stage.view, config_.task, stage.memory_bytes(), action, stage.draft);
    stage.taken.push_back(action);
    if (!asks_on(n)) goes_on = go_on(n);
  } else if (action != T::kNothing) {
    const int32_t slot = p.sight.slots[action];
    T::apply(stage.view, config_.task, stage.memory_bytes(), slot, stage.scratch.data(),
             RuleEditor{stage.world.fixed(), s});
    p.sight.choices = 0;
    if (!T::idle(stage.view, config_.task)) observe(n);
    if (p.sight.choices == 0) goes_on = go_on(n);
  } else {
    goes_on = go_on(n);
  }
  reward_[i] = static_cast<float>(reward_of<T>(
      before, earned<T>(stage.view, config_.task, stage.memory_bytes(), s.head->job_time_us)));
  dt_s_[i] = 1e-6F * static_cast<float>(s.head->now_us - from_us);
  const bool cut = goes_on && config_.max_decisions > 0 && p.decisions >= config_.max_decisions;
  if (goes_on && !cut) return;
  ending_[i] = goes_on ? Ending::kTruncated : Ending::kTerminated;
  if (cut) {
    std::copy_n(p.sight.jobs, window(), final_jobs_.begin() + n * window());
    std::copy_n(p.sight.cluster, shape_.cluster_features,
                final_cluster_.begin() + n * shape_.cluster_features);
    final_rows_[i] = rows_[i];
  }
  p.result = {n,
              p.episode,
              p.course,
              s.head->first_job,
              p.jct_sum_s / std::max<double>(1, s.head->finished),
              p.decisions};
  p.has_result = true;
  if (config_.wait_at_end) {
    p.waits = true;
  } else {
    begin_episode(n);
  }
}

template <Task T>
std::vector<EpisodeResult> BasicBatchEnv<T>::take_results() {
  std::vector<EpisodeResult> out;
  for (auto& p : players_) {
    if (!p->has_result) continue;
    out.push_back(p->result);
    p->has_result = false;
  }
  return out;
}

template <Task T>
std::vector<std::byte> BasicBatchEnv<T>::save() const {
  std::vector<std::byte> out(kHashBytes);
  const auto put = [&out](const void* from, size_t bytes) {
    const auto* at = static_cast<const std::byte*>(from);
    out.insert(out.end(), at, at + bytes);
  };
  for (const Course& course : courses_) put(&course.weight, sizeof course.weight);
  for (const auto& p : players_) {
    Stage& stage = *p->stage;
    const Saved saved{p->rng,       p->course, p->episode,
                      p->decisions, p->waits,  static_cast<int64_t>(stage.taken.size()),
                      p->jct_sum_s};
    put(&saved, sizeof saved);
    put(stage.memory.data(), stage.memory.size() * sizeof(uint64_t));
    // The draft is saved as its actions, from which restore() rebuilds it.
    stage.draft.undo_to(0);
    put(stage.world.block().data(), stage.world.block().size());
    put(stage.taken.data(), stage.taken.size() * sizeof(int32_t));
    take_again(stage);
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
    throw InputError("saved worlds", "what save() gave, whole, under the same settings",
                     std::to_string(saved.size()) + " bytes of another kind");
  }
  std::span<const std::byte> rest = saved.subspan(kHashBytes);
  const auto take = [&](void* to, size_t n) {
    YARD_CHECK(n <= rest.size(), "saved worlds end early");
    if (n > 0) std::memcpy(to, rest.data(), n);  // empty: null
    rest = rest.subspan(n);
  };
  for (Course& course : courses_) take(&course.weight, sizeof course.weight);
  for (size_t n = 0; n < players_.size(); ++n) {
    Player& p = *players_[n];
    Saved s{Rng(0), 0, 0, 0, 0, 0, 0};
    take(&s, sizeof s);
    enter(p, static_cast<int32_t>(s.course));
    p.rng = s.rng;
    p.episode = s.episode;
    p.decisions = s.decisions;
    p.waits = s.waits != 0;
    p.jct_sum_s = s.jct_sum_s;
    Stage& stage = *p.stage;
    take(stage.memory.data(), stage.memory.size() * sizeof(uint64_t));
    take(stage.world.block().data(), stage.world.block().size());
    stage.taken.resize(static_cast<size_t>(s.taken));
    take(stage.taken.data(), stage.taken.size() * sizeof(int32_t));
    stage.world.plan_anew();
    take_again(stage);
    if (!DraftingTask<T> || !p.waits) observe(static_cast<int>(n));
  }
}

template <Task T>
void BasicBatchEnv<T>::fork(int from, int to) {
  YARD_CHECK(from != to && from >= 0 && to >= 0 && from < worlds() && to < worlds(),
             "two worlds of the batch");
  Player& a = *players_[static_cast<size_t>(from)];
  Player& b = *players_[static_cast<size_t>(to)];
  enter(b, a.course);
  b.rng = a.rng;
  b.episode = a.episode;
  b.decisions = a.decisions;
  b.jct_sum_s = a.jct_sum_s;
  b.waits = a.waits;
  a.stage->draft.undo_to(0);
  b.stage->memory = a.stage->memory;
  b.stage->world.copy_from(a.stage->world);
  b.stage->taken = a.stage->taken;
  take_again(*a.stage);
  take_again(*b.stage);
  if (!DraftingTask<T> || !b.waits) observe(to);
}

template class BasicBatchEnv<Dispatch>;
template class BasicBatchEnv<JointTask>;
template class BasicBatchEnv<Select>;
template class BasicBatchEnv<RowPlay>;

}  // namespace yard
