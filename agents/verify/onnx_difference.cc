#include "agents/verify/onnx_difference.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "env/base/core/check.h"
#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "policies/learned/golden.h"
#include "policies/learned/learned_policy.h"

namespace yard {
namespace {

constexpr int kNoRuntime = 3;  // the script's exit code

// Reads model.onnx and golden.safetensors (tensors.h, golden.h), writes answer.safetensors.
constexpr const char* kScript = R"(import json, sys
try:
    import numpy, onnxruntime
except ImportError as error:
    print(error)
    sys.exit(3)
folder = sys.argv[1]
with open(folder + "/golden.safetensors", "rb") as file:
    header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    numbers = file.read()
golden = {}
for name, tensor in header.items():
    begin, end = tensor["data_offsets"]
    golden[name] = numpy.frombuffer(numbers[begin:end], "<f4").reshape(tensor["shape"])
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(
    folder + "/model.onnx", options, providers=["CPUExecutionProvider"])
answer = numpy.zeros_like(golden["logits"])
for g, count in enumerate(golden["rows"].astype(int)):
    prior = golden["prior"][g]
    (logits,) = session.run(["logits"], {
        "rows": golden["jobs"][g][:count],
        "cluster": golden["cluster"][g],
        "prior": numpy.append(prior[:count], prior[-1:])})
    answer[g, :count], answer[g, -1] = logits[:-1], logits[-1]
text = json.dumps({"logits": {
    "dtype": "F32", "shape": answer.shape, "data_offsets": [0, answer.nbytes]}}).encode()
with open(folder + "/answer.safetensors", "wb") as file:
    file.write(len(text).to_bytes(8, "little") + text + answer.astype("<f4").tobytes())
print(onnxruntime.__version__)
)";

struct ExitResult {
  int code = 0;
  std::string last_line;
};

ExitResult run_shell(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw RunError("cannot run: " + command);
  std::string printed;
  std::array<char, 4096> piece;
  while (const size_t n = fread(piece.data(), 1, piece.size(), pipe)) {
    printed.append(piece.data(), n);
  }
  const int status = pclose(pipe);
  printed.erase(printed.find_last_not_of(" \n") + 1);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          printed.substr(printed.rfind('\n') + 1)};
}

std::string python() {
  const char* named = std::getenv("YARD_ONNX_PYTHON");
  return named != nullptr && *named != 0 ? named : "python3";
}

}  // namespace

OnnxDifference onnx_difference(const Checkpoint& checkpoint) {
  if (checkpoint.onnx.empty()) return {{}, "the checkpoint has no model.onnx"};
  // Never committed, so that the destructor removes it.
  const AtomicDirectory folder(std::filesystem::temp_directory_path() / "yardmaster-onnx");
  write_file_atomic(folder.temporary_path() / "model.onnx", checkpoint.onnx);
  write_file_atomic(folder.temporary_path() / "golden.safetensors",
                    to_safetensors(checkpoint.golden));
  write_file_atomic(folder.temporary_path() / "run.py", kScript);
  const std::string at = folder.temporary_path().string();
  const ExitResult ended = run_shell(fmt::format("'{}' '{}/run.py' '{}'", python(), at, at));
  const bool no_python = ended.code == 126 || ended.code == 127;  // exit codes of the shell
  if (no_python || ended.code == kNoRuntime) {
    return {{}, python() + " (YARD_ONNX_PYTHON): " + ended.last_line};
  }
  if (ended.code != 0) throw RunError("ONNX Runtime and model.onnx: " + ended.last_line);

  const std::string where = "the output of ONNX Runtime";
  const ObservationShape shape = make_agent(checkpoint.agent, {})->shape();
  const auto width = static_cast<size_t>(shape.actions());
  const auto golden = unpack_golden(checkpoint.golden, shape, "golden.safetensors");
  const Tensors answer =
      from_safetensors(read_file(folder.temporary_path() / "answer.safetensors"), where);
  const std::vector<float>& logits = answer.at("logits").data;
  YARD_CHECK(logits.size() == golden.size() * width, "one output per golden state");
  double most = 0;
  for (size_t g = 0; g < golden.size(); ++g) {
    most =
        std::max(most, golden[g].max_logit_difference(std::span(logits).subspan(g * width, width)));
  }
  return {most, "ONNX Runtime " + ended.last_line};
}

}  // namespace yard
