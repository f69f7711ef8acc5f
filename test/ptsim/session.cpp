// The order of things in a recording.
#include "session.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <ctime>
#include <elf.h>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

namespace ptlens::ptsim {
namespace {

constexpr int look_around_ms = 20;
constexpr std::uint64_t steps_between_looks = 256;

std::uint64_t monotonic_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

Result<pid_t> process_of(pid_t tid) {
  std::ifstream status(fmt::format("/proc/{}/status", tid));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Tgid:")) {
      return static_cast<pid_t>(std::strtol(line.c_str() + 5, nullptr, 10));
    }
  }
  return std::unexpected(
      Error{.kind = Error::Kind::gone, .message = fmt::format("there is no thread {}", tid)});
}

std::string executable(pid_t pid) {
  std::error_code failed;
  return std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), failed).string();
}

// AT_ENTRY: the program's own first instruction, after the dynamic linker's work.
std::uint64_t program_entry(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/auxv", pid), std::ios::binary);
  Elf64_auxv_t entry{};
  while (file.read(reinterpret_cast<char*>(&entry), sizeof entry)) {
    if (entry.a_type == AT_ENTRY) {
      return entry.a_un.a_val;
    }
  }
  return 0;
}

std::size_t thread_count(pid_t pid) {
  std::error_code failed;
  const std::filesystem::directory_iterator tasks(fmt::format("/proc/{}/task", pid), failed);
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

Error cannot_write(const std::string& path) {
  return Error{.message = std::strerror(errno), .file = path, .remedy = "choose another file"};
}

} // namespace

Session::Session(Options options)
    : options_(std::move(options)), control_(options_.control, options_.acknowledgement),
      enabled_(options_.start_enabled) {}

Result<int> Session::run() {
  for (const std::string& warning : options_.warnings) {
    fmt::print(stderr, "ptsim: {}\n", warning);
  }
  Result<void> done = find_target();
  if (done) {
    done = start_companion();
  }
  while (done && !stop_ && !ended_) {
    read_commands();
    if (!enabled_ || limit_reached_) {
      if (tracee_) {
        tracee_->detach();
        tracee_.reset();
      }
      if (limit_reached_ && !launched_) {
        break;
      }
      wait_until_enabled();
    } else {
      done = trace();
    }
  }
  tracee_.reset();
  const int status = end_programs();
  if (done && !file_) { // never enabled: a recording without trace
    done = open_files();
  }
  if (done) {
    done = file_->finish();
  }
  truth_.close();
  branches_.close();
  if (!done) {
    return std::unexpected(done.error());
  }
  fmt::print(stderr, "[ ptsim: {} steps, {} calls, {} bytes of simulated trace -> {} ]\n",
             thread_ ? thread_->steps() : 0, thread_ ? thread_->calls() : 0,
             thread_ ? thread_->trace_bytes() : 0, options_.output);
  return status;
}

Result<void> Session::find_target() {
  if (options_.pid || options_.tid) {
    tid_ = options_.tid.value_or(options_.pid.value_or(-1));
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
  auto launched = Tracee::launch(options_.program, {"LD_BIND_NOW=1"}, signals_);
  if (!launched) {
    return std::unexpected(launched.error());
  }
  tracee_.emplace(std::move(*launched));
  pid_ = tid_ = tracee_->pid();
  return {};
}

// `perf record -p PID -- PROGRAM` records while the program runs.
Result<void> Session::start_companion() {
  if (launched_ || options_.program.empty()) {
    return {};
  }
  auto launched = Tracee::launch(options_.program, {}, signals_);
  if (!launched) {
    return std::unexpected(launched.error());
  }
  companion_ = launched->pid();
  return {};
}

Result<void> Session::open_files() {
  clock_ = std::make_unique<Clock>(ClockRates{}, monotonic_ns());
  RecordingConfig config;
  config.path = options_.output;
  config.command_line = options_.command_line;
  config.event = options_.event;
  config.event_config = options_.event_config;
  config.per_thread = options_.per_thread;
  config.switch_events = options_.switch_events;
  config.build_ids = options_.build_ids;
  config.inherit = !options_.per_thread;
  config.lanes = {options_.per_thread ? Lane{-1, tid_} : Lane{0, tid_}};
  config.threads = {{tid_, thread_name(tid_)}};
  config.rates = clock_->rates();
  config.conversion = clock_->conversion();
  auto file = PerfDataWriter::create(config);
  if (!file) {
    return std::unexpected(file.error());
  }
  file_.emplace(std::move(*file));
  const Stamp stamp{.time = launched_ ? clock_->ns() : 0, .task = {pid_, tid_}};
  file_->comm(stamp, config.threads.front().name, launched_);
  truth_.open(options_.truth, std::ios::trunc);
  if (!truth_) {
    return std::unexpected(cannot_write(options_.truth));
  }
  if (!options_.branches.empty()) {
    branches_.open(options_.branches, std::ios::trunc);
    if (!branches_) {
      return std::unexpected(cannot_write(options_.branches));
    }
  }
  return {};
}

Result<void> Session::trace() {
  if (!tracee_) {
    auto attached = Tracee::attach(pid_, tid_, signals_);
    if (!attached) {
      ended_ = !target_lives();
      return ended_ && thread_ ? Result<void>{} : std::unexpected(attached.error());
    }
    tracee_.emplace(std::move(*attached));
    if (thread_count(pid_) > 1) {
      fmt::print(stderr, "ptsim: only thread {} is traced; the others run free\n", tid_);
    }
  }
  if (!thread_) {
    auto reached = run_to_start();
    if (!reached) {
      return std::unexpected(reached.error());
    }
    ended_ = tracee_->exit_status().has_value();
    if (auto opened = open_files(); !opened || !*reached) {
      exit_status_ = tracee_->exit_status();
      return opened;
    }
    const Recorder recorder{clock_.get(), &*file_, &places_, &truth_,
                            options_.branches.empty() ? nullptr : &branches_};
    thread_ =
        std::make_unique<TracedThread>(recorder, options_.trace, options_.aux_bytes, pid_, tid_);
  }
  const std::uint64_t mappings_time = launched_ || thread_->steps() > 0 ? clock_->ns() : 0;
  if (auto begun = thread_->begin(*tracee_, mappings_time); !begun) {
    if (begun.error().kind != Error::Kind::gone) {
      return begun;
    }
    tracee_->await_end();
    exit_status_ = tracee_->exit_status();
    ended_ = true;
    thread_->end(true);
    return {};
  }
  if (!options_.stop_at.empty() && stop_address_ == 0) {
    auto address = resolve(options_.stop_at);
    if (!address) {
      return std::unexpected(address.error());
    }
    stop_address_ = *address;
  }
  auto reason = step_until_reason();
  ended_ = reason && *reason == Reason::ended;
  limit_reached_ = reason && *reason == Reason::limit;
  exit_status_ = tracee_->exit_status();
  thread_->end(ended_);
  return reason ? Result<void>{} : std::unexpected(reason.error());
}

Result<Session::Reason> Session::step_until_reason() {
  const auto give_up = [this] { return should_pause(); };
  while (true) {
    auto more = thread_->step(*tracee_, give_up);
    if (!more) {
      return std::unexpected(more.error());
    }
    if (tracee_->exit_status()) {
      return Reason::ended;
    }
    if (thread_->ip() == stop_address_ && stop_address_ != 0) {
      return Reason::limit;
    }
    if (options_.max_steps != 0 && thread_->steps() >= options_.max_steps) {
      return Reason::limit;
    }
    if (!*more || (thread_->steps() % steps_between_looks == 0 && should_pause())) {
      return stop_ ? Reason::stopped : Reason::disabled;
    }
  }
}

// False: the target ended first, or ptsim was told to stop.
Result<bool> Session::run_to_start() {
  std::uint64_t address = 0;
  if (options_.start_at.empty()) {
    address = launched_ ? program_entry(pid_) : 0;
  } else if (options_.start_at != "exec") {
    auto mappings = executable_mappings(pid_);
    if (!mappings) {
      return std::unexpected(mappings.error());
    }
    places_.set_mappings(std::move(*mappings), {});
    auto resolved = resolve(options_.start_at);
    places_.set_mappings({}, {});
    if (!resolved) {
      return std::unexpected(resolved.error());
    }
    address = *resolved;
  }
  const auto registers = tracee_->registers();
  if (address == 0 || (registers && registers->ip == address)) {
    return true;
  }
  return tracee_->run_until(address, [this] { return should_pause(); });
}

Result<std::uint64_t> Session::resolve(const std::string& place) {
  const std::string binary = executable(pid_);
  std::uint64_t address = 0;
  if (place.starts_with("0x")) {
    std::from_chars(place.data() + 2, place.data() + place.size(), address, 16);
    const std::uint64_t in_binary = places_.find(binary, address);
    address = in_binary != 0 ? in_binary : address;
  } else {
    address = places_.find(binary, place);
  }
  if (address == 0) {
    return std::unexpected(Error{.kind = Error::Kind::not_found,
                                 .message = fmt::format("there is no function '{}'", place),
                                 .file = binary,
                                 .remedy = "give a name or address that nm prints"});
  }
  return address;
}

void Session::wait_until_enabled() {
  const std::array<int, 1> files{control_.file()};
  signals_.wait(files, look_around_ms);
  if (launched_ && !exit_status_) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      exit_status_ = status;
    }
  }
  ended_ = ended_ || exit_status_ || !target_lives();
  if (should_pause() && stop_) {
    return;
  }
}

bool Session::target_lives() const {
  return kill(pid_, 0) == 0 || errno == EPERM;
}

void Session::read_commands() {
  while (const auto command = control_.next()) {
    switch (*command) {
    case Control::Command::enable:
      enabled_ = true;
      break;
    case Control::Command::disable:
      enabled_ = false;
      break;
    case Control::Command::stop:
      stop_ = true;
      break;
    case Control::Command::ping:
      break;
    }
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
