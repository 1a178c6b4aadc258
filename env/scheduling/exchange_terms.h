// Linear interference model (interference.h) of the exchange of a job without role groups: effects
// of placement, co-located jobs and links. With t, the isolated time per work with its all-reduce:
//   time per work = t (w0 + (w1 + w_m) g + w2 e c + w3 l + w4 h + w5 s + w6 s_tree + w7 s_two)
// g: largest share of the GPUs of one of its nodes held by other jobs. m: its model, modulo
// kModels. e: exchange_share. s: 1 if the job spans several nodes; s_tree, s_two: s if its
// all-reduce is a tree or hierarchical. c, l and h are maxima over the uplinks of its nodes. c:
// load divided by the capacity left to its priority, minus 1. l, h: load of other jobs, and of jobs
// of higher priority, divided by capacity.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "env/base/core/least_squares.h"
#include "env/scheduling/interference.h"
#include "env/sim/placement/throughput_model.h"
#include "env/sim/state/exchange.h"

namespace yard {

class ExchangeInterferenceTerms {
 public:
  static constexpr int kModels = 4;
  enum Term {
    kIsolated,
    kColocated,
    kModel,
    kExcessLoad = kModel + kModels,
    kLinkLoad,
    kHigherLoad,
    kSpread,
    kTree,
    kTwoLevels,
    kTerms
  };
  using Learned = InterferenceModel<LeastSquares<kTerms>>;
  using Terms = Learned::Terms;

  // Returns the initial weights: half the speed at g = 1, and exchanges slowed in proportion to c.
  static Terms initial_weights() {
    Terms out{};
    out[kIsolated] = out[kColocated] = out[kExcessLoad] = 1;
    return out;
  }

  // The variables of the model for a job on a placement.
  struct LinkVariables {
    UncontendedThroughput isolated;
    double time = 1;             // t
    double colocated_share = 0;  // g
    double excess_load = 0;      // c
    double link = 0;             // l
    double higher_load = 0;      // h
    double own_load = 0;         // the job's own load divided by capacity
    bool spread = false;
    AllReduceSettings exchange;
    int model = 0;
  };

  // Requires: the arguments outlive this object, and `throughput_model` knows the current occupants.
  ExchangeInterferenceTerms(const View& view, const ThroughputModel& throughput_model);

  // Return the variables of a running job on its placement, and of a waiting job on `pieces`.
  LinkVariables variables(int32_t slot) const {
    return variables(slot, held_pieces(view_, slot), view_.all_reduce_settings(slot));
  }
  LinkVariables variables(int32_t slot, std::span<const Piece> pieces,
                          const AllReduceSettings& exchange) const;
  // Returns jobs, except `slot`, which span several nodes and hold GPUs on any node of `pieces`.
  std::vector<int32_t> jobs_on_links(int32_t slot, std::span<const Piece> pieces) const;

  static Terms terms(const LinkVariables& variables);

 private:
  struct SendingJob {
    int32_t slot;
    int64_t bytes_per_s;
    int32_t priority;
  };

  const View& view_;
  const ThroughputModel& throughput_model_;
  std::vector<std::vector<SendingJob>> sending_jobs_;  // (M)
};

}  // namespace yard
