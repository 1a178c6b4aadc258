#include "agents/ranks/rank.h"

#include <optional>

#include "env/base/core/error.h"
#include "env/base/text/text.h"

namespace yard {
namespace {

constexpr int kPort = 29'500;  // torch's default

class Environment {
 public:
  explicit Environment(const std::function<const char*(const char*)>& get) : get_(get) {}

  bool has(const char* name) const { return get_(name) != nullptr && *get_(name) != '\0'; }
  std::string text(const char* name) const {
    if (!has(name))
      throw InputError(name, "a value, since the launcher's other variables are set", "nothing");
    return get_(name);
  }
  int number(const char* name, int least, int most) const {
    const auto value = parse_int(text(name));
    if (!value || *value < least || *value > most) {
      throw InputError(name,
                       "a number in [" + std::to_string(least) + ", " + std::to_string(most) + "]",
                       "'" + text(name) + "'");
    }
    return static_cast<int>(*value);
  }

  Rank numbers(const char* rank, const char* size) const {
    Rank out;
    out.size = number(size, 1, 100'000);
    out.rank = number(rank, 0, out.size - 1);
    return out;
  }

 private:
  const std::function<const char*(const char*)>& get_;
};

// Returns a port which two jobs on one host are unlikely to share.
int slurm_port(const Environment& e) {
  return e.has("SLURM_JOB_ID") ? kPort + e.number("SLURM_JOB_ID", 0, INT32_MAX) % 1000 : kPort;
}

}  // namespace

std::string first_slurm_host(const std::string& list) {
  const size_t bracket = list.find('['), comma = list.find(',');
  if (bracket == list.npos || comma < bracket) return list.substr(0, comma);
  const size_t end = list.find_first_of("-,]", bracket);
  if (end == list.npos)
    throw InputError("SLURM_STEP_NODELIST", "a list of hosts", "'" + list + "'");
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1);
}

Rank rank_from_environment(const std::function<const char*(const char*)>& get) {
  const Environment e(get);
  Rank out;
  if (e.has("YARD_RANK_FILE")) {
    out = e.numbers("RANK", "WORLD_SIZE");
    out.file = e.text("YARD_RANK_FILE");
    return out;
  }
  if (e.has("RANK") || e.has("WORLD_SIZE")) {
    out = e.numbers("RANK", "WORLD_SIZE");
    out.store_exists =
        e.has("TORCHELASTIC_USE_AGENT_STORE") && e.text("TORCHELASTIC_USE_AGENT_STORE") == "True";
    if (out.size > 1) out.host = e.text("MASTER_ADDR");
    out.port = kPort;
  } else if (e.has("SLURM_STEP_NUM_TASKS")) {  // set by srun only; the sbatch script is no step
    out = e.numbers("SLURM_PROCID", "SLURM_STEP_NUM_TASKS");
    if (out.size > 1) out.host = first_slurm_host(e.text("SLURM_STEP_NODELIST"));
    out.port = slurm_port(e);
  } else if (e.has("OMPI_COMM_WORLD_SIZE") || e.has("PMI_SIZE")) {
    const bool open = e.has("OMPI_COMM_WORLD_SIZE");
    out = open ? e.numbers("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")
               : e.numbers("PMI_RANK", "PMI_SIZE");
    // mpirun does not give the host of rank 0. One machine needs none, several need MASTER_ADDR.
    const bool one_machine = open && e.has("OMPI_COMM_WORLD_LOCAL_SIZE") &&
                             e.number("OMPI_COMM_WORLD_LOCAL_SIZE", 1, out.size) == out.size;
    if (one_machine) {
      out.host = "127.0.0.1";
    } else if (out.size > 1) {
      out.host = e.text("MASTER_ADDR");
    }
    out.port = kPort;
  }
  if (out.size > 1 && e.has("MASTER_ADDR")) out.host = e.text("MASTER_ADDR");
  if (out.size > 1 && e.has("MASTER_PORT")) out.port = e.number("MASTER_PORT", 1, 65'535);
  return out;
}

}  // namespace yard
