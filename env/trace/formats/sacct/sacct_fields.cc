#include "env/trace/formats/sacct/sacct_fields.h"

#include <algorithm>
#include <cmath>

#include "env/base/text/text.h"

namespace yard {
namespace {

constexpr int64_t kMaxDays = 1'000'000;
constexpr int64_t kMaxCount = int64_t{1} << 40;  // of any count

// Parses a whole number of at most `most`.
std::optional<int64_t> count(std::string_view text, int64_t most = kMaxCount) {
  const std::optional<int64_t> number = parse_int(text);
  return number && *number >= 0 && *number <= most ? number : std::nullopt;
}

}  // namespace

std::optional<int64_t> parse_slurm_s(std::string_view text) {
  int64_t total_s = 0;
  std::string slurm;  // "1 days 02:00:00", "1 day, 2:00:00" as "1-02:00:00"
  if (const size_t day = text.find(" day"); day != text.npos) {
    const size_t clock = text.find_first_not_of("s, ", day + 4);
    if (clock == text.npos) return std::nullopt;
    slurm = std::string(text.substr(0, day)) + "-" + std::string(text.substr(clock));
    text = slurm;
  }
  const size_t dash = text.find('-');
  if (dash != text.npos) {
    const std::optional<int64_t> days = count(text.substr(0, dash), kMaxDays);
    if (!days) return std::nullopt;
    total_s = *days * 86400;
    text.remove_prefix(dash + 1);
  }
  const size_t point = text.find('.');
  if (point != text.npos) {
    if (text.find_first_not_of("0123456789", point + 1) != text.npos) return std::nullopt;
    text = text.substr(0, point);
  }
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3 || (dash != text.npos && parts.size() < 3)) {
    return std::nullopt;
  }
  int64_t clock_s = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::optional<int64_t> part = count(parts[i], i == 0 ? kMaxDays : 59);
    if (!part) return std::nullopt;
    clock_s = clock_s * 60 + *part;
  }
  return total_s + clock_s;
}

std::optional<int64_t> parse_slurm_mib(std::string_view text, int64_t nodes, int64_t cpus) {
  int64_t times = 1;
  if (text.ends_with('n') || text.ends_with('c')) {
    times = text.back() == 'n' ? nodes : cpus;
    text.remove_suffix(1);
  }
  double unit_mib = 1;
  if (!text.empty() && (text.back() < '0' || text.back() > '9')) {
    const std::string_view units = "KMGTP";
    const size_t unit = units.find(text.back());
    if (unit == units.npos) return std::nullopt;
    unit_mib = std::ldexp(1.0, 10 * (static_cast<int>(unit) - 1));
    text.remove_suffix(1);
  }
  const std::optional<double> number = parse_double(text);
  if (!number || *number < 0 || times < 0) return std::nullopt;
  const double mib = std::ceil(*number * unit_mib * static_cast<double>(times));
  if (mib > static_cast<double>(kMaxCount)) return std::nullopt;
  return static_cast<int64_t>(mib);
}

std::optional<int32_t> parse_mig_gpu_milli(std::string_view text, std::string& type) {
  const size_t mark = text.rfind("gb");
  const size_t dot = text.rfind('.', mark);
  if (mark == text.npos || dot == text.npos || dot == 0 || text[dot - 1] != 'g') {
    return std::nullopt;
  }
  size_t first = dot - 1;
  while (first > 0 && text[first - 1] >= '0' && text[first - 1] <= '9') --first;
  const auto parts = count(text.substr(first, dot - 1 - first), 8);
  const auto gib = count(text.substr(dot + 1, mark - dot - 1), 10'000);
  if (!parts || !gib || *parts < 1) return std::nullopt;
  std::string_view before = text.substr(0, first);
  if (before.ends_with('.')) before.remove_suffix(1);  // "1c.": some of the slice's cores
  if (before.size() >= 2 && before.ends_with('c') && count(before.substr(before.size() - 2, 1))) {
    before.remove_suffix(2);
  }
  const auto cut_marks = [&] {
    while (before.ends_with('_') || before.ends_with('-')) before.remove_suffix(1);
  };
  cut_marks();
  if (before.ends_with("mig")) before.remove_suffix(3);
  cut_marks();
  type = before;
  // An A30 has four slices of 6 GB, the others have seven.
  const int64_t of = *gib == 6 * *parts ? 4 : 7;
  return static_cast<int32_t>(std::min<int64_t>(1000, 1000 * *parts / of));
}

std::string_view parse_slurm_state(std::string_view text) {
  struct State {
    std::string_view name, code;
  };
  static constexpr State kStates[] = {
      {"BOOT_FAIL", "BF"},      {"CANCELLED", "CA"},    {"COMPLETED", "CD"},
      {"COMPLETING", "CG"},     {"CONFIGURING", "CF"},  {"DEADLINE", "DL"},
      {"FAILED", "F"},          {"LAUNCH_FAILED", ""},  {"NODE_FAIL", "NF"},
      {"OUT_OF_MEMORY", "OOM"}, {"PENDING", "PD"},      {"POWER_UP_NODE", ""},
      {"PREEMPTED", "PR"},      {"RECONFIG_FAIL", ""},  {"REQUEUED", "RQ"},
      {"REQUEUE_FED", "RF"},    {"REQUEUE_HOLD", "RH"}, {"RESIZING", "RS"},
      {"RESV_DEL_HOLD", "RD"},  {"REVOKED", "RV"},      {"RUNNING", "R"},
      {"SIGNALING", "SI"},      {"SPECIAL_EXIT", "SE"}, {"STAGE_OUT", "SO"},
      {"STOPPED", "ST"},        {"SUSPENDED", "S"},     {"TIMEOUT", "TO"}};
  std::string word(text.substr(0, text.find(' ')));
  for (char& c : word) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  const bool cut = word.ends_with('+');  // to the width of its column
  if (cut) word.pop_back();
  if (word.empty()) return {};
  for (const State& state : kStates) {
    if (state.name == word || state.code == word) return state.name;
  }
  for (const State& state : kStates) {
    if (cut && word.size() > 2 && state.name.starts_with(word)) return state.name;
  }
  return word == "CANCELED" ? "CANCELLED" : std::string_view();
}

bool is_slurm_job_or_step_id(std::string_view text) {
  const auto digits = [&] {
    const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(end);
    return end > 0;
  };
  if (!digits()) return false;
  if (text.starts_with("_[")) {
    const size_t end = text.find(']');
    if (text.find_first_not_of("0123456789,-:%.[_", 1) != end || end == text.npos) return false;
    text.remove_prefix(end + 1);
  } else if (text.starts_with('_')) {
    text.remove_prefix(1);
    if (!digits()) return false;
  }
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (!digits()) return false;
  }
  if (text.empty()) return true;
  return text.size() > 1 && text.front() == '.' && text.find_first_of("|/=: \t", 1) == text.npos;
}

std::optional<Tres> parse_tres(std::string_view text) {
  Tres tres;
  if (text.empty()) return tres;
  int64_t typed = -1, sliced = 0;
  std::vector<std::string> types;
  for (const std::string_view item : split(text, ',')) {
    const size_t equals = item.find('=');
    if (equals == item.npos) return std::nullopt;
    const std::string_view key = item.substr(0, equals), value = item.substr(equals + 1);
    if (key == "mem") {
      const auto mib = parse_slurm_mib(value, 1, 1);
      if (!mib) return std::nullopt;
      tres.mem_mib = *mib;
      continue;
    }
    const bool is_type = key.starts_with("gres/gpu:");
    int64_t* const place = key == "cpu"                                            ? &tres.cpus
                           : key == "node"                                         ? &tres.nodes
                           : key == "gres/gpu"                                     ? &tres.gpus
                           : key == "gres/shard" || key.starts_with("gres/shard:") ? &tres.shards
                           : key == "gres/mps" || key.starts_with("gres/mps:")     ? &tres.mps
                                                                                   : nullptr;
    if (!is_type && place == nullptr) continue;
    const auto number = count(value);
    if (!number) return std::nullopt;
    if (!is_type) {  // gres/shard includes gres/shard:a100
      *place = std::max(*place, *number);
      continue;
    }
    std::string type(key.substr(9));
    const std::optional<int32_t> milli = parse_mig_gpu_milli(key.substr(9), type);
    if (milli && *milli < 1000) {
      if (*number > 0) tres.slices.push_back({*number, *milli});
      sliced += *number;
    } else {
      typed = std::max<int64_t>(typed, 0) + *number;
    }
    if (!type.empty() && std::ranges::find(types, type) == types.end()) types.push_back(type);
  }
  tres.num_gpu_types = types.size();
  if (types.size() == 1) tres.gpu_type = types.front();
  if (tres.gpus >= 0) {
    tres.gpus = std::max<int64_t>(0, tres.gpus - sliced);  // gres/gpu includes slices
  } else {
    tres.gpus = typed;
  }
  return tres;
}

std::optional<int64_t> parse_gres_gpus_per_node(std::string_view text) {
  int64_t gpus = 0;
  if (text.empty()) return gpus;
  for (std::string_view item : split(text, ',')) {
    for (const std::string_view prefix : {"PER_NODE:", "gres:", "gres/"}) {
      if (item.starts_with(prefix)) item.remove_prefix(prefix.size());
    }
    if (item.ends_with(')')) item = item.substr(0, item.find('('));  // "gpu:2(IDX:0-1)"
    const std::vector<std::string_view> parts = split(item, ':');
    if (parts[0] != "gpu") continue;
    const bool typed_alone = parts.size() == 2 && !parse_int(parts[1]);
    const std::optional<int64_t> number =
        parts.size() == 1 || typed_alone ? std::optional<int64_t>(1) : count(parts.back());
    if (!number || parts.size() > 3) return std::nullopt;
    gpus += *number;
  }
  return gpus;
}

}  // namespace yard
