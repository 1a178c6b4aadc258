// A view whose times are work: time on the reference type, whatever a job runs on.
#pragma once

#include "env/sim/view/view.h"

namespace yard {

class WorkView : public View {
 public:
  explicit WorkView(const View& view) : View(view) {}
  int64_t attained_us(int32_t slot) const { return worked_us(slot); }
};

}  // namespace yard
