#include "serving/snapshot/max_starts.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "serving/snapshot/guard.h"

namespace yard {
namespace {

using Names = std::unordered_set<std::string_view>;

bool holds_gpus_on(const pb::Job& job, const Names& nodes) {
  return std::ranges::any_of(job.placement(),
                             [&](const pb::Piece& piece) { return nodes.contains(piece.node()); });
}

}  // namespace

void keep_first_starts(const pb::DecideRequest& request, const PreemptionBounds& bounds,
                       pb::DecideResponse& response) {
  const auto starts = [](const pb::Action& action) { return action.verb() == pb::START; };
  if (!request.has_max_starts()) return;
  if (std::ranges::count_if(response.actions(), starts) <= request.max_starts()) return;
  pb::DecideResponse without, with;
  Names started, nodes;
  for (const pb::Action& action : response.actions()) {
    if (!starts(action) || started.size() == request.max_starts()) continue;
    started.insert(action.job());
    for (const pb::Piece& piece : action.pieces()) nodes.insert(piece.node());
    *without.add_actions() = action;
  }
  if (flaw_of_decision(request, without, bounds).empty()) {
    *response.mutable_actions() = without.actions();
    return;
  }
  std::unordered_map<std::string_view, const pb::Job*> jobs;
  for (const pb::Job& job : request.jobs()) jobs.emplace(job.id(), &job);
  for (const pb::Action& action : response.actions()) {
    const auto job = jobs.find(action.job());
    const bool makes_room = job != jobs.end() && !started.empty() &&
                            (started.contains(action.job()) || holds_gpus_on(*job->second, nodes));
    if (!starts(action) && makes_room) *with.add_actions() = action;
  }
  with.mutable_actions()->MergeFrom(without.actions());
  *response.mutable_actions() = with.actions();
}

}  // namespace yard
