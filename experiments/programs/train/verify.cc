// `verify --checkpoint DIR`: compares native inference, LibTorch and, if installed, ONNX Runtime
// with a checkpoint's recorded outputs. A rule has no outputs: it replays a recorded workload.
// `--envelope` also plays the workloads of its training.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "agents/verify/onnx_difference.h"
#include "agents/verify/torch_difference.h"
#include "env/base/core/error.h"
#include "env/base/text/print.h"
#include "experiments/cli/arguments.h"
#include "experiments/programs/train/commands.h"
#include "experiments/replay/golden_workload.h"
#include "experiments/train/training_envelope.h"
#include "policies/learned/golden.h"
#include "policies/learned/learned_policy.h"

namespace yard {
namespace {

struct Difference {
  double native = 0;
  int64_t states = 0;
  // Golden states in which native inference chooses an action with a lower recorded logit than the
  // best. Ties within the tolerance, such as two empty nodes, do not count.
  int64_t mismatches = 0;
};

Difference native_difference(const Checkpoint& checkpoint, double tolerance) {
  const ObservationShape shape = make_agent(checkpoint.agent, {})->shape();
  const auto net = network_of(checkpoint, "model.safetensors");
  std::vector<float> logits(static_cast<size_t>(shape.actions()));
  Difference out;
  for (GoldenState& g : unpack_golden(checkpoint.golden, shape, "golden.safetensors")) {
    net->forward(g.observation(), logits);
    out.native = std::max(out.native, g.max_logit_difference(logits));
    const auto chosen = std::ranges::max_element(logits) - logits.begin();
    const double logit_minus_best =
        *std::ranges::max_element(g.logits) - g.logits[static_cast<size_t>(chosen)];
    out.mismatches += !(logit_minus_best <= tolerance);
    ++out.states;
  }
  if (out.states == 0)
    throw InputError("golden.safetensors", "at least one recorded state", "none");
  return out;
}

// The result of playing the training again for its envelope.
struct EnvelopeCheck {
  nlohmann::ordered_json recorded, now;  // `now` is null without `--envelope check`
  bool ok() const { return now.is_null() || now == recorded; }
  std::string text() const {
    if (recorded.is_null()) return "no envelope";
    const std::string what = "envelope of " + recorded.at("decisions").dump() + " decisions";
    return what + (now.is_null() ? "" : ok() ? ", the same now" : ", DIFFERENT now: " + now.dump());
  }
};

EnvelopeCheck check_envelope(const Checkpoint& checkpoint, bool play) {
  return {checkpoint.envelope.to_json(),
          play ? training_envelope(checkpoint).to_json() : nlohmann::ordered_json()};
}

// Replays a rule's recorded workload and prints the comparison as JSON or a line. Returns whether
// the results are equal. Throws InputError if none is recorded.
bool verify_rule(const Checkpoint& checkpoint, const EnvelopeCheck& envelope,
                 const std::string& folder, bool json) {
  const auto recorded = checkpoint.provenance.find("golden_workload");
  if (recorded == checkpoint.provenance.end()) {
    throw InputError(folder, "a rule's recorded workload (provenance.golden_workload)", "none");
  }
  const nlohmann::ordered_json now = run_golden_workload(checkpoint);
  const bool ok = now == *recorded && envelope.ok();
  if (json) {
    const nlohmann::ordered_json out = {
        {"checkpoint", folder}, {"digest", checkpoint.digest},   {"recorded", *recorded},
        {"now", now},           {"envelope", envelope.recorded}, {"ok", ok}};
    std::puts(out.dump(2).c_str());
  } else {
    print_to(stdout, "rule: recorded {}, now {}; {}: {}\n", recorded->dump(), now.dump(),
             envelope.text(), ok ? "ok" : "DIFFERENT");
  }
  return ok;
}

}  // namespace

int run_verify_inference(int argc, char** argv) {
  std::string folder, envelope_action;
  bool json = false, write_onnx = false, require_onnx = false;
  // Summation order of a few hundred float products changes the seventh digit by a few units.
  double tolerance = 1e-4;
  CLI::App app(
      "Compare native inference with LibTorch and ONNX Runtime on a checkpoint's golden states.",
      "verify");
  app.option_defaults()->group("Checkpoint");
  app.add_option("--checkpoint", folder, "checkpoint folder")->required();
  app.add_option("--tolerance", tolerance, "maximum difference of a logit")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_flag("--write-onnx", write_onnx, "first write model.onnx again from the same weights");
  app.add_option("--envelope", envelope_action,
                 "play the training's workloads; check: compare their envelope with the recorded "
                 "one; write: write it to the manifest before the verification")
      ->check(CLI::IsMember({"check", "write"}));
  app.add_flag("--require-onnx", require_onnx, "fail if ONNX Runtime is not available");
  app.option_defaults()->group("Output");
  app.add_flag("--json", json, "print one JSON document");
  set_examples(app, {"yardmaster verify --checkpoint checkpoints/dispatcher"});
  if (!parse_arguments(app, argc, argv)) return 0;
  if (write_onnx) save_checkpoint(load_checkpoint(folder), folder);
  if (envelope_action == "write") save_envelope(training_envelope(load_checkpoint(folder)), folder);
  const Checkpoint checkpoint = load_checkpoint(folder);
  const EnvelopeCheck envelope = check_envelope(checkpoint, envelope_action == "check");
  if (checkpoint.network == "none") return verify_rule(checkpoint, envelope, folder, json) ? 0 : 1;
  const Difference d = native_difference(checkpoint, tolerance);
  const double torch = torch_difference_from_golden(checkpoint);
  const OnnxDifference onnx = onnx_difference(checkpoint);
  const std::string not_checked = "not checked (" + onnx.about + ")";
  if (require_onnx && !onnx.most) throw RunError(folder + ": onnx: " + not_checked);
  const bool ok = d.native <= tolerance && torch <= tolerance &&
                  onnx.most.value_or(0) <= tolerance && d.mismatches == 0 && envelope.ok();
  if (json) {
    nlohmann::ordered_json out = {{"checkpoint", folder},
                                  {"digest", checkpoint.digest},
                                  {"golden_states", d.states},
                                  {"native_max_difference", d.native},
                                  {"libtorch_max_difference", torch},
                                  {"onnx_max_difference", nullptr},
                                  {"onnx", onnx.most ? onnx.about : not_checked},
                                  {"other_choices", d.mismatches},
                                  {"tolerance", tolerance},
                                  {"envelope", envelope.recorded},
                                  {"ok", ok}};
    if (onnx.most) out["onnx_max_difference"] = *onnx.most;
    std::puts(out.dump(2).c_str());
  } else {
    const std::string by_onnx =
        onnx.most ? fmt::format("{} {:.2e}", onnx.about, *onnx.most) : "onnx: " + not_checked;
    print_to(stdout,
             "{} golden states, maximum difference from the recorded logits: native "
             "{:.2e}, LibTorch {:.2e}, {}; {} different choices; {}: {}\n",
             d.states, d.native, torch, by_onnx, d.mismatches, envelope.text(),
             ok ? "ok" : "DIFFERENT");
  }
  return ok ? 0 : 1;
}

}  // namespace yard
