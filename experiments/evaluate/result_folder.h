// Caches results that took long to compute, keyed by their inputs. Each result is one file,
// FOLDER/PLACE/NAME-HASH.json, written atomically.
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

  // An empty `folder` disables the cache: find() then returns nothing, and keep() does nothing.
  explicit ResultFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  bool enabled() const { return !folder_.empty(); }

  // Returns the stored result, if any, as converted by `read`. Throws InputError for a bad file.
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

  // Stores a result, on any thread. Throws InputError if the folder cannot be made, and RunError if
  // writing fails.
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
