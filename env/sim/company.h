// The company that jobs keep on their nodes, as terms of a model of interference that knows who is
// beside whom (interference.h), in the stead of the reward model of Harmony (Bao, Peng and Wu,
// INFOCOM 2019): of a job of type a, beside others of types b,
//   time per work = 1 + u_a L + sum_b v_b l_b + s_a d + p r + o c + q c L,   L = sum_b l_b
// l_b: share of the node's GPUs that jobs of type b hold, on the worst of its nodes; d: 1 where it
// lies on more nodes than it needs; r: 1 where some of its tasks without GPUs lie apart from those
// with; c: by how much CPUs are promised beyond those that there are, on its worst node. u, v, s,
// p, o, q are learned. A type is the model of the job, of many models several.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/base/least_squares.h"
#include "env/sim/foretell.h"
#include "env/sim/interference.h"
#include "env/sim/task_placer.h"

namespace yard {

class Company {
 public:
  static constexpr int kTypes = 8;
  enum Term {
    kOne,
    kOwn,
    kOthers = kOwn + kTypes,
    kSpread = kOthers + kTypes,
    kApart = kSpread + kTypes,
    kCpus,
    kCpusBeside,
    kTerms
  };
  using Learned = Interference<LeastSquares<kTerms>>;
  using Terms = Learned::Terms;

  // Twice as slow beside a full node, and where twice as many CPUs are promised as there are.
  static Terms start();

  // Requires: all three outlive this; `foretell` is as the view is.
  Company(const View& view, const Foretell& foretell, const Learned& learned);

  // Of a job that runs, where it lies.
  Terms terms(int32_t slot) const { return terms(slot, pieces_of(slot), {}); }
  // How much longer work takes a job that waits, once it lies on `pieces`.
  double time(int32_t slot, std::span<const Piece> pieces) const;
  // What others on those nodes would lose by it: GPUs times the share of their speed.
  double harm(int32_t slot, std::span<const Piece> pieces) const;

 private:
  // A job that is about to start there; kNone: none is.
  struct Newcomer {
    int32_t slot = kNone;
    std::span<const Piece> pieces = {};
  };

  Terms terms(int32_t slot, std::span<const Piece> pieces, const Newcomer& newcomer) const;
  double time(const Terms& terms) const;
  std::vector<Piece> pieces_of(int32_t slot) const;
  int type(int32_t slot) const;
  double cpus_beyond(int32_t node, const Newcomer& newcomer) const;

  const View& view_;
  const Foretell& foretell_;
  const Learned& learned_;
  TaskPlacer placer_;
  std::vector<double> promised_;  // (M) CPUs, as shares of those that there are
};

}  // namespace yard
