#include "experiments/whatif/groups.h"

#include <utility>

namespace yard::whatif {

std::vector<Group> groups_of(const std::vector<Candidate>& candidates) {
  Group starts, stops{"need checkpointing, since they stop running jobs", {}},
      bounds{"bounds, which know run times that no scheduler knows", {}};
  for (size_t c = 0; c < candidates.size(); ++c) {
    const Candidate& who = candidates[c];
    Group& group = c == 0 ? starts : who.bound ? bounds : who.needs_checkpointing ? stops : starts;
    group.candidates.push_back(c);
  }
  std::vector<Group> out;
  for (Group* group : {&starts, &stops, &bounds}) {
    if (!group->candidates.empty()) out.push_back(std::move(*group));
  }
  return out;
}

}  // namespace yard::whatif
