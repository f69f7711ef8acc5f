// Interleaves the threads on the simulated processors: a conservative discrete-event simulation
// (Chandy and Misra). Each processor has its own clock on one global time; always the one that is
// furthest behind goes on, with one instruction or with the thread that it takes up next, so that
// what the threads do to the memory that they share happens in the order of simulated time.
//
// Which thread is preempted when, and where it goes on, is drawn from a seeded generator. A thread
// that waits in the kernel leaves its processor; one that sleeps comes back after the time it asked
// for, any other when the kernel has woken it: at the time of what woke it, or after the real time
// that passed where nothing else ran.
#pragma once

#include "code/process.hpp"
#include "recording/processor.hpp"
#include "recording/recorder.hpp"
#include "stepping/traced_thread.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace ptlens::ptsim {

struct StepperConfig {
  std::uint32_t processors = 2;
  std::uint64_t seed = 1;
  std::uint64_t slice_cycles = 60'000; // mean; 0: threads are never preempted
  std::uint64_t wait_scale = 1;        // waits take so many times the time that they really took
  bool inherit = true;                 // threads and processes that the traced ones make
  std::uint64_t start_ns = 0;
  ClockRates rates;
  std::vector<Lane> lanes; // of the recording
  TraceUnitConfig trace;
  AuxBufferConfig aux;
};

class Stepper {
public:
  Stepper(const StepperConfig& config, const Recorder& recorder);

  // How a thread's name and mappings are recorded that the kernel did not record as they came.
  struct Introduction {
    std::uint64_t ns = 0; // 0: perf makes the records up before it records
    bool exec = false;
  };
  // A stopped thread, traced from now on. Errors: gone, failed.
  Result<void> add(std::shared_ptr<Process> process, std::unique_ptr<Tracee> tracee,
                   const Introduction& introduction);
  [[nodiscard]] bool has_channel(pid_t tid) const { return channel_of(tid) != nullptr; }
  // waiting: every thread waits; the call is to be made again after a while.
  enum class Progress : std::uint8_t { stepped, switched, waiting, all_ended };
  // One step of one thread, or one switch. Errors: unsupported, failed.
  Result<Progress> turn();

  [[nodiscard]] const TracedThread* last() const { return last_; } // that was stepped
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] std::uint64_t calls() const { return calls_; } // of threads no longer traced
  [[nodiscard]] std::uint64_t trace_bytes() const;
  [[nodiscard]] std::uint64_t ns() const; // the latest time of all

  // As waitpid(2) has it, once the thread was waited for.
  [[nodiscard]] std::optional<int> exit_status(pid_t tid) const;

  // Hands a snapshot of every buffer to the file.
  void take_snapshot();
  // Tracing stops: what remains is written, and all threads run free.
  void stop();

private:
  enum class State : std::uint8_t { ready, running, waiting };
  struct Entry {
    std::unique_ptr<TracedThread> thread;
    State state = State::ready;
    std::uint64_t ready_at = 0; // sleeping: when its time is over
    bool sleeps = false;
    bool woke = false; // has waited: its stop is still to be looked at
    std::uint32_t last_processor = 0;
  };
  struct Choice {
    enum class What : std::uint8_t {
      nothing,
      step,    // the processor's thread goes on
      give_up, // what was not traced leaves the processor
      take_up, // an idle processor takes a thread that is ready
      await,   // the time of a sleeping thread is over
    } what = What::nothing;
    std::uint64_t at = ~std::uint64_t{0};
    Processor* processor = nullptr;
  };

  [[nodiscard]] Choice choose() const;
  Result<void> run(Processor& processor, Entry& entry, Result<Turn> turn);
  Result<void> take_up(std::uint64_t at);
  Result<void> take_up(Processor& processor, Entry& entry);
  Result<void> next_on(Processor& processor, bool preempted);
  Result<void> adopt_children(TracedThread& parent);
  Result<void> maybe_preempt(Processor& processor, Entry& entry);
  void occupy(Processor& processor, TracedThread* next, Task task, bool preempted);
  Result<void> begin(std::unique_ptr<TracedThread> thread);
  void announce(const TracedThread& thread);
  void thread_ended(Processor& processor, Entry& entry);
  bool look_for_woken();
  void pass_idle_time();
  void reap();
  void empty_buffers();
  [[nodiscard]] Entry* ready_by(std::uint64_t units); // one of those, drawn
  [[nodiscard]] Entry& entry_of(const TracedThread& thread);
  [[nodiscard]] TraceChannel* channel_of(pid_t tid) const;
  [[nodiscard]] std::size_t first_recorded() const; // of the lanes
  [[nodiscard]] std::uint64_t slice();              // units of the clocks
  [[nodiscard]] std::uint64_t units(std::uint64_t nanoseconds) const;
  [[nodiscard]] std::uint64_t drawn(std::uint64_t low, std::uint64_t high);

  StepperConfig config_;
  Recorder recorder_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Processor>> processors_;
  std::vector<std::unique_ptr<TraceChannel>> thread_channels_; // by lane, where per thread
  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<std::unique_ptr<TracedThread>> dying_; // ended, not yet waited for
  std::vector<std::pair<pid_t, int>> exit_statuses_;
  std::set<std::pair<std::size_t, pid_t>> announced_; // ITRACE_START by lane and root
  const TracedThread* last_ = nullptr;
  std::uint64_t steps_ = 0;
  std::uint64_t calls_ = 0;
  std::uint64_t now_ = 0;                   // of what was done last, units
  std::optional<std::uint64_t> idle_since_; // real time, ns
  bool may_have_woken_ = false;
};

} // namespace ptlens::ptsim
