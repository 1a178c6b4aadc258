#include "serving/net/bench_served.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "env/base/core/check.h"
#include "env/base/core/error.h"
#include "serving/net/server.h"
#include "serving/snapshot/delta.h"
#include "yardmaster/bench/echo.grpc.pb.h"
#include "yardmaster/v1/policy.grpc.pb.h"

namespace yard {
namespace {

namespace bench = ::yardmaster::bench;

class EchoRpc final : public bench::EchoService::CallbackService {
 public:
  explicit EchoRpc(pb::DecideResponse answer) : answer_(std::move(answer)) {}

  grpc::ServerUnaryReactor* Echo(grpc::CallbackServerContext* context, const pb::DecideRequest*,
                                 pb::DecideResponse* response) override {
    *response = answer_;
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

 private:
  const pb::DecideResponse answer_;
};

class EchoServer {
 public:
  explicit EchoServer(const pb::DecideResponse& answer) : rpc_(answer) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(&rpc_);
    server_ = builder.BuildAndStart();
    YARD_CHECK(server_ != nullptr, "no echo server on a free port");
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  EchoRpc rpc_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

Percentiles percentiles(std::vector<double>& ms) {
  std::ranges::sort(ms);
  return {ms[ms.size() / 2], ms[ms.size() * 99 / 100]};
}

template <class Call>
double timed_ms(Call call) {
  const auto begin = std::chrono::steady_clock::now();
  const grpc::Status status = call();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  if (!status.ok()) throw RunError("bench: " + status.error_message());
  return took.count();
}

ServerOptions options_for(const std::string& policy) {
  ServerOptions out;
  out.listen = "127.0.0.1:0";
  out.policy = policy;
  out.engine.budget_ms = 1000;
  return out;
}

}  // namespace

pb::DecideRequest busy_cluster(int nodes, int waiting) {
  pb::DecideRequest request;
  request.set_time_s(1'700'000'000);
  for (int i = 0; i < nodes; ++i) {
    pb::Node& node = *request.add_nodes();
    node.set_name("node-" + std::to_string(i));
    node.set_gpus(8);
  }
  constexpr uint32_t kSizes[] = {1, 2, 4, 8, 8, 16};
  int filled = 1;
  const int jobs = waiting + nodes - 1;
  for (int i = 0; i < jobs; ++i) {
    const bool runs = filled < nodes;
    pb::Job& job = *request.add_jobs();
    job.set_id("job-" + std::to_string(i));
    job.set_state(runs ? pb::RUNNING : pb::WAITING);
    job.set_gpus(runs ? 8 : kSizes[i % 6]);
    job.set_submit_s(request.time_s() - 10'000 - jobs + i);
    job.set_user("user-" + std::to_string(i % 7));
    if (!runs) continue;
    job.set_attained_s(100 + 37 * i % 9000);
    pb::Piece& piece = *job.add_placement();
    piece.set_node("node-" + std::to_string(filled++));
    piece.set_gpus(8);
  }
  return request;
}

namespace {

// `Service` is the policy service or the echo, whose method is `call`.
template <class Service, class Call>
ServedLoad measure_load(const std::string& address, const pb::DecideRequest& request, int callers,
                        double deadline_ms, double seconds, Call call) {
  using Clock = std::chrono::steady_clock;
  std::mutex mutex;
  ServedLoad sum;
  sum.callers = callers;
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration<double>(seconds);
  const auto call_until_the_end = [&](int caller) {
    grpc::ChannelArguments own;
    own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto channel =
        grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), own);
    const auto stub = Service::NewStub(channel);
    pb::DecideRequest mine = request;
    mine.set_cluster("cluster-" + std::to_string(caller));
    ServedLoad counts;
    while (Clock::now() < end) {
      grpc::ClientContext context;
      pb::DecideResponse answer;
      context.set_deadline(std::chrono::system_clock::now() +
                           std::chrono::microseconds(std::llround(deadline_ms * 1e3)));
      const grpc::Status status = ((*stub).*call)(&context, mine, &answer);
      int& count = !status.ok()                       ? counts.late
                   : answer.source() == pb::POLICY    ? counts.by_policy
                   : answer.source() == pb::HEURISTIC ? counts.by_heuristic
                                                      : counts.by_nothing;
      ++count;
    }
    const std::lock_guard lock(mutex);
    sum.by_policy += counts.by_policy;
    sum.by_heuristic += counts.by_heuristic;
    sum.by_nothing += counts.by_nothing;
    sum.late += counts.late;
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < callers; ++i) threads.emplace_back(call_until_the_end, i);
  }
  sum.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return sum;
}

}  // namespace

ServedLoad bench_load(const std::string& address, const pb::DecideRequest& request, int callers,
                      double deadline_ms, double seconds) {
  return measure_load<pb::PolicyService>(address, request, callers, deadline_ms, seconds,
                                         &pb::PolicyService::Stub::Decide);
}

ServedLoad bench_in_process_load(const std::string& policy, const pb::DecideRequest& request,
                                 int callers, double deadline_ms, double seconds) {
  const Server server(options_for(policy));
  return bench_load(server.address(), request, callers, deadline_ms, seconds);
}

ServedLoad bench_echo_load(const pb::DecideRequest& request, int callers, double deadline_ms,
                           double seconds) {
  pb::DecideResponse echoed;
  echoed.set_source(pb::POLICY);
  const EchoServer echo(echoed);
  return measure_load<bench::EchoService>(echo.address(), request, callers, deadline_ms, seconds,
                                          &bench::EchoService::Stub::Echo);
}

void advance_one_second(pb::DecideRequest& cluster) {
  cluster.set_time_s(cluster.time_s() + 1);
  auto& jobs = *cluster.mutable_jobs();
  for (pb::Job& job : jobs) {
    if (job.state() == pb::RUNNING) job.set_attained_s(job.attained_s() + 1);
  }
  const auto ended = std::ranges::find(jobs, pb::RUNNING, &pb::Job::state);
  if (ended == jobs.end()) return;
  const auto next = std::ranges::find_if(
      jobs, [](const pb::Job& job) { return job.state() == pb::WAITING && job.gpus() == 8; });
  if (next == jobs.end()) return;
  next->set_state(pb::RUNNING);
  *next->mutable_placement() = ended->placement();
  pb::Job submitted = *ended;
  jobs.erase(ended);
  submitted.set_id("job-" + std::to_string(std::llround(cluster.time_s())));
  submitted.set_state(pb::WAITING);
  submitted.set_submit_s(cluster.time_s());
  submitted.set_attained_s(0);
  submitted.clear_placement();
  *jobs.Add() = std::move(submitted);
}

ServedBench bench_served(const std::string& policy, const pb::DecideRequest& request, int calls,
                         bool deltas) {
  const Server server(options_for(policy));
  const auto stub = pb::PolicyService::NewStub(
      grpc::CreateChannel(server.address(), grpc::InsecureChannelCredentials()));
  pb::DecideRequest whole = request, before, sent;
  whole.set_cluster("bench");
  whole.set_state_version(1);
  pb::DecideResponse answer;
  const auto decide = [&] {
    grpc::ClientContext context;
    return stub->Decide(&context, sent, &answer);
  };
  sent = whole;
  timed_ms(decide);

  const EchoServer echo(answer);
  const auto echo_stub = bench::EchoService::NewStub(
      grpc::CreateChannel(echo.address(), grpc::InsecureChannelCredentials()));
  pb::DecideResponse echoed;
  const auto call_echo = [&] {
    grpc::ClientContext context;
    return echo_stub->Echo(&context, whole, &echoed);
  };

  ServedBench out;
  out.calls = calls;
  std::vector<double> served_ms, echo_ms, delta_ms;
  std::vector<double> queue_ms, read_ms, policy_ms, guard_ms, total_ms;
  const int warm = calls / 10;
  for (int i = 0; i < calls + warm; ++i) {
    before = whole;
    advance_one_second(whole);
    whole.set_state_version(before.state_version() + 1);
    std::optional<pb::DecideRequest> delta;
    const double c = timed_ms([&] {
      if (deltas) delta = delta_between(before, whole);
      return grpc::Status::OK;
    });
    sent = delta ? std::move(*delta) : whole;
    const double a = timed_ms(decide), b = timed_ms(call_echo);
    if (i < warm) continue;
    served_ms.push_back(a);
    echo_ms.push_back(b);
    delta_ms.push_back(c);
    const pb::Timings& timings = answer.timings();
    queue_ms.push_back(timings.queue_ms());
    read_ms.push_back(timings.read_ms());
    policy_ms.push_back(timings.policy_ms());
    guard_ms.push_back(timings.guard_ms());
    total_ms.push_back(timings.total_ms());
    out.by_policy += answer.source() == pb::POLICY;
  }
  out.request_bytes = sent.ByteSizeLong();
  out.snapshot_bytes = whole.ByteSizeLong();
  out.response_bytes = answer.ByteSizeLong();
  out.served = percentiles(served_ms);
  out.echo = percentiles(echo_ms);
  out.delta = percentiles(delta_ms);
  out.queue = percentiles(queue_ms);
  out.read = percentiles(read_ms);
  out.policy = percentiles(policy_ms);
  out.guard = percentiles(guard_ms);
  out.total = percentiles(total_ms);
  return out;
}

}  // namespace yard
