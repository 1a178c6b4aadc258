// Load control after MLFS (Wang, Liu and Shen, CoNEXT 2020, MLF-C). Jobs that their users allow to
// end early (Job::enough) end once training is near its limit ("OptStop"). While the cluster is
// overloaded, they end once `enough` is reached. It is overloaded if jobs wait or if the mean use
// of servers is above a share.
//
// Where the paper leaves it open: a job with `enough` allows both, others neither. The use of a
// server is the root mean square of the shares in use of its GPUs, CPUs and memory, as far as they
// are given; 1 is all. (Bandwidth is not reserved.) The limit is that of 1 / (b0 x + b1) + b2
// (training_curves.h) through the first, the halfway and the present measurement, not that of a
// fitted family of curves with a confidence. Near means a share of the way there.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "env/base/config/settings.h"
#include "env/sim/view/plan.h"
#include "env/sim/view/view.h"

namespace yard {

struct MlfLoadRule {
  bool on = false;
  double overloaded = 0.9;   // h_s
  double near_limit = 0.95;  // share of the way from the first measurement to the limit
};

// Adds the fields of the rule, for all configurations that contain it.
void add_load_fields(FieldList& f, MlfLoadRule& rule);

// Mean use of servers, 0 to 1.
double mlf_utilisation(const View& view);
bool mlf_overloaded(const View& view, const MlfLoadRule& rule);

// The limit of the job's measure. Empty in the first ten minutes of work, or if it does not level
// off. Requires: measures().
std::optional<double> mlf_limit(const View& view, int32_t slot);

// Whether the measure has reached `enough`, from above or below. Requires: may_end().
bool mlf_reached_enough(const View& view, int32_t slot);

// The jobs to end, in order of submission.
std::vector<int32_t> mlf_to_end(const View& view, const MlfLoadRule& rule);

// Ends them. Wakes again in the next round while jobs that may be ended hold GPUs: the progress of
// training causes no event.
void mlf_control_load(const View& view, const MlfLoadRule& rule, int64_t round_us, Draft& draft);

}  // namespace yard
