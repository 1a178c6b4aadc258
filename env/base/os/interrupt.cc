#include "env/base/os/interrupt.h"

#include <csignal>

namespace yard {

namespace {

volatile std::sig_atomic_t signalled = 0;

void note(int) { signalled = 1; }

}  // namespace

void install_interrupt_handler() {
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return signalled != 0; }

void throw_if_interrupted() {
  if (interrupted()) throw Interrupted();
}

}  // namespace yard
