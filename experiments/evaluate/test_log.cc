#include "experiments/evaluate/test_log.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "experiments/run/append_file.h"

namespace yard {
namespace {

using Json = nlohmann::ordered_json;

struct LogLines {
  int64_t count = 0;   // about this trace
  bool known = false;  // whether this opening is among them
};

LogLines read_lines(const std::filesystem::path& log, const TestSplitOpening& opening) {
  LogLines lines;
  if (!std::filesystem::exists(log)) return lines;
  const std::string text = read_file(log);
  int line_number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++line_number;
    if (trim(line).empty()) continue;
    const Json entry = Json::parse(line, nullptr, false);
    if (!entry.is_object()) {
      throw InputError(log.string() + ":" + std::to_string(line_number), "a JSON object",
                       "'" + std::string(line.substr(0, 60)) + "'");
    }
    if (entry.value("sha256", "") != opening.sha256) continue;
    ++lines.count;
    lines.known =
        lines.known ||
        (!opening.inputs.empty() && entry.value("inputs", "") == opening.inputs &&
         entry.value("cluster", "") == opening.cluster &&
         entry.value("from_s", "") == opening.from && entry.value("to_s", "") == opening.to);
  }
  return lines;
}

}  // namespace

std::filesystem::path find_test_split_log(const std::filesystem::path& cells) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::weakly_canonical(cells).parent_path();
  for (const std::filesystem::path& project : {folder, folder.parent_path()}) {
    std::filesystem::path log = project / "evaluations/test_log.jsonl";
    if (std::filesystem::is_regular_file(log, error)) return log;
  }
  return {};
}

int64_t log_test_split_opening(const std::filesystem::path& log, const TestSplitOpening& opening) {
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const LogLines before = read_lines(log, opening);
  if (before.known) return before.count;
  Json entry = {{"unix_s", now.count()},
                {"trace", std::filesystem::path(opening.trace).filename().string()},
                {"sha256", opening.sha256},
                {"cluster", opening.cluster},
                {"from_s", opening.from},
                {"to_s", opening.to},
                {"candidates", opening.candidates},
                {"digests", opening.digests}};
  if (!opening.inputs.empty()) entry["inputs"] = opening.inputs;
  AppendFile file(log);
  file.write(entry.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  return before.count + 1;
}

}  // namespace yard
