// Settings of the two readers of Microsoft's Philly logs.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "env/base/config/settings.h"
#include "env/base/text/nearest_name.h"

namespace yard {

struct PhillyConfig {
  std::string vc;
  std::string zone = "UTC0";
  void fields(FieldList& f) {
    f("vc", vc, "virtual cluster to read; empty: all");
    f("zone", zone, "time zone of the log's clock, in POSIX format; the log does not name it");
  }

  // Throws InputError if `vc` is none of the virtual clusters of the log.
  void check_vc(const std::set<std::string>& found) const {
    std::vector<std::string> names(found.begin(), found.end());
    std::erase(names, "");
    if (vc.empty() || names.empty() || found.contains(vc)) return;
    throw unknown_name("trace.vc", names, vc);
  }
};

}  // namespace yard
