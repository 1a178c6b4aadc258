// Speeds of jobs with parameter servers, as collected by the estimator of Optimus (EuroSys 2018): a
// row per measured number of servers and workers, synchronous or not. The form of Optimus is fitted
// to them when tables are built (env/sim/speed/optimus.h).
#include "env/base/registry.h"
#include "env/trace/cells.h"
#include "env/trace/profile.h"

namespace yard {
namespace {

class Optimus final : public ProfileReader {
 public:
  explicit Optimus(const Settings& settings) { parse<NoConfig>(settings); }

  bool recognises(const FileHead& head) const override {
    return head.has_columns({"model", "mode", "servers", "workers", "steps_per_s"});
  }

  void read(Lines& lines, Profiles& out) const override {
    Cells cells(lines);
    const int model = cells.column("model"), type = cells.column("gpu_type");
    const int mode = cells.column("mode"), batch = cells.column("batch");
    const int servers = cells.column("servers"), workers = cells.column("workers");
    const int steps = cells.column("steps_per_s");
    while (cells.next()) {
      const std::string_view how = cells.text(mode);
      if (how != "sync" && how != "async") cells.refuse(mode, "sync or async");
      if (cells.text(model).empty()) cells.refuse(model, "a model");
      if (cells.text(type).empty()) cells.refuse(type, "a GPU type");
      out.profile("optimus", std::string(cells.text(model)), Scaling::kStrong)
          .server_runs.push_back({lower_case(cells.text(type)), how == "async",
                                  cells.positive(batch), cells.count(servers), cells.count(workers),
                                  cells.positive(steps)});
    }
  }

  std::string example() const override {
    return "model,gpu_type,mode,batch,servers,workers,steps_per_s\n"
           "resnet-50,v100,sync,256,2,4,0.9\n"
           "resnet-50,v100,sync,256,4,4,1.1\n";
  }
};

const Registry<ProfileReader>::Add<Optimus> kAdd{
    "optimus",
    {.help = "steps a second by parameter servers and workers, for the form of Optimus",
     .example_path = "speeds.csv"}};

}  // namespace
}  // namespace yard
