#include "serving/snapshot/json.h"

#include <google/protobuf/util/json_util.h>

#include "env/base/core/error.h"

namespace yard {
namespace {

std::string print(const google::protobuf::Message& message, bool in_lines) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.add_whitespace = in_lines;
  std::string out;
  const auto status = google::protobuf::util::MessageToJsonString(message, &out, options);
  if (!status.ok())
    throw RunError("cannot convert this message to JSON: " + std::string(status.message()));
  return out;
}

}  // namespace

pb::DecideRequest parse_snapshot(const std::string& json, const std::string& source) {
  pb::DecideRequest request;
  const auto status = google::protobuf::util::JsonStringToMessage(json, &request);
  if (!status.ok()) {
    // The lines after the first show the position and are too wide for one message.
    const std::string why(status.message());
    throw InputError(source, "a yardmaster.v1.DecideRequest in proto3 JSON",
                     why.substr(0, why.find('\n')));
  }
  return request;
}

std::string to_json(const google::protobuf::Message& message) { return print(message, true); }

std::string to_json_line(const google::protobuf::Message& message) { return print(message, false); }

}  // namespace yard
