// A user's own measurements of stopping and restarting, by model: its parameters, or how long a
// save and a restore take. Fields that were not measured are empty.
#include "env/base/registry.h"
#include "env/trace/cells.h"
#include "env/trace/profile.h"

namespace yard {
namespace {

constexpr double kBytesPerWeight = 4;  // fp32

class Restarts final : public ProfileReader {
 public:
  explicit Restarts(const Settings& settings) { parse<NoConfig>(settings); }

  bool recognises(const FileHead& head) const override {
    return head.has_columns({"model", "parameters", "save_s", "restore_s"});
  }

  void read(Lines& lines, Profiles& out) const override {
    Cells cells(lines);
    const int model = cells.column("model"), parameters = cells.column("parameters");
    const int save = cells.column("save_s"), restore = cells.column("restore_s");
    while (cells.next()) {
      const std::string name(cells.text(model));
      if (name.empty()) cells.refuse(model, "a model");
      if (!cells.text(parameters).empty()) {
        out.sizes.push_back({name, kBytesPerWeight * cells.positive(parameters)});
      }
      const auto told = [&](int column) {
        return cells.text(column).empty() ? -1 : cells.not_negative(column);
      };
      const MeasuredRestart times{name, told(save), told(restore)};
      if (times.save_s >= 0 || times.restore_s >= 0) out.restarts.push_back(times);
    }
  }

  std::string example() const override {
    return "model,parameters,save_s,restore_s\n"
           "gpt2,124e6,,\n"
           "moe,,12.5,90\n";
  }
};

const Registry<ProfileReader>::Add<Restarts> kAdd{
    "restarts",
    {.help = "parameters of models, or measured times to save and restore them",
     .example_path = "restarts.csv"}};

}  // namespace
}  // namespace yard
