// Reads and writes parts of a job as JSON, for the JSONL format and for CSV cells that hold groups.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/trace/formats/native_fields.h"

namespace yard {

using Json = nlohmann::ordered_json;

// Parses JSON. If `text` is not JSON, returns nothing and describes the error in `flaw`.
std::optional<Json> parse_json(std::string_view text, Flaw& flaw);

// Returns JSON as text. Throws InputError, naming `where`, if a string in it is not UTF-8.
std::string dump_json(const Json& json, const std::string& where);

// Returns the beginning of a JSON value's text, for messages about a value of any type.
std::string shown(const Json& value);
std::string shown(const nlohmann::json& value);

// Returns seconds as a number, or as exact text if a double cannot hold the microseconds.
Json seconds_json(int64_t us);

// Reads values from JSON. JsonReader keeps the first error, after which its functions do nothing.
class JsonReader {
 public:
  // Reads a value into `out`, which a null value leaves unchanged. text() also accepts whole
  // numbers, since ids of jobs and users are often numbers.
  void text(const std::string& place, const Json& value, std::string& out);
  void seconds(const std::string& place, const Json& value, int64_t& out_us);
  void whole(const std::string& place, const Json& value, int64_t least, int64_t most,
             int64_t& out);
  void whole(const std::string& place, const Json& value, int32_t least, int32_t& out);
  void number(const std::string& place, const Json& value, double least, double& out,
              double most = std::numeric_limits<double>::max());
  void texts(const std::string& place, const Json& value, std::vector<std::string>& out);
  void deadlines(const std::string& place, const Json& value, std::vector<Deadline>& out);
  void groups(const std::string& place, const Json& value, std::vector<RoleGroup>& out);

  void fail(std::string place, std::string reason, std::string expected, std::string got);
  const std::optional<Flaw>& flaw() const { return flaw_; }

 private:
  bool expect_array(const std::string& place, const Json& value);
  bool expect_object(const std::string& place, const Json& value);

  std::optional<Flaw> flaw_;
};

Json deadlines_json(const std::vector<Deadline>& dues);
Json groups_json(const std::vector<RoleGroup>& groups);

}  // namespace yard
