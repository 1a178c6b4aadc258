// Includes the part of LibTorch in use, since torch/torch.h takes almost twice as long to compile.
#pragma once

#include <torch/autograd.h>
#include <torch/nn/functional/loss.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/container/functional.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>
#include <torch/serialize/archive.h>
#include <torch/types.h>
