// What place, neighbours and links do to a plain job that exchanges, as terms of a model that is
// learned from running jobs (interference.h). With t, the time per work by the closed forms of its
// all-reduce with nobody beside it,
//   time per work = t (w0 + (w1 + w_m) g + w2 e c + w3 l + w4 h + w5 s + w6 s_tree + w7 s_two)
// g: share of the GPUs that others hold on the fullest of its nodes; m: its model, of many models
// several; e: share of t that a slower exchange adds to; c: by how many times the most crowded of
// its nodes' uplinks is overbooked for its priority; l, h: what others send over that link, all of
// them and those of higher priorities, over what it carries; s: 1 where it lies on several nodes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "env/base/least_squares.h"
#include "env/sim/exchange.h"
#include "env/sim/foretell.h"
#include "env/sim/interference.h"

namespace yard {

class ExchangeTerms {
 public:
  static constexpr int kModels = 4;
  enum Term {
    kAlone,
    kBeside,
    kModel,
    kCrowd = kModel + kModels,
    kLink,
    kAhead,
    kSpread,
    kTree,
    kTwoLevels,
    kTerms
  };
  using Learned = Interference<LeastSquares<kTerms>>;
  using Terms = Learned::Terms;

  // Half as fast beside a full node, and links that are shared.
  static Terms start() {
    Terms out{};
    out[kAlone] = out[kBeside] = out[kCrowd] = 1;
    return out;
  }

  // How a job stands, or would stand.
  struct Stand {
    Undisturbed alone;
    double time = 1;    // per work, with nobody beside it
    double beside = 0;  // g
    double crowd = 0;   // c
    double link = 0;    // l
    double ahead = 0;   // h
    double own = 0;     // what it sends itself, over what the link carries
    bool spread = false;
    Exchange exchange;
    int model = 0;
  };

  // Requires: both outlive this; `foretell` is as the view is.
  ExchangeTerms(const View& view, const Foretell& foretell);

  // Of a job that runs, where it lies; of one that waits, on `pieces`.
  Stand stand(int32_t slot) const;
  Stand stand(int32_t slot, std::span<const Piece> pieces, const Exchange& exchange) const;
  // Others on several nodes that lie on some of these.
  std::vector<int32_t> on_links(int32_t slot, std::span<const Piece> pieces) const;

  static Terms terms(const Stand& stand);

 private:
  struct Sender {
    int32_t slot;
    int64_t bytes_per_s;
    int32_t priority;
  };

  const View& view_;
  const Foretell& foretell_;
  std::vector<std::vector<Sender>> senders_;  // (M)
};

}  // namespace yard
