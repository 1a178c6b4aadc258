#include "serving/slurm/texts.h"

#include <algorithm>

#include "env/base/text/text.h"
#include "env/trace/formats/sacct/sacct_fields.h"

namespace yard::slurm {
namespace {

constexpr size_t kMaxNodes = 100'000;
constexpr int kMaxGpus = 64;

// Splits at commas outside of brackets.
std::optional<std::vector<std::string_view>> split_list(std::string_view list) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && (list[i] == '[' || list[i] == '(')) ++depth;
    if (i < list.size() && (list[i] == ']' || list[i] == ')') && --depth < 0) return {};
    if (i == list.size() || (list[i] == ',' && depth == 0)) {
      parts.push_back(list.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  if (depth != 0) return {};
  return parts;
}

// Appends prefix + number + suffix for each number of "1-3,07".
bool expand_brackets(const std::string& prefix, std::string_view inside, const std::string& suffix,
                     std::vector<std::string>& out) {
  for (const std::string_view part : split(inside, ',')) {
    const size_t dash = part.find('-');
    const std::string_view first = part.substr(0, dash);
    const std::string_view last = dash == std::string_view::npos ? first : part.substr(dash + 1);
    const auto from = parse_int(first), to = parse_int(last);
    if (!from || !to || *from < 0 || *to < *from) return false;
    if (out.size() + static_cast<size_t>(*to - *from) >= kMaxNodes) return false;
    for (int64_t n = *from; n <= *to; ++n) {
      std::string number = std::to_string(n);
      if (number.size() < first.size()) number.insert(0, first.size() - number.size(), '0');
      out.push_back(prefix + number + suffix);
    }
  }
  return true;
}

bool is_mig(const std::string& type) {
  std::string before;
  return parse_mig_gpu_milli(type, before).has_value();
}

}  // namespace

std::optional<std::vector<std::string>> expand_nodes(std::string_view list) {
  std::vector<std::string> out;
  if (list.empty()) return out;
  const auto parts = split_list(list);
  if (!parts) return {};
  for (const std::string_view part : *parts) {
    if (part.empty() || out.size() >= kMaxNodes) return {};
    // Several brackets, "r[1-2]n[1-4]", are expanded from the left.
    std::vector<std::string> open = {std::string(part)};
    while (open.front().find('[') != std::string::npos) {
      std::vector<std::string> next;
      for (const std::string& one : open) {
        const size_t left = one.find('['), right = one.find(']');
        if (right == std::string::npos || right < left) return {};
        const std::string inside = one.substr(left + 1, right - left - 1);
        if (!expand_brackets(one.substr(0, left), inside, one.substr(right + 1), next)) return {};
      }
      open = std::move(next);
    }
    out.insert(out.end(), open.begin(), open.end());
  }
  if (out.size() > kMaxNodes) return {};
  return out;
}

std::optional<std::vector<int>> expand_numbers(std::string_view list, size_t most) {
  list = list.substr(0, list.find('%'));
  std::vector<int> out;
  for (const std::string_view part : split(list, ',')) {
    const size_t dash = part.find('-'), colon = part.find(':');
    const auto from = parse_number<int>(part.substr(0, std::min(dash, colon)));
    const auto to = dash == std::string_view::npos
                        ? from
                        : parse_number<int>(part.substr(dash + 1, colon - dash - 1));
    const auto step = colon == std::string_view::npos ? std::optional<int>(1)
                                                      : parse_number<int>(part.substr(colon + 1));
    if (!from || !to || !step || *from < 0 || *to < *from || *step < 1) return {};
    for (int64_t n = *from; n <= *to && out.size() < most; n += *step) {
      out.push_back(static_cast<int>(n));
    }
  }
  return out;
}

std::optional<GpuRequest> parse_gpu_request(std::string_view text) {
  for (const std::string_view prefix : {"gres:", "gres/"}) {
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  }
  if (text.find(',') != std::string_view::npos) return {};
  std::vector<std::string_view> words;
  for (const std::string_view part : split(text, ':')) {
    for (const std::string_view word : split(part, '=')) words.push_back(word);
  }
  if (words.empty() || words[0] != "gpu" || words.size() > 3) return {};
  GpuRequest request;
  request.gpus = 1;
  if (words.size() == 1) return request;
  const auto count = parse_number<int>(words.back());
  if (words.size() == 3 && !count) return {};
  if (count && (*count < 1 || *count > 1'000'000)) return {};
  if (count) request.gpus = *count;
  if (words.size() == 3 || !count) request.type = std::string(words[1]);
  if (is_mig(request.type)) return {};
  return request;
}

NodeGpus parse_node_gpus(std::string_view text) {
  NodeGpus out;
  const auto fail = [&] {
    out.understood = false;
    return out;
  };
  if (text.empty() || text == "(null)" || text == "N/A") return out;
  const auto parts = split_list(text);
  if (!parts) return fail();
  bool seen = false;
  for (std::string_view part : *parts) {
    const size_t bracket = part.find('(');
    const std::string_view extra =
        bracket == std::string_view::npos ? std::string_view() : part.substr(bracket);
    part = part.substr(0, bracket);
    for (const std::string_view prefix : {"gres:", "gres/"}) {
      if (part.starts_with(prefix)) part.remove_prefix(prefix.size());
    }
    const std::vector<std::string_view> words = split(part, ':');
    const std::string_view name = words[0];
    if (name == "shard" || name == "mps") {
      if (parse_number<int>(words.back()).value_or(1) > 0) out.shared = true;
      continue;
    }
    if (name != "gpu") continue;
    const auto count = parse_number<int>(words.back());
    if (!count || *count < 0 || *count > kMaxGpus || words.size() > 3 || words.size() < 2) {
      return fail();
    }
    if (seen && *count > 0 && out.gpus > 0) return fail();  // a node with two types of GPU
    seen = true;
    if (*count == 0 && out.gpus > 0) continue;
    out.gpus = *count;
    out.type = words.size() == 3 ? std::string(words[1]) : "";
    if (is_mig(out.type)) return fail();
    const size_t at = extra.find("IDX:");
    if (at == std::string_view::npos) continue;
    const std::string_view list = extra.substr(at + 4, extra.find(')', at) - at - 4);
    if (list == "N/A") {
      if (*count > 0) return fail();
      continue;
    }
    const auto indices = expand_numbers(list, kMaxGpus + 1);
    if (!indices || indices->size() != static_cast<size_t>(*count)) return fail();
    out.indices = *indices;
  }
  return out;
}

int64_t parse_tres_mem_mib(std::string_view text) {
  const auto tres = parse_tres(text);
  return tres ? std::max<int64_t>(tres->mem_mib, 0) : 0;
}

}  // namespace yard::slurm
