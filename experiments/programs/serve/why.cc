// `why`: asks a running server why it decided so, and why jobs wait.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/print.h"
#include "experiments/cli/arguments.h"
#include "experiments/programs/serve/commands.h"
#include "experiments/programs/serve/connection_options.h"
#include "serving/net/explain_client.h"
#include "serving/snapshot/json.h"

namespace yard {
namespace {

std::string pieces_text(const google::protobuf::RepeatedPtrField<pb::Piece>& pieces) {
  std::string out;
  for (const pb::Piece& piece : pieces) {
    out += fmt::format("{}{}:{}", out.empty() ? "" : " ", piece.node(), piece.gpus());
  }
  return out;
}

void print(const pb::ExplainResponse& of) {
  const pb::DecideResponse& decision = of.decision();
  print_to(stdout, "{} actions{}{}\n", decision.actions_size(),
           decision.decided_by().empty() ? "" : " by ", decision.decided_by());
  if (!of.detail().empty()) print_to(stdout, "no scores: {}\n", of.detail());
  for (int s = 0; s < of.steps_size(); ++s) {
    const pb::ExplainedStep& step = of.steps(s);
    print_to(stdout, "choice {} of {} options\n", s + 1, step.options_size());
    for (int o = 0; o < step.options_size(); ++o) {
      const pb::ExplainedOption& option = step.options(o);
      const bool chosen = static_cast<uint32_t>(o) == step.chosen();
      const std::string what =
          option.job().empty() ? "nothing more" : pb::Verb_Name(option.verb()) + " " + option.job();
      print_to(stdout, "  {} {}: score {:.3f}, {:.1f} %\n", chosen ? "*" : " ", what,
               option.score(), 100 * option.probability());
    }
  }
  for (const pb::WhyWaiting& one : of.waiting()) {
    print_to(stdout, "job {} waits: {}\n", one.job(), one.why());
    for (const pb::Move& move : one.moves()) {
      print_to(stdout, "  room for it: move job {} from {} to {}\n", move.job(),
               pieces_text(move.from()), pieces_text(move.to()));
    }
  }
}

}  // namespace

int run_why(int argc, char** argv) {
  ConnectionOptions options;
  options.servers = {"127.0.0.1:50051"};
  std::string decision, file, job;
  int deadline_ms = 5000;
  bool json = false;
  CLI::App app(
      "Ask a running server why it decided so: the options that its policy scored, and why jobs "
      "wait.",
      "why");
  app.option_defaults()->always_capture_default();
  app.option_defaults()->group("Request");
  auto* id = app.add_option("--decision", decision,
                            "id of a recent decision of the server, as `decide` and logs show it");
  app.add_option(
         "--snapshot", file,
         "JSON file of a yardmaster.v1.DecideRequest, which the server decides now, instead "
         "of --decision")
      ->excludes(id);
  app.add_option("--job", job, "id of the job whose waiting is explained; default: all jobs");
  app.add_option("--deadline-ms", deadline_ms, "deadline of the answer, in milliseconds")
      ->check(CLI::Range(1, 3'600'000));
  add_connection_options(app, options);
  app.option_defaults()->group("Output");
  app.add_flag("--json", json, "print the answer, a yardmaster.v1.ExplainResponse");
  set_examples(app, {"yardmaster why --snapshot snapshot.json --job train-17"});
  if (!parse_arguments(app, argc, argv)) return 0;
  if (decision.empty() && file.empty()) {
    throw InputError("why", "--decision ID or --snapshot FILE", "neither");
  }

  pb::ExplainRequest request;
  request.set_job(job);
  if (file.empty()) {
    request.set_decision_id(decision);
  } else {
    *request.mutable_request() = parse_snapshot(read_file(file), file);
  }
  const pb::ExplainResponse answer =
      ask_why(options, request, std::chrono::milliseconds(deadline_ms));
  if (json) {
    std::puts(to_json(answer).c_str());
  } else {
    print(answer);
  }
  return 0;
}

}  // namespace yard
