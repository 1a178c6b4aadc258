// Load control after MLFS (Wang, Liu and Shen, CoNEXT 2020, MLF-C): jobs whose users let them be
// ended (Job::enough) end once their training is about as good as it will get ("OptStop") and,
// while the cluster is overloaded, once their users are content. It is overloaded while somebody
// waits, or where its servers are used beyond a share on the average.
//
// Ours, where the paper leaves it open: all who name `enough` allow both, all others neither; a
// server's use is the root of the mean square of the shares in use of its GPUs, CPUs and memory, of
// those that it tells, so that 1 is all of it (bandwidth is promised to nobody, and left out); what
// training will reach is the limit of 1 / (b0 x + b1) + b2 (curves.h) through what was measured at
// first, halfway and now, in the stead of a fitted family of curves with a confidence; about as
// good is a share of the way there.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "env/base/settings.h"
#include "env/sim/plan.h"
#include "env/sim/view.h"

namespace yard {

struct MlfLoadRule {
  bool on = false;
  double overloaded = 0.9;  // h_s
  double about = 0.95;      // of the way from the first measure to the limit
};

// Of the rule; shared by whoever is set by it.
void add_load_fields(FieldList& f, MlfLoadRule& rule);

// The mean over servers of their use, 0 to 1.
double mlf_utilisation(const View& view);
bool mlf_overloaded(const View& view, const MlfLoadRule& rule);

// What the job's measure nears; none before ten minutes of work, or where it does not level off.
// Requires: measures().
std::optional<double> mlf_limit(const View& view, int32_t slot);

// Whether its measure has reached its `enough`, from whichever side it began. Requires: may_end().
bool mlf_content(const View& view, int32_t slot);

// The jobs that are to be ended now, in the order of their submission.
std::vector<int32_t> mlf_to_end(const View& view, const MlfLoadRule& rule);

// Ends them, and asks to be woken in the next round while anybody holds GPUs that may be ended:
// nothing happens by itself when training gets so far.
void mlf_control_load(const View& view, const MlfLoadRule& rule, int64_t round_us, Draft& draft);

}  // namespace yard
