// Parses NODESxGPUS[:TYPE], parts joined by '+'.
#include <optional>
#include <string_view>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/cluster/parse.h"

namespace yard {

bool is_shorthand(const std::string& text) {
  const size_t digits = text.find_first_not_of("0123456789");
  return digits > 0 && digits != std::string::npos && text[digits] == 'x';
}

ClusterSpec from_shorthand(const std::string& text) {
  const std::string where = "cluster '" + text + "'";
  ClusterSpec spec;
  spec.text = text;
  for (const std::string_view part : split(text, '+')) {
    const size_t times = part.find('x');
    const size_t colon = std::min(part.find(':'), part.size());
    std::optional<int64_t> count, gpus;
    if (times < colon) {
      count = parse_int(part.substr(0, times));
      gpus = parse_int(part.substr(times + 1, colon - times - 1));
    }
    const std::string type(colon == part.size() ? kDefaultType : part.substr(colon + 1));
    if (!count || !gpus || type.empty()) {
      throw InputError(where, "NODESxGPUS[:TYPE], or several of these joined by '+'",
                       "'" + std::string(part) + "'");
    }
    if (*gpus < 1 || *gpus > kMaxGpusPerNode) {
      throw InputError(where, "1 to " + std::to_string(kMaxGpusPerNode) + " GPUs per node",
                       std::to_string(*gpus));
    }
    Node node;
    node.gpus = static_cast<int32_t>(*gpus);
    node.type = type_index(spec, type);
    add_nodes(spec, *count, node, type, where);
  }
  return spec;
}

}  // namespace yard
