#include "experiments/evaluate/result_folder.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <system_error>

#include "env/base/core/error.h"
#include "env/base/files/file.h"

namespace yard {

std::filesystem::path ResultFolder::file_of(const std::string& place, const std::string& name,
                                            const Json& inputs) const {
  constexpr size_t kMaxNameLength = 60, kHashLength = 12;
  // Names may contain slashes.
  std::string readable = name.substr(name.size() - std::min(name.size(), kMaxNameLength));
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '.' || c == '_'; };
  std::ranges::replace_if(readable, std::not_fn(plain), '-');
  const std::string hash = sha256_hex(inputs.dump()).substr(0, kHashLength);
  return folder_ / place / (readable + "-" + hash + ".json");
}

std::optional<ResultFolder::Json> ResultFolder::find(const std::string& place,
                                                     const std::string& name,
                                                     const Json& inputs) const {
  if (!enabled()) return std::nullopt;
  const std::filesystem::path path = file_of(place, name, inputs);
  if (!std::filesystem::exists(path)) return std::nullopt;
  const Json file = Json::parse(read_file(path), nullptr, false);
  if (!file.is_object() || !file.contains("inputs") || !file.contains("result")) refuse(path);
  if (file["inputs"] != inputs) return std::nullopt;
  return file["result"];
}

void ResultFolder::refuse(const std::filesystem::path& file) {
  throw InputError(file.string(), "a stored result (delete the file to compute it again)",
                   "other content");
}

void ResultFolder::keep(const std::string& place, const std::string& name, const Json& inputs,
                        const Json& result) const {
  if (!enabled()) return;
  const std::filesystem::path path = file_of(place, name, inputs);
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) {
    throw InputError(path.parent_path().string(), "a folder that can be created", error.message());
  }
  const Json file = {{"inputs", inputs}, {"result", result}};
  write_file_atomic(
      path, file.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace yard
