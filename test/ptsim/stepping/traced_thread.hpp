// One traced thread. Steps it and reports each step to the clock, the trace hardware, the truth and
// the recording.
#pragma once

#include "code/process.hpp"
#include "recording/processor.hpp"
#include "recording/recorder.hpp"
#include "stepping/tracee.hpp"
#include "truth/branch_log.hpp"
#include "truth/call_truth.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace ptlens::ptsim {

enum class Turn : std::uint8_t {
  went_on,
  waits, // in the kernel, for something that has not come yet
  ended, // its end is recorded with end()
};

class TracedThread {
public:
  // `root`: the thread whose event it inherited, itself if none. `own` is its trace buffer where
  // buffers are per thread, else null; not owned.
  TracedThread(const Recorder& recorder, std::shared_ptr<Process> process,
               std::unique_ptr<Tracee> tracee, pid_t root, TraceChannel* own);

  // The thread is stopped and from now on traced; `ns` of perf's clock. waits: it was stopped in a
  // system call that goes on waiting. Errors: gone, failed.
  Result<Turn> begin(std::uint64_t ns);

  [[nodiscard]] Task task() const { return {process_->pid(), tid_}; }
  [[nodiscard]] pid_t root() const { return root_; }
  [[nodiscard]] std::shared_ptr<Process> process() const { return process_; }
  [[nodiscard]] Tracee& tracee() { return *tracee_; }
  [[nodiscard]] std::uint64_t ip() const { return registers_.ip; }
  [[nodiscard]] std::uint64_t calls() const { return truth_.calls(); }

  // The processor that it runs on, null while it is switched out; and its trace buffer there.
  [[nodiscard]] Processor* processor() const { return processor_; }
  [[nodiscard]] TraceChannel& channel() const;
  void come_to(Processor& processor);
  void leave_processor();
  // How long it was switched out is counted between these.
  void switched_out();
  void switched_in();

  [[nodiscard]] Stamp stamp() const; // on its processor
  // What is new in its process, and its name.
  Result<void> record_mappings(const Stamp& at);
  void record_name(const Stamp& at, bool exec) const;

  // Whether the kernel was asked for anything in the last step.
  [[nodiscard]] bool was_in_kernel() const;

  // One instruction or signal, on its processor. Errors: unsupported, failed.
  Result<Turn> step();
  // After `waits`: what has stopped it since, if anything has.
  bool woken();
  // Back on a processor after that.
  Result<Turn> after_waiting();
  // Until when it sleeps, ns from the system call; nothing where it waits for something else.
  [[nodiscard]] std::optional<std::uint64_t> sleep_ns() const { return sleep_ns_; }
  // Whether it sleeps no longer because its time is over.
  [[nodiscard]] bool slept_well() const;

  // The kernel takes the processor from it.
  void preempt();
  // Its buffer must be read: the hardware stops and starts again.
  void stop_hardware(std::uint64_t aux_flags);
  void start_hardware();

  // Its life ends, on its processor; or tracing does, at `ns` where it has none.
  void end(bool ended, std::uint64_t ns);
  // execve by another thread than the first gives it that one's place.
  void take_over(TracedThread& leader, const Stop& stop);

private:
  struct Current { // the instruction about to be executed
    std::uint64_t ip = 0;
    Instruction instruction;
    std::uint64_t system_call = 0;
  };

  // Where an instruction can lead: one or two places; 0 where only its operands say so.
  struct Targets {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    [[nodiscard]] bool contain(std::uint64_t ip) const { return ip == first || ip == second; }
  };

  [[nodiscard]] Moment now() const;
  [[nodiscard]] TraceUnit& unit() const { return channel().unit(); }
  [[nodiscard]] std::uint64_t effective_ip() const;
  [[nodiscard]] bool slept_until(const Stop& stop) const; // to the end of the sleep it asked for
  Result<Current> current();
  Result<Turn> handle(const Stop& stop);
  Result<void> executed();
  // `sp`: the stack pointer before the instruction.
  [[nodiscard]] Targets targets(const Current& at, std::uint64_t sp) const;
  [[nodiscard]] bool is_where_it_leads() const;
  bool find_path(std::vector<Current>& path, std::uint64_t sp, std::uint64_t to, unsigned most);
  bool catch_up();
  void lose_trap(const std::optional<Stop>& stop);
  Result<void> system_call_over();
  Result<void> entered_handler();
  Result<void> replaced();
  Result<void> read_registers();
  void enter_kernel();
  void resume_user(std::uint64_t ip);
  void interrupt_user(bool at_end);
  void left_user();
  void retire(std::uint64_t next);
  void date_branches();
  void let_faults_happen();
  void fill_buffer();
  void end_abruptly();
  void begin_loss(std::uint64_t ns);
  void end_loss(std::uint64_t ns);
  [[nodiscard]] std::uint64_t word_at(std::uint64_t address) const;

  Recorder recorder_;
  std::shared_ptr<Process> process_;
  std::unique_ptr<Tracee> tracee_;
  pid_t tid_;
  pid_t root_;
  TraceChannel* own_;
  Processor* processor_ = nullptr;
  CallTruth truth_;
  BranchLog branches_;
  Registers registers_;
  Registers before_; // when `current_` was about to be executed
  Result<Current> current_;
  bool in_user_ = false;
  bool in_system_call_ = false; // that of `current_`
  std::optional<Stop> woken_by_;
  std::optional<std::uint64_t> sleep_ns_;
  std::uint64_t off_cpu_ns_ = 0;
  std::optional<std::uint64_t> out_since_; // ns
  std::optional<std::uint64_t> lost_since_;
  bool overflows_ = false;
  bool cut_is_due_ = false;   // by the next packet that has an address
  bool cut_ = false;          // the last packet is that
  bool told_by_next_ = false; // the last branch: no packet of its own says that it was reached
  std::uint64_t overflow_until_ = 0; // core cycles
  std::uint64_t complete_until_ = 0; // ns: every earlier branch has been sent
};

} // namespace ptlens::ptsim
