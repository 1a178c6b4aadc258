// Parts of a job as JSON, for the JSONL form and for the cells of the CSV that hold groups.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/trace/own_fields.h"

namespace yard {

class Rows;

using Json = nlohmann::ordered_json;

// Returns nothing, and where the text stops to be JSON in `flaw`.
std::optional<Json> parse_json(std::string_view text, Flaw& flaw);

// Returns the text of it. Throws InputError where a text in it is not UTF-8.
std::string dump_json(const Json& json, const std::string& where);

// Returns the beginning of the value's text, for messages, whatever the value is.
std::string shown(const Json& value);
std::string shown(const nlohmann::json& value);

// Moves the submission of a job to its logged start where that is up to 5 s earlier.
void settle_clocks(Rows& rows, Job& job);

// Counts a notice if a job's run time differs from its logged start and end. The run time counts.
void note_contradiction(Rows& rows, const Job& job);

// Seconds as a number; where a double cannot hold the microseconds, as the exact text.
Json seconds_json(int64_t us);

// Takes values out of JSON. The first that cannot be used is kept, later calls do nothing.
class JsonTaker {
 public:
  // Each leaves `out` as it is where `value` is null.
  // A whole number is a text, too: ids of jobs and users are often numbers.
  void text(const std::string& place, const Json& value, std::string& out);
  void seconds(const std::string& place, const Json& value, int64_t& out_us);
  void whole(const std::string& place, const Json& value, int64_t least, int64_t most,
             int64_t& out);
  void whole(const std::string& place, const Json& value, int32_t least, int32_t& out);
  void number(const std::string& place, const Json& value, double least, double& out,
              double most = std::numeric_limits<double>::max());
  void texts(const std::string& place, const Json& value, std::vector<std::string>& out);
  void dues(const std::string& place, const Json& value, std::vector<Due>& out);
  void groups(const std::string& place, const Json& value, std::vector<RoleGroup>& out);

  void fail(std::string place, std::string reason, std::string expected, std::string got);
  const std::optional<Flaw>& flaw() const { return flaw_; }

 private:
  bool array(const std::string& place, const Json& value);
  bool object(const std::string& place, const Json& value);

  std::optional<Flaw> flaw_;
};

Json dues_json(const std::vector<Due>& dues);
Json groups_json(const std::vector<RoleGroup>& groups);

}  // namespace yard
