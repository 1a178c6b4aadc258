// Checks malformed requests: whatever can be parsed is either refused or decided on legally.
#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

#include "env/sim/rules/digest.h"
#include "serving/snapshot/cluster_memory.h"
#include "serving/snapshot/guard.h"
#include "serving/snapshot/json.h"
#include "serving/snapshot/run_policy.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

pb::DecideRequest rich_request() {
  pb::DecideRequest request = cluster_of(3);
  request.mutable_nodes(1)->set_gpu_type("k80");
  request.mutable_nodes(2)->add_down(6);
  pb::Vacating& vacating = *request.mutable_nodes(2)->add_vacating();
  vacating.set_gpu(1);
  vacating.set_until_s(10'005);
  pb::GpuType& type = *request.add_gpu_types();
  type.set_name("k80");
  type.set_speed(0.25);
  add_running(request, "a", 8, "n0");
  add_running(request, "b", 3, "n1");
  pb::Job& starting = add_running(request, "c", 2, "n2");
  starting.set_state(pb::STARTING);
  starting.set_until_s(10'010);
  for (const uint32_t gpu : {0U, 1U}) starting.mutable_placement(0)->add_gpu_ids(gpu);
  for (const uint32_t gpus : {1U, 2U, 4U, 8U, 16U}) {
    add_waiting(request, "w" + std::to_string(gpus), gpus).set_user("u");
  }
  pb::Job& stopping = add_waiting(request, "s", 2);
  stopping.set_state(pb::STOPPING);
  stopping.set_until_s(10'001);
  pb::FinishedJob& finished = *request.add_finished();
  finished.set_user("u");
  finished.set_gpus(2);
  finished.set_run_s(50);
  finished.set_end_s(900);
  return request;
}

// Returns whether the request was accepted. Every policy must decide on an accepted one.
bool try_request(const pb::DecideRequest& request, const std::vector<const Policy*>& policies) {
  try {
    const Snapshot snapshot(request);
    ClusterMemory known;
    const SnapshotState live = known.next_state(snapshot);
    EXPECT_EQ(broken_invariant(live.fixed(), live.state()), "") << request.DebugString();
    for (const Policy* policy : policies) {
      const PolicyResult answer = run_policy(*policy, snapshot, request);
      EXPECT_EQ(answer.reason, pb::NONE) << answer.detail << "\n" << request.DebugString();
    }
    return true;
  } catch (const InputError&) {
    return false;
  }
}

TEST(Fuzz, MutatedRequestsAreHandled) {
  google::protobuf::SetLogHandler(nullptr);
  std::vector<std::unique_ptr<Policy>> owned;
  std::vector<const Policy*> policies;
  for (const char* name : {"fifo", "greedy", "las", "srsf-history"}) {
    owned.push_back(make_policy(name));
    policies.push_back(owned.back().get());
  }
  const std::string valid_request = rich_request().SerializeAsString();
  ASSERT_TRUE(try_request(rich_request(), policies));
  int parsed = 0, possible = 0;
  for (uint64_t seed = 0; seed < 20'000; ++seed) {
    Rng rng = Rng{11}.split(seed);
    std::string bytes = valid_request;
    const uint32_t edits = 1 + rng.below(4);
    for (uint32_t e = 0; e < edits; ++e) {
      const uint32_t at = rng.below(static_cast<uint32_t>(bytes.size()));
      switch (rng.below(4)) {
        case 0:
          bytes[at] = static_cast<char>(rng.below(256));
          break;
        case 1:
          bytes[at] = static_cast<char>(bytes[at] ^ (1U << rng.below(8)));
          break;
        case 2:
          bytes.erase(at, 1 + rng.below(8));
          break;
        default:
          bytes.insert(
              at, bytes.substr(rng.below(static_cast<uint32_t>(bytes.size())), 1 + rng.below(40)));
      }
      if (bytes.empty()) break;
    }
    pb::DecideRequest request;
    if (!request.ParseFromString(bytes)) continue;
    ++parsed;
    possible += try_request(request, policies);
    if (HasFailure()) return;
  }
  // Both accepted and refused requests must occur.
  EXPECT_GT(parsed, 2000);
  EXPECT_GT(possible, 500);
  EXPECT_LT(possible, parsed);
}

TEST(Fuzz, MutatedJsonIsHandled) {
  const std::string valid_request = to_json(rich_request());
  int possible = 0;
  const auto las = make_policy("las");
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Rng rng = Rng{12}.split(seed);
    std::string text = valid_request;
    for (uint32_t e = 0; e <= rng.below(3); ++e) {
      const uint32_t at = rng.below(static_cast<uint32_t>(text.size()));
      text[at] = static_cast<char>(rng.below(2) == 0 ? rng.below(256) : '0' + rng.below(10));
    }
    try {
      possible += try_request(parse_snapshot(text, "fuzz"), {las.get()});
    } catch (const InputError&) {
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(possible, 30);
}

}  // namespace
}  // namespace yard::testing
