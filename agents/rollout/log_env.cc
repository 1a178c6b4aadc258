#include "agents/rollout/log_env.h"

#include <algorithm>
#include <cstring>

#include "env/base/core/check.h"
#include "env/base/core/error.h"
#include "env/base/core/rng.h"

namespace yard {
namespace {

// Dims: N environments, I steps, E episodes in one pass over the log.
class LogVectorEnv final : public VectorEnv {
 public:
  LogVectorEnv(const RecordedChoices& choices, const VectorEnvOptions& options)
      : choices_(choices),
        options_(options),
        offset_(choices.row_offsets()),
        length_(std::min<int64_t>(options.episode_jobs, choices.size())),
        worlds_(static_cast<size_t>(options.worlds)) {
    YARD_CHECK(choices.size() > 0, "the log has no steps");
    const ObservationShape& s = choices.shape;
    const size_t n = worlds_.size();
    jobs_.resize(n * static_cast<size_t>(s.rows) * static_cast<size_t>(s.row_features));
    cluster_.resize(n * static_cast<size_t>(s.cluster_features));
    mask_.resize(n * static_cast<size_t>(s.actions()));
    prior_.resize(mask_.size());
    for (auto* column : {&rows_, &expert_action_}) column->resize(n);
    for (auto* column : {&reward_, &dt_s_}) column->resize(n);
    ending_.resize(n);
  }

  ObservationShape shape() const override { return choices_.shape; }
  int count() const override { return static_cast<int>(worlds_.size()); }

  // No episode is truncated. Final observations are never read, so the current ones stand in.
  Observations observations() const override {
    return {jobs_,   cluster_, mask_,   prior_, rows_,    expert_action_,
            reward_, dt_s_,    ending_, jobs_,  cluster_, rows_};
  }

  void reset() override {
    for (size_t n = 0; n < worlds_.size(); ++n) begin(n, 0);
  }

  void begin_next_episodes() override {
    for (size_t n = 0; n < worlds_.size(); ++n) begin(n, worlds_[n].episode + 1);
  }

  void step(std::span<const int32_t>) override {
    for (size_t n = 0; n < worlds_.size(); ++n) {
      World& w = worlds_[n];
      ending_[n] = Ending::kNone;
      if (w.is_done != 0) continue;
      if (++w.done < length_) {
        show(n);
        continue;
      }
      ending_[n] = Ending::kTerminated;
      if (options_.wait_at_end) {
        w.is_done = 1;
      } else {
        begin(n, w.episode + 1);
      }
    }
  }

  bool is_done(int world) const override {
    return worlds_[static_cast<size_t>(world)].is_done != 0;
  }

  double elapsed_s(int world) const override {
    const auto n = static_cast<size_t>(world);
    return static_cast<double>(choices_.time_s[static_cast<size_t>(at(n))]) -
           static_cast<double>(choices_.time_s[static_cast<size_t>(first(n))]);
  }

  std::vector<double> take_mean_jcts_s() override { return {}; }

  std::string save() const override {
    std::string out(sizeof(int64_t) + worlds_.size() * sizeof(World), '\0');
    const int64_t steps = choices_.size();
    std::memcpy(out.data(), &steps, sizeof steps);
    std::memcpy(out.data() + sizeof steps, worlds_.data(), worlds_.size() * sizeof(World));
    return out;
  }

  void restore(std::string_view saved) override {
    int64_t steps = 0;
    const size_t bytes = worlds_.size() * sizeof(World);
    if (saved.size() != sizeof steps + bytes) {
      throw InputError(
          "saved environments",
          std::to_string(sizeof steps + bytes) + " bytes for this number of environments",
          std::to_string(saved.size()));
    }
    std::memcpy(&steps, saved.data(), sizeof steps);
    if (steps != choices_.size()) {
      throw InputError("saved environments",
                       "a log of " + std::to_string(choices_.size()) + " steps",
                       std::to_string(steps));
    }
    std::vector<World> worlds(worlds_.size());
    std::memcpy(worlds.data(), saved.data() + sizeof steps, bytes);
    for (const World& w : worlds) {
      if (w.episode >= 0 && w.done >= 0 && w.done <= length_ &&
          (w.is_done == 0 || w.is_done == 1)) {
        continue;
      }
      throw InputError("saved environments", "steps within episodes", "steps outside of them");
    }
    worlds_ = std::move(worlds);
    for (size_t n = 0; n < worlds_.size(); ++n) show(n);
  }

 private:
  struct World {
    int64_t episode = 0;  // its number, from 0
    int64_t done = 0;     // steps of it
    int64_t is_done = 0;  // 1: for begin_next_episodes()
  };

  // The first step of the environment's episode. If the steps make no whole number of episodes, the
  // last episode continues with the first steps.
  int64_t first(size_t n) const {
    const int64_t episodes = (choices_.size() + length_ - 1) / length_;  // E
    const int64_t number = worlds_[n].episode * count() + static_cast<int64_t>(n);
    const int64_t way = number / episodes;
    Rng rng = Rng(options_.seed).split(static_cast<uint64_t>(way));
    const int64_t shift = way == 0 ? 0 : rng.below(static_cast<uint32_t>(length_));
    return (number % episodes * length_ + shift) % choices_.size();
  }

  int64_t at(size_t n) const {
    return (first(n) + std::min(worlds_[n].done, length_ - 1)) % choices_.size();
  }

  void begin(size_t n, int64_t episode) {
    worlds_[n] = {.episode = episode};
    show(n);
  }

  void show(size_t n) {
    const ObservationShape& s = choices_.shape;
    const auto actions = static_cast<size_t>(s.actions());
    const int64_t i = at(n);
    Observation out{};
    out.jobs = jobs_.data() + n * static_cast<size_t>(s.rows) * static_cast<size_t>(s.row_features);
    out.cluster = cluster_.data() + n * static_cast<size_t>(s.cluster_features);
    out.mask = mask_.data() + n * actions;
    out.prior = prior_.data() + n * actions;
    choices_.write_observation(i, offset_[static_cast<size_t>(i)], out);
    rows_[n] = out.rows;
    expert_action_[n] = out.expert_action;
  }

  const RecordedChoices& choices_;
  VectorEnvOptions options_;
  std::vector<int64_t> offset_;  // (I + 1)
  int64_t length_;               // of an episode, in steps
  std::vector<World> worlds_;    // (N)
  std::vector<float> jobs_, cluster_, prior_;
  std::vector<uint8_t> mask_;
  std::vector<int32_t> rows_, expert_action_;
  std::vector<float> reward_, dt_s_;
  std::vector<Ending> ending_;
};

}  // namespace

std::unique_ptr<VectorEnv> make_log_env(const RecordedChoices& choices,
                                        const VectorEnvOptions& options) {
  return std::make_unique<LogVectorEnv>(choices, options);
}

}  // namespace yard
