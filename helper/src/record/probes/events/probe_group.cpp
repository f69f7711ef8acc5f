// Probe events in tracefs. One write to uprobe_events defines one probe; a definition under a name
// that exists appends a probe to that event.
#include "record/probes/events/probe_group.hpp"

#include "record/machine/machine.hpp"
#include "record/processes/files.hpp"
#include "record/processes/process_stat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <thread>
#include <unistd.h>

namespace ptlens::record {
namespace {

constexpr std::string_view prefix = "ptlens_";

// Returns 0 or the errno.
int append(const std::string& tracefs, const std::string& line) {
  const Descriptor file(
      ::open((tracefs + "/uprobe_events").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!file.valid()) {
    return errno;
  }
  const std::string text = line + "\n";
  return ::write(file.get(), text.data(), text.size()) < 0 ? errno : 0;
}

// Returns EBUSY only when perf does not close the event for 3 s.
int remove_event(const std::string& tracefs, const std::string& event) {
  constexpr int attempts = 150;
  constexpr std::chrono::milliseconds pause(20);
  int reason = 0;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    reason = append(tracefs, "-:" + event);
    if (reason != EBUSY) {
      break;
    }
    std::this_thread::sleep_for(pause);
  }
  return reason == ENOENT ? 0 : reason;
}

Error access_error(const std::string& tracefs, int reason) {
  const std::string file = tracefs + "/uprobe_events";
  if (reason == EACCES || reason == EPERM) {
    return Error{.kind = Error::Kind::no_rights,
                 .message = "only root can set probes",
                 .file = file,
                 .remedy = "run the same command with sudo"};
  }
  return Error{.kind = Error::Kind::unsupported,
               .message = fmt::format("probes cannot be set: {}", std::strerror(reason)),
               .file = file,
               .remedy = "use a kernel with CONFIG_UPROBE_EVENTS=y"};
}

template <class Number>
bool take_number(std::string_view& text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) {
    return false;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

std::set<std::string> our_events(std::string_view definitions) {
  std::set<std::string> events;
  while (!definitions.empty()) {
    const std::size_t end = std::min(definitions.find('\n'), definitions.size());
    if (auto event = parse_definition(definitions.substr(0, end))) {
      events.insert(std::move(*event));
    }
    definitions.remove_prefix(std::min(end + 1, definitions.size()));
  }
  return events;
}

} // namespace

std::optional<ProbeOwner> parse_group(std::string_view group) {
  if (!group.starts_with(prefix)) {
    return std::nullopt;
  }
  group.remove_prefix(prefix.size());
  ProbeOwner owner;
  if (!take_number(group, owner.pid) || owner.pid <= 0 || !group.starts_with('_')) {
    return std::nullopt;
  }
  group.remove_prefix(1);
  if (!take_number(group, owner.start_time)) {
    return std::nullopt;
  }
  if (group.empty()) {
    return owner;
  }
  group.remove_prefix(1);
  std::uint64_t serial = 0;
  return take_number(group, serial) && group.empty() ? std::optional(owner) : std::nullopt;
}

std::optional<std::string> parse_definition(std::string_view line) {
  if (line.size() < 2 || (line[0] != 'p' && line[0] != 'r') || line[1] != ':') {
    return std::nullopt;
  }
  const std::string_view event = line.substr(2, line.find(' ') - 2);
  return event.find('/') == std::string_view::npos ? std::nullopt
                                                   : std::optional<std::string>(event);
}

std::optional<std::uint32_t> field_offset(std::string_view format, std::string_view field) {
  const std::size_t name = format.find(fmt::format(" {};\toffset:", field));
  if (name == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view rest = format.substr(format.find("offset:", name) + std::strlen("offset:"));
  std::uint32_t offset = 0;
  return take_number(rest, offset) && rest.starts_with(";\tsize:8;") ? std::optional(offset)
                                                                     : std::nullopt;
}

Result<ProbeGroup> ProbeGroup::make(const std::string& tracefs) {
  if (tracefs.empty()) {
    return std::unexpected(Error{.kind = Error::Kind::unsupported,
                                 .message = "probes cannot be set: tracefs is not mounted",
                                 .remedy = "sudo mount -t tracefs nodev /sys/kernel/tracing"});
  }
  const Descriptor file(
      ::open((tracefs + "/uprobe_events").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!file.valid()) {
    return std::unexpected(access_error(tracefs, errno));
  }
  static std::atomic<unsigned> serial = 0;
  const std::int32_t pid = ::getpid();
  const auto self = process_stat(pid);
  return ProbeGroup(tracefs, fmt::format("{}{}_{}_{}", prefix, pid, self ? self->start_time : 0,
                                         serial.fetch_add(1)));
}

ProbeGroup::ProbeGroup(ProbeGroup&& other) noexcept
    : tracefs_(std::move(other.tracefs_)), name_(std::move(other.name_)),
      events_(std::exchange(other.events_, {})), files_(std::move(other.files_)) {}

ProbeGroup::~ProbeGroup() {
  // A destructor cannot report an error; a later helper removes the remaining probes.
  [[maybe_unused]] const Result<void> removed = remove();
}

Result<int> ProbeGroup::open_file(const std::string& file) {
  const auto known = files_.find(file);
  if (known != files_.end()) {
    return known->second.get();
  }
  Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened.valid()) {
    const int reason = errno;
    return std::unexpected(
        Error{.kind = reason == ENOENT   ? Error::Kind::not_found
                      : reason == EACCES ? Error::Kind::no_rights
                                         : Error::Kind::failed,
              .message = fmt::format("cannot be opened: {}", std::strerror(reason)),
              .file = file});
  }
  return files_.emplace(file, std::move(opened)).first->second.get();
}

Result<void> ProbeGroup::add(const std::string& event, const std::string& file,
                             std::uint64_t offset, const std::string& arguments) {
  return define('p', event, file, offset, arguments);
}

Result<void> ProbeGroup::add_return(const std::string& event, const std::string& file,
                                    std::uint64_t offset) {
  return define('r', event, file, offset, "sp=%sp:u64");
}

Result<void> ProbeGroup::define(char type, const std::string& event, const std::string& file,
                                std::uint64_t offset, std::string_view arguments) {
  const Result<int> descriptor = open_file(file);
  if (!descriptor) {
    return std::unexpected(descriptor.error());
  }
  const int reason =
      append(tracefs_, fmt::format("{}:{}/{} /proc/{}/fd/{}:{:#x} {}", type, name_, event,
                                   ::getpid(), *descriptor, offset, arguments));
  if (reason == EACCES || reason == EPERM) {
    return std::unexpected(access_error(tracefs_, reason));
  }
  if (reason != 0) {
    return std::unexpected(
        Error{.message = fmt::format("the kernel refused a probe: {}", std::strerror(reason)),
              .file = file,
              .offset = offset});
  }
  if (std::ranges::find(events_, event) == events_.end()) {
    events_.push_back(event);
  }
  return {};
}

Result<std::uint64_t> ProbeGroup::event_id(const std::string& event,
                                           const std::vector<std::string>& fields) const {
  std::vector<std::string> all = fields;
  all.insert(all.begin(), "__probe_ip");
  return checked_id(event, all);
}

Result<std::uint64_t> ProbeGroup::return_event_id(const std::string& event) const {
  return checked_id(event, {"__probe_func", "__probe_ret_ip", "sp"});
}

Result<std::uint64_t> ProbeGroup::checked_id(const std::string& event,
                                             const std::vector<std::string>& fields) const {
  const std::string folder = fmt::format("{}/events/{}/{}/", tracefs_, name_, event);
  const std::string format = read_text(folder + "format").value_or("");
  std::uint32_t expected = 8;
  for (const std::string& field : fields) {
    if (field_offset(format, field) != expected) {
      return std::unexpected(
          Error{.kind = Error::Kind::unsupported,
                .message = fmt::format("field {} of a probe is not at byte {}", field, expected),
                .file = folder + "format",
                .remedy = "report this with the kernel's version and that file"});
    }
    expected += 8;
  }
  const auto id = read_number(folder + "id");
  if (!id || *id <= 0) {
    return std::unexpected(Error{.kind = Error::Kind::unsupported,
                                 .message = "the file contains no event number",
                                 .file = folder + "id"});
  }
  return static_cast<std::uint64_t>(*id);
}

Result<void> ProbeGroup::remove() {
  int first_reason = 0;
  for (const std::string& event : events_) {
    const int reason = remove_event(tracefs_, name_ + "/" + event);
    first_reason = first_reason == 0 ? reason : first_reason;
  }
  if (first_reason != 0) {
    return std::unexpected(Error{.message = fmt::format("probes {} could not be removed: {}", name_,
                                                        std::strerror(first_reason)),
                                 .file = tracefs_ + "/uprobe_events",
                                 .remedy = "exit ptlens; the next recording removes them"});
  }
  events_.clear();
  return {};
}

Result<std::size_t> remove_stale_probes() {
  const std::string tracefs = read_machine("").tracefs;
  if (tracefs.empty()) {
    return 0;
  }
  const auto definitions = read_text(tracefs + "/uprobe_events", std::size_t{16} << 20);
  if (!definitions) {
    const int reason = errno;
    return std::unexpected(access_error(tracefs, reason));
  }
  std::size_t removed = 0;
  for (const std::string& event : our_events(*definitions)) {
    const auto owner = parse_group(std::string_view(event).substr(0, event.find('/')));
    if (!owner || is_running(owner->pid, owner->start_time)) {
      continue;
    }
    const int reason = remove_event(tracefs, event);
    if (reason != 0) {
      return std::unexpected(
          Error{.message = fmt::format("probe {} of an earlier run could not be removed: {}", event,
                                       std::strerror(reason)),
                .file = tracefs + "/uprobe_events",
                .remedy = "end the perf process that still uses it"});
    }
    ++removed;
  }
  return removed;
}

} // namespace ptlens::record
