#include "serving/explain/why_waiting.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "serving/explain/room.h"

namespace yard {
namespace {

constexpr int64_t kMaxLooks = 200'000;  // of the search for moves, for each job
constexpr int64_t kMaxOnOneNode = 64;   // GPUs of the largest nodes

// GPUs of each node that are free once the decision is carried out.
std::map<std::string_view, int64_t> free_after(const pb::DecideRequest& request,
                                               const pb::DecideResponse& decision) {
  std::map<std::string_view, int64_t> out;
  for (const pb::Node& node : request.nodes()) {
    const std::set<uint32_t> down(node.down().begin(), node.down().end());
    out[node.name()] =
        int64_t{node.gpus()} - static_cast<int64_t>(down.size()) - node.vacating_size();
  }
  std::set<std::string_view> preempted;
  for (const pb::Action& action : decision.actions()) {
    if (action.verb() == pb::PREEMPT) preempted.insert(action.job());
  }
  const auto take = [&](const auto& pieces) {
    for (const pb::Piece& piece : pieces) {
      const auto it = out.find(piece.node());
      if (it != out.end()) it->second -= piece.gpus();
    }
  };
  for (const pb::Job& job : request.jobs()) {
    if (!preempted.contains(job.id())) take(job.placement());
  }
  for (const pb::Action& action : decision.actions()) {
    if (action.verb() == pb::START) take(action.pieces());
  }
  return out;
}

bool may_use(const pb::Job& job, const pb::Node& node) {
  const auto& types = job.gpu_types();
  return types.empty() || std::ranges::find(types, node.gpu_type()) != types.end();
}

const pb::Tenant* tenant_of(const pb::Job& job, const pb::DecideRequest& request) {
  const auto& all = request.tenants();
  const auto it = std::ranges::find(all, job.tenant(), &pb::Tenant::name);
  return it == all.end() ? nullptr : &*it;
}

int64_t held_by_tenant(const std::string& tenant, const pb::DecideRequest& request) {
  int64_t sum = 0;
  for (const pb::Job& job : request.jobs()) {
    if (job.tenant() != tenant) continue;
    for (const pb::Piece& piece : job.placement()) sum += piece.gpus();
  }
  return sum;
}

// Adds the moves that would free `gpus` GPUs on one node, if there are any. No job moves by itself:
// an operator may want to know.
void add_moves(const pb::Job& waiting, const pb::DecideRequest& request,
               const std::map<std::string_view, int64_t>& free_on, int64_t gpus,
               pb::WhyWaiting& out) {
  std::vector<NodeWithJobs> nodes;
  std::map<std::string_view, size_t> index;
  for (const pb::Node& node : request.nodes()) {
    if (!may_use(waiting, node)) continue;
    index.emplace(node.name(), nodes.size());
    const int64_t free = std::max<int64_t>(0, free_on.at(node.name()));
    nodes.push_back({.name = node.name(), .free = static_cast<int32_t>(free)});
  }
  for (const pb::Job& job : request.jobs()) {
    if (job.state() != pb::RUNNING && job.state() != pb::STARTING) continue;
    for (const pb::Piece& piece : job.placement()) {
      const auto at = index.find(piece.node());
      if (at == index.end()) continue;
      const bool movable = job.placement_size() == 1 && !job.pinned() && job.state() == pb::RUNNING;
      nodes[at->second].jobs.push_back(
          {.id = job.id(), .gpus = static_cast<int32_t>(piece.gpus()), .movable = movable});
    }
  }
  const RoomSearchResult room = moves_that_make_room(nodes, static_cast<int32_t>(gpus), kMaxLooks);
  if (!room.found) return;
  for (const JobRelocation& move : room.moves) {
    pb::Move& one = *out.add_moves();
    one.set_job(move.job);
    pb::Piece& from = *one.add_from();
    from.set_node(move.from);
    from.set_gpus(static_cast<uint32_t>(move.gpus));
    pb::Piece& to = *one.add_to();
    to.set_node(move.to);
    to.set_gpus(static_cast<uint32_t>(move.gpus));
  }
}

}  // namespace

std::optional<pb::WhyWaiting> why_waiting(const pb::Job& job, const pb::DecideRequest& request,
                                          const pb::DecideResponse& decision) {
  for (const pb::Action& action : decision.actions()) {
    if (action.verb() == pb::START && action.job() == job.id()) return std::nullopt;
  }
  int64_t free = 0, all = 0, needed = job.gpus(), on_one_node = 0;
  for (const pb::TaskGroup& group : job.groups()) {
    if (&group == &job.groups(0)) needed = 0;
    const uint32_t least = group.has_min_count() ? group.min_count() : group.count();
    needed += int64_t{least} * group.task().gpus();
    on_one_node = std::max<int64_t>(on_one_node, group.task().gpus());
  }
  const auto free_on = free_after(request, decision);
  bool task_fits = on_one_node == 0;
  for (const pb::Node& node : request.nodes()) {
    if (!may_use(job, node)) continue;
    const int64_t here = std::max<int64_t>(0, free_on.at(node.name()));
    free += here;
    all += node.gpus();
    task_fits |= here >= on_one_node;
  }
  pb::WhyWaiting out;
  out.set_job(job.id());
  out.set_free_gpus(static_cast<uint32_t>(free));
  const auto set_aside =
      std::ranges::find_if(decision.quarantined(), [&](const pb::Quarantined& one) {
        return one.record() == pb::Quarantined::JOB && one.id() == job.id();
      });
  const auto blocker = std::ranges::find_if(job.after(), [&](const std::string& before) {
    return std::ranges::find(request.jobs(), before, &pb::Job::id) != request.jobs().end();
  });
  const pb::Tenant* tenant = tenant_of(job, request);
  const int64_t held = tenant == nullptr ? 0 : held_by_tenant(job.tenant(), request);
  if (set_aside != decision.quarantined().end()) {
    out.set_why("its record was set aside: " + set_aside->why());
  } else if (blocker != job.after().end()) {
    out.set_why("it waits for job '" + *blocker + "'");
  } else if (needed > all) {
    out.set_why(
        fmt::format("it needs {} GPUs, and the nodes that it may use have {}", needed, all));
  } else if (tenant != nullptr && tenant->has_limit_gpus() &&
             held + needed > int64_t{tenant->limit_gpus()}) {
    out.set_why(fmt::format("tenant '{}' holds {} GPUs and may hold {}", tenant->name(), held,
                            tenant->limit_gpus()));
  } else if (needed > free) {
    out.set_why(
        fmt::format("it needs {} GPUs, and {} are free on nodes that it may use", needed, free));
  } else if (!task_fits) {
    out.set_why(fmt::format("one of its tasks needs {} GPUs of one node, and no node has as many",
                            on_one_node));
  } else {
    out.set_why("enough GPUs are free: the decider keeps them for other jobs, or waits");
  }
  // A job that fits on one node waits for a whole node's share more often than for GPUs at all.
  const int64_t on_a_node = job.groups_size() == 0 ? needed : on_one_node;
  const bool blocked = set_aside != decision.quarantined().end() || blocker != job.after().end();
  if (!blocked && needed <= all && on_a_node > 0 && on_a_node <= kMaxOnOneNode) {
    add_moves(job, request, free_on, on_a_node, out);
  }
  return out;
}

}  // namespace yard
