#include "tests/support/transcript.h"

#include <vector>

#include "env/base/text/text.h"

namespace yard::testing {
namespace {

std::string id_of(const Scene& scene, const SimState& s, int32_t slot) {
  return scene.jobs()[static_cast<size_t>(s.job[slot])].id;
}

const char* what_happened(const SimState& s, int32_t slot) {
  switch (s.phase[slot]) {
    case Phase::kWaiting:
      return s.started[slot] == 0 ? "arrives" : "is saved";
    case Phase::kRunning:
      return "runs";
    case Phase::kDone:
      return "ends";
    default:
      return "?";
  }
}

std::string news(const Scene& scene, const SimState& s) {
  std::vector<std::string> words;
  for (int32_t i = 0; i < s.head->num_changed; ++i) {
    words.push_back(id_of(scene, s, s.changed[i]) + " " + what_happened(s, s.changed[i]));
  }
  return words.empty() ? "timer" : join(words);
}

std::string decision(const Scene& scene, const SimState& s, const Plan& plan) {
  std::vector<std::string> words;
  for (const Edit& edit : plan.edits) {
    if (edit.verb == Verb::kPreempt) {
      words.push_back("stop " + id_of(scene, s, edit.job.slot));
      continue;
    }
    if (edit.verb == Verb::kEnd) {
      words.push_back("end " + id_of(scene, s, edit.job.slot));
      continue;
    }
    std::vector<std::string> pieces;
    for (int32_t i = 0; i < edit.num_pieces; ++i) {
      const Piece& piece = plan.pieces[static_cast<size_t>(edit.first_piece + i)];
      pieces.push_back(std::to_string(piece.node) + ":" + std::to_string(piece.gpus));
    }
    words.push_back("start " + id_of(scene, s, edit.job.slot) + " on " + join(pieces, "+"));
  }
  if (plan.wake_us != kNever) words.push_back("wake at " + format_seconds(plan.wake_us));
  return words.empty() ? "-" : join(words);
}

}  // namespace

std::string transcript(const Scene& scene, const Policy& policy) {
  SceneRunner runner(scene, policy);
  std::string text;
  while (runner.advance()) {
    const std::string happened = news(scene, runner.state());
    if (!runner.decide()) break;
    text += format_seconds(runner.view().now_us()) + "  " + happened + " | " +
            decision(scene, runner.state(), runner.plan()) + "\n";
  }
  text += "\njob start end preemptions\n";
  for (size_t j = 0; j < runner.jobs().size(); ++j) {
    const JobOutcome& out = runner.jobs()[j];
    text += scene.jobs()[j].id + " " + format_seconds(out.start_us) + " " +
            format_seconds(out.end_us) + " " + std::to_string(out.preemptions) + "\n";
  }
  return text;
}

}  // namespace yard::testing
