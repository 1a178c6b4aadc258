// Records of a snapshot that make no sense, and are set aside so that the others can be decided.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "serving/snapshot/messages.h"

namespace yard {

// Returns the text, or its first bytes and "..." if it is long. Never cuts a character in two.
std::string shortened(std::string_view text);

class Quarantine {
 public:
  void add(pb::Quarantined::Record record, std::string_view id, std::string_view why,
           bool keeps_gpus = false);

  int64_t count() const { return count_; }
  // The first of them, with shortened ids.
  const std::vector<pb::Quarantined>& listed() const { return listed_; }

 private:
  int64_t count_ = 0;
  std::vector<pb::Quarantined> listed_;
};

}  // namespace yard
