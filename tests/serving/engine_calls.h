// Asks an engine without a server around it.
#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "env/base/core/error.h"
#include "serving/engine/engine.h"

namespace yard::testing {

inline constexpr std::chrono::seconds kLongTime{60};

inline IncomingRequest incoming(const pb::DecideRequest& request,
                                std::promise<pb::DecideResponse>& answer,
                                std::chrono::milliseconds deadline = kLongTime) {
  IncomingRequest out;
  out.read = [request] { return std::make_shared<pb::DecideRequest>(request); };
  out.bytes = request.ByteSizeLong();
  out.client = request.cluster();
  out.deadline = Engine::Clock::now() + deadline;
  out.done = [&](pb::DecideResponse&& response) { answer.set_value(std::move(response)); };
  out.refuse = [&](const pb::Refusal& why) {
    answer.set_exception(std::make_exception_ptr(InputError(why.message())));
  };
  return out;
}

inline pb::DecideResponse ask_engine(Engine& engine, const pb::DecideRequest& request,
                                     std::chrono::milliseconds deadline = kLongTime) {
  std::promise<pb::DecideResponse> answer;
  engine.submit(incoming(request, answer, deadline));
  return answer.get_future().get();
}

struct EngineFixture {
  explicit EngineFixture(const std::string& policy, EngineOptions options = {})
      : models({{policy, ""}}),
        engine(options, models, [this](const ServedDecision&) { ++seen; }) {}

  ModelCatalog models;
  std::atomic<int> seen = 0;
  Engine engine;
};

}  // namespace yard::testing
