// Signals to ptsim itself, as a file that can be waited for: SIGINT and SIGTERM ask it to end,
// SIGUSR2 for a snapshot, SIGCHLD says that a traced thread stopped. Blocked while the object
// lives.
#pragma once

#include <csignal>
#include <span>

namespace ptlens::ptsim {

class Signals {
public:
  static constexpr int longest_wait_ms = 20; // for callers that must also check other conditions

  Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  Signals(Signals&&) = delete;
  Signals& operator=(Signals&&) = delete;
  ~Signals();

  // Whether SIGINT or SIGTERM has come since the object was made.
  [[nodiscard]] bool end_asked();
  // Whether SIGUSR2 has come since this was asked last.
  [[nodiscard]] bool snapshot_asked();

  // Returns when a signal has come, one of the files (-1: none) is readable, or the time is over.
  void wait(std::span<const int> files, int milliseconds);

  void restore_mask() const; // for a child before exec

private:
  void read_all();

  sigset_t before_{};
  int file_ = -1;
  bool end_asked_ = false;
  bool snapshot_asked_ = false;
};

} // namespace ptlens::ptsim
