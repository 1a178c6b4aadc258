#include "env/trace/formats/sacct/sacct_log.h"

#include <algorithm>
#include <array>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/trace/core/max_time.h"

namespace yard {
namespace {

constexpr int64_t kUsPerS = 1'000'000;
constexpr int64_t kHourUs = 3600 * kUsPerS;
constexpr int64_t kClocksApartUs = 5 * kUsPerS;  // of the servers that record Submit and Start

constexpr const char* kNeededColumns =
    " (use sacct --parsable2 --format=JobID,JobName,User,Account,Partition,Submit,Eligible,Start,"
    "End,Elapsed,Timelimit,State,NNodes,ReqTRES,AllocTRES)";

bool is_one_of(std::string_view state, std::initializer_list<std::string_view> states) {
  return std::ranges::find(states, state) != states.end();
}

// Parses "+02:00", "+0200", "-07" or "Z" after a date to seconds ahead of UTC.
std::optional<int64_t> parse_offset_s(std::string_view text) {
  if (text == "Z") return 0;
  if (text.size() < 3 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  std::string digits(text.substr(1));
  std::erase(digits, ':');
  const std::optional<int64_t> number = parse_int(digits);
  if (!number || *number < 0 || (digits.size() != 2 && digits.size() != 4)) return std::nullopt;
  const int64_t hours = digits.size() == 2 ? *number : *number / 100;
  const int64_t minutes = digits.size() == 2 ? 0 : *number % 100;
  if (hours > 15 || minutes > 59) return std::nullopt;
  return (text[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

}  // namespace

void SacctConfig::fields(FieldList& f) {
  f("gpus_per_node", gpus_per_node, 0, 1024,
    "GPUs that a job gets on each of its nodes, instead of the GPU counts of the log; 0: as "
    "counted in the log");
  f("shards_per_gpu", shards_per_gpu, 0, 1024,
    "gres/shard per GPU; 0: all shards of a job on a node count as one GPU");
  f("gpus", gpus, {"allocated", "requested"},
    "resources that a job holds: AllocTRES (whole nodes with --exclusive) or ReqTRES");
  f("arrival", arrival, {"Eligible", "Submit"},
    "arrival of a job; Eligible excludes holds and dependencies from its wait, Submit does not");
  f("cluster", cluster, "cluster whose jobs are read (column Cluster); empty: all");
  f("tenant", tenant, {"Partition", "Account", "QOS"}, "column read as the tenant");
  f("zone", zone,
    "time zone of the cluster's clock, in POSIX format, as in CET-1CEST,M3.5.0,M10.5.0/3");
}

const std::vector<std::string>& SacctLog::used_columns() {
  // In the order of Columns, then those that may take their places.
  static const std::vector<std::string> kUsed = {
      "JobID",      "Submit",    "Eligible",     "Start",      "End",       "Elapsed",
      "ElapsedRaw", "Timelimit", "TimelimitRaw", "State",      "User",      "UID",
      "JobName",    "Priority",  "NNodes",       "ReqCPUS",    "ReqMem",    "ReqTRES",
      "AllocTRES",  "ReqGRES",   "AllocGRES",    "AllocNodes", "AllocCPUS", "NodeList",
      "Cluster",    "JobIDRaw",  "Partition",    "Account",    "QOS"};
  return kUsed;
}

int SacctLog::find(std::string_view column) const {
  const auto it = std::ranges::find(columns_, column);
  if (it == columns_.end()) return -1;
  if (std::find(it + 1, columns_.end(), column) != columns_.end()) {
    throw InputError(rows_.header_position(), "each column once", in_quotes(column) + " twice");
  }
  return static_cast<int>(it - columns_.begin());
}

SacctLog::SacctLog(const SacctConfig& config, const Settings& given, Rows& rows,
                   std::vector<std::string> columns, bool is_from_spreadsheet)
    : config_(config),
      zone_(config.zone, "trace.zone"),
      rows_(rows),
      columns_(std::move(columns)),
      at_(find_all_columns(std::make_index_sequence<25>())),
      is_table_(is_from_spreadsheet) {
  if (at_.id < 0) at_.id = find("JobIDRaw");
  for (const GivenSetting& setting : given.entries()) given_.push_back(setting.key);
  check_columns();
}

bool SacctLog::is_setting_given(const char* key) const {
  return std::ranges::count(given_, key) > 0;
}

void SacctLog::check_columns() const {
  const std::string names = in_quotes(join(columns_, "|"));
  const auto need = [&](bool there, const std::string& what) {
    if (!there) throw InputError(rows_.header_position(), what + kNeededColumns, names);
  };
  need(at_.id >= 0, "a column JobID or JobIDRaw");
  need(at_.submit >= 0, "a column 'Submit'");
  need(at_.elapsed >= 0 || at_.elapsed_raw >= 0 || (at_.start >= 0 && at_.end >= 0),
       "a column Elapsed or ElapsedRaw, or Start and End");
  const bool tres = at_.req_tres >= 0 || at_.alloc_tres >= 0;
  if (config_.gpus_per_node > 0) {
    need(tres || at_.nodes >= 0, "a column NNodes, for trace.gpus_per_node");
  } else {
    need(tres || ((at_.req_gres >= 0 || at_.alloc_gres >= 0) && at_.nodes >= 0),
         "a column ReqTRES or AllocTRES, or NNodes and --set trace.gpus_per_node=N");
  }
  const auto require_column = [&](const char* key, bool there, const std::string& column) {
    if (!is_setting_given(key) || there) return;
    throw InputError(std::string("trace.") + key, "a log with the column " + column,
                     rows_.header_position() + " with " + names);
  };
  require_column("tenant", at_.tenant >= 0, config_.tenant);
  require_column("cluster", at_.cluster >= 0 || config_.cluster.empty(), "Cluster");
  require_column("arrival", at_.eligible >= 0 || config_.arrival == "Submit", "Eligible");
  const bool allocated = config_.gpus == "allocated";
  require_column("gpus", (allocated ? at_.alloc_tres : at_.req_tres) >= 0,
                 allocated ? "AllocTRES" : "ReqTRES");
}

std::string_view SacctLog::field(int column) const {
  return column < 0 ? std::string_view() : trim((*fields_)[static_cast<size_t>(column)]);
}

// Slurm has several words for a missing time.
bool SacctLog::has_time(int column) const {
  return has(column) && !is_one_of(field(column), {"Unknown", "None", "N/A", "0"});
}

bool SacctLog::unusable(int column, const std::string& reason, const std::string& expected) {
  const std::string& name = columns_[static_cast<size_t>(column)];
  return rows_.reject_row_at("column " + std::to_string(column + 1) + " (" + name + ")",
                             name + reason, expected, in_quotes(field(column)));
}

bool SacctLog::unusable(const SlurmFlaw& flaw) {
  const int column = flaw.column.empty() ? -1 : find(flaw.column);
  const std::string place =
      column < 0 ? "" : "column " + std::to_string(column + 1) + " (" + flaw.column + ")";
  return rows_.reject_row_at(place, flaw.reason, flaw.expected, flaw.got);
}

// Returns whether, by its row, the job ran for no time.
bool SacctLog::ran_no_time() const {
  const auto is_zero = [](std::string_view text) {
    return text.find_first_not_of("0:.-") == text.npos;
  };
  if (has(at_.elapsed_raw)) return is_zero(field(at_.elapsed_raw));
  if (at_.elapsed >= 0) return is_zero(field(at_.elapsed));
  return at_.elapsed_raw >= 0 || field(at_.start) == field(at_.end);
}

// Returns why the row holds no run of a job; nullptr if it holds one.
const char* SacctLog::reason_not_a_run(std::string_view state, bool& unallocated) const {
  if (is_one_of(state,
                {"PENDING", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"})) {
    return kNotStarted;
  }
  if (is_one_of(state, {"RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "SIGNALING",
                        "STAGE_OUT", "STOPPED", "POWER_UP_NODE"})) {
    return kNotEnded;
  }
  if (ran_no_time()) {
    // Cancelled while waiting: Start is Unknown, the time of the cancellation or a planned time.
    bool counted = false, given = false;
    const auto check_allocation = [&](int column, std::string_view none) {
      counted |= column >= 0;
      given |= has(column) && field(column) != none;
    };
    check_allocation(at_.alloc_tres, "");
    check_allocation(at_.alloc_nodes, "0");
    check_allocation(at_.alloc_cpus, "0");
    check_allocation(at_.node_list, "None assigned");
    unallocated = counted && !given;
    const bool cancelled = is_one_of(state, {"CANCELLED", "DEADLINE", "REVOKED"});
    if (cancelled && !given) return kNeverStarted;
    if (state.empty() && !has(at_.state) && unallocated) return kNeverStarted;
    unallocated &= state != "COMPLETED" && at_.alloc_tres >= 0;
  }
  if (at_.start >= 0 && !has_time(at_.start)) {
    const bool ended = at_.end < 0 || has_time(at_.end) || !state.empty();
    return ended ? kNeverStarted : kNotEnded;
  }
  if (at_.end >= 0 && !has_time(at_.end)) return kNotEnded;
  return nullptr;
}

bool SacctLog::read_timestamp(int column, AmbiguousTime& out) {
  const std::string_view said = field(column);
  std::optional<int64_t> unix_s, other_s;
  const std::optional<int64_t> wall_s = parse_date_s(said.ends_with('Z') ? "" : said);
  if (wall_s) {
    dates_seen_ = true;
    unix_s = zone_.unix_s(*wall_s);
    other_s = zone_.other_unix_s_if_ambiguous(*wall_s);
  } else if (said.size() > 19) {
    const std::optional<int64_t> date_s = parse_date_s(said.substr(0, 19));
    const std::optional<int64_t> ahead_s = parse_offset_s(said.substr(19));
    if (date_s && ahead_s) unix_s = *date_s - *ahead_s;
  } else if (said.find_first_not_of("0123456789") == said.npos) {
    unix_s = parse_int(said);  // SLURM_TIME_FORMAT=%s
  }
  if (!unix_s || *unix_s < 0 || *unix_s > kMaxTimeS) return false;
  out.us = out.other_us = *unix_s * kUsPerS;
  if (other_s && *other_s >= 0) out.other_us = *other_s * kUsPerS;
  return true;
}

bool SacctLog::read_duration(int column, int64_t& out_us) {
  const std::optional<int64_t> s = parse_slurm_s(field(column));
  if (s) out_us = *s * kUsPerS;
  return s || unusable(column, " is not a time", "[DAYS-]HH:MM:SS");
}

bool SacctLog::read_number(int column, int64_t& out) {
  const std::optional<int64_t> number = parse_int(field(column));
  const bool usable = number && *number >= 0;
  if (usable) out = *number;
  return usable ||
         unusable(column, " is not a whole number",
                  columns_[static_cast<size_t>(column)] + " as a whole number of at least 0");
}

bool SacctLog::read_tres(int column, Tres& out) {
  if (column < 0) return true;
  const std::optional<Tres> tres = parse_tres(field(column));
  if (tres) out = *tres;
  return tres || unusable(column, " is not a list of resources",
                          "resources like cpu=4,gres/gpu=2,mem=16G,node=1");
}

// Reads submission, start, end and run time. An ambiguous clock time gets the reading that agrees
// with Elapsed and the order of events.
bool SacctLog::read_times(Run& run) {
  Job& job = run.job;
  AmbiguousTime submit, eligible, start, end;
  for (const auto& [column, moment] :
       {std::pair{at_.submit, &submit}, {at_.start, &start}, {at_.end, &end}}) {
    if (column < 0 || read_timestamp(column, *moment)) continue;
    const std::string& name = columns_[static_cast<size_t>(column)];
    return unusable(column, " is not a date",
                    name + " as a date like 2021-03-04T12:30:15, from 1970 on");
  }
  if (config_.arrival == "Eligible" && has_time(at_.eligible))
    read_timestamp(at_.eligible, eligible);
  int64_t elapsed_us = -1, seconds = 0;
  if (has(at_.elapsed_raw)) {
    if (!read_number(at_.elapsed_raw, seconds)) return false;
    elapsed_us = std::min(seconds, kMaxTimeS) * kUsPerS;
  } else if (at_.elapsed >= 0) {
    if (!read_duration(at_.elapsed, elapsed_us)) return false;
  } else if (at_.elapsed_raw >= 0) {
    return unusable(at_.elapsed_raw, " is empty", "seconds");
  }

  const ResolvedTimes chosen = resolve_ambiguous_times(submit, start, end, elapsed_us);
  const int64_t start_us = chosen.start_us;
  int64_t submit_us = chosen.submit_us, end_us = chosen.end_us;
  if (chosen.hour_short && !is_setting_given("zone")) {
    end_us = start_us + elapsed_us;
    rows_.add_row_notice(
        std::string("End is an hour too early for Start and Elapsed: clocks were put back in "
                    "between, so Elapsed is used; ") +
        kSetZoneAdvice);
  }
  job.logged_start_us = start_us;
  job.logged_end_us = end_us;
  job.submit_us = run.submitted_us = submit_us;
  const int64_t from_us = start_us < 0 ? submit_us : start_us;
  if (from_us < submit_us && submit_us - from_us <= kClocksApartUs) {
    rows_.add_row_notice(
        "Start up to 5 s before Submit, assumed clock skew: submission set to the start");
    job.submit_us = submit_us = from_us;
  }
  if (from_us < submit_us) {
    std::string expected = "Start after the submission";
    if (!is_setting_given("zone") && submit_us - from_us <= kHourUs) {
      expected += std::string(" (if clocks were put back in between, ") + kSetZoneAdvice + ")";
    }
    return unusable(at_.start, ": starts before its submission", expected);
  }
  if (end_us >= 0 && end_us < from_us) {
    return unusable(at_.end, ": ends before it starts", "End after the start");
  }
  // A job that was modified while running may be eligible later than it started.
  if (eligible.us > submit_us) {
    job.submit_us = start_us < 0 ? eligible.us : std::min(eligible.us, start_us);
    if (start_us >= 0 && eligible.us > start_us && eligible.other_us >= submit_us) {
      job.submit_us = std::min(eligible.other_us, start_us);
    }
  }
  job.run_us = elapsed_us >= 0 ? elapsed_us : end_us - start_us;
  if (start_us >= 0 && end_us >= 0) note_elapsed_mismatch(job.run_us, end_us - start_us);
  return true;
}

void SacctLog::note_elapsed_mismatch(int64_t elapsed_us, int64_t span_us) {
  if (elapsed_us > span_us + kUsPerS) {
    rows_.add_row_notice("Elapsed is longer than the time from Start to End: Elapsed is used");
  } else if (elapsed_us < span_us - kUsPerS) {
    rows_.add_row_notice(
        "Elapsed is shorter than the time from Start to End, as for a suspended job or across a "
        "clock change: Elapsed is used");
  }
}

bool SacctLog::read_limit(Job& job) {
  const int column = at_.limit_raw >= 0 ? at_.limit_raw : at_.limit;
  if (!has(column) ||
      is_one_of(field(column), {"UNLIMITED", "Partition_Limit", "INVALID", "None", "N/A"})) {
    return true;
  }
  if (at_.limit_raw < 0) return read_duration(column, job.limit_us);
  int64_t minutes = 0;
  if (!read_number(column, minutes)) return false;
  job.limit_us = std::min(minutes, kMaxTimeS / 60) * 60 * kUsPerS;
  return true;
}

bool SacctLog::read_request(Job& job) {
  SlurmRequest request;
  if (!read_tres(at_.req_tres, request.asked) || !read_tres(at_.alloc_tres, request.given)) {
    return false;
  }
  if (request.asked.nodes < 1 && request.given.nodes < 1 && has(at_.nodes) &&
      !read_number(at_.nodes, request.nodes)) {
    return false;
  }
  if (request.asked.cpus < 0 && request.given.cpus < 0 && has(at_.cpus) &&
      !read_number(at_.cpus, request.cpus)) {
    return false;
  }
  request.mem = field(at_.mem);
  const int gres = config_.gpus == "allocated" && has(at_.alloc_gres) ? at_.alloc_gres
                   : has(at_.req_gres)                                ? at_.req_gres
                                                                      : at_.alloc_gres;
  request.gpus_each = field(gres);
  if (gres >= 0) request.gpus_each_column = columns_[static_cast<size_t>(gres)];
  const bool allocated = config_.gpus == "allocated";
  const auto flaw =
      set_job_resources(request, {allocated, config_.gpus_per_node, config_.shards_per_gpu}, job);
  if (flaw) return unusable(*flaw);
  const Tres &asked = request.asked, &given = request.given;
  if (has(at_.alloc_tres)) allocations_seen_ = true;
  gpus_seen_ |= asked.names_gpus() || given.names_gpus() || job.gpus > 0;
  const bool counts = config_.gpus_per_node == 0;
  if (!counts && (asked.names_gpus() || given.names_gpus())) {
    rows_.add_row_notice("trace.gpus_per_node overrides the GPU counts of the log");
  } else if (allocated && asked.gpus >= 0 && given.gpus > asked.gpus) {
    rows_.add_row_notice(
        "more GPUs allocated than requested, as with --exclusive or after a resize: the job holds "
        "the "
        "allocated GPUs; --set trace.gpus=requested reads the requested GPUs");
  }
  const bool by_gres = counts && !asked.names_gpus() && !given.names_gpus() && job.gpus > 0;
  if (by_gres && gres == at_.alloc_gres && std::max(request.nodes, asked.nodes) > 1) {
    rows_.add_row_notice("AllocGRES is read as the GPUs of each node, like ReqGRES");
  }
  if (counts && (asked.num_gpu_types > 1 || given.num_gpu_types > 1)) {
    rows_.add_row_notice(
        "GPUs of several types in one job: it is read as a job that runs on any type");
  }
  if (counts && std::max(asked.mps, given.mps) > 0 && std::max(asked.gpus, given.gpus) < 1) {
    rows_.add_row_notice(
        "gres/mps counts hundredths of a GPU: 50 on a node are read as half a GPU");
  }
  if (std::max(asked.shards, given.shards) > 0) {
    if (counts && config_.shards_per_gpu == 0 && std::max(asked.gpus, given.gpus) < 1) {
      rows_.add_row_notice(
          "gres/shard counts parts of a GPU: the job is read with one whole GPU per node; --set "
          "trace.shards_per_gpu=N sets the shards per GPU");
    }
    shards_seen_ = true;
  }
  return true;
}

uint32_t SacctLog::cluster_index_of_row() {
  const std::string_view name = field(at_.cluster);
  const auto index = std::ranges::find(clusters_, name) - clusters_.begin();
  if (index == std::ssize(clusters_)) clusters_.emplace_back(name);
  return static_cast<uint32_t>(index);
}

void SacctLog::mark(const std::string& id, const char* reason, bool had_decimal_zero) {
  AmbiguousTime submit, start;
  read_timestamp(at_.submit, submit);
  if (has_time(at_.start)) read_timestamp(at_.start, start);
  unstarted_.push_back({id, std::string(field(has(at_.user) ? at_.user : at_.uid)),
                        cluster_index_of_row(), submit.us, start.us, reason, rows_.line_number(),
                        had_decimal_zero});
  for (const int column : {at_.req_tres, at_.alloc_tres, at_.req_gres, at_.alloc_gres}) {
    gpus_seen_ |= field(column).find("gpu") != std::string_view::npos;
  }
}

// Cuts ".0" off whole numbers: pandas writes it in columns with missing values.
void SacctLog::cut_decimal_zeros() {
  table_row_ = *fields_;
  fields_ = &table_row_;
  for (const int column :
       {at_.id, at_.submit, at_.eligible, at_.start, at_.end, at_.elapsed_raw, at_.limit_raw,
        at_.uid, at_.priority, at_.nodes, at_.cpus, at_.alloc_nodes, at_.alloc_cpus}) {
    if (column < 0) continue;
    std::string_view& said = table_row_[static_cast<size_t>(column)];
    said = trim(said);
    const size_t point = said.find('.');
    if (point == said.npos || point == 0 || point + 1 == said.size()) continue;
    if (said.find_first_not_of("0123456789") != point) continue;
    if (said.find_first_not_of('0', point + 1) == said.npos) said = said.substr(0, point);
  }
}

bool SacctLog::read_row(const std::vector<std::string_view>& fields) {
  fields_ = &fields;
  const std::string_view given_id = field(at_.id);
  if (is_table_) cut_decimal_zeros();
  Run run;
  Job& job = run.job;
  job.id = field(at_.id);
  if (job.id.empty()) return rows_.reject_row("JobID is empty", "a JobID", "nothing");
  run.had_decimal_zero = job.id.size() < given_id.size();
  const std::string number = job.id.substr(0, job.id.find('.'));
  if (is_table_ && !run.had_decimal_zero) whole_ids_.insert(number);
  if (number.size() < job.id.size() || (run.had_decimal_zero && whole_ids_.contains(number))) {
    return rows_.leave_out_row(kStep);
  }
  if (!config_.cluster.empty() && field(at_.cluster) != config_.cluster) {
    cluster_index_of_row();
    return rows_.leave_out_row("job of another cluster");
  }
  run.state = parse_slurm_state(field(at_.state));
  if (const char* reason = reason_not_a_run(run.state, run.unallocated)) {
    mark(job.id, reason, run.had_decimal_zero);
    return false;
  }
  if (!read_times(run) || !read_limit(job) || !read_request(job)) return false;
  if (has(at_.priority) && !read_number(at_.priority, job.priority)) return false;
  run.cluster = cluster_index_of_row();
  job.user = field(has(at_.user) ? at_.user : at_.uid);
  job.name = field(at_.name);
  std::ranges::replace(job.name, '\n', ' ');
  job.tenant = field(at_.tenant);
  job.status = field(at_.state);
  job.line = rows_.line_number();
  const size_t task = job.id.find('_');  // "5_3" is task 3 of array 5
  if (task != job.id.npos) job.array = job.id.substr(0, task);
  if (num_runs_++ % kPiece == 0) runs_.emplace_back().reserve(kPiece);
  runs_.back().push_back(std::move(run));
  return true;
}

}  // namespace yard
