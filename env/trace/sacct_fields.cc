#include "env/trace/sacct_fields.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "env/base/text.h"

namespace yard {
namespace {

constexpr int64_t kMostDays = 1'000'000;
constexpr int64_t kMost = int64_t{1} << 40;  // of anything that is counted

// A whole number of at most `most`.
std::optional<int64_t> count(std::string_view text, int64_t most = kMost) {
  const std::optional<int64_t> number = parse_int(text);
  return number && *number >= 0 && *number <= most ? number : std::nullopt;
}

}  // namespace

std::optional<int64_t> parse_slurm_s(std::string_view text) {
  int64_t total_s = 0;
  const size_t dash = text.find('-');
  if (dash != text.npos) {
    const std::optional<int64_t> days = count(text.substr(0, dash), kMostDays);
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
    const std::optional<int64_t> part = count(parts[i], i == 0 ? kMostDays : 59);
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
  if (mib > static_cast<double>(kMost)) return std::nullopt;
  return static_cast<int64_t>(mib);
}

std::optional<Tres> parse_tres(std::string_view text) {
  Tres tres;
  if (text.empty()) return tres;
  int64_t typed = -1, types = 0;
  for (const std::string_view item : split(text, ',')) {
    const size_t equals = item.find('=');
    if (equals == item.npos) return std::nullopt;
    const std::string_view key = item.substr(0, equals), value = item.substr(equals + 1);
    const bool is_type = key.starts_with("gres/gpu:");
    if (key == "mem") {
      const auto mib = parse_slurm_mib(value, 1, 1);
      if (!mib) return std::nullopt;
      tres.mem_mib = *mib;
    } else if (is_type || key == "gres/gpu" || key == "cpu" || key == "node") {
      const auto number = count(value);
      if (!number) return std::nullopt;
      if (is_type) {
        typed = std::max<int64_t>(typed, 0) + *number;
        tres.gpu_type = ++types == 1 ? key.substr(9) : "";
      } else {
        (key == "cpu" ? tres.cpus : key == "node" ? tres.nodes : tres.gpus) = *number;
      }
    }
  }
  if (tres.gpus < 0) tres.gpus = typed;
  return tres;
}

std::optional<int64_t> parse_gres_gpus(std::string_view text) {
  int64_t gpus = 0;
  if (text.empty()) return gpus;
  for (std::string_view item : split(text, ',')) {
    for (const std::string_view prefix : {"gres:", "gres/"}) {
      if (item.starts_with(prefix)) item.remove_prefix(prefix.size());
    }
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
