// A scheduler: a view in, edits to the present allocation out. One file each in `heuristic` and
// `learned`; adding one is adding a file with an `Add` line:
//
//   const PolicyRegistry::Add<Fifo> kFifo{"fifo", {.about = "...", .source = "..."}};
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "env/base/registry.h"
#include "env/base/settings.h"
#include "env/sim/decider.h"
#include "env/sim/plan.h"
#include "env/sim/view.h"
#include "policies/memory.h"

namespace yard {

const char* level_name(Level level);
Level parse_level(const std::string& name);  // throws InputError

class Policy {
 public:
  static constexpr const char* kKind = "policy";
  struct Info {
    std::string about;
    std::string source;    // paper
    std::string fidelity;  // how close to the published system
    Level level = Level::kBlind;
    bool servable = true;  // false: needs what no live cluster can tell
    bool preemptive = false;
    bool by_limits = false;  // it goes by the limits that users set
    bool by_sizes = false;   // what it decides is how large elastic jobs are
    // What can be set, with defaults: `describe<Config>` of the policy's own struct.
    std::vector<Field> (*fields)() = describe<NoConfig>;
  };

  virtual ~Policy() = default;

  // The level of information that it goes by.
  virtual Level level() const = 0;

  // The least with which it still works: View::level() says what it got.
  virtual Level least_level() const { return level(); }

  // How much it remembers.
  virtual size_t memory_bytes(const View&) const { return 0; }

  // Writes edits into the draft. Depends on its arguments alone. The memory is zero before the
  // first decision and has seen every view since; the view lists what changed since the last one.
  virtual void decide(const View& view, Memory& memory, Draft& draft) const = 0;

  // Completes a zeroed memory from a snapshot of a live cluster, in whose view every job counts as
  // changed. The default suits policies to which that says all. Requires: Info::servable.
  virtual void rebuild(const View&, Memory&) const {}
};

using PolicyRegistry = Registry<Policy>;

// A policy with its memory, as the engine asks for it.
class PolicyDecider final : public Decider {
 public:
  // Requires: `policy` outlives this.
  explicit PolicyDecider(const Policy& policy) : policy_(&policy) {}

  Level level() const override { return policy_->level(); }
  void decide(const View& view, Draft& draft) override;
  Memory& memory() { return memory_; }

 private:
  const Policy* policy_;
  bool ready_ = false;
  Memory memory_;
};

}  // namespace yard
