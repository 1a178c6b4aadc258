// The messages of the service under a short name.
#pragma once

#include "yardmaster/v1/policy.pb.h"

namespace yard {

namespace pb = ::yardmaster::v1;

}  // namespace yard
