// What Prometheus' own libraries say of a process, under the same names: memory, descriptors, CPU
// time and start.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>

namespace yard {

class ProcessMetrics {
 public:
  // Requires: `registry` outlives this.
  explicit ProcessMetrics(prometheus::Registry& registry);

  // Reads the values from /proc. A metric keeps its value if /proc cannot be read, as when no file
  // descriptor is left.
  void update();

 private:
  prometheus::Gauge &memory_, &open_descriptors_, &max_descriptors_;
  prometheus::Counter& cpu_;
};

}  // namespace yard
