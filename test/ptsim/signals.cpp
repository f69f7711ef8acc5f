// signalfd(2).
#include "signals.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <vector>

namespace ptlens::ptsim {

Signals::Signals() {
  sigset_t set{};
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, &before_);
  file_ = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

Signals::~Signals() {
  close(file_);
  restore_mask();
}

void Signals::restore_mask() const {
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

bool Signals::end_asked() {
  signalfd_siginfo signal{};
  while (read(file_, &signal, sizeof signal) == sizeof signal) {
    end_asked_ = end_asked_ || signal.ssi_signo != SIGCHLD;
  }
  return end_asked_;
}

void Signals::wait(std::span<const int> files, int milliseconds) {
  std::vector<pollfd> polled{{file_, POLLIN, 0}};
  for (const int file : files) {
    polled.push_back({file, POLLIN, 0});
  }
  poll(polled.data(), polled.size(), milliseconds);
}

} // namespace ptlens::ptsim
