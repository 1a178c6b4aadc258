// Training runs published with Pollux (OSDI 2021; AdaptDL, branch osdi21-artifact):
// `MODEL/validation-BATCH.csv`. After every epoch: progress in iterations of the first batch size,
// the metric (accuracy, F1, word errors, ...) and the parts of the gradient noise scale. The last
// row is the end of the run and thus its whole work.
#include "env/base/config/registry.h"
#include "env/base/text/text.h"
#include "env/trace/profiles/measurement_table.h"
#include "env/trace/profiles/profile.h"

namespace yard {
namespace {

constexpr std::string_view kName = "validation-";

struct PolluxValidation final : ProfileReader {
  void read(Lines& lines, Profiles& out) const override {
    MeasurementTable table(lines);
    const int progress = table.column("progress"), metric = table.column("metric");
    const int sqr = table.column("grad_sqr"), var = table.column("grad_var");
    MeasuredTrainingCurve curve;
    curve.model = folder_name(lines.name());
    const std::string stem = file_stem(lines.name());
    const size_t batch_at = stem.starts_with(kName) ? kName.size() : 0;
    curve.batch = parse_number<int32_t>(std::string_view(stem).substr(batch_at)).value_or(0);
    while (table.next()) {
      const double at = table.positive_number(progress);
      if (!curve.points.empty() && at <= curve.points.back().share) {
        table.refuse(progress, "more progress than in the previous row");
      }
      // A vanished gradient gives no noise scale.
      const double square = table.nonnegative_number(sqr);
      const double noise = square > 0 ? table.nonnegative_number(var) / square : 0;
      curve.points.push_back({at, table.nonnegative_number(metric), noise});
    }
    if (curve.points.empty()) return;
    const double whole = curve.points.back().share;
    for (TrainingCurvePoint& point : curve.points) point.share /= whole;
    out.curves.push_back(std::move(curve));
  }
};

const Registry<ProfileReader>::Add<PolluxValidation> kAdd{
    "pollux-validation",
    {.help = "metric and gradient noise during training, 6 models (Pollux, OSDI 2021)",
     .example_path = "cifar10/validation-128.csv",
     .columns = {"progress", "metric", "grad_sqr", "grad_var"},
     .example = "progress,iteration,metric,grad_sqr,grad_var\n"
                "391.0,390,0.4455,8.9,5.1\n"
                "782.0,781,0.6007,1.9,1.6\n"}};

}  // namespace
}  // namespace yard
