#include "experiments/programs/serve/server_log.h"

#include <fmt/format.h>
#include <spdlog/async.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "env/base/text/wall_clock.h"

namespace yard {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kDecisions = "decisions";
constexpr size_t kMaxWaitingLines = 1024;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string utc(spdlog::log_clock::time_point time) {
  const int64_t ms = time.time_since_epoch() / std::chrono::milliseconds(1);
  return fmt::format("{}.{:03}Z", date_text(ms / 1000), ms % 1000);
}

// Messages become JSON texts; those of the logger of decisions are JSON objects already, whose keys
// follow those of every line.
class JsonLines final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const auto level = spdlog::level::to_string_view(message.level);
    Json line = {{"time", utc(message.time)}, {"level", std::string(level.data(), level.size())}};
    const std::string text(message.payload.data(), message.payload.size());
    if (std::string_view(message.logger_name.data(), message.logger_name.size()) == kDecisions) {
      line.update(Json::parse(text));
    } else {
      line["message"] = text;
    }
    const std::string written = dump(line) + "\n";
    out.append(written.data(), written.data() + written.size());
  }

  std::unique_ptr<spdlog::formatter> clone() const override {
    return std::make_unique<JsonLines>();
  }
};

bool writes_json = false;  // set before any other thread logs

}  // namespace

void start_log(const std::string& name, LogFormat format) {
  writes_json = format == LogFormat::kJson;
  const auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  if (writes_json) sink->set_formatter(std::make_unique<JsonLines>());
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(name, sink));
  spdlog::init_thread_pool(kMaxWaitingLines, 1);
  spdlog::register_logger(std::make_shared<spdlog::async_logger>(
      kDecisions, sink, spdlog::thread_pool(), spdlog::async_overflow_policy::overrun_oldest));
}

void log_decision(const pb::DecideResponse& answer, const std::string& traceparent) {
  const std::string &source = pb::Source_Name(answer.source()),
                    &reason = pb::Reason_Name(answer.reason());
  const double total_ms = answer.timings().total_ms();
  const std::shared_ptr<spdlog::logger> to = spdlog::get(kDecisions);
  if (!writes_json) {
    to->info("decision {}: source {} ({}), reason {}, {} actions, {:.1f} ms, traceparent {}",
             answer.decision_id(), source, answer.decided_by(), reason, answer.actions_size(),
             total_ms, traceparent);
    return;
  }
  to->info(dump({{"message", "decision"},
                 {"traceparent", traceparent},
                 {"decision_id", answer.decision_id()},
                 {"request_id", answer.request_id()},
                 {"model", answer.model()},
                 {"source", source},
                 {"reason", reason},
                 {"detail", answer.detail()},
                 {"decided_by", answer.decided_by()},
                 {"actions", answer.actions_size()},
                 {"total_ms", total_ms}}));
}

}  // namespace yard
