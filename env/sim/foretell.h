// How fast a job would run somewhere, before anybody starts it there: what the tables of speeds
// say, less what those who hold GPUs on the same nodes would take (beside.h) and, where somebody
// may choose how jobs exchange, what full links would; elsewhere these, and everywhere full CPUs,
// are left out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/sim/beside.h"
#include "env/sim/link_loads.h"
#include "env/sim/rates.h"
#include "env/sim/view.h"

namespace yard {

// Who holds GPUs on a node, and how many.
struct Tenancy {
  int32_t slot;
  int32_t gpus;
  bool spread;  // it holds GPUs on other nodes, too
};

// What a job would do somewhere with nobody beside it and nobody else on its links.
struct Undisturbed {
  double speed = 0;  // work on its reference type per unit of time
  double exchange_share =
      0;  // by how much an iteration grows when its exchange takes twice as long
  int64_t link_bytes_per_s = 0;  // that it sends over each link that it spans
};

class Foretell {
 public:
  // Requires: `view` outlives this, and refresh() after every edit.
  explicit Foretell(const View& view);
  void refresh();

  // Those that hold GPUs on the node, in the order of submission.
  std::span<const Tenancy> on(int32_t node) const { return on_[static_cast<size_t>(node)]; }
  // Nodes of a type that are open to everybody, rising.
  std::span<const int32_t> nodes_of(int32_t type) const {
    return nodes_[static_cast<size_t>(type)];
  }
  int32_t num_types() const { return static_cast<int32_t>(nodes_.size()); }
  int32_t node_type(int32_t node) const { return view_.spec().node_type[node]; }

  // Whether speeds come from measurements of the job's model, with as many GPUs.
  bool modelled(int32_t slot) const;
  // A number that jobs of one model, batch and number of servers share; kNone: of a model that
  // nothing is known of.
  int32_t model(int32_t slot) const;
  // Whether jobs on a node, or spread over several, slow each other down.
  bool places_differ() const { return fixed().rated && view_.speeds().num_classes > 1; }

  // Whether the job may run on that type, and how fast, on as few nodes as hold it and with nobody
  // beside it: work on its reference type per unit of time. 0: not there.
  double together(int32_t slot, int32_t type) const;
  // On the best of its types.
  double best(int32_t slot) const;

  // The speed of the job on `pieces`, exchanging like that, beside those who hold GPUs there but
  // `slot` itself and `leaving`; over several types the slowest sets the pace. Where tasks without
  // GPUs lie does not matter to it. 0: none of the pieces has a GPU.
  double there(int32_t slot, std::span<const Piece> pieces, std::span<const int32_t> leaving,
               const Exchange& exchange = {}) const;
  // What of that is the job's own, on `pieces`, by that all-reduce. Requires: a plain job.
  Undisturbed alone_on(int32_t slot, std::span<const Piece> pieces, Pattern by) const;
  // On as few nodes of the type as hold so many tasks of each of its groups (groups), and with
  // nobody beside it. Requires: shaped().
  double sized(int32_t slot, int32_t type, std::span<const int32_t> tasks) const;
  // Where it lies now, as it exchanges now.
  double now(int32_t slot) const;

  // What others on those nodes and links would lose by it: GPUs times the share of their speed.
  double harm(int32_t slot, std::span<const Piece> pieces, std::span<const int32_t> leaving,
              const Exchange& exchange = {}) const;

 private:
  // How a job of a measured model would lie somewhere.
  struct Lie {
    int32_t nodes = 0;
    Tier tier = Tier::kIsland;
    double rate = 0;          // with nobody beside it
    int32_t slowest = kNone;  // the node that sets the pace
  };

  const Fixed& fixed() const { return *view_.fixed_; }
  int32_t job_class(int32_t slot) const;
  bool named(int32_t slot) const;       // its model is one that was measured
  int32_t servers(int32_t slot) const;  // tasks without GPUs that it asks for
  // Those of a job with a shape that have GPUs, one a node.
  std::vector<Piece> with_gpus(int32_t slot, std::span<const Piece> pieces) const;
  // With so many GPUs and servers, on as few nodes like this one as hold them, nobody beside it.
  double alone(int32_t slot, int32_t node, int32_t gpus, int32_t servers,
               Pattern by = Pattern::kNone) const;
  Lie lie(int32_t slot, std::span<const Piece> pieces, Pattern by) const;
  // What it would put on links, and what these carry without it and those who leave.
  Sending sending(int32_t slot, std::span<const Piece> pieces, const Lie& lie,
                  const Exchange& exchange) const;
  LinkLoads loads_without(int32_t slot, std::span<const int32_t> leaving) const;
  double harm_on_links(int32_t slot, std::span<const Piece> pieces,
                       std::span<const int32_t> leaving, const Exchange& exchange) const;
  int32_t slowest_type(int32_t slot, const Footing& at) const;
  int64_t burden_on(int32_t slot, int32_t node, std::span<const int32_t> leaving) const;

  const View& view_;
  std::vector<std::vector<int32_t>> nodes_;  // (types)
  std::vector<std::vector<Tenancy>> on_;     // (M)
};

}  // namespace yard
