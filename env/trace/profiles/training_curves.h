// Training curves: a metric of a job (a loss, an accuracy) as a function of its work. A job with a
// target ends early, when the curve reaches it.
//
//   Optimus (EuroSys 2018, section 3.1):  loss after the share x of the work = 1 / (b0 x + b1) + b2
//   or points measured for the model, with linear interpolation between them
#pragma once

#include <vector>

#include "env/trace/core/job.h"
#include "env/trace/profiles/profile.h"

namespace yard {

// Returns the form at 65 points. Linear interpolation between them is at most (b0 / 64)^2 / (4
// b1^3) too high. Requires: b0 >= 0, b1 > 0.
std::vector<TrainingCurvePoint> tabulate_loss(const LossCurveFormula& form);

// Returns the metric after a share of the work, 0 to 1. It is constant before the first point and
// after the last. Requires: the curve has points.
double value_at(const std::vector<TrainingCurvePoint>& curve, double share);

// Returns the smallest share of the work at which a rising or falling curve has reached `target`; 1
// if it never does. Requires: the curve has points.
double work_share_to_reach(const std::vector<TrainingCurvePoint>& curve, double target);

// Sets the curves of jobs: from the job's own form, else from measurements of its model with the
// nearest batch size. The work of a job with a target is cut to what reaches the target, and its
// curve is rescaled to that. A second call changes nothing.
void set_training_curves(Trace& trace, const Profiles& profiles);

}  // namespace yard
