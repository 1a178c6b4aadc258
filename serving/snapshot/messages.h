// Short namespace for the messages of the service.
#pragma once

#include "yardmaster/v1/policy.pb.h"

namespace yard {

namespace pb = ::yardmaster::v1;

}  // namespace yard
