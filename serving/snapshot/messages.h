// Gives the namespace of the service's messages the short name `pb`.
#pragma once

#include "yardmaster/v1/policy.pb.h"

namespace yard {

namespace pb = ::yardmaster::v1;

}  // namespace yard
