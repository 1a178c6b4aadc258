// The shape of observations as networks and vectors of environments use it. It needs no LibTorch.
#pragma once

#include "env/task/observation.h"

namespace yard {

using EnvShape = TaskShape;

}  // namespace yard
