// What a job's training measures of itself (a loss, an accuracy) as its work gets done, and the end
// that comes early when it reaches a target.
//
//   Optimus (EuroSys 2018, section 3.1):  loss after the share x of the work = 1 / (b0 x + b1) + b2
//   or points measured of its model, between which it goes straight
#pragma once

#include <vector>

#include "env/trace/job.h"
#include "env/trace/profile.h"

namespace yard {

// The form in 65 points; between them the line is at most (b0 / 64)^2 / (4 b1^3) too high.
// Requires: b0 >= 0, b1 > 0.
std::vector<CurvePoint> tabulated(const LossForm& form);

// What is measured after a share of the work; before the first point that of the first, behind the
// last that of the last. Requires: points.
double value_at(const std::vector<CurvePoint>& curve, double share);

// The least share of the work after which the curve has reached `target`, from whichever side it
// begins; 1 where it never does. Requires: points.
double share_until(const std::vector<CurvePoint>& curve, double target);

// Gives jobs their curves: by their own form, else as measured of their model, with the batch
// nearest to theirs. A job with a target then has as much work as it takes to reach it, at most
// what it asked for, and the curve goes by that. Doing it twice changes nothing more.
void settle_curves(Trace& trace, const Profiles& profiles);

}  // namespace yard
