// Settings of the two readers of Microsoft's Philly logs.
#pragma once

#include <string>

#include "env/base/config/settings.h"

namespace yard {

struct PhillyConfig {
  std::string vc;
  std::string zone = "UTC0";
  void fields(FieldList& f) {
    f("vc", vc, "virtual cluster to read; empty: all");
    f("zone", zone, "time zone of the log's clock, in POSIX format; the log does not name it");
  }
};

}  // namespace yard
