// The event file: its bytes against a file made by hand, its values as TensorBoard reads them.
#include "experiments/run/tensorboard.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "env/base/files/file.h"
#include "experiments/run/run_folder.h"
#include "tests/support/require.h"

namespace yard {
namespace {

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

TEST(TensorBoard, FileOfOneScalarIsNinetyBytesLong) {
  const std::string file =
      version_event(1'700'000'000) + scalar_event(7, 1'700'000'001.5, {{"train/return", 1.25}});
  EXPECT_EQ(file.size(), 90u);
  EXPECT_EQ(hex(file),
            "1800000000000000a37f4b220900000040fc54d9411a0d627261696e2e4576656e743a32eced8f9d220000"
            "000000000078113dfd0900006040fc54d94110072a150a130a0c747261696e2f72657475726e150000a03f"
            "889d5349");
}

// A Python with the package: $YARD_TENSORBOARD_PYTHON, else python3 of the path.
std::string python() {
  const char* named = std::getenv("YARD_TENSORBOARD_PYTHON");
  return named != nullptr && *named != 0 ? named : "python3";
}

bool has_tensorboard() {
  return std::system((python() + " -c 'import tensorboard' >/dev/null 2>&1").c_str()) == 0;
}

// Returns what TensorBoard reads from a run folder: {tag: [[step, value], ...]}.
nlohmann::json read_with_tensorboard(const std::filesystem::path& folder) {
  const std::filesystem::path script = folder / "read.py", out = folder / "read.json";
  write_file_atomic(script, R"(import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
events.Reload()
out = {}
for tag in events.Tags()["scalars"]:
    out[tag] = [[e.step, e.value] for e in events.Scalars(tag)]
for tag in events.Tags()["tensors"]:
    out[tag] = [[e.step, e.tensor_proto.float_val[0]] for e in events.Tensors(tag)]
print(json.dumps(out))
)");
  const std::string command =
      python() + " " + script.string() + " " + folder.string() + " > " + out.string();
  EXPECT_EQ(std::system(command.c_str()), 0);
  return nlohmann::json::parse(read_file(out), nullptr, false);
}

TEST(TensorBoard, ReadsTheEventsOfARun) {
  YARD_NEEDS(tensorboard, has_tensorboard(),
             "no Python with the package tensorboard (YARD_TENSORBOARD_PYTHON)");
  const AtomicDirectory temp(::testing::TempDir() + "/tensorboard");  // never committed: removed
  const auto folder = temp.temporary_path() / "run";
  {
    RunFolder run = RunFolder::create(folder, {}, {.command = "train"});
    run.add_metrics(0, {{"train/return", -2.5}});
    run.add_metrics(1, {{"train/return", -1.5}, {"validation/ratio", 0.75}});
    run.add_metrics(2, {{"train/return", std::numeric_limits<double>::quiet_NaN()}});
    run.set_state(RunState::kInterrupted);
  }
  EXPECT_EQ(read_with_tensorboard(folder),
            nlohmann::json::parse(
                R"({"train/return": [[0, -2.5], [1, -1.5]], "validation/ratio": [[1, 0.75]]})"));
  {
    RunFolder run = RunFolder::open(folder);
    run.drop_metrics_after(0);
    run.add_metrics(1, {{"train/return", -1.25}});
    run.add_metrics(300, {{"train/return", 1e-3}});
    run.set_state(RunState::kDone);
  }
  const nlohmann::json resumed = read_with_tensorboard(folder);
  ASSERT_EQ(resumed["train/return"].size(), 3u) << resumed;
  EXPECT_EQ(resumed["train/return"][1], nlohmann::json::parse("[1, -1.25]"));
  EXPECT_EQ(resumed["train/return"][2][0], 300);
  EXPECT_FLOAT_EQ(resumed["train/return"][2][1].get<float>(), 1e-3f);
}

}  // namespace
}  // namespace yard
