// While an object lives, any number of Ctrl-C and SIGTERM only set the flag of interrupt.h: for
// writes that must be complete.
#pragma once

#include <csignal>

namespace yard {

class HoldInterrupts {
 public:
  HoldInterrupts();
  ~HoldInterrupts();  // afterwards a second signal kills again
  HoldInterrupts(const HoldInterrupts&) = delete;

 private:
  struct sigaction before_[2];
};

}  // namespace yard
