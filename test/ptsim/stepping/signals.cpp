// signalfd(2).
#include "stepping/signals.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ptlens::ptsim {

Signals::Signals() {
  sigset_t set{};
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGUSR2);
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

void Signals::read_all() {
  signalfd_siginfo signal{};
  while (read(file_, &signal, sizeof signal) == sizeof signal) {
    end_asked_ = end_asked_ || signal.ssi_signo == SIGINT || signal.ssi_signo == SIGTERM;
    snapshot_asked_ = snapshot_asked_ || signal.ssi_signo == SIGUSR2;
  }
}

bool Signals::end_asked() {
  read_all();
  return end_asked_;
}

bool Signals::snapshot_asked() {
  read_all();
  return std::exchange(snapshot_asked_, false);
}

void Signals::wait(std::span<const int> files, int milliseconds) {
  std::vector<pollfd> polled{{file_, POLLIN, 0}};
  for (const int file : files) {
    polled.push_back({file, POLLIN, 0});
  }
  poll(polled.data(), polled.size(), milliseconds);
}

} // namespace ptlens::ptsim
