// A whole `ptsim record`: finds or starts the target, traces it while enabled, writes the files.
#pragma once

#include "base/error.hpp"
#include "control.hpp"
#include "options.hpp"
#include "signals.hpp"
#include "traced_thread.hpp"
#include "tracee.hpp"

#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>

namespace ptlens::ptsim {

class Session {
public:
  explicit Session(Options options);

  // Returns ptsim's exit status: the program's own where ptsim started it, as perf has it.
  Result<int> run();

private:
  enum class Reason { ended, stopped, disabled, limit };

  Result<void> find_target();
  Result<void> start_companion();
  Result<void> open_files();
  Result<void> trace();
  Result<Reason> step_until_reason();
  Result<bool> run_to_start();
  Result<std::uint64_t> resolve(const std::string& place);
  void wait_until_enabled();
  void read_commands();
  [[nodiscard]] bool should_pause();
  [[nodiscard]] bool target_lives() const;
  int end_programs();

  Options options_;
  Signals signals_;
  Control control_;
  std::optional<Tracee> tracee_;
  pid_t pid_ = -1;
  pid_t tid_ = -1;
  pid_t companion_ = -1; // program that says how long to record another process
  bool launched_ = false;
  bool enabled_ = true;
  bool stop_ = false;
  bool limit_reached_ = false;
  bool ended_ = false;
  std::uint64_t stop_address_ = 0;
  std::optional<int> exit_status_;

  std::unique_ptr<Clock> clock_;
  std::optional<PerfDataWriter> file_;
  Places places_;
  std::ofstream truth_;
  std::ofstream branches_;
  std::unique_ptr<TracedThread> thread_;
};

} // namespace ptlens::ptsim
