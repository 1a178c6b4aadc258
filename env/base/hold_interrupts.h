// While it stands, Ctrl-C and SIGTERM are noted (interrupt.h) however often they come, and nothing
// is cut short: for what must be written whole.
#pragma once

#include <csignal>

namespace yard {

class HoldInterrupts {
 public:
  HoldInterrupts();
  ~HoldInterrupts();  // from here on a second signal kills again
  HoldInterrupts(const HoldInterrupts&) = delete;

 private:
  struct sigaction before_[2];
};

}  // namespace yard
