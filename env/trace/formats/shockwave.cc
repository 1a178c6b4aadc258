// Traces of Shockwave's simulator (Zheng et al., NSDI 2023): Gavel's with two more fields:
//   job type, command, folder, steps' argument, needs data, steps, GPUs, mode, weight, SLO,
//   duration (s), arrival (s)
// The mode says how the batch size changes during training; the duration takes it into account.
#include "env/base/config/registry.h"
#include "env/base/text/text.h"
#include "env/trace/formats/gavel.h"

namespace yard {
namespace {

constexpr gavel::Fields kFields = {
    .count = 12, .argument = 3, .steps = 5, .gpus = 6, .submit = 11, .weight = 8};
constexpr int kMode = 7, kDuration = 10;

class ShockwaveReader final : public TraceReader {
 public:
  explicit ShockwaveReader(const Settings& settings) { parse<NoConfig>(settings); }

  bool recognises(const FileHead& head) const override {
    return gavel::fits(head.line(1), kFields);
  }

  Layout layout() const override { return gavel::layout(); }

  void read(Rows& rows) const override {
    while (rows.next()) {
      if (!gavel::fits(rows.line(), kFields)) {
        rows.unusable("not in Shockwave's layout", "12 tab-separated fields in Shockwave's layout",
                      std::to_string(rows.num_fields()) + " fields");
        continue;
      }
      Job job;
      job.batch_mode = trim(rows.field(kMode));
      if (job.batch_mode != "static" && job.batch_mode != "accordion" && job.batch_mode != "gns") {
        rows.unusable("unknown mode", "static, accordion or gns", "'" + job.batch_mode + "'");
        continue;
      }
      if (gavel::read_job(rows, kFields, job) &&
          gavel::read_seconds(rows, kDuration, "duration", job.run_us)) {
        rows.add(std::move(job));
      }
    }
  }

  std::string example() const override {
    return "LM (batch size 10)\tpython3 main.py --batch_size 10\tlanguage_modeling\t--steps\t1\t"
           "134583\t1\tgns\t1\t-1.000000\t1418\t0\n"
           "ResNet-18 (batch size 32)\tpython3 main.py --batch_size 32\timage_classification/"
           "cifar10\t--num_steps\t1\t143450\t2\taccordion\t1\t-1.000000\t3338\t55\n";
  }
};

const Registry<TraceReader>::Add<ShockwaveReader> kAdd{
    "shockwave",
    {.help = "traces of Shockwave (NSDI 2023): those of `gavel` with a batch-size mode (static, "
             "accordion or gns) and a duration, which is the run time"}};

}  // namespace
}  // namespace yard
