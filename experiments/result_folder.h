// A folder of results that took long to compute: what is there for the same inputs is not computed
// again. One file a result, FOLDER/PLACE/NAME-HASH.json, which appears whole.
//
//   ResultFolder results("evaluations/cells");
//   if (auto known = results.find("test/itp-04/x3", "las", inputs, score_of)) return *known;
//   results.keep("test/itp-04/x3", "las", inputs, json_of(score));
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace yard {

class ResultFolder {
 public:
  using Json = nlohmann::ordered_json;

  // Empty: finds and keeps nothing.
  explicit ResultFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  bool keeps() const { return !folder_.empty(); }

  // `read` makes a T of the result. Throws InputError for a file that is there and is none.
  template <class T>
  std::optional<T> find(const std::string& place, const std::string& name, const Json& inputs,
                        T (*read)(const Json& result)) const {
    const std::optional<Json> result = find(place, name, inputs);
    if (!result) return std::nullopt;
    try {
      return read(*result);
    } catch (const Json::exception&) {
      refuse(file_of(place, name, inputs));
    }
  }

  // May be called on any thread. Throws InputError where the folder cannot be made, RunError where
  // the disk fails.
  void keep(const std::string& place, const std::string& name, const Json& inputs,
            const Json& result) const;

 private:
  std::optional<Json> find(const std::string& place, const std::string& name,
                           const Json& inputs) const;
  [[noreturn]] static void refuse(const std::filesystem::path& file);
  std::filesystem::path file_of(const std::string& place, const std::string& name,
                                const Json& inputs) const;

  std::filesystem::path folder_;
};

}  // namespace yard
