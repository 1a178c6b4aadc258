// `decide`: reads a snapshot from a file and prints the decision for it: the server's, or the local
// fallback's if the server does not answer.

#include <fmt/format.h>

#include <cstdio>

#include "env/base/files/file.h"
#include "env/base/text/print.h"
#include "experiments/cli/arguments.h"
#include "experiments/programs/serve/commands.h"
#include "experiments/programs/serve/connection_options.h"
#include "serving/net/client.h"
#include "serving/snapshot/json.h"

namespace yard {
namespace {

std::string action_text(const pb::Action& action) {
  std::string out = pb::Verb_Name(action.verb()) + " " + action.job();
  for (const pb::Piece& piece : action.pieces()) {
    out += fmt::format(" {}x{}", piece.node(), piece.gpus());
  }
  return out;
}

void print(const pb::DecideResponse& answer) {
  std::string line = "source " + pb::Source_Name(answer.source());
  if (!answer.decided_by().empty()) line += " (" + answer.decided_by() + ")";
  line += ", reason " + pb::Reason_Name(answer.reason());
  if (!answer.detail().empty()) line += ": " + answer.detail();
  std::puts(line.c_str());
  for (const pb::Action& action : answer.actions()) std::puts(action_text(action).c_str());
  if (answer.actions().empty()) std::puts("no action");
  for (const pb::Quarantined& one : answer.quarantined()) {
    print_to(stdout, "set aside {} '{}': {}\n", pb::Quarantined::Record_Name(one.record()),
             one.id(), one.why());
  }
  if (answer.has_wake_after_s()) print_to(stdout, "next decision in {} s\n", answer.wake_after_s());
}

}  // namespace

int run_decide(int argc, char** argv) {
  ClientOptions options;
  options.to.servers = {"127.0.0.1:50051"};
  std::string file;
  int deadline_ms = 1000;
  bool json = false;
  CLI::App app("Request a decision from a running server, or from the next one if that fails.",
               "decide");
  app.option_defaults()->always_capture_default();
  app.option_defaults()->group("Request");
  app.add_option("--snapshot", file, "JSON file of a yardmaster.v1.DecideRequest")->required();
  app.add_option("--deadline-ms", deadline_ms, "deadline of the decision, in milliseconds")
      ->check(CLI::Range(1, 3'600'000));
  app.add_option("--fallback", options.fallback, "heuristic that decides if no server does in time")
      ->type_name(kPolicyType);
  add_connection_options(app, options.to);
  app.option_defaults()->group("Output");
  app.add_flag("--json", json, "print one JSON document");
  set_examples(app, {"yardmaster decide --server 127.0.0.1:50051 "
                     "--snapshot experiments/snapshots/preempt.json"});
  if (!parse_arguments(app, argc, argv)) return 0;

  const pb::DecideRequest request = parse_snapshot(read_file(file), file);
  Client client(options);
  const pb::DecideResponse answer = client.decide(request, std::chrono::milliseconds(deadline_ms));
  if (json) {
    std::fputs(to_json(answer).c_str(), stdout);
  } else {
    print(answer);
  }
  return 0;
}

}  // namespace yard
