// Gives the namespace of the service's messages the short name `pb`.
#pragma once

#include <google/protobuf/arena.h>
#include <google/protobuf/message.h>

#include <cstddef>

#include "yardmaster/v1/policy.pb.h"

namespace yard {

namespace pb = ::yardmaster::v1;

// Returns the memory of a message in bytes. For a message that does not lie on an arena, returns
// the size of the serialised message.
inline size_t memory_bytes(const google::protobuf::Message& message) {
  const google::protobuf::Arena* arena = message.GetArena();
  return arena == nullptr ? message.ByteSizeLong() : arena->SpaceAllocated();
}

}  // namespace yard
