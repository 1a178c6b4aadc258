// The reports of `yardmaster drift`, one per line in a file of the decision log's folder.
#pragma once

#include <filesystem>
#include <optional>

#include "yardmaster/v1/admin.pb.h"

namespace yard {

std::filesystem::path drift_reports_path(const std::filesystem::path& log_folder);

// Returns the latest report, or nothing if there is none or the last line is no report.
std::optional<::yardmaster::v1::DriftReport> latest_drift_report(
    const std::filesystem::path& log_folder);

// Returns the winner's mean JCT divided by that of the served policy; 1 if the served policy won.
double winner_jct_ratio(const ::yardmaster::v1::DriftReport& report);

}  // namespace yard
