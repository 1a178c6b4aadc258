#include "experiments/replay/served.h"

namespace yard {
namespace {

MakeServedDecider the_maker = nullptr;

}  // namespace

void set_served_decider_maker(MakeServedDecider make) { the_maker = make; }

MakeServedDecider served_decider_maker() { return the_maker; }

}  // namespace yard
