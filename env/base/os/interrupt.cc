#include "env/base/os/interrupt.h"

namespace yard {

namespace {

volatile std::sig_atomic_t signalled = 0;

constexpr int kSignals[] = {SIGINT, SIGTERM};

void note(int) { signalled = 1; }

}  // namespace

void install_interrupt_handler() {
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

bool interrupted() { return signalled != 0; }

void throw_if_interrupted() {
  if (interrupted()) throw Interrupted();
}

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
