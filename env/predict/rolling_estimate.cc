#include "env/predict/rolling_estimate.h"

namespace yard {

void RollingEstimate::on_events(const View& view) {
  for (int32_t i = 0; i < view.num_changed(); ++i) {
    const int32_t slot = view.changed_slot(i);
    if (!view.ended_after_running(slot)) continue;
    const float ran = ran_s(view, slot);
    add(mean_of_size(view, slot), ran, 0);
    if (Mean* mean = mean_of_user(view, slot)) add(*mean, ran, 0);
    if (Mean* mean = mean_of_name(view, slot)) add(*mean, ran, kLatest);
  }
}

float RollingEstimate::predicted_total_s(const View& view, int32_t slot) const {
  const Mean* mean = mean_of_name(view, slot);
  if (mean == nullptr || mean->jobs == 0) mean = mean_of_user(view, slot);
  if (mean == nullptr || mean->jobs == 0) mean = &mean_of_size(view, slot);
  const float total = mean->jobs > 0 ? mean->seconds : kFirst;
  const float ran = ran_s(view, slot);
  return total > ran ? total : 2 * ran;
}

void RollingEstimate::add(Mean& mean, float ran_s, float least) {
  mean.jobs += 1;
  const float part = 1 / mean.jobs;
  mean.seconds += (part > least ? part : least) * (ran_s - mean.seconds);
}

}  // namespace yard
