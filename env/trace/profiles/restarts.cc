// A user's own measurements of stopping and restarting, by model: its parameters, or how long a
// save and a restore take. Fields that were not measured are empty.
#include "env/base/config/registry.h"
#include "env/trace/profiles/measurement_table.h"
#include "env/trace/profiles/profile.h"

namespace yard {
namespace {

constexpr double kBytesPerWeight = 4;  // fp32

struct Restarts final : ProfileReader {
  void read(Lines& lines, Profiles& out) const override {
    MeasurementTable table(lines);
    const int model = table.column("model"), parameters = table.column("parameters");
    const int save = table.column("save_s"), restore = table.column("restore_s");
    while (table.next()) {
      const std::string name(table.text(model));
      if (name.empty()) table.refuse(model, "a model");
      if (!table.text(parameters).empty()) {
        out.sizes.push_back({name, kBytesPerWeight * table.positive_number(parameters)});
      }
      const auto seconds_or_unknown = [&](int column) {
        return table.text(column).empty() ? -1 : table.nonnegative_number(column);
      };
      const MeasuredRestart times{name, seconds_or_unknown(save), seconds_or_unknown(restore)};
      if (times.save_s >= 0 || times.restore_s >= 0) out.restarts.push_back(times);
    }
  }
};

const Registry<ProfileReader>::Add<Restarts> kAdd{
    "restarts",
    {.help = "numbers of parameters of models, or measured times to save and restore a checkpoint",
     .example_path = "restarts.csv",
     .columns = {"model", "parameters", "save_s", "restore_s"},
     .example = "model,parameters,save_s,restore_s\n"
                "gpt2,124e6,,\n"
                "moe,,12.5,90\n"}};

}  // namespace
}  // namespace yard
