#include "experiments/run/machine.h"

#include <sched.h>
#include <unistd.h>

#include <cmath>
#include <ctime>
#include <fstream>
#include <thread>

#include "env/base/text/text.h"

namespace yard {

Machine this_machine() {
  Machine machine{.cpu = "unknown"};
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(':');
    if (!line.starts_with("model name") || colon == line.npos) continue;
    machine.cpu = trim(std::string_view(line).substr(colon + 1));
    break;
  }
  cpu_set_t allowed;
  machine.cores = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0
                      ? CPU_COUNT(&allowed)
                      : static_cast<int>(std::thread::hardware_concurrency());
  const double bytes =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  machine.memory_gib = std::round(bytes / (1 << 30) * 10) / 10;
  return machine;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts));
}

}  // namespace yard
