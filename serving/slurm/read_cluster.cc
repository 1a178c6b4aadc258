#include "serving/slurm/read_cluster.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/base/text/utf8.h"
#include "serving/slurm/json_fields.h"
#include "serving/slurm/texts.h"

namespace yard::slurm {
namespace {

constexpr size_t kMaxTasks = 100;  // of one array that are decided on at a time
constexpr int kMaxNodeGpus = 64;

// Slurm copies what users wrote, in any encoding. Returns the text with U+FFFD for each byte that
// is not part of UTF-8: the parser refuses such a text as a whole.
std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = utf8_character_length(text);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

Json parse_document(const std::string& json, const char* command) {
  Json document = Json::parse(valid_utf8(json), nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) {
    throw InputError(command, "a JSON document", "'" + json.substr(0, 60) + "'");
  }
  return document;
}

std::string upper_case(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

bool has_ended(const std::string& state) {
  constexpr std::array<std::string_view, 12> kEnded = {
      "COMPLETED", "CANCELLED", "FAILED",        "TIMEOUT", "NODE_FAIL",     "PREEMPTED",
      "BOOT_FAIL", "DEADLINE",  "OUT_OF_MEMORY", "REVOKED", "LAUNCH_FAILED", "RECONFIG_FAIL"};
  return std::ranges::find(kEnded, state) != kEnded.end();
}

// 22.05 prints one state, "COMPLETING" among them; later versions print a base state with flags.
void read_state(const Json& record, SlurmJob& job) {
  std::string base;
  for (const std::string& one : texts_of(record, "job_state")) {
    for (const std::string_view word : split(one, ',')) {
      const std::string state = upper_case(std::string(trim(word)));
      if (state == "COMPLETING") {
        job.completing = true;
      } else if (base.empty()) {
        base = state;
      } else if (state == "REQUEUED" || state == "CONFIGURING" || state == "REQUEUE_HOLD" ||
                 state == "SPECIAL_EXIT" || state == "SIGNALING" || state == "STAGE_OUT" ||
                 state == "STOPPED" || state == "RESIZING" || state == "REQUEUE_FED") {
        base = state;  // says more than "PENDING" or "RUNNING"
      }
    }
  }
  job.state = base.empty() && job.completing ? "COMPLETING" : base;
}

// Returns which of the job's wishes the agent cannot heed; "" if there is none. Slurm's own words
// for "nothing" are skipped.
std::string flaw_of(const Json& record, const SlurmJob& job) {
  struct Wish {
    const char *key, *reason;
  };
  constexpr Wish kTexts[] = {{"dependency", "dependency"},
                             {"resv_name", "reservation"},
                             {"licenses", "licence"},
                             {"features", "feature"},
                             {"prefer", "feature"},
                             {"batch_features", "feature"},
                             {"cluster_features", "feature"},
                             {"excluded_nodes", "node_list"},
                             {"tres_per_task", "gpus_per_task"},
                             {"tres_per_socket", "gpus_per_socket"},
                             {"burst_buffer", "burst_buffer"},
                             {"het_job_id_set", "heterogeneous"},
                             {"federation_origin", "federation"},
                             {"network", "network"}};
  for (const Wish& wish : kTexts) {
    const std::string text = text_of(record, wish.key);
    if (!text.empty() && text != "(null)") return wish.reason;
  }
  if (number_of(record, "het_job_id").value_or(0) > 0) return "heterogeneous";
  if (number_of(record, "array_max_tasks").value_or(0) > 0) return "array_throttle";
  if (number_of(record, "deadline").value_or(0) > 0) return "deadline";
  if (flag_of(record, "contiguous")) return "contiguous";
  // A number of cores or threads kept free; 65534 and more: not set.
  for (const char* key : {"core_spec", "thread_spec"}) {
    if (const auto cores = number_of(record, key); cores && *cores < 0xfffe) return "core_spec";
  }
  for (const char* key : {"shared", "exclusive"}) {
    const std::string text = lower_case(text_of(record, key));
    const bool shares = text.empty() || text == "shared" || text == "oversubscribe" ||
                        text == "ok" || text == "yes" || text == "false";
    if (!shares) return "exclusive";
  }
  if (job.partition.find(',') != std::string::npos) return "several_partitions";
  return "";
}

void read_request(const Json& record, SlurmJob& job) {
  const std::string per_node = text_of(record, "tres_per_node");
  const std::string per_job = text_of(record, "tres_per_job");
  if (!per_node.empty()) job.per_node = parse_gpu_request(per_node);
  if (!per_job.empty()) job.per_job = parse_gpu_request(per_job);
  if (!job.not_understood.empty()) return;
  if (per_node.empty() && per_job.empty()) {
    job.not_understood = "no_gpu";
  } else if ((!per_node.empty() && !job.per_node) || (!per_job.empty() && !job.per_job)) {
    const std::string both = per_node + "," + per_job;
    const auto has = [&](const char* word) { return both.find(word) != std::string::npos; };
    job.not_understood = has("shard") || has("mps") ? "shard" : has("gpu") ? "gres" : "no_gpu";
  }
}

void read_held(const Json& record, SlurmJob& job) {
  const auto nodes = expand_nodes(job.node_list);
  const std::vector<std::string> details = texts_of(record, "gres_detail");
  if (!nodes) return;
  std::vector<HeldGpus> held;
  if (details.empty()) {
    // Without GPUs, or in a version that does not print them: the node's own list decides.
    for (const std::string& node : *nodes) held.push_back({node, {}});
  } else {
    if (details.size() != nodes->size()) return;
    for (size_t i = 0; i < details.size(); ++i) {
      const NodeGpus gpus = parse_node_gpus(details[i]);
      if (!gpus.understood || gpus.shared) return;
      if (gpus.indices.size() != static_cast<size_t>(gpus.gpus)) return;
      held.push_back({(*nodes)[i], gpus.indices});
    }
  }
  job.held = std::move(held);
}

SlurmJob read_job(const Json& record) {
  SlurmJob job;
  const auto id = number_of(record, "job_id");
  if (!id || *id < 1) throw InputError("job", "a job_id", "none");
  job.id = std::to_string(static_cast<int64_t>(*id));
  const auto array = number_of(record, "array_job_id"), task = number_of(record, "array_task_id");
  if (array.value_or(0) > 0) {
    job.array = std::to_string(static_cast<int64_t>(*array));
    if (task) job.id = job.array + "_" + std::to_string(static_cast<int64_t>(*task));
  }
  job.record = job.id;
  read_state(record, job);
  job.reason = text_of(record, "state_reason");
  job.name = text_of(record, "name");
  job.user = text_of(record, "user_name");
  job.account = text_of(record, "account");
  job.partition = text_of(record, "partition");
  job.qos = text_of(record, "qos");
  job.admin_comment = text_of(record, "admin_comment");
  job.restarts = std::max(0, int_of(record, "restart_cnt", 0));
  job.may_requeue = flag_of(record, "requeue");
  job.nodes = std::max(1, int_of(record, "node_count", 1));
  job.cpus = std::max(1, int_of(record, "cpus", 1));
  job.cpus_per_node = std::max(0, int_of(record, "minimum_cpus_per_node", 0));
  job.mem_mib = parse_tres_mem_mib(text_of(record, "tres_req_str"));
  job.submit_s = number_of(record, "submit_time").value_or(0);
  job.eligible_s = number_of(record, "eligible_time").value_or(0);
  job.start_s = number_of(record, "start_time").value_or(0);
  job.end_s = number_of(record, "end_time").value_or(0);
  job.limit_s = 60 * number_of(record, "time_limit").value_or(0);
  job.required_nodes = text_of(record, "required_nodes");
  job.node_list = text_of(record, "nodes");
  job.not_understood = flaw_of(record, job);
  read_request(record, job);
  read_held(record, job);
  return job;
}

// Adds the job, or the tasks of an array that Slurm still lists as one record.
void add(const Json& record, SlurmJob&& job, Listing& out) {
  const bool ended = has_ended(job.state) && !job.completing;
  std::vector<SlurmJob>& jobs = ended ? out.ended : out.jobs;
  const std::string tasks = text_of(record, "array_task_string");
  if (job.array.empty() || job.id != job.array || tasks.empty()) {
    jobs.push_back(std::move(job));
    return;
  }
  const auto numbers = expand_numbers(tasks, kMaxTasks);
  if (!numbers || numbers->empty()) {
    job.not_understood = "array";
    jobs.push_back(std::move(job));
    return;
  }
  job.record = job.array + "_[" + tasks + "]";
  for (const int number : *numbers) {
    SlurmJob& task = jobs.emplace_back(job);
    task.id = task.array + "_" + std::to_string(number);
  }
}

SlurmNode read_node(const Json& record) {
  SlurmNode node;
  node.name = text_of(record, "name");
  if (node.name.empty()) throw InputError("node", "a name", "none");
  node.partitions = texts_of(record, "partitions");
  std::vector<std::string> states = texts_of(record, "state");
  for (const std::string& flag : texts_of(record, "state_flags")) states.push_back(flag);
  node.usable = !states.empty();
  for (std::string& state : states) {
    state = lower_case(state);
    constexpr std::array<std::string_view, 6> kUsable = {"idle",    "mixed",      "allocated",
                                                         "planned", "completing", "cloud"};
    if (std::ranges::find(kUsable, state) == kUsable.end()) node.usable = false;
  }
  node.state = join(states, "+");
  const NodeGpus all = parse_node_gpus(text_of(record, "gres"));
  // Slurm prints "gpu:a100:0(IDX:N/A)" if none is in use: no text is no knowledge.
  const std::string used_text = text_of(record, "gres_used");
  const NodeGpus used = parse_node_gpus(used_text);
  node.gpus = std::min(all.gpus, kMaxNodeGpus);
  node.gpu_type = all.type;
  node.understood = all.understood && used.understood && !used.shared && node.gpus > 0 &&
                    !used_text.empty() && used.indices.size() == static_cast<size_t>(used.gpus);
  for (const int gpu : used.indices) {
    if (gpu >= node.gpus) node.understood = false;
    node.used.insert(gpu);
  }
  node.cpus = std::max(0, int_of(record, "cpus", 0));
  node.used_cpus = std::max(0, int_of(record, "alloc_cpus", 0));
  node.mem_mib = static_cast<int64_t>(number_of(record, "real_memory").value_or(0));
  node.used_mem_mib = static_cast<int64_t>(number_of(record, "alloc_memory").value_or(0));
  return node;
}

}  // namespace

void read_jobs(const std::string& json, Listing& out) {
  const Json document = parse_document(json, "squeue --json");
  const auto jobs = document.find("jobs");
  if (jobs == document.end() || !jobs->is_array()) {
    throw InputError("squeue --json", "a list 'jobs'", "none");
  }
  for (const Json& record : *jobs) {
    try {
      add(record, read_job(record), out);
    } catch (const std::exception& error) {
      out.odd.push_back(std::string("job: ") + error.what());
    }
  }
}

bool read_nodes(const std::string& json, Listing& out) {
  const Json document = parse_document(json, "sinfo --json");
  const auto nodes = document.find("nodes");
  if (nodes == document.end() || !nodes->is_array()) {
    if (document.contains("sinfo")) return false;
    throw InputError("sinfo --json", "a list 'nodes'", "none");
  }
  for (const Json& record : *nodes) {
    try {
      out.nodes.push_back(read_node(record));
    } catch (const std::exception& error) {
      out.odd.push_back(std::string("node: ") + error.what());
    }
  }
  return true;
}

}  // namespace yard::slurm
