// What a training learns from, and what its policies are judged by: jobs that are simulated
// (training.h), or what was chosen in a decision log (log_lessons.h).
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agents/agent.h"
#include "env/base/check.h"

namespace yard {

class Lessons {
 public:
  virtual ~Lessons() = default;

  // May point into this.
  virtual std::unique_ptr<Worlds> worlds(const Agent& agent,
                                         const WorldsOptions& options) const = 0;

  struct Judgement {
    double score = 0;  // lower is better
    // Of each window its logarithm, which the score is the mean of; none where there are no
    // windows.
    std::vector<double> log_ratios = {};
  };
  virtual Judgement judge(const Checkpoint& checkpoint) const = 0;

  // The same of what `adapt` makes of each kind of jobs that is validated on, by worlds that play
  // other jobs of it.
  using MakeWorlds = std::function<std::unique_ptr<Worlds>(const WorldsOptions&)>;
  using Adapt = std::function<Checkpoint(const MakeWorlds& worlds)>;
  virtual Judgement judge_adapted(const Agent&, const Adapt&) const {
    YARD_CHECK(false, "lessons without jobs to adapt to");
  }

  // A score in the words of this kind: "ratio" with what judge() returns, or "agreement".
  struct Told {
    std::string name;
    double value;
  };
  virtual Told told(double score) const { return {"ratio", score}; }

  // What that value is, as the end of a sentence: "mean JCT over that of las on 3 validation
  // windows". `heuristic`: the name of what validation compares with.
  virtual std::string measure(const std::string& heuristic) const = 0;

  // Where judgements have no windows: what training brought, in words. Empty where they have.
  virtual std::string compared(const Checkpoint& /*best*/, const Checkpoint& /*untrained*/) const {
    return "";
  }

  // What whoever trains should know before it takes its time.
  virtual std::vector<std::string> notes() const { return {}; }

  virtual nlohmann::ordered_json provenance() const = 0;
  virtual std::string name() const = 0;
  virtual std::string sha256() const = 0;
};

}  // namespace yard
