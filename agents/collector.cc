#include "agents/collector.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "agents/choices.h"
#include "env/base/interrupt.h"
#include "env/base/rng.h"

namespace yard {
namespace {

constexpr uint64_t kActStream = 1;
constexpr size_t kGoldenStates = 64;
constexpr int64_t kRowsAtOnce = 3072;  // per thread

void append(std::vector<float>& to, const torch::Tensor& values) {
  const auto flat = values.contiguous();
  to.insert(to.end(), flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
}

const uint8_t* hints_of(const WorldsSight& sight, size_t world) {
  if (sight.hints.empty()) return nullptr;
  return sight.hints.data() + world * (sight.mask.size() / sight.rows.size());
}

}  // namespace

Collector::Collector(Worlds& worlds, Network& network, const Learner& learner,
                     const CollectorConfig& config, ThreadPool& threads, Profile& profile)
    : worlds_(worlds),
      network_(network),
      learner_(learner),
      wants_(learner.wants()),
      config_(config),
      threads_(threads),
      profile_(profile),
      rollout_(worlds.shape()) {}

bool Collector::teacher_decides(int world) const {
  return wants_.teacher_acts || (wants_.teacher_leads && world % config_.group == 0);
}

// Network outputs for the current observations of some environments, in order.
struct Collector::Outlook {
  std::vector<float> log_prob, value;  // (R + B) of choices, (B) with a critic
};

Collector::Outlook Collector::judge(std::span<const int32_t> worlds) {
  const WorldsSight sight = worlds_.sight();
  std::vector<int32_t> rows;
  for (const int32_t n : worlds) rows.push_back(sight.rows[static_cast<size_t>(n)]);
  const std::vector<Part> parts = parts_of(rows, kRowsAtOnce);
  std::vector<std::pair<torch::Tensor, torch::Tensor>> judged(parts.size());
  threads_.each(static_cast<int>(parts.size()), [&](int part) {
    const torch::NoGradGuard no_grad;  // for this thread
    const auto i = static_cast<size_t>(part);
    const RaggedBatch batch = present_batch(worlds_, worlds.subspan(parts[i].from, parts[i].count));
    const auto [logits, value] =
        network_.judge(batch, wants_.critic ? Heads::kBoth : Heads::kPolicy);
    judged[i] = {log_probs(logits, batch.offset), value};
  });
  Outlook out;
  for (const auto& [log_prob, value] : judged) {
    append(out.log_prob, log_prob);
    if (wants_.critic) append(out.value, value);
  }
  return out;
}

void Collector::trim() { rollout_.keep_last(wants_.replay); }

void Collector::collect(int number, std::vector<GoldenState>* golden) {
  torch::NoGradGuard no_grad;
  kept_ = rollout_.size();
  kept_rows_ = rollout_.rows();
  agreed_ = 0;
  const bool episodes = wants_.steps == 0;
  if (episodes && worlds_.waits(0)) worlds_.begin_episodes();
  const int32_t actions = worlds_.shape().actions();
  const Rng stream = Rng{config_.seed}.split(kActStream).split(static_cast<uint64_t>(number));
  std::vector<int32_t> action(static_cast<size_t>(worlds_.count())), active;
  for (int t = 0; episodes || t < wants_.steps; ++t) {
    active.clear();
    for (int n = 0; n < worlds_.count(); ++n) {
      if (!worlds_.waits(n)) active.push_back(n);
    }
    if (active.empty()) break;
    {
      const auto timed = profile_.enter(Profile::Stage::kInference);
      rollout_.add_observations(worlds_, active);
      const Outlook outlook = judge(active);
      const float* log_prob = outlook.log_prob.data();
      const WorldsSight sight = worlds_.sight();
      for (const int32_t world : active) {
        const auto n = static_cast<size_t>(world);
        Rng rng =
            stream.split(static_cast<uint64_t>(t) * static_cast<uint64_t>(config_.all_worlds) +
                         static_cast<uint64_t>(config_.first_world + world));
        const int32_t rows = sight.rows[n];
        const Alternatives options{.log_prob = {log_prob, static_cast<size_t>(rows) + 1},
                                   .mask = sight.mask.data() + n * static_cast<size_t>(actions),
                                   .nothing = actions - 1,
                                   .hints = hints_of(sight, n)};
        const int32_t teacher = sight.suggested[n];
        const Acted acted = teacher_decides(world) ? Acted{teacher, options.log_prob_of(teacher)}
                                                   : learner_.act(options, rng);
        action[n] = acted.action;
        agreed_ += action[n] == teacher;
        rollout_.action.push_back(action[n]);
        rollout_.log_prob.push_back(options.log_prob_of(action[n]));
        rollout_.acted_log_prob.push_back(acted.log_prob);
        log_prob += rows + 1;
      }
      rollout_.value.insert(rollout_.value.end(), outlook.value.begin(), outlook.value.end());
    }
    if (golden != nullptr && golden->size() < kGoldenStates) record_golden(*golden);
    {
      const auto timed = profile_.enter(Profile::Stage::kEnvironment);
      worlds_.step(action);
    }
    const WorldsSight sight = worlds_.sight();
    for (const int32_t world : active) {
      const auto n = static_cast<size_t>(world);
      rollout_.reward.push_back(sight.reward[n]);
      rollout_.dt_s.push_back(sight.dt_s[n]);
      rollout_.ending.push_back(sight.ending[n]);
    }
    if (wants_.critic && wants_.replay == 0) add_final_values(active);
    for (const double s : worlds_.take_mean_jcts_s()) mean_jcts_s_.push_back(s);
    if (config_.may_be_interrupted) throw_if_interrupted();
  }
}

std::vector<float> Collector::last_values() {
  torch::NoGradGuard no_grad;
  std::vector<int32_t> all(static_cast<size_t>(worlds_.count()));
  std::iota(all.begin(), all.end(), 0);
  std::vector<float> out;
  append(out, network_.value(present_batch(worlds_, all)));
  return out;
}

std::vector<int64_t> Collector::samples_to_learn() const {
  std::vector<int64_t> out;
  for (int64_t i = kept_; i < rollout_.size(); ++i) {
    const int32_t world = rollout_.world[static_cast<size_t>(i)];
    if (!wants_.teacher_leads || world % config_.group != 0) out.push_back(i);
  }
  return out;
}

// Stores the value of the final observation of each truncated episode, to bootstrap from. The last
// samples of the rollout are those of `active`.
void Collector::add_final_values(std::span<const int32_t> active) {
  rollout_.final_value.resize(rollout_.world.size(), 0);
  const auto ending = worlds_.sight().ending;
  if (std::find(ending.begin(), ending.end(), Ending::kTruncated) == ending.end()) return;
  std::vector<float> values;
  append(values, network_.value(final_batch(worlds_)));
  const size_t first = rollout_.world.size() - active.size();
  for (size_t k = 0; k < active.size(); ++k) {
    const auto n = static_cast<size_t>(active[k]);
    if (ending[n] == Ending::kTruncated) rollout_.final_value[first + k] = values[n];
  }
}

// Adds one state per step, each from another environment, so that golden states differ.
void Collector::record_golden(std::vector<GoldenState>& golden) const {
  const WorldsShape shape = worlds_.shape();
  const WorldsSight sight = worlds_.sight();
  const size_t n = golden.size() * 7 % static_cast<size_t>(worlds_.count());
  const auto row = [n](const auto& column, int64_t width) {
    const auto from = column.begin() + static_cast<int64_t>(n) * width;
    return std::vector(from, from + width);
  };
  GoldenState g;
  g.jobs = row(sight.jobs, int64_t{shape.rows} * shape.row_features);
  g.cluster = row(sight.cluster, shape.cluster_features);
  g.prior = row(sight.prior, shape.actions());
  g.mask = row(sight.mask, shape.actions());
  g.slots.assign(static_cast<size_t>(shape.rows), 0);
  g.rows = sight.rows[n];
  golden.push_back(std::move(g));
}

std::vector<float> logits_of(Network& network, const WorldsShape& shape, GoldenState& g) {
  torch::NoGradGuard no_grad;
  RaggedBatch batch;
  const int64_t rows = g.rows;
  batch.jobs = torch::from_blob(g.jobs.data(), {rows, shape.row_features});
  batch.offset = torch::tensor({int64_t{0}, rows});
  batch.count = torch::full({1, 1}, static_cast<float>(std::max<int64_t>(rows, 1)));
  batch.cluster = torch::from_blob(g.cluster.data(), {1, shape.cluster_features});
  const auto nothing = static_cast<size_t>(shape.actions()) - 1;
  std::vector<float> prior(g.prior.begin(), g.prior.begin() + rows), choices;
  prior.push_back(g.prior[nothing]);
  batch.prior = torch::from_blob(prior.data(), {rows + 1});
  append(choices, network.logits(batch));
  std::vector<float> out(nothing + 1, kMaskedLogit);
  for (size_t a = 0; a <= nothing; ++a) {
    if (g.mask[a] != 0) out[a] = choices[std::min(a, static_cast<size_t>(rows))];
  }
  return out;
}

}  // namespace yard
