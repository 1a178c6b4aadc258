#include "env/base/os/hold_interrupts.h"

namespace yard {

namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

}  // namespace

HoldInterrupts::HoldInterrupts() {
  for (int i = 0; i < 2; ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    struct sigaction held = before_[i];
    if (held.sa_handler == SIG_DFL) {
      held.sa_handler = SIG_IGN;  // already noted once, or no handler is installed
    } else {
      held.sa_flags &= ~static_cast<int>(SA_RESETHAND);
    }
    sigaction(kSignals[i], &held, nullptr);
  }
}

HoldInterrupts::~HoldInterrupts() {
  for (int i = 0; i < 2; ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

}  // namespace yard
