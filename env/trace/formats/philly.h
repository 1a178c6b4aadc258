// Settings of the two readers of Microsoft's Philly logs.
#pragma once

#include <string>

#include "env/base/config/settings.h"

namespace yard {

struct PhillyConfig {
  std::string vc;
  std::string zone = "UTC0";
  void fields(FieldList& f) {
    f("vc", vc, "only this virtual cluster; empty: all of them");
    f("zone", zone, "of the wall clock, as POSIX writes it; the log does not name its own");
  }
};

}  // namespace yard
