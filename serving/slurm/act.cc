#include "serving/slurm/act.h"

#include <cmath>

#include "env/base/text/text.h"
#include "serving/slurm/gate.h"

namespace yard::slurm {
namespace {

std::chrono::milliseconds milliseconds_of(double seconds) {
  return std::chrono::milliseconds(std::llround(1000 * seconds));
}

std::string one_line(const CommandResult& result) {
  std::string text(trim(result.err));
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ';';
  }
  return text.substr(0, 300);
}

}  // namespace

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kDone:
      return "done";
    case Outcome::kChanged:
      return "changed";
    case Outcome::kRefused:
      return "refused";
    case Outcome::kUnknown:
      return "unknown";
    case Outcome::kForbidden:
      return "forbidden";
  }
  return "";
}

SlurmCommander::SlurmCommander(const Config& config, Hooks hooks)
    : config_(config), hooks_(std::move(hooks)) {}

CommandResult SlurmCommander::run(std::vector<std::string> argv) const {
  const std::string name = argv.front();
  if (!config_.bin.empty()) argv.front() = config_.bin + "/" + name;
  CommandResult result = run_command(argv, milliseconds_of(config_.command_timeout_s));
  hooks_.ran(name, result);
  return result;
}

CommandResult SlurmCommander::list_jobs() const {
  return run({"squeue", "--json", "--states=all"});
}

CommandResult SlurmCommander::list_nodes(bool by_scontrol) const {
  if (by_scontrol) return run({"scontrol", "show", "nodes", "--json"});
  return run({"sinfo", "--json"});
}

CommandResult SlurmCommander::show_config() const { return run({"scontrol", "show", "config"}); }

CommandResult SlurmCommander::show_partitions() const {
  return run({"scontrol", "show", "partition", "--oneliner"});
}

CommandResult SlurmCommander::show_qos() const {
  return run({"sacctmgr", "--noheader", "--parsable2", "show", "qos", "format=name,preemptmode"});
}

std::string SlurmCommander::why_forbidden(BootClock::time_point until) const {
  if (BootClock::now() >= until) return "the listing is too old";
  return hooks_.why_forbidden();
}

std::string SlurmCommander::lease_argument() const {
  return "StartTime=now+" + std::to_string(std::llround(config_.lease_s));
}

std::string SlurmCommander::change_since_listing(const SlurmJob& job, bool pinned,
                                                 ActionResult& result) const {
  // Columns of fixed width without any text of users.
  constexpr size_t kWidth = 32;
  const CommandResult read = run({"squeue", "--noheader", "--states=all", "--jobs=" + job.id,
                                  "--Format=State:32,RestartCnt:32,ReqNodes:32"});
  result.elapsed_s += read.elapsed_s;
  if (!read.ok()) return "it could not be read again: " + one_line(read);
  const std::string line = read.out.substr(0, read.out.find('\n'));
  const auto column = [&](size_t i) {
    return line.size() <= i * kWidth ? std::string()
                                     : std::string(trim(line.substr(i * kWidth, kWidth)));
  };
  if (column(0) != job.state) return "it is " + column(0) + ", was " + job.state;
  if (column(1) != std::to_string(job.restarts)) {
    return "it was restarted " + column(1) + " times, not " + std::to_string(job.restarts);
  }
  const bool has_nodes = !column(2).empty() && column(2) != "(null)";
  if (job.waits() && has_nodes != pinned) {
    return has_nodes ? "it asks for nodes " + column(2) : "it asks for no nodes any more";
  }
  return "";
}

ActionResult SlurmCommander::update(const std::vector<std::string>& arguments,
                                    BootClock::time_point until) const {
  // The last look before the command leaves.
  if (const std::string why = why_forbidden(until); !why.empty()) return forbidden(why);
  std::vector<std::string> argv = {"scontrol"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const CommandResult sent = run(std::move(argv));
  const Outcome outcome = sent.ok()        ? Outcome::kDone
                          : sent.timed_out ? Outcome::kUnknown
                                           : Outcome::kRefused;
  return {outcome, one_line(sent), sent.elapsed_s};
}

ActionResult SlurmCommander::start(const SlurmJob& job, const std::vector<std::string>& nodes,
                                   const std::string& decision, BootClock::time_point until) const {
  if (const std::string why = why_forbidden(until); !why.empty()) return forbidden(why);
  ActionResult result;
  if (const std::string change = change_since_listing(job, false, result); !change.empty()) {
    return {Outcome::kChanged, change, result.elapsed_s};
  }
  return update({"update", "JobId=" + job.id, "ReqNodeList=" + join(nodes, ","), "StartTime=now",
                 std::string("AdminComment=") + kPinComment + " " + decision},
                until);
}

ActionResult SlurmCommander::requeue(const SlurmJob& job, BootClock::time_point until) const {
  if (const std::string why = why_forbidden(until); !why.empty()) return forbidden(why);
  ActionResult result;
  if (const std::string change = change_since_listing(job, false, result); !change.empty()) {
    return {Outcome::kChanged, change, result.elapsed_s};
  }
  return update({"requeue", job.id}, until);
}

ActionResult SlurmCommander::unpin(const SlurmJob& job, BootClock::time_point until) const {
  if (const std::string why = why_forbidden(until); !why.empty()) return forbidden(why);
  ActionResult result;
  if (const std::string change = change_since_listing(job, true, result); !change.empty()) {
    return {Outcome::kChanged, change, result.elapsed_s};
  }
  return update({"update", "JobId=" + job.id, "ReqNodeList=", lease_argument(),
                 std::string("AdminComment=") + kLeaseComment},
                until);
}

ActionResult SlurmCommander::renew(const std::vector<std::string>& records,
                                   BootClock::time_point until) const {
  return update({"update", "JobId=" + join(records, ","), lease_argument()}, until);
}

ActionResult SlurmCommander::release(const std::vector<std::string>& records) const {
  return update(
      {"update", "JobId=" + join(records, ","), "ReqNodeList=", "StartTime=now", "AdminComment="},
      BootClock::time_point::max());
}

}  // namespace yard::slurm
