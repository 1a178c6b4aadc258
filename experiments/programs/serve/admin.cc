// `status` and `reload`: call the admin service of running servers.

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "env/base/core/error.h"
#include "env/base/text/print.h"
#include "experiments/cli/arguments.h"
#include "experiments/programs/serve/commands.h"
#include "experiments/programs/serve/connection_options.h"
#include "serving/log/drift_reports.h"
#include "serving/net/admin_client.h"
#include "serving/snapshot/json.h"

namespace yard {
namespace {

namespace pb = ::yardmaster::v1;

constexpr const char* kDefaultServer = "127.0.0.1:50052";

using Json = nlohmann::ordered_json;

Json json_of(const pb::StatusResponse& of) {
  Json out = {{"model", of.model()},     {"digest", of.digest()},     {"serving", of.serving()},
              {"reason", of.reason()},   {"detail", of.detail()},     {"fallback", of.fallback()},
              {"loads", of.loads()},     {"refusals", of.refusals()}, {"draining", of.draining()},
              {"breaker", of.breaker()}, {"release", of.release()},   {"commit", of.commit()}};
  out["envelope"] = of.envelope();
  out["drift"] = of.has_drift() ? Json::parse(to_json(of.drift())) : Json();
  return out;
}

void print(const AdminAnswer& answer) {
  const pb::StatusResponse& of = answer.status;
  const std::string model = of.model().empty() ? "no model" : "model " + of.model();
  print_to(stdout, "{}: {}{}{}, fallback {}, release {}\n", answer.server, model,
           of.serving() ? " serves" : "", of.draining() ? ", draining" : "", of.fallback(),
           of.release());
  if (!of.breaker_detail().empty()) {
    print_to(stdout, "  breaker {}: {}\n", of.breaker(), of.breaker_detail());
  }
  if (!of.envelope().empty()) print_to(stdout, "  {}\n", of.envelope());
  if (of.has_drift()) {
    const pb::DriftReport& drift = of.drift();
    const bool won = drift.winner() == drift.served();
    print_to(stdout, "  drift, {:%Y-%m-%d %H:%M} UTC: {} {}\n",
             fmt::gmtime(static_cast<std::time_t>(drift.unix_s())), drift.winner(),
             won ? "is still the best"
                 : fmt::format("has {:.3f} times the mean JCT of {}", winner_jct_ratio(drift),
                               drift.served()));
  }
  if (of.reason() != "NONE") print_to(stdout, "  {}: {}\n", of.reason(), of.detail());
}

int run(AdminCall call, int argc, char** argv) {
  const bool reload = call == AdminCall::kReload;
  ConnectionOptions options;
  options.servers = {kDefaultServer};
  int deadline_ms = 5000;
  bool json = false, reset = false;
  CLI::App app(reload ? "Have servers check the files of their model, certificate and tokens now."
                      : "Print the state of running servers.",
               reload ? "reload" : "status");
  app.option_defaults()->always_capture_default();
  add_connection_options(app, options);
  app.add_option("--deadline-ms", deadline_ms, "deadline for each server, in milliseconds")
      ->check(CLI::Range(1, 3'600'000));
  if (reload) {
    app.add_flag("--reset-breaker", reset, "let the model decide again, whatever failed before");
  }
  app.option_defaults()->group("Output");
  app.add_flag("--json", json, "print one JSON document");
  set_examples(app, {std::string("yardmaster ") + (reload ? "reload" : "status") +
                     " --server 127.0.0.1:50052"});
  if (!parse_arguments(app, argc, argv)) return 0;

  const std::chrono::milliseconds deadline(deadline_ms);
  if (reset) call_admin(options, AdminCall::kResetBreaker, deadline);  // the reload tells of errors
  Json rows = Json::array();
  std::string failed;
  for (const AdminAnswer& answer : call_admin(options, call, deadline)) {
    Json row = {{"server", answer.server}};
    if (answer.error.empty()) {
      row.update(json_of(answer.status));
      if (!json) print(answer);
    } else {
      row["error"] = answer.error;
      failed += (failed.empty() ? "" : "; ") + answer.server + ": " + answer.error;
    }
    rows.push_back(std::move(row));
  }
  if (json) std::puts(Json{{"servers", rows}}.dump(2).c_str());
  if (!failed.empty()) throw RunError(failed);
  return 0;
}

}  // namespace

int run_status(int argc, char** argv) { return run(AdminCall::kStatus, argc, argv); }
int run_reload(int argc, char** argv) { return run(AdminCall::kReload, argc, argv); }

}  // namespace yard
