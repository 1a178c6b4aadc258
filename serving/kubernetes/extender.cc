#include "serving/kubernetes/extender.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "env/base/core/error.h"
#include "serving/kubernetes/victims.h"
#include "serving/snapshot/snapshot.h"

namespace yard::kubernetes {
namespace {

// Of MinExtenderPriority 0 to MaxExtenderPriority 10. The gap below the best score keeps it the
// best if kube-scheduler adds its own ones, of which the default prefers empty nodes.
constexpr int kBest = 10, kMostOfOthers = 3, kUnknown = 1;

// kube-scheduler looks at all nodes, unless it has found so many that fit (its constant
// minFeasibleNodesToFind).
constexpr size_t kCompleteList = 100;

FreeGpuEstimator::Clock::duration seconds(double s) {
  return std::chrono::duration_cast<FreeGpuEstimator::Clock::duration>(
      std::chrono::duration<double>(s));
}

std::string dump(const Json& answer) { return answer.dump(); }

// The name of a node, checked.
std::string node_name(const Json& value, const std::string& where) {
  if (value.is_string()) {
    auto name = value.get<std::string>();
    if (!name.empty() && name.size() <= kMaxIdBytes) return name;
  }
  throw InputError(where, "the name of a node, of 1 to 1024 bytes",
                   value.is_string() ? "a text of another length" : value.type_name());
}

void require_bound(size_t nodes, const std::string& where) {
  if (nodes <= static_cast<size_t>(kMaxSnapshotNodes)) return;
  throw InputError(where, "at most " + std::to_string(kMaxSnapshotNodes) + " nodes",
                   std::to_string(nodes));
}

PodRequest pod_in(const Json& body) {
  if (!body.is_object()) throw InputError("body", "an object", body.type_name());
  const Json* pod = field_in_any_case(body, "Pod");
  if (pod == nullptr) throw InputError("Pod", "a pod", "none");
  return read_pod(*pod, "Pod");
}

}  // namespace

// ExtenderArgs: may the pod go to these nodes?
struct Extender::Question {
  explicit Question(const Json& body) : pod(pod_in(body)) {
    const Json* const list = field_in_any_case(body, "NodeNames");
    const Json* const objects = field_in_any_case(body, "Nodes");
    if (list != nullptr) {
      if (!list->is_array()) throw InputError("NodeNames", "a list", list->type_name());
      require_bound(list->size(), "NodeNames");
      for (size_t i = 0; i < list->size(); ++i) {
        add({node_name((*list)[i], "NodeNames[" + std::to_string(i) + "]"), {}});
      }
      return;
    }
    has_objects = true;
    if (objects == nullptr) throw InputError("body", "Nodes or NodeNames", "neither");
    if (!objects->is_object()) throw InputError("Nodes", "a NodeList", objects->type_name());
    const Json* const items = field_in_any_case(*objects, "items");
    if (items == nullptr) return;
    if (!items->is_array()) throw InputError("Nodes.items", "a list", items->type_name());
    require_bound(items->size(), "Nodes.items");
    for (size_t i = 0; i < items->size(); ++i) {
      add(read_node((*items)[i], "Nodes.items[" + std::to_string(i) + "]"));
    }
  }

  void add(NodeGpuCount&& node) {
    if (seen_.contains(node.name)) return;
    seen_.insert(node.name);
    names.push_back(node.name);
    sizes.push_back(node.gpus);
  }

  const PodRequest pod;
  bool has_objects = false;
  // Of the nodes that are offered, each once.
  std::vector<std::string> names;
  std::vector<std::optional<int32_t>> sizes;

 private:
  std::unordered_set<std::string> seen_;
};

Extender::Extender(const ExtenderOptions& options, Now now)
    : options_(options),
      now_(std::move(now)),
      free_(seconds(options.memory_s)),
      groups_(seconds(options.hold_s), seconds(options.memory_s)) {}

ExtenderAnswer Extender::answer(std::string_view verb, const std::string& body) {
  try {
    Json read = parse_body(body);
    if (verb == "filter") return {200, filter(std::move(read))};
    if (verb == "prioritize") return {200, prioritize(read)};
    if (verb == "preempt") return {200, preempt(read)};
    return {200, accept_report(read)};
  } catch (const InputError& error) {
    // A 200 with `Error` would fail the pod's scheduling no less, and look well to a proxy.
    constexpr auto kReplace = Json::error_handler_t::replace;
    const Json out = {{"error", error.what()}};
    return {400, out.dump(-1, ' ', false, kReplace) + "\n"};
  } catch (const std::exception& error) {
    return {500, Json{{"error", std::string("internal: ") + error.what()}}.dump() + "\n"};
  }
}

// Notes what the offer shows about the nodes.
void Extender::learn(const Question& on, std::span<const std::string> offered, bool from_filter,
                     FreeGpuEstimator::Time now) {
  // A pod that is being scheduled is not bound, whatever was assumed of it.
  free_.forget(on.pod.id);
  for (size_t i = 0; i < on.names.size(); ++i) {
    if (on.sizes[i]) free_.set_node_gpus(on.names[i], *on.sizes[i], now);
    unknown_nodes_ += !free_.knows_node_size(on.names[i]);
  }
  const bool all_with_room = !on.pod.selects_nodes && on.names.size() < kCompleteList;
  const std::string group = on.pod.group ? on.pod.group->name : "";
  free_.learn_from_offer(
      offered, on.pod.gpus, all_with_room,
      // Nodes that our own filter may have taken out show nothing.
      [&](const std::string& node) {
        return !from_filter && ((on.pod.group && on.pod.group->size > 0) ||
                                groups_.gpus_reserved_by_others(node, group) > 0);
      },
      now);
}

// Without a report only what the offer itself proves.
int32_t Extender::free_gpus_before_reservations(const std::string& node, int32_t offered_gpus,
                                                FreeGpuEstimator::Time now) {
  return free_.reported(node) == nullptr ? offered_gpus : free_.free_gpus(node, now);
}

const std::unordered_set<std::string>& Extender::running_pods_of(const std::string& group) const {
  static const std::unordered_set<std::string> none;
  const auto it = running_.find(group);
  return it == running_.end() ? none : it->second;
}

std::string Extender::filter(Json&& body) {
  const Question on(body);
  const PodRequest& pod = on.pod;
  Json no_room = Json::object(), unfit = Json::object();
  std::unordered_set<std::string> kept;
  {
    const std::lock_guard lock(mutex_);
    const FreeGpuEstimator::Time now = begin();
    const bool reports_count =
        free_.report_time() && *free_.report_time() >= now - seconds(options_.report_s);
    // The others are reported to lack room.
    std::vector<std::string> left;
    for (const std::string& node : on.names) {
      const ClusterUse::Node* use = free_.reported(node);
      if (use == nullptr || pod.gpus == 0 || !reports_count || use->gpus - use->used >= pod.gpus) {
        left.push_back(node);
      } else if (use->gpus < pod.gpus) {
        unfit[node] = fmt::format("the node has {} GPUs, the pod needs {}", use->gpus, pod.gpus);
      } else {
        no_room[node] = fmt::format("{} of {} GPUs are free, the pod needs {}",
                                    std::max(use->gpus - use->used, 0), use->gpus, pod.gpus);
      }
    }
    learn(on, left, true, now);
    const bool in_group = pod.group && pod.group->size > 0 && pod.gpus > 0;
    unsized_groups_ += pod.group && pod.group->size == 0;
    if (in_group) {
      std::string why;
      const std::string pinned = groups_.place(
          pod, left,
          [&](const std::string& node) {
            return free_gpus_before_reservations(node, pod.gpus, now);
          },
          running_pods_of(pod.group->name), now, why);
      if (!pinned.empty()) {
        kept.insert(pinned);
        free_.assume_pod_on_node(pod.id, pinned, pod.gpus, now);
        why = fmt::format("group {} has its pod on node {}", pod.group->name, pinned);
      }
      // Evictions of other pods would not help.
      for (const std::string& node : left) {
        if (node != pinned) unfit[node] = why;
      }
    } else {
      for (const std::string& node : left) {
        const int32_t reserved = pod.gpus == 0 ? 0 : groups_.gpus_reserved_by_others(node, "");
        if (reserved > 0 && free_.free_gpus(node, now) - reserved < pod.gpus) {
          unfit[node] = fmt::format("{} GPUs are reserved for a group of pods", reserved);
        } else {
          kept.insert(node);
        }
      }
    }
  }
  Json out = {{"Nodes", nullptr},
              {"NodeNames", nullptr},
              {"FailedNodes", std::move(no_room)},
              {"FailedAndUnresolvableNodes", std::move(unfit)},
              {"Error", ""}};
  if (on.has_objects) {
    Json items = Json::array();
    const Json* given = field_in_any_case(*field_in_any_case(body, "Nodes"), "items");
    for (size_t i = 0; given != nullptr && i < given->size(); ++i) {
      const Json& node = (*given)[i];
      // Each node once.
      if (kept.erase(node["metadata"]["name"].get<std::string>()) > 0) items.push_back(node);
    }
    out["Nodes"] = {{"metadata", Json::object()}, {"items", std::move(items)}};
  } else {
    Json names = Json::array();
    for (const std::string& node : on.names) {
      if (kept.contains(node)) names.push_back(node);
    }
    out["NodeNames"] = std::move(names);
  }
  return dump(out);
}

std::string Extender::prioritize(const Json& body) {
  const Question on(body);
  const PodRequest& pod = on.pod;
  std::vector<int> scores(on.names.size(), 0);
  if (pod.gpus > 0 && !on.names.empty()) {
    const std::lock_guard lock(mutex_);
    const FreeGpuEstimator::Time now = begin();
    learn(on, on.names, false, now);
    const std::string group = pod.group && pod.group->size > 0 ? pod.group->name : "";
    // Best fit: the node on which the fewest GPUs stay free. Equal ones by name, so that the best
    // is one node and nodes fill up one after the other.
    std::optional<size_t> best;
    std::vector<int32_t> left(on.names.size());
    int32_t most = 0;
    const auto before = [&](size_t a, size_t b) {
      return std::tuple(!free_.knows_node_size(on.names[a]), left[a],
                        std::string_view(on.names[a])) <
             std::tuple(!free_.knows_node_size(on.names[b]), left[b],
                        std::string_view(on.names[b]));
    };
    for (size_t i = 0; i < on.names.size(); ++i) {
      const int32_t free = free_.free_gpus(on.names[i], now);
      left[i] = std::max(free - groups_.gpus_reserved_by_others(on.names[i], group) - pod.gpus, 0);
      most = std::max(most, left[i]);
      if (!best || before(i, *best)) best = i;
    }
    for (size_t i = 0; i < on.names.size(); ++i) {
      scores[i] = !free_.knows_node_size(on.names[i]) ? kUnknown
                  : most == 0                         ? kMostOfOthers
                                                      : kMostOfOthers * (most - left[i]) / most;
    }
    scores[*best] = kBest;
    free_.assume_pod_on_node(pod.id, on.names[*best], pod.gpus, now);
  }
  Json out = Json::array();
  for (size_t i = 0; i < on.names.size(); ++i) {
    out.push_back({{"Host", on.names[i]}, {"Score", scores[i]}});
  }
  return dump(out);
}

std::string Extender::preempt(const Json& body) {
  const PodRequest pod = pod_in(body);
  const Json* const full = field_in_any_case(body, "NodeNameToVictims");
  const Json* const meta = field_in_any_case(body, "NodeNameToMetaVictims");
  if (full == nullptr && meta == nullptr) {
    throw InputError("body", "NodeNameToVictims or NodeNameToMetaVictims", "neither");
  }
  const std::string name = meta != nullptr ? "NodeNameToMetaVictims" : "NodeNameToVictims";
  const Json& by_node = meta != nullptr ? *meta : *full;
  if (!by_node.is_object()) throw InputError(name, "an object", by_node.type_name());
  require_bound(by_node.size(), name);
  std::vector<NodeWithVictims> candidates;
  for (const auto& [node, victims] : by_node.items()) {
    const std::string where = name + "." + node;
    if (!victims.is_object()) throw InputError(where, "an object", victims.type_name());
    NodeWithVictims one{node, {}, 0};
    const Json* violations = field_in_any_case(victims, "NumPDBViolations");
    if (violations != nullptr) {
      if (!violations->is_number_integer()) {
        throw InputError(where + ".NumPDBViolations", "a whole number", violations->type_name());
      }
      one.budget_violations = violations->get<int64_t>();
    }
    const Json* pods = field_in_any_case(victims, "Pods");
    if (pods != nullptr && !pods->is_array()) {
      throw InputError(where + ".Pods", "a list", pods->type_name());
    }
    for (size_t i = 0; pods != nullptr && i < pods->size(); ++i) {
      const std::string place = where + ".Pods[" + std::to_string(i) + "]";
      const Json& victim = (*pods)[i];
      if (meta == nullptr) {
        const PodRequest read = read_pod(victim, place);
        const Json* metadata = field(victim, "metadata");
        one.victims.push_back(
            {metadata == nullptr ? "" : text_field(*metadata, "uid"), read.gpus, read.priority});
      } else {
        const Json* uid = field_in_any_case(victim, "UID");
        one.victims.push_back({uid != nullptr && uid->is_string() ? uid->get<std::string>() : ""});
      }
      if (one.victims.back().id.empty()) throw InputError(place, "a pod with its UID", "none");
    }
    candidates.push_back(std::move(one));
  }
  {
    const std::lock_guard lock(mutex_);
    begin();
    const bool in_group = pod.group && pod.group->size > 0 && pod.gpus > 0;
    // To evict pods for one pod of a group, or where another group is about to start, makes no
    // room.
    std::erase_if(candidates, [&](const NodeWithVictims& one) {
      return in_group || groups_.gpus_reserved_by_others(one.node, "") > 0;
    });
    for (NodeWithVictims& one : candidates) {
      for (Victim& victim : one.victims) {
        const auto known = holders_.find(victim.id);
        if (victim.gpus || known == holders_.end()) continue;
        victim.gpus = known->second.gpus;
        victim.priority = known->second.priority;
      }
    }
  }
  Json nodes = Json::object();
  for (const NodeWithVictims& one : nodes_with_cheapest_victims(std::move(candidates))) {
    Json pods = Json::array();
    for (const Victim& victim : one.victims) pods.push_back({{"UID", victim.id}});
    nodes[one.node] = {{"Pods", std::move(pods)}, {"NumPDBViolations", one.budget_violations}};
  }
  return dump({{"NodeNameToMetaVictims", std::move(nodes)}});
}

std::string Extender::accept_report(const Json& body) {
  const ClusterUse use = use_of(body);
  const std::lock_guard lock(mutex_);
  unread_ = nullptr;
  take(use, now_());
  return dump({{"nodes", use.nodes.size()}, {"pods", use.holders.size()}});
}

void Extender::take(const ClusterUse& use, FreeGpuEstimator::Time now) {
  free_.set_report(use, now);
  holders_ = use.holders;
  running_.clear();
  for (const auto& [pod, holder] : holders_) {
    if (!holder.group.empty()) running_[holder.group].insert(pod);
  }
}

// Brings what is known up to the present time, which it returns.
FreeGpuEstimator::Time Extender::begin() {
  const FreeGpuEstimator::Time now = now_();
  if (unread_ != nullptr) take(use_of(*std::exchange(unread_, nullptr)()), now);
  groups_.expire(now);
  return now;
}

void Extender::observe(const std::string& cluster, GetSnapshot snapshot) {
  if (!options_.cluster.empty() && cluster != options_.cluster) return;
  const std::lock_guard lock(mutex_);
  unread_ = std::move(snapshot);
}

Extender::Counts Extender::counts() {
  const std::lock_guard lock(mutex_);
  begin();
  return {unknown_nodes_, unsized_groups_, groups_.waiting(), groups_.expired_reservations()};
}

}  // namespace yard::kubernetes
