#include "experiments/replay/served.h"

namespace yard {
namespace {

MakeServedDecider the_maker = nullptr;

}  // namespace

void set_served_decider(MakeServedDecider make) { the_maker = make; }

MakeServedDecider served_decider() { return the_maker; }

}  // namespace yard
