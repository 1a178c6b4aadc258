// Base class of agents. At a decision an agent lists rows, a network scores each, and the agent
// applies one choice after the other until it needs no more. An agent may define its own reward.
// A class registers itself in RowTasks from one file (see sched2.cc). The batch environment,
// training, checkpoints and serving find it by name.
//
// Dims: J rows, F features per row, C cluster features, J + 1 actions (J: nothing more).
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/base/config/registry.h"
#include "env/base/core/log2.h"
#include "env/sim/view/plan.h"
#include "env/sim/view/view.h"
#include "env/task/observation.h"

namespace yard {

class RowTask {
 public:
  static constexpr const char* kKind = "agent";
  struct Info {
    std::string about, source, fidelity;
    Level level = Level::kBlind;
    bool servable = true;  // false: needs data that no live cluster provides
    bool preemptive = false;
    bool resizes_jobs = false;  // true: it decides the sizes of elastic jobs
    std::vector<Field> (*settings)() = describe<NoConfig>;
  };
  // A policy of the registry with its settings.
  struct Heuristic {
    std::string policy;
    Settings settings;
  };

  virtual ~RowTask() = default;

  // The same for all instances of the class, whatever their settings.
  virtual TaskShape shape() const = 0;
  // Names the features in order; a network fits only the schema it was trained with.
  virtual std::string feature_schema() const = 0;
  virtual Level level() const = 0;
  // All its settings. Tasks with equal settings behave identically.
  virtual std::vector<std::pair<std::string, std::string>> settings() const { return {}; }
  // The heuristic that observe() suggests; training compares results with it.
  virtual Heuristic heuristic() const = 0;

  // Bytes of memory kept between decisions, zeroed at first.
  virtual size_t memory_bytes(const View&) const { return 0; }
  // Processes what has changed. Called once in each decision, before all else.
  virtual void on_events(const View&, std::byte*) const {}
  // Begins the decision. The memory is as on_events(), or a later apply() of this decision, left
  // it; the draft is empty.
  virtual void begin_round(const View&, std::byte*) const {}
  // Returns whether there is still something to choose, after the actions taken so far.
  virtual bool needs_action(const View& view, std::byte* memory) const = 0;
  // Requires: needs_action(). Rows from out.rows to out.filled must become zero: see clear_rest().
  virtual void observe(const View& view, std::byte* memory, Observation& out) const = 0;
  // Applies an action. Requires: it is legal in the last observe().
  virtual void apply(const View& view, std::byte* memory, int32_t action, Draft& draft) const = 0;
  // Ends the decision, e.g. sets a timer. Called even if there was nothing to choose.
  virtual void commit(const View&, std::byte*, Draft&) const {}

  // Returns the cumulative reward since the episode began; a step's reward is its growth. job_s:
  // jobs in the system, integrated over time [s]; the default is minus that.
  virtual double cumulative_reward(const View&, const std::byte* memory, double job_s) const {
    static_cast<void>(memory);
    return -job_s;
  }

 protected:
  // Zeroes rows that an earlier observation filled, once `rows` rows are written.
  void clear_rest(Observation& out, int32_t rows) const;
  // Writes a prior that favours the suggested action by `gap`. Requires: mask and suggested set.
  void write_prior(Observation& out, double gap) const;

  // Marks an action for exploration, whether legal or not.
  static void mark_for_exploration(Observation& out, int32_t action) {
    if (out.exploration_mask != nullptr) out.exploration_mask[action] = 1;
  }

  // Logarithms as features. log2_of_s() maps seconds to about -1.5 to 1.
  static float log2_of(double x) { return static_cast<float>(log2_coarse(x)); }
  static float log2_of_s(double seconds) { return (log2_of(std::max(seconds, 1.0)) - 12) / 8; }
};

using RowTasks = Registry<RowTask>;

// Adapts a RowTask to the concepts of env/task/task.h, for the batch environment.
struct RowTaskAdapter {
  struct Config {
    std::shared_ptr<const RowTask> task;
    std::string text() const;
  };

  static TaskShape shape(const Config& c) { return c.task->shape(); }
  static Level level(const Config& c) { return c.task->level(); }
  static size_t memory_bytes(const View& view, const Config& c) {
    return c.task->memory_bytes(view);
  }
  static bool on_events(const View& view, const Config& c, std::byte* memory) {
    c.task->on_events(view, memory);
    begin_round(view, c, memory);
    return true;  // commit() sets the timer even if there is nothing to choose
  }
  static void begin_round(const View& view, const Config& c, std::byte* memory) {
    c.task->begin_round(view, memory);
  }
  static bool needs_action(const View& view, const Config& c, std::byte* memory) {
    return c.task->needs_action(view, memory);
  }
  static void observe(const View& view, const Config& c, std::byte* memory, Observation& out) {
    c.task->observe(view, memory, out);
  }
  static void apply(const View& view, const Config& c, std::byte* memory, int32_t action,
                    Draft& draft) {
    c.task->apply(view, memory, action, draft);
  }
  static void commit(const View& view, const Config& c, std::byte* memory, Draft& draft) {
    c.task->commit(view, memory, draft);
  }
  static double cumulative_reward(const View& view, const Config& c, const std::byte* memory,
                                  double job_s) {
    return c.task->cumulative_reward(view, memory, job_s);
  }
};

}  // namespace yard
