#include "tests/serving/slurm/slurm_cluster.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "env/base/core/error.h"
#include "env/base/os/command.h"
#include "env/base/text/text.h"

namespace yard::testing {
namespace {

using namespace std::chrono_literals;

constexpr const char* kScript = "tests/live/slurm_cluster.sh";

bool is_installed(const char* program) {
  return run_command({"sh", "-c", std::string("command -v ") + program}, 10s).ok();
}

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::string path_of(const char* program) {
  const auto found = run_command({"sh", "-c", std::string("command -v ") + program}, 10s);
  return std::string(trim(found.out));
}

void write_script(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << text;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

}  // namespace

std::string why_no_slurm() {
  for (const char* program : {"slurmctld", "slurmd", "munged", "squeue", "scontrol", "sbatch"}) {
    if (!is_installed(program)) return std::string(program) + " is not installed";
  }
  // The fake GPUs are devices.
  const auto device =
      std::filesystem::temp_directory_path() / ("yard-gpu-" + std::to_string(getpid()));
  if (mknod(device.c_str(), S_IFCHR | S_IRUSR, makedev(1, 3)) != 0) {
    return std::string("no device can be made: ") + std::strerror(errno);
  }
  std::filesystem::remove(device);
  return geteuid() == 0 ? "" : "not root";
}

bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 600; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(100ms);
  }
  return false;
}

SlurmCluster::SlurmCluster(int lease_s)
    : cluster_(temp_.path() / "slurm"), bin_(temp_.path() / "bin") {
  // Other tests may run at the same time.
  const int port = 12000 + static_cast<int>(getpid() % 1000) * 8;
  setenv("YARD_SLURM_PORT", std::to_string(port).c_str(), 1);
  // munge's user must reach its folder.
  std::filesystem::permissions(
      temp_.path(), std::filesystem::perms::others_exec | std::filesystem::perms::group_exec,
      std::filesystem::perm_options::add);
  const auto started =
      run_command({kScript, "start", cluster_.string(), "4", std::to_string(lease_s)}, 90s);
  if (!started.ok()) throw RunError("Slurm did not start: " + started.out + started.err);
  setenv("SLURM_CONF", (cluster_ / "etc/slurm.conf").c_str(), 1);
  make_shims();
}

SlurmCluster::~SlurmCluster() { run_command({kScript, "stop", cluster_.string()}, 90s); }

void SlurmCluster::make_shims() const {
  std::filesystem::create_directories(bin_);
  const std::string log = "echo \"$PPID $*\" >>'" + (bin_ / "commands").string() + "'\n";
  const std::string cut = "if [ -e '" + (bin_ / "broken").string() + "' ]; then " +
                          path_of("squeue") + " \"$@\" | head -c 1000; exit 0; fi\n";
  for (const char* program : {"squeue", "sinfo", "scontrol", "sacctmgr"}) {
    const std::string name = program;
    write_script(bin_ / name, "#!/bin/sh\n" + (name == "scontrol" ? log : "") +
                                  (name == "squeue" ? cut : "") + "exec " + path_of(program) +
                                  " \"$@\"\n");
  }
}

void SlurmCluster::break_squeue(bool broken) const {
  if (broken) {
    std::ofstream(bin_ / "broken") << "yes";
  } else {
    std::filesystem::remove(bin_ / "broken");
  }
}

std::string SlurmCluster::submit(const std::vector<std::string>& options, bool stubborn) const {
  const auto script = temp_.path() / "job.sh";
  if (!std::filesystem::exists(script)) {
    write_script(script,
                 "#!/bin/sh\n[ $1 = stubborn ] && trap '' TERM\n"
                 "echo \"$SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0} $SLURM_JOB_NODELIST\" >>'" +
                     (temp_.path() / "runs").string() +
                     "'\n[ $1 = stubborn ] || exec sleep 300\nsleep 300 & wait\nsleep 300\n");
  }
  std::vector<std::string> argv = {"sbatch", "--parsable", "--output=/dev/null"};
  argv.insert(argv.end(), options.begin(), options.end());
  argv.push_back(script.string());
  argv.emplace_back(stubborn ? "stubborn" : "docile");
  const auto sent = run_command(argv, 20s);
  EXPECT_TRUE(sent.ok()) << sent.err;
  return std::string(trim(sent.out));
}

std::vector<std::string> SlurmCluster::runs() const { return lines_of(temp_.path() / "runs"); }

std::vector<std::string> SlurmCluster::runs_of(const std::string& job) const {
  std::vector<std::string> out;
  for (const std::string& line : runs()) {
    if (line.starts_with(job + " ")) out.push_back(line);
  }
  return out;
}

std::string SlurmCluster::show(const std::string& job, const std::string& column) const {
  const auto shown = run_command(
      {"squeue", "--noheader", "--states=all", "--jobs=" + job, "--Format=" + column + ":200"},
      20s);
  return shown.ok() ? std::string(trim(shown.out)) : "";
}

bool SlurmCluster::run(const std::vector<std::string>& argv) const {
  const auto done = run_command(argv, 20s);
  if (!done.ok()) std::fprintf(stderr, "%s: %s\n", argv.front().c_str(), done.err.c_str());
  return done.ok();
}

std::string SlurmCluster::agent_config(const std::string& server, const std::string& more) const {
  const auto path = temp_.path() / "agent.yaml";
  std::ofstream(path) << "partitions: [gpu]\nserver: " << server << "\nbin: " << bin_.string()
                      << "\nlock: " << (temp_.path() / "lock").string()
                      << "\ninterval_s: 0.5\nlease_s: 8\ndeadline_ms: 5000\n"
                      << more;
  return path.string();
}

std::vector<std::string> SlurmCluster::commands() const { return lines_of(bin_ / "commands"); }

void SlurmCluster::signal_controller(int number) const {
  kill(std::stoi(lines_of(cluster_ / "run/slurmctld.pid").at(0)), number);
}

std::vector<nlohmann::json> events_of(const Child& agent, const std::string& event) {
  std::vector<nlohmann::json> out;
  std::istringstream lines(agent.has_begun() ? agent.out() : "");
  for (std::string line; std::getline(lines, line);) {
    const auto read = nlohmann::json::parse(line, nullptr, false);
    if (read.is_object() && read.value("event", "") == event) out.push_back(read);
  }
  return out;
}

}  // namespace yard::testing
