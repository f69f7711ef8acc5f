// The order of things in a recording.
#include "session.hpp"

#include "stepping/launch.hpp"
#include "stepping/threads.hpp"
#include "synth/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <sys/wait.h>
#include <unistd.h>

namespace ptlens::ptsim {
namespace {

constexpr std::uint64_t steps_between_checks = 256;

std::uint64_t monotonic_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

Result<void> open_log(std::ofstream& file, const std::string& path) {
  file.open(path, std::ios::trunc);
  if (!file) {
    return std::unexpected(
        Error{.message = std::strerror(errno), .file = path, .remedy = "choose another file"});
  }
  return {};
}

} // namespace

Session::Session(Options options)
    : options_(std::move(options)), enabled_(options_.start_enabled),
      faults_(std::make_unique<Faults>(options_.faults, options_.seed)) {}

Result<int> Session::run() {
  for (const std::string& warning : options_.warnings) {
    fmt::print(stderr, "ptsim: {}\n", warning);
  }
  Result<void> done = control_.open(options_.control);
  if (done) {
    done = find_target();
  }
  if (done) {
    done = start_companion();
  }
  while (done && !stop_ && !ended_) {
    read_commands();
    if (enabled_ && !limit_reached_) {
      done = begin_tracing();
      answer();
      if (done && tracing_) {
        done = step_until_told();
      }
    } else {
      stopped_.clear();
      answer();
      if (limit_reached_ && !launched_) {
        break;
      }
      wait_a_while();
      look_for_end();
    }
  }
  stopped_.clear();
  if (tracing_) {
    stepper_->stop();
  }
  answer();
  const int status = end_programs();
  if (done && !file_) { // never enabled: a recording without trace
    done = open_files();
  }
  if (done && file_) {
    if (options_.snapshot_at_end) {
      stepper_->take_snapshot();
    }
    done = file_->finish();
  }
  truth_.close();
  filtered_truth_.close();
  branches_.close();
  if (!done) {
    return std::unexpected(done.error());
  }
  fmt::print(stderr, "[ ptsim: {} steps, {} calls, {} bytes of simulated trace -> {} ]\n",
             stepper_->steps(), stepper_->calls(), stepper_->trace_bytes(), options_.output);
  return status;
}

Result<void> Session::find_target() {
  const bool beside = options_.system_wide && options_.program.empty();
  if (options_.pid || options_.tid || beside) {
    tid_ = beside ? options_.beside.front() : options_.tid.value_or(options_.pid.value_or(-1));
    auto process = process_of(tid_);
    if (!process) {
      return std::unexpected(process.error());
    }
    pid_ = *process;
    return {};
  }
  launched_ = true;
  if (getenv("LD_BIND_NOW") == nullptr) {
    fmt::print(stderr, "ptsim: LD_BIND_NOW=1 is set for the program\n");
  }
  auto launched = launch(options_.program, {"LD_BIND_NOW=1"}, signals_);
  if (!launched) {
    return std::unexpected(launched.error());
  }
  pid_ = tid_ = launched->tid();
  stopped_.push_back(std::make_unique<Tracee>(std::move(*launched)));
  return {};
}

// `perf record -p PID -- PROGRAM` records while the program runs.
Result<void> Session::start_companion() {
  if (launched_ || options_.program.empty()) {
    return {};
  }
  auto launched = launch(options_.program, {}, signals_);
  if (!launched) {
    return std::unexpected(launched.error());
  }
  companion_ = launched->tid();
  return {};
}

// What is to be traced, but what runs beside it.
Result<void> Session::attach() {
  if (auto attached = attach(pid_, options_.tid || (launched_ && options_.per_thread)); !attached) {
    return attached;
  }
  if (stopped_.empty()) {
    look_for_end();
    ended_ = true;
  }
  return {};
}

Result<void> Session::attach_beside() {
  for (const pid_t pid : options_.beside) {
    if (auto attached = attach(pid, false); !attached) {
      return attached;
    }
  }
  return {};
}

// All threads of the process, or the one asked for, stopped.
Result<void> Session::attach(pid_t pid, bool one) {
  bool all = false;
  while (!all) { // those that are not stopped yet may make more
    all = true;
    for (const pid_t tid : one ? std::vector{tid_} : threads_of(pid)) {
      if (std::ranges::any_of(stopped_, [tid](const auto& each) { return each->tid() == tid; })) {
        continue;
      }
      auto attached = Tracee::attach(tid, trace_options(launched_));
      if (!attached && attached.error().kind == Error::Kind::gone) {
        continue;
      }
      all = false;
      if (attached) {
        stopped_.push_back(std::make_unique<Tracee>(std::move(*attached)));
        adopt_children(*stopped_.back(), pid, one);
      } else if (tracer_of(tid) != getpid()) { // else one of ours has made it just now
        return std::unexpected(attached.error());
      }
    }
  }
  return {};
}

void Session::adopt_children(Tracee& parent, pid_t pid, bool alone) {
  const CpuSet cpus = parent.cpus();
  for (const pid_t child : parent.take_children()) {
    if (alone || process_of(child).value_or(-1) != pid) {
      let_child_go(child, cpus);
    } else {
      stopped_.push_back(std::make_unique<Tracee>(Tracee::adopt(child, cpus)));
    }
  }
}

// Returns false when the target ended first or ptsim was asked to stop.
Result<bool> Session::run_to_start() {
  std::uint64_t address = 0;
  if (options_.start_at.empty()) {
    address = launched_ ? program_entry(pid_) : 0;
  } else if (options_.start_at != "exec") {
    Process before(pid_, options_.filters);
    if (auto updated = before.update_mappings(); !updated) {
      return std::unexpected(updated.error());
    }
    auto resolved = resolve_place(pid_, before.places(), options_.start_at);
    if (!resolved) {
      return std::unexpected(resolved.error());
    }
    address = *resolved;
  }
  const auto registers = stopped_.front()->registers();
  if (address == 0 || (registers && registers->ip == address)) {
    return true;
  }
  auto reached = run_until(stopped_, address, signals_, [this] { return should_pause(); });
  if (reached && !*reached && !stopped_.empty() && stopped_.front()->is_gone()) {
    exit_status_ = stopped_.front()->exit_status();
    ended_ = true;
  }
  return reached;
}

Result<void> Session::open_files() {
  RecordingConfig config;
  const ClockRates rates;
  const std::uint64_t start_ns = monotonic_ns();
  config.path = options_.output;
  config.kernel = options_.kernel;
  std::optional<synth::Kernel> kernel;
  if (options_.keep_kernel) {
    kernel.emplace(synth::FunctionId{0});
    if (auto written = kernel->write(options_.output + "/kcore_dir"); !written) {
      return written;
    }
    config.path += "/data";
  }
  config.command_line = options_.command_line;
  config.event = options_.event;
  config.event_config = options_.event_config;
  config.per_thread = options_.per_thread;
  config.switch_events = options_.switch_events;
  config.privileged = !options_.unprivileged;
  config.inherit = !options_.per_thread && !options_.tid && !options_.system_wide;
  config.build_ids = options_.build_ids;
  config.snapshot = options_.snapshot;
  config.filter = resolved_text(options_.filters);
  config.rates = rates;
  config.conversion = Clock(rates, start_ns).conversion();
  config.threads = recorded_threads();
  config.lanes = lanes(config.threads);
  auto file = PerfDataWriter::create(config);
  if (!file) {
    return std::unexpected(file.error());
  }
  file_.emplace(std::move(*file));
  if (kernel) {
    file_->kernel_mapping(synth::Kernel::base, kernel->size(), synth::Kernel::build_id);
  }
  if (auto opened = open_logs(); !opened) {
    return opened;
  }
  CallTruth::write_header(truth_, rates.tsc_hz());
  StepperConfig stepper = stepper_config(config);
  stepper.start_ns = start_ns;
  const Recorder recorder{.file = &*file_,
                          .faults = faults_.get(),
                          .truth = &truth_,
                          .filtered_truth = options_.filters.empty() ? nullptr : &filtered_truth_,
                          .branches = options_.branches.empty() ? nullptr : &branches_,
                          .per_thread = options_.per_thread,
                          .system_wide = options_.system_wide,
                          .cpu_wide_switches = config.cpu_wide_switches()};
  stepper_ = std::make_unique<Stepper>(stepper, recorder);
  return {};
}

std::vector<RecordedThread> Session::recorded_threads() const {
  if (options_.system_wide) {
    return {{-1, ""}};
  }
  std::vector<RecordedThread> threads;
  for (const auto& thread : stopped_) {
    threads.push_back({thread->tid(), thread_name(thread->tid())});
  }
  if (threads.empty()) {
    threads.push_back({tid_, thread_name(tid_)});
  }
  return threads;
}

std::vector<Lane> Session::lanes(const std::vector<RecordedThread>& threads) const {
  std::vector<Lane> lanes;
  if (options_.per_thread) {
    for (const RecordedThread& thread : threads) {
      lanes.push_back({-1, thread.tid});
    }
    return lanes;
  }
  for (std::uint32_t cpu = 0; cpu < options_.cpus; ++cpu) {
    const bool traced = std::ranges::binary_search(options_.traced_cpus, cpu);
    lanes.push_back({.cpu = static_cast<std::int32_t>(cpu),
                     .tid = threads.front().tid,
                     .traced = traced,
                     .recorded = traced || options_.all_records});
  }
  return lanes;
}

Result<void> Session::open_logs() {
  if (auto opened = open_log(truth_, options_.truth); !opened) {
    return opened;
  }
  if (!options_.filters.empty()) {
    if (auto opened = open_log(filtered_truth_, options_.truth + ".filtered"); !opened) {
      return opened;
    }
  }
  return options_.branches.empty() ? Result<void>{} : open_log(branches_, options_.branches);
}

StepperConfig Session::stepper_config(const RecordingConfig& recording) const {
  return {.processors = options_.cpus,
          .seed = options_.seed,
          .slice_cycles = options_.slice_cycles,
          .wait_scale = options_.wait_scale,
          .inherit = recording.inherit || options_.system_wide,
          .rates = recording.rates,
          .lanes = recording.lanes,
          .trace = options_.trace,
          .aux = {.size = options_.aux_bytes,
                  .snapshot = options_.snapshot,
                  .snapshot_size = options_.snapshot_size}};
}

// perf makes up the names and mappings that were before it; what a program does that it started,
// the kernel records.
Result<void> Session::begin_tracing() {
  if (auto attached = attach(); !attached || ended_) {
    return attached;
  }
  const bool first = stepper_ == nullptr;
  if (first) {
    auto reached = run_to_start();
    if (!reached) {
      return std::unexpected(reached.error());
    }
    auto opened = open_files();
    if (!opened || !*reached) {
      return opened;
    }
  }
  if (auto attached = attach_beside(); !attached) {
    return attached;
  }
  for (auto& tracee : std::exchange(stopped_, {})) {
    const pid_t tid = tracee->tid();
    const bool per_thread_stranger = options_.per_thread && !stepper_->has_channel(tid);
    if (per_thread_stranger) { // made while tracing was disabled
      continue;
    }
    const bool started = launched_ && process_of(tid).value_or(-1) == pid_;
    const Stepper::Introduction introduction{first && !started ? 0 : stepper_->ns(),
                                             first && started};
    auto added =
        stepper_->add(process(process_of(tid).value_or(tid)), std::move(tracee), introduction);
    if (!added && added.error().kind != Error::Kind::gone) {
      return added;
    }
  }
  tracing_ = true;
  if (!options_.stop_at.empty() && stop_address_ == 0) {
    auto address = resolve_place(pid_, process(pid_)->places(), options_.stop_at);
    if (!address) {
      return std::unexpected(address.error());
    }
    stop_address_ = *address;
  }
  return {};
}

std::shared_ptr<Process> Session::process(pid_t pid) {
  auto& process = processes_[pid];
  if (process == nullptr) {
    process = std::make_shared<Process>(pid, options_.filters);
  }
  return process;
}

Result<void> Session::step_until_told() {
  while (true) {
    const auto progress = stepper_->turn();
    if (!progress) {
      return std::unexpected(progress.error());
    }
    if (launched_) {
      exit_status_ = stepper_->exit_status(pid_);
    }
    ended_ = *progress == Stepper::Progress::all_ended || exit_status_.has_value();
    limit_reached_ = at_limit();
    if (*progress == Stepper::Progress::waiting) {
      wait_a_while();
    }
    if (ended_ || limit_reached_ ||
        ((*progress == Stepper::Progress::waiting ||
          stepper_->steps() % steps_between_checks == 0) &&
         should_pause())) {
      stepper_->stop();
      tracing_ = false;
      return {};
    }
  }
}

bool Session::at_limit() const {
  const TracedThread* last = stepper_->last();
  return (options_.max_steps != 0 && stepper_->steps() >= options_.max_steps) ||
         (stop_address_ != 0 && last != nullptr && last->ip() == stop_address_);
}

void Session::wait_a_while() {
  const std::array<int, 1> files{control_.file()};
  signals_.wait(files, Signals::longest_wait_ms);
}

// While nothing is traced.
void Session::look_for_end() {
  int status = 0;
  if (launched_ && !exit_status_ && waitpid(pid_, &status, WNOHANG) == pid_) {
    exit_status_ = status;
  }
  ended_ = ended_ || exit_status_ || !target_lives();
  static_cast<void>(should_pause());
}

bool Session::target_lives() const {
  const auto lives = [](pid_t pid) { return kill(pid, 0) == 0 || errno == EPERM; };
  return lives(pid_) || (!launched_ && std::ranges::any_of(options_.beside, lives));
}

void Session::read_commands() {
  while (!answer_owed_) {
    const auto command = control_.next();
    if (!command) {
      break;
    }
    switch (command->what) {
    case Command::What::enable:
    case Command::What::disable:
      if (enable(*command)) {
        answer_owed_ = true; // once it has been done
        continue;
      }
      break;
    case Command::What::snapshot:
      if (options_.snapshot && tracing_) {
        stepper_->take_snapshot();
      }
      break;
    case Command::What::stop:
      stop_ = true;
      break;
    case Command::What::ping:
      break;
    case Command::What::evlist:
      fmt::print(stderr, "{}\n{}\n", options_.event, tracking_event_name);
      break;
    }
    control_.acknowledge();
  }
  if (signals_.snapshot_asked() && options_.snapshot && tracing_) {
    stepper_->take_snapshot();
  }
}

// Whether there is something to be done.
bool Session::enable(const Command& command) {
  if (command.argument.empty() || command.argument == options_.event) {
    const bool before = std::exchange(enabled_, command.what == Command::What::enable);
    return enabled_ != before;
  }
  if (command.argument != tracking_event_name) { // that one is always on
    fmt::print(stderr, "failed: can't find '{}' event\n", command.argument);
  }
  return false;
}

void Session::answer() {
  if (std::exchange(answer_owed_, false)) {
    control_.acknowledge();
  }
}

bool Session::should_pause() {
  read_commands();
  if (companion_ > 0 && waitpid(companion_, nullptr, WNOHANG) == companion_) {
    companion_ = -1;
    stop_ = true;
  }
  stop_ = stop_ || signals_.end_asked();
  return stop_ || !enabled_;
}

// A program that ptsim started ends with the recording, as perf has it.
int Session::end_programs() {
  int status = exit_status_.value_or(0);
  if (launched_ && pid_ > 0 && !exit_status_) {
    kill(pid_, SIGTERM);
    waitpid(pid_, &status, 0);
  }
  if (companion_ > 0) {
    kill(companion_, SIGTERM);
    waitpid(companion_, nullptr, 0);
  }
  return launched_ && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

} // namespace ptlens::ptsim
