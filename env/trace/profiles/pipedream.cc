// Layer graphs published with PipeDream (SOSP 2019): `MODEL.graph.txt`. Only the bytes of
// parameters, which equal those of gradients, are read: the GPU of the measured times is not named.
#include "env/base/config/registry.h"
#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/trace/profiles/measurement_table.h"
#include "env/trace/profiles/profile.h"

namespace yard {
namespace {

constexpr std::string_view kSize = "parameter_size=";

struct PipeDream final : ProfileReader {
  bool recognises(const FileHead& head) const override {
    const std::string_view line = head.line(1);
    return line.starts_with("node") && line.find(kSize) != std::string_view::npos;
  }

  void read(Lines& lines, Profiles& out) const override {
    double bytes = 0;
    std::string_view line;
    while (lines.next(line)) {
      if (line.empty() || line.front() == '\t') continue;  // an edge
      const size_t found = line.rfind(kSize);
      const size_t at = found == std::string_view::npos ? 0 : found + kSize.size();
      const auto size = parse_double(trim(line.substr(at)));
      if (at == 0 || !size || *size < 0 || *size > MeasurementTable::kMax) {
        const std::string where = lines.name() + ":" + std::to_string(lines.line_number()) + ":";
        throw InputError(where + std::to_string(at + 1),
                         "parameter_size=BYTES at the end of the line",
                         "'" + std::string(line.substr(at)) + "'");
      }
      bytes += *size;
    }
    out.sizes.push_back({file_stem(lines.name()), bytes});
  }
};

const Registry<ProfileReader>::Add<PipeDream> kAdd{
    "pipedream",
    {.help = "parameters of models, layer by layer (PipeDream, SOSP 2019)",
     .example_path = "resnet50.graph.txt",
     .example = "node1 -- Linear(4, 2) -- forward_compute_time=1.0, backward_compute_time=2.0, "
                "activation_size=64.0, parameter_size=40.000\n"
                "\tnode1 -- node2\n"
                "node2 -- ReLU() -- forward_compute_time=0.1, backward_compute_time=0.1, "
                "activation_size=64.0, parameter_size=0.000\n"}};

}  // namespace
}  // namespace yard
