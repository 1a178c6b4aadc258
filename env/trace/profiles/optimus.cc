// Speeds of jobs with parameter servers, as collected by the estimator of Optimus (EuroSys 2018): a
// row per measured number of servers and workers, synchronous or not. The form of Optimus is fitted
// to them when tables are built (env/sim/speed/optimus.h).
#include "env/base/config/registry.h"
#include "env/trace/profiles/measurement_table.h"
#include "env/trace/profiles/profile.h"

namespace yard {
namespace {

struct Optimus final : ProfileReader {
  void read(Lines& lines, Profiles& out) const override {
    MeasurementTable table(lines);
    const int model = table.column("model"), type = table.column("gpu_type");
    const int mode = table.column("mode"), batch = table.column("batch");
    const int servers = table.column("servers"), workers = table.column("workers");
    const int steps = table.column("steps_per_s");
    while (table.next()) {
      const std::string_view how = table.text(mode);
      if (how != "sync" && how != "async") table.refuse(mode, "sync or async");
      if (table.text(model).empty()) table.refuse(model, "a model");
      if (table.text(type).empty()) table.refuse(type, "a GPU type");
      out.profile("optimus", std::string(table.text(model)), BatchScaling::kStrong)
          .parameter_server_runs.push_back({lower_case(table.text(type)), how == "async",
                                            table.positive_number(batch), table.count(servers),
                                            table.count(workers), table.positive_number(steps)});
    }
  }
};

const Registry<ProfileReader>::Add<Optimus> kAdd{
    "optimus",
    {.help = "steps per second by parameter servers and workers, for the speed model of Optimus",
     .example_path = "speeds.csv",
     .columns = {"model", "mode", "servers", "workers", "steps_per_s"},
     .example = "model,gpu_type,mode,batch,servers,workers,steps_per_s\n"
                "resnet-50,v100,sync,256,2,4,0.9\n"
                "resnet-50,v100,sync,256,4,4,1.1\n"}};

}  // namespace
}  // namespace yard
