// An agent as one class: at a decision it shows rows to choose from, of which a network scores
// each, and takes one choice after the other until it asks for no more. What it is paid for is its
// own, too. Such a class enters itself into RowTasks from one file (see sched2.cc); the batch
// environment, training, checkpoints and serving then know it by its name.
//
// Dims: J rows, F features a row, C features of the whole, actions J + 1 (J: nothing more).
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/base/log2.h"
#include "env/base/registry.h"
#include "env/sim/plan.h"
#include "env/sim/view.h"
#include "env/task/observation.h"

namespace yard {

class RowTask {
 public:
  static constexpr const char* kKind = "agent";
  struct Info {
    std::string about, source, fidelity;
    Level level = Level::kBlind;
    bool servable = true;  // false: needs what no live cluster can tell
    bool preemptive = false;
    bool by_sizes = false;  // what it decides is how large elastic jobs are
    std::vector<Field> (*settings)() = describe<NoConfig>;
  };
  // A policy of the registry, and how it is set.
  struct Heuristic {
    std::string policy;
    Settings settings;
  };

  virtual ~RowTask() = default;

  // Of all tasks of the class, whatever their settings.
  virtual TaskShape shape() const = 0;
  // Names the features, their order and number: weights fit no other.
  virtual std::string feature_schema() const = 0;
  virtual Level level() const = 0;
  // Its settings, all of them: equal ones are equal tasks.
  virtual std::vector<std::pair<std::string, std::string>> settings() const { return {}; }
  // What does what observe() suggests; training is compared with it.
  virtual Heuristic heuristic() const = 0;

  // What it remembers between decision points: zeros at first.
  virtual size_t memory_bytes(const View&) const { return 0; }
  // Notes what has changed. Called once at every decision point, before all else.
  virtual void follow(const View&, std::byte*) const {}
  // Begins the decision: with the memory as follow() or a later take() of the same decision point
  // left it, and with nothing drafted.
  virtual void open(const View&, std::byte*) const {}
  // Whether there is something to choose, after what was taken so far.
  virtual bool asks(const View& view, std::byte* memory) const = 0;
  // Requires: asks(). Rows from out.rows to out.filled are to be zero: see clear_rest().
  virtual void observe(const View& view, std::byte* memory, Observation& out) const = 0;
  // Requires: a legal action of the last observe().
  virtual void take(const View& view, std::byte* memory, int32_t action, Draft& draft) const = 0;
  // Ends the decision, such as by when to ask again. Called also where nothing was asked.
  virtual void close(const View&, std::byte*, Draft&) const {}

  // What was earned since the episode began; what it grows by over a step is the step's reward.
  // job_s: jobs in the system, integrated over time [s]; minus it is paid unless overridden.
  virtual double earned(const View&, const std::byte* memory, double job_s) const {
    static_cast<void>(memory);
    return -job_s;
  }

 protected:
  // Sets rows that an earlier observation filled to zero, once `rows` are written.
  void clear_rest(Observation& out, int32_t rows) const;
  // The prior that lets what is suggested win by `gap`, once mask and suggestion are written.
  void write_prior(Observation& out, double gap) const;

  // Says that an action is worth trying, legal or not.
  static void hint(Observation& out, int32_t action) {
    if (out.hints != nullptr) out.hints[action] = 1;
  }

  // Logarithms as features; of seconds, about -1.5 to 1.
  static float log2_of(double x) { return static_cast<float>(log2_coarse(x)); }
  static float log2_of_s(double seconds) { return (log2_of(std::max(seconds, 1.0)) - 12) / 8; }
};

using RowTasks = Registry<RowTask>;

// A row task as the batch environment plays it (env/task/task.h).
struct RowPlay {
  struct Config {
    std::shared_ptr<const RowTask> task;
    std::string text() const;
  };

  static TaskShape shape(const Config& c) { return c.task->shape(); }
  static Level level(const Config& c) { return c.task->level(); }
  static size_t memory_bytes(const View& view, const Config& c) {
    return c.task->memory_bytes(view);
  }
  static bool take_in(const View& view, const Config& c, std::byte* memory) {
    c.task->follow(view, memory);
    open(view, c, memory);
    return true;  // close() sets the clock even where nothing is asked
  }
  static void open(const View& view, const Config& c, std::byte* memory) {
    c.task->open(view, memory);
  }
  static bool asks(const View& view, const Config& c, std::byte* memory) {
    return c.task->asks(view, memory);
  }
  static void observe(const View& view, const Config& c, std::byte* memory, Observation& out) {
    c.task->observe(view, memory, out);
  }
  static void take(const View& view, const Config& c, std::byte* memory, int32_t action,
                   Draft& draft) {
    c.task->take(view, memory, action, draft);
  }
  static void close(const View& view, const Config& c, std::byte* memory, Draft& draft) {
    c.task->close(view, memory, draft);
  }
  static double earned(const View& view, const Config& c, const std::byte* memory, double job_s) {
    return c.task->earned(view, memory, job_s);
  }
};

}  // namespace yard
