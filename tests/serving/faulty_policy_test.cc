// Many requests to a server whose policy hangs, returns NaN, throws, decides illegally and whose
// process is gone, in turn. Every answer must be legal and in time. YARD_FAULTY_REQUESTS sets the
// number of requests; `make check-live ONLY=requests` makes a million.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

#include "serving/net/client.h"
#include "serving/net/server.h"
#include "serving/snapshot/guard.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCallers = 4;
constexpr int kDeadlinesMs[] = {5, 10, 20, 50};
// The operating system may run a caller so much later than it asks for.
constexpr std::chrono::milliseconds kLateness{25};

int requests_to_make() {
  const char* given = std::getenv("YARD_FAULTY_REQUESTS");
  return given == nullptr ? 4'000 : std::max(100, std::atoi(given));
}

ServerOptions server_options(const std::string& listen, const std::string& policy, bool breaker) {
  ServerOptions out;
  out.listen = listen;
  out.policy = policy;
  if (!breaker) out.engine.breaker.failed_share = 1;
  return out;
}

struct Counts {
  std::map<std::string, int> answers;  // by source and reason
  int illegal = 0, late = 0;
  double slowest_ms = 0;  // beyond the deadline

  void add(const Counts& other) {
    for (const auto& [kind, count] : other.answers) answers[kind] += count;
    illegal += other.illegal;
    late += other.late;
    slowest_ms = std::max(slowest_ms, other.slowest_ms);
  }
};

Counts call(const std::string& address, int requests, int seed) {
  Client client({.to = {.servers = {address}}});
  Counts out;
  pb::DecideRequest request = full_cluster();
  request.set_cluster("cluster-" + std::to_string(seed));  // so that the client sends deltas
  for (int i = 0; i < requests; ++i) {
    const auto deadline = std::chrono::milliseconds(kDeadlinesMs[(i + seed) % 4]);
    const auto begin = Clock::now();
    const pb::DecideResponse answer = client.decide(request, deadline);
    const std::chrono::duration<double, std::milli> over = Clock::now() - begin - deadline;
    out.illegal += !flaw_of_decision(request, answer).empty();
    out.late += over > kLateness;
    out.slowest_ms = std::max(out.slowest_ms, over.count());
    ++out.answers[pb::Source_Name(answer.source()) + " " + pb::Reason_Name(answer.reason())];
  }
  return out;
}

// One part of the requests, with one kind of fault.
Counts run_with(const std::string& policy, bool breaker, int requests) {
  const TempFolder temp;
  const std::string address = "unix:" + (temp.path() / "socket").string();
  std::unique_ptr<Server> server;
  if (!policy.empty()) {
    server = std::make_unique<Server>(server_options(address, policy, breaker));
  }
  Counts sum;
  std::mutex mutex;
  {
    std::vector<std::jthread> callers;
    for (int c = 0; c < kCallers; ++c) {
      callers.emplace_back([&, c] {
        const Counts mine = call(address, requests / kCallers, c);
        const std::lock_guard lock(mutex);
        sum.add(mine);
      });
    }
  }
  return sum;
}

TEST(FaultyPolicies, EveryAnswerIsLegalAndInTime) {
  const std::vector<std::string> faults = {
      "test-hangs", "test-not-finite", "test-throws", "test-illegal", "las", ""};
  constexpr int kRounds = 4;
  const int part = requests_to_make() / (kRounds * static_cast<int>(faults.size()) * 2);
  Counts sum;
  int made = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (const std::string& fault : faults) {
      for (const bool breaker : {true, false}) {
        start_hanging();
        sum.add(run_with(fault, breaker, part));
        stop_hanging();
        made += part / kCallers * kCallers;
      }
    }
  }
  int counted = 0;
  for (const auto& [kind, count] : sum.answers) {
    std::printf("%s: %d\n", kind.c_str(), count);
    counted += count;
  }
  std::printf("%d requests, %d illegal, %d late, slowest %.1f ms beyond its deadline\n", made,
              sum.illegal, sum.late, sum.slowest_ms);
  EXPECT_EQ(counted, made);
  EXPECT_EQ(sum.illegal, 0);
  // A shared machine may stop a caller for longer; a server that is late would be so often.
  EXPECT_LE(sum.late, std::max(2, made / 2'000));
  for (const char* kind :
       {"POLICY NONE", "HEURISTIC BREAKER_OPEN", "HEURISTIC NON_FINITE", "HEURISTIC POLICY_ERROR",
        "HEURISTIC INVALID_ACTION", "CLIENT_HEURISTIC UNAVAILABLE"}) {
    EXPECT_GT(sum.answers[kind], 0) << kind;
  }
}

}  // namespace
}  // namespace yard::testing
