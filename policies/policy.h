// A policy: a view in, edits to the current allocation out. Each policy is one file in `heuristic`
// or `learned`. To add one, add a file with an `AddPolicy` line:
//
//   const AddPolicy<Fifo> kFifo{"fifo", "about", "source", "fidelity"};
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/config/registry.h"
#include "env/base/config/settings.h"
#include "env/sim/view/decider.h"
#include "env/sim/view/plan.h"
#include "env/sim/view/view.h"
#include "policies/memory.h"

namespace yard {

const char* information_level_name(InformationLevel level);
InformationLevel parse_information_level(const std::string& name);  // throws InputError

class Policy {
 public:
  static constexpr const char* kKind = "policy";
  struct Info {
    std::string about;
    std::string source;    // paper
    std::string fidelity;  // how closely the policy follows the paper
    InformationLevel level = InformationLevel::kBlind;
    bool servable = true;  // false: needs information that no live cluster has
    bool preemptive = false;
    bool uses_limits = false;   // uses the limits that users set
    bool resizes_jobs = false;  // chooses the sizes of elastic jobs
    // Optional fields of snapshots that the policy cannot do without, such as "job.model".
    std::vector<std::string> snapshot_fields = {};
    // Settings and their defaults: `describe<Config>` of the policy's own struct.
    std::function<std::vector<Field>()> fields = describe<NoConfig>;
  };

  virtual ~Policy() = default;

  // The level of information that the policy uses.
  virtual InformationLevel level() const { return InformationLevel::kBlind; }

  // The lowest level at which the policy works. View::level() returns the actual level.
  virtual InformationLevel min_information_level() const { return level(); }

  // The size of the policy's memory in bytes.
  virtual size_t memory_bytes(const View&) const { return 0; }
  // Size of the first part of the memory, which is kept between decisions. The rest of the memory
  // is a cache, which the policy fills again if it is zero. Only columns after the first part may
  // depend on request classes and nodes, which change on a live cluster.
  virtual size_t kept_memory_bytes(const View& view) const { return memory_bytes(view); }

  // Writes edits into the draft. The decision depends on the arguments only. The memory is zero
  // before the first decision and kept between decisions. The view lists the changes since the last
  // decision.
  virtual void decide(const View& view, Memory& memory, Draft& draft) const = 0;

  // Fills a zeroed memory from a snapshot of a live cluster, in which every job counts as changed.
  // The default does nothing, for policies whose decide() fills the memory from these changes.
  // Requires: Info::servable.
  virtual void rebuild_memory(const View&, Memory&) const {}
};

using PolicyRegistry = Registry<Policy>;

// A policy with its settings.
template <class ConfigT, InformationLevel kUsedLevel = InformationLevel::kBlind>
class ConfiguredPolicy : public Policy {
 public:
  using Config = ConfigT;
  static constexpr InformationLevel kLevel = kUsedLevel;
  static bool preempts() { return false; }  // by default settings

  explicit ConfiguredPolicy(const Settings& settings) : config_(parse<Config>(settings)) {}

  InformationLevel level() const override { return kLevel; }

 protected:
  Config config_;
};

// Registers a ConfiguredPolicy.
template <class T>
struct AddPolicy {
  AddPolicy(const char* name, const char* about, const char* source, const char* fidelity,
            bool servable = T::kLevel != InformationLevel::kOracle)
      : add{name,
            {.about = about,
             .source = source,
             .fidelity = fidelity,
             .level = T::kLevel,
             .servable = servable,
             .preemptive = T::preempts(),
             .fields = describe<typename T::Config>}} {}
  PolicyRegistry::Add<T> add;
};

// Returns the end of a message that names the policies for the term "backfill"; "" for other words.
std::string suggest_policies_for_term(std::string_view term);

// Throws InputError, naming `where`, if no policy has the name.
void require_policy(const std::string& where, std::string_view name);

// A policy with its memory, in the form that the engine calls.
class PolicyDecider final : public Decider {
 public:
  // Requires: `policy` outlives this.
  explicit PolicyDecider(const Policy& policy) : policy_(&policy) {}

  InformationLevel level() const override { return policy_->level(); }
  void decide(const View& view, Draft& draft) override;
  Memory& memory() { return memory_; }

 private:
  const Policy* policy_;
  bool ready_ = false;
  Memory memory_;
};

}  // namespace yard
