// A whole `ptsim record`: finds or starts the target, traces it while enabled, writes the files.
#pragma once

#include "base/error.hpp"
#include "command/control.hpp"
#include "command/options.hpp"
#include "recording/recorder.hpp"
#include "stepping/signals.hpp"
#include "stepping/start_point.hpp"
#include "stepping/stepper.hpp"

#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <optional>

namespace ptlens::ptsim {

class Session {
public:
  explicit Session(Options options);

  // Returns ptsim's exit status: the program's own where ptsim started it, as perf has it.
  Result<int> run();

private:
  Result<void> find_target();
  Result<void> start_companion();
  Result<void> attach();
  Result<void> attach_beside();
  Result<void> attach(pid_t pid, bool one);
  void adopt_children(Tracee& parent, pid_t pid, bool alone);
  Result<bool> run_to_start();
  Result<void> open_files();
  [[nodiscard]] std::vector<RecordedThread> recorded_threads() const;
  [[nodiscard]] std::vector<Lane> lanes(const std::vector<RecordedThread>& threads) const;
  Result<void> open_logs();
  [[nodiscard]] std::shared_ptr<Process> process(pid_t pid);
  [[nodiscard]] StepperConfig stepper_config(const RecordingConfig& recording) const;
  Result<void> begin_tracing();
  Result<void> step_until_told();
  [[nodiscard]] bool at_limit() const;
  void read_commands();
  [[nodiscard]] bool enable(const Command& command);
  void answer();
  [[nodiscard]] bool should_pause();
  void wait_a_while();
  void look_for_end();
  [[nodiscard]] bool target_lives() const;
  int end_programs();

  Options options_;
  Signals signals_;
  Control control_;
  Tracees stopped_; // threads to be traced, before they are
  pid_t pid_ = -1;
  pid_t tid_ = -1;
  pid_t companion_ = -1; // program that says how long to record another process
  bool launched_ = false;
  bool enabled_ = true;
  bool answer_owed_ = false; // to the command that has changed `enabled_`
  bool tracing_ = false;
  bool stop_ = false;
  bool limit_reached_ = false;
  bool ended_ = false;
  std::uint64_t stop_address_ = 0;
  std::optional<int> exit_status_;

  std::optional<PerfDataWriter> file_;
  std::ofstream truth_;
  std::ofstream filtered_truth_;
  std::ofstream branches_;
  std::unique_ptr<Faults> faults_;
  std::map<pid_t, std::shared_ptr<Process>> processes_; // by pid, those that were found or started
  std::unique_ptr<Stepper> stepper_;
};

} // namespace ptlens::ptsim
