// Training curves: a metric of a job (a loss, an accuracy) as a function of the job's work. A job
// with a target ends early, when the curve reaches the target.
//
//   Optimus (EuroSys 2018, section 3.1):  loss after the share x of the work = 1 / (b0 x + b1) + b2
//   or points measured for the model, with linear interpolation between them
#pragma once

#include <vector>

#include "env/trace/core/job.h"
#include "env/trace/profiles/profile.h"

namespace yard {

// Returns the loss curve of `form` at 65 points. Linear interpolation between the points is at most
// (b0 / 64)^2 / (4 b1^3) too high. Requires: b0 >= 0, b1 > 0.
std::vector<TrainingCurvePoint> tabulate_loss(const LossCurveFormula& form);

// Returns the metric after a share of the work, 0 to 1. The metric is constant before the first
// point and after the last. Requires: the curve has points.
double metric_at(const std::vector<TrainingCurvePoint>& curve, double share);

// Returns the smallest share of the work at which a rising or falling curve has reached `target`,
// or 1 if the curve never reaches it. Requires: the curve has points.
double work_share_to_reach(const std::vector<TrainingCurvePoint>& curve, double target);

// Sets the curves of jobs: from the job's own formula, or else from measurements of its model with
// the nearest batch size. The work of a job with a target ends where the curve reaches the target,
// and the curve is rescaled to this work. Calling the function twice changes nothing.
void apply_training_curves(Trace& trace, const Profiles& profiles);

}  // namespace yard
