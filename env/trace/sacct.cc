// What Slurm's accounting prints: sacct --allusers --parsable2 --format=JobID,JobName,User,Account,
// Partition,Submit,Start,End,Elapsed,Timelimit,State,NNodes,ReqMem,ReqTRES,AllocTRES,Priority (in
// any order, more or fewer; also ElapsedRaw, TimelimitRaw, UID, ReqCPUS, ReqGRES). All of it is
// real. Oddities: rows of steps ("7.batch", "7.0") follow their job and are left out, as are jobs
// that never started or have not ended; times are local; a '|' in a job's name is not escaped (the
// name takes it); Elapsed leaves out what a job was suspended; "Partition_Limit" and "UNLIMITED"
// are no limit, while 365 days may be one that nobody set. A task is what ran on one node.
#include <algorithm>

#include "env/base/error.h"
#include "env/base/registry.h"
#include "env/base/text.h"
#include "env/trace/reader.h"
#include "env/trace/rows.h"
#include "env/trace/sacct_fields.h"

namespace yard {
namespace {

constexpr int64_t kUsPerS = 1'000'000;
constexpr int64_t kMostGpus = 1 << 20;

struct Config {
  int gpus_per_node = 0;
  std::string tenant = "Partition";
  std::string zone = "UTC0";
  void fields(FieldList& f) {
    f("gpus_per_node", gpus_per_node, 0, 1024,
      "GPUs that a job has of each node, where the log does not count them; 0: it does");
    f("tenant", tenant, {"Partition", "Account", "QOS"}, "the column that names a job's tenant");
    f("zone", zone, "of the cluster's clock, as POSIX writes it: CET-1CEST,M3.5.0,M10.5.0/3");
  }
};

// Where the columns stand, -1 for those that are not there.
struct Columns {
  explicit Columns(const Rows& rows)
      : id(rows.optional_column("JobID") >= 0 ? rows.optional_column("JobID")
                                              : rows.column("JobIDRaw")),
        submit(rows.column("Submit")),
        start(rows.optional_column("Start")),
        end(rows.optional_column("End")),
        elapsed(rows.optional_column("Elapsed")),
        elapsed_raw(rows.optional_column("ElapsedRaw")),
        limit(rows.optional_column("Timelimit")),
        limit_raw(rows.optional_column("TimelimitRaw")),
        state(rows.optional_column("State")),
        user(rows.optional_column("User")),
        uid(rows.optional_column("UID")),
        name(rows.optional_column("JobName")),
        priority(rows.optional_column("Priority")),
        nodes(rows.optional_column("NNodes")),
        cpus(rows.optional_column("ReqCPUS")),
        mem(rows.optional_column("ReqMem")),
        req_tres(rows.optional_column("ReqTRES")),
        alloc_tres(rows.optional_column("AllocTRES")),
        req_gres(rows.optional_column("ReqGRES")) {}

  int id, submit, start, end, elapsed, elapsed_raw, limit, limit_raw, state, user, uid, name,
      priority, nodes, cpus, mem, req_tres, alloc_tres, req_gres;
};

// "Unknown" and "None" stand for a time that there is not.
bool has_time(const Rows& rows, int column) {
  const std::string said = rows.trimmed(column);
  return !said.empty() && said != "Unknown" && said != "None";
}

class SacctReader final : public TraceReader {
 public:
  explicit SacctReader(const Settings& settings)
      : config_(parse<Config>(settings)), zone_(config_.zone, "trace.zone") {}

  bool recognises(const FileHead& head) const override {
    const auto names = split(head.line(1), '|');
    return names.size() > 1 && !head.is_json() &&
           std::ranges::count(names, "JobID") + std::ranges::count(names, "JobIDRaw") > 0;
  }

  Layout layout() const override { return {.separator = '|', .free_text = "JobName"}; }

  void read(Rows& rows) const override {
    const Columns at(rows);
    check(rows, at);
    const int tenant = rows.optional_column(config_.tenant);
    rows.count_from_first();
    while (rows.next()) {
      Job job;
      if (!rows.text(at.id, job.id) || left_out(rows, at, job.id) ||
          !rows.date(at.submit, zone_, job.submit_us) || !read_run(rows, at, job) ||
          !read_limit(rows, at, job) || !read_request(rows, at, job)) {
        continue;
      }
      if (rows.said(at.priority) && !rows.whole(at.priority, job.priority)) continue;
      job.user = rows.trimmed(rows.said(at.user) ? at.user : at.uid);
      job.name = rows.trimmed(at.name);
      job.tenant = rows.trimmed(tenant);
      job.status = rows.trimmed(at.state);
      const size_t task = job.id.find('_');  // "5_3" is the third of array 5
      if (task != job.id.npos) job.array = job.id.substr(0, task);
      rows.add(std::move(job));
    }
  }

  std::string example() const override {
    return "JobID|JobName|User|Account|Partition|Submit|Start|End|Elapsed|Timelimit|State|NNodes|"
           "ReqMem|ReqTRES|AllocTRES|Priority\n"
           "7|bert|large|ada|vision|gpu|2023-05-04T22:11:29|2023-05-04T22:12:51|"
           "2023-05-06T00:12:59|1-02:00:08|2-00:00:00|COMPLETED|2|16G|"
           "billing=4,cpu=4,gres/gpu:a100=2,gres/gpu=2,mem=16G,node=2|"
           "billing=4,cpu=4,gres/gpu:a100=2,gres/gpu=2,mem=16G,node=2|132\n"
           "7.batch|batch||vision||2023-05-04T22:12:51|2023-05-04T22:12:51|2023-05-06T00:12:59|"
           "1-02:00:08||COMPLETED|1|||cpu=2,gres/gpu=1,mem=8G,node=1|\n"
           "8_1|sweep|grace|language|gpu|2023-05-04T22:11:30|2023-05-04T22:11:31|"
           "2023-05-04T22:12:47|00:01:16|00:01:00|TIMEOUT|1|500M|"
           "billing=1,cpu=1,gres/gpu=8,mem=500M,node=1|"
           "billing=1,cpu=1,gres/gpu:a100=8,gres/gpu=8,mem=500M,node=1|126\n"
           "9|waiting|grace|language|gpu|2023-05-04T22:13:56|Unknown|Unknown|00:00:00|UNLIMITED|"
           "PENDING|1|1G|billing=1,cpu=1,gres/gpu=1,mem=1G,node=1||126\n";
  }

 private:
  // Throws InputError where columns are missing without which there is no job.
  void check(const Rows& rows, const Columns& at) const {
    const std::string names = "'" + join(rows.columns(), "|") + "'";
    if (at.elapsed < 0 && at.elapsed_raw < 0 && (at.start < 0 || at.end < 0)) {
      throw InputError(rows.where_names(), "a column Elapsed or ElapsedRaw, or Start and End",
                       names);
    }
    if (config_.gpus_per_node > 0) {
      rows.column("NNodes");
    } else if (at.req_tres < 0 && at.alloc_tres < 0 && (at.req_gres < 0 || at.nodes < 0)) {
      throw InputError(rows.where_names(),
                       "a column ReqTRES or AllocTRES, or NNodes and --set trace.gpus_per_node=N",
                       names);
    }
  }

  static bool left_out(Rows& rows, const Columns& at, const std::string& id) {
    const std::string state = rows.trimmed(at.state);
    const auto is = [&](const char* word) { return state.starts_with(word); };
    const char* reason = nullptr;
    if (id.find('.') != id.npos) {
      reason = "step of a job";
    } else if (is("REQUEUED") || is("RESIZING")) {
      reason = "not the job's last run";
    } else if (is("PENDING")) {
      reason = "has not started";
    } else if (is("RUNNING") || is("SUSPENDED") || (at.end >= 0 && !has_time(rows, at.end))) {
      reason = "has not ended";
    } else if (at.start >= 0 && !has_time(rows, at.start)) {
      reason = "never started";
    }
    if (reason != nullptr) rows.left_out(reason);
    return reason != nullptr;
  }

  bool read_run(Rows& rows, const Columns& at, Job& job) const {
    if ((at.start >= 0 && !rows.date(at.start, zone_, job.logged_start_us)) ||
        (at.end >= 0 && !rows.date(at.end, zone_, job.logged_end_us)) ||
        !rows.in_order(at.start, at.end, job)) {
      return false;
    }
    if (rows.said(at.elapsed_raw)) return rows.seconds(at.elapsed_raw, job.run_us);
    if (at.elapsed >= 0) return slurm_time(rows, at.elapsed, job.run_us);
    job.run_us = job.logged_end_us - job.logged_start_us;
    return true;
  }

  static bool slurm_time(Rows& rows, int column, int64_t& out_us) {
    const std::string said = rows.trimmed(column);
    const std::optional<int64_t> s = parse_slurm_s(said);
    if (s) {
      out_us = *s * kUsPerS;
    } else {
      rows.unusable(column, rows.columns()[column] + " is not a time", "[DAYS-]HH:MM:SS",
                    "'" + said + "'");
    }
    return s.has_value();
  }

  static bool read_limit(Rows& rows, const Columns& at, Job& job) {
    const int column = at.limit_raw >= 0 ? at.limit_raw : at.limit;
    const std::string said = rows.trimmed(column);
    if (said.empty() || said == "UNLIMITED" || said == "Partition_Limit") return true;
    return at.limit_raw >= 0 ? rows.minutes(column, job.limit_us)
                             : slurm_time(rows, column, job.limit_us);
  }

  static bool read_tres(Rows& rows, int column, Tres& out) {
    const std::string said = rows.trimmed(column);
    const std::optional<Tres> tres = parse_tres(said);
    if (tres) {
      out = *tres;
    } else {
      rows.unusable(column, rows.columns()[column] + " is not a list of resources",
                    "resources like cpu=4,gres/gpu=2,mem=16G,node=1", "'" + said + "'");
    }
    return tres.has_value();
  }

  bool read_request(Rows& rows, const Columns& at, Job& job) const {
    Tres asked, given;
    if (!read_tres(rows, at.req_tres, asked) || !read_tres(rows, at.alloc_tres, given)) {
      return false;
    }
    // What was asked for; where the log does not say, what was given.
    const auto pick = [](int64_t first, int64_t second) { return first >= 0 ? first : second; };
    int64_t nodes = pick(asked.nodes, given.nodes), cpus = pick(asked.cpus, given.cpus);
    if (nodes < 1 && rows.said(at.nodes) && !rows.whole(at.nodes, nodes)) return false;
    if (cpus < 0 && rows.said(at.cpus) && !rows.whole(at.cpus, cpus)) return false;
    nodes = std::max<int64_t>(nodes, 1);
    int64_t gpus = pick(asked.gpus, given.gpus), mem_mib = pick(asked.mem_mib, given.mem_mib);
    if (config_.gpus_per_node > 0) {
      gpus = nodes * config_.gpus_per_node;
    } else if (gpus < 0 && rows.said(at.req_gres)) {
      const std::optional<int64_t> each = parse_gres_gpus(rows.trimmed(at.req_gres));
      if (!each) {
        rows.unusable(at.req_gres, "ReqGRES is not a list of resources", "gpu:TYPE:N",
                      "'" + rows.trimmed(at.req_gres) + "'");
        return false;
      }
      gpus = *each * nodes;
    }
    if (mem_mib < 0 && rows.said(at.mem)) {
      const auto mib = parse_slurm_mib(rows.trimmed(at.mem), nodes, cpus);
      if (!mib) {
        rows.unusable(at.mem, "ReqMem is not a size", "a size like 4000M or 16G",
                      "'" + rows.trimmed(at.mem) + "'");
        return false;
      }
      mem_mib = *mib;
    }
    gpus = std::max<int64_t>(gpus, 0);
    if (gpus > kMostGpus || nodes > kMostGpus || cpus > kMostGpus) {
      rows.unusable("too many resources",
                    "at most " + std::to_string(kMostGpus) + " GPUs, nodes and CPUs", "more");
      return false;
    }
    job.gpus = static_cast<int32_t>(gpus);
    if (!asked.gpu_type.empty()) job.gpu_types = {asked.gpu_type};
    if (gpus % nodes == 0) job.groups = {one_task_a_node(nodes, gpus, cpus, mem_mib)};
    return true;
  }

  static RoleGroup one_task_a_node(int64_t nodes, int64_t gpus, int64_t cpus, int64_t mem_mib) {
    RoleGroup group;
    group.count = static_cast<int32_t>(nodes);
    group.task.gpus = static_cast<int32_t>(gpus / nodes);
    group.task.cpu_milli = static_cast<int32_t>(std::max<int64_t>(cpus, 0) * 1000 / nodes);
    group.task.mem_mib = std::max<int64_t>(mem_mib, 0) / nodes;
    return group;
  }

  Config config_;
  Zone zone_;
};

const Registry<TraceReader>::Add<SacctReader> kAdd{
    "sacct",
    {.help = "Slurm's accounting, as sacct --parsable2 prints it", .fields = describe<Config>}};

}  // namespace
}  // namespace yard
