#include "serving/net/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "env/base/core/unix_time.h"

namespace yard {
namespace {

prometheus::Gauge& gauge(prometheus::Registry& in, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(in).Add({});
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

ProcessMetrics::ProcessMetrics(prometheus::Registry& registry)
    : memory_(gauge(registry, "process_resident_memory_bytes", "Resident memory in bytes.")),
      open_descriptors_(gauge(registry, "process_open_fds", "Open file descriptors.")),
      max_descriptors_(gauge(registry, "process_max_fds", "Limit on open file descriptors.")),
      cpu_(prometheus::BuildCounter()
               .Name("process_cpu_seconds_total")
               .Help("CPU time of user and system in seconds.")
               .Register(registry)
               .Add({})) {
  gauge(registry, "process_start_time_seconds", "Unix time of the server's start in seconds.")
      .Set(unix_now_s());
}

void ProcessMetrics::update() {
  int64_t size_pages = 0, resident_pages = 0;
  if (std::ifstream("/proc/self/statm") >> size_pages >> resident_pages) {
    memory_.Set(static_cast<double>(resident_pages * sysconf(_SC_PAGESIZE)));
  }
  std::error_code error;
  int64_t open = -1;  // the one which reads the folder
  for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; !error && at != end;
       at.increment(error)) {
    ++open;
  }
  if (!error) open_descriptors_.Set(static_cast<double>(open));
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    max_descriptors_.Set(static_cast<double>(limit.rlim_cur));
  }
  rusage used{};
  if (getrusage(RUSAGE_SELF, &used) == 0) {
    cpu_.Increment(seconds(used.ru_utime) + seconds(used.ru_stime) - cpu_.Value());
  }
}

}  // namespace yard
