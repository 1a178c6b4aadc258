#include "serving/log/drift_reports.h"

#include <google/protobuf/util/json_util.h>

#include <fstream>
#include <string>

namespace yard {

namespace pb = ::yardmaster::v1;

std::filesystem::path drift_reports_path(const std::filesystem::path& log_folder) {
  return log_folder / "drift.jsonl";
}

std::optional<pb::DriftReport> latest_drift_report(const std::filesystem::path& log_folder) {
  std::ifstream file(drift_reports_path(log_folder));
  std::string last;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) last = line;
  }
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;  // of later releases
  pb::DriftReport out;
  if (last.empty() || !JsonStringToMessage(last, &out, options).ok()) return std::nullopt;
  return out;
}

double winner_jct_ratio(const pb::DriftReport& report) {
  for (const pb::DriftReport::Rival& rival : report.rivals()) {
    if (rival.policy() == report.winner()) return rival.ratio();
  }
  return 1;
}

}  // namespace yard
