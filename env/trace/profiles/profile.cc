#include "env/trace/profiles/profile.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "env/base/config/registry.h"
#include "env/base/core/error.h"
#include "env/base/text/text.h"

namespace yard {
namespace {

namespace fs = std::filesystem;
using Readers = Registry<ProfileReader>;

bool read_known(Lines& lines, Profiles& out) {
  FileHead head{lines.name(), lines.first_bytes(), {}};
  head.columns = split(head.line(1), ',');
  for (std::string_view& name : head.columns) name = trim(name);
  for (const std::string& name : Readers::names()) {
    if (!is_recognised(name, head)) continue;
    Readers::make(name, {})->read(lines, out);
    return true;
  }
  return false;
}

[[noreturn]] void refuse(const std::string& where, const std::string& got) {
  throw InputError(where, "measurements in one of the formats " + join(Readers::names()), got);
}

}  // namespace

int32_t MeasuredRun::gpus() const {
  return std::accumulate(node_gpus.begin(), node_gpus.end(), int32_t{0});
}

double ModelProfile::identifying_batch_size(const MeasuredRun& run) const {
  return scaling == BatchScaling::kWeak ? run.local_batch : run.local_batch * run.gpus();
}

ModelProfile& Profiles::profile(const std::string& source, const std::string& model,
                                BatchScaling scaling) {
  for (ModelProfile& one : models) {
    if (one.source == source && one.model == model) return one;
  }
  return models.emplace_back(ModelProfile{model, source, scaling, 0, {}, {}});
}

double Profiles::parameter_bytes(const std::string& plain_name) const {
  if (plain_name.empty()) return 0;
  for (const MeasuredModelSize& size : sizes) {
    if (normalised_model_name(size.model) == plain_name) return size.bytes;
  }
  for (const ModelProfile& profile : models) {
    if (profile.gradient_bytes > 0 && normalised_model_name(profile.model) == plain_name) {
      return profile.gradient_bytes;
    }
  }
  return 0;
}

bool is_recognised(const std::string& reader, const FileHead& head) {
  const auto& wanted = Readers::info(reader).columns;
  if (wanted.empty()) return Readers::make(reader, {})->recognises(head);
  return std::ranges::all_of(wanted, [&](std::string_view c) { return head.has_columns({c}); });
}

void load_profiles(const fs::path& path, Profiles& out) {
  if (!fs::is_directory(path)) {
    Lines lines = Lines::of_file(path);
    if (!read_known(lines, out)) refuse(path.string() + ":1", "another format");
    return;
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  bool any = false;
  for (const fs::path& file : files) {
    Lines lines = Lines::of_file(file);
    any |= read_known(lines, out);
  }
  if (!any) refuse(path.string(), "a folder without such files");
}

Profiles load_profiles(const fs::path& path) {
  Profiles out;
  load_profiles(path, out);
  return out;
}

void parse_profile(std::string_view text, const std::string& path, Profiles& out) {
  Lines lines = Lines::of_text(text, path);
  if (!read_known(lines, out)) refuse(path + ":1", "another format");
}

std::string normalised_model_name(std::string_view name) {
  std::string plain;
  for (const char c : lower_case(name)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '+') plain += c;
  }
  return plain;
}

std::string file_stem(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.substr(0, name.find('.'));
}

std::string folder_name(const fs::path& path) { return path.parent_path().filename().string(); }

}  // namespace yard
