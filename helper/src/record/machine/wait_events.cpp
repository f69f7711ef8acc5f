// Rights: perf_trace_event_perm() in the kernel's trace_event_perf.c. The payload of a tracepoint
// requires CAP_PERFMON or perf_event_paranoid -1.
#include "record/machine/wait_events.hpp"

#include "record/processes/files.hpp"

#include <fmt/format.h>

namespace ptlens::record {

Result<WaitEvents> find_wait_events(const Machine& machine) {
  if (!machine.rights.root && !machine.rights.perfmon && machine.paranoid > -1) {
    return std::unexpected(
        Error{.kind = Error::Kind::no_rights,
              .message = "tracepoints of the scheduler require the capability cap_perfmon",
              .remedy = "run ptlens with sudo, or give perf the capability cap_perfmon"});
  }
  if (machine.tracefs.empty()) {
    return std::unexpected(Error{.kind = Error::Kind::unsupported,
                                 .message = "tracefs is not mounted",
                                 .remedy = "sudo mount -t tracefs tracefs /sys/kernel/tracing"});
  }
  const auto id_of = [&](const char* name) {
    return read_number(fmt::format("{}/events/sched/{}/id", machine.tracefs, name)).value_or(0);
  };
  const std::int64_t switch_id = id_of("sched_switch");
  const std::int64_t waking_id = id_of("sched_waking");
  if (switch_id <= 0 || waking_id <= 0) {
    return std::unexpected(
        Error{.kind = Error::Kind::no_rights,
              .message =
                  fmt::format("the tracepoints in {}/events/sched cannot be read", machine.tracefs),
              .remedy = fmt::format("sudo chgrp -R \"$(id -gn)\" {0} && sudo chmod -R g+rX {0}",
                                    machine.tracefs)});
  }
  return WaitEvents{.switch_id = static_cast<std::uint64_t>(switch_id),
                    .waking_id = static_cast<std::uint64_t>(waking_id)};
}

Note waits_not_recorded(const std::string& why) {
  return make_note("waits_not_recorded",
                   "the recording does not contain what threads waited for, and who woke them: {}",
                   why);
}

Note outside_wakers_not_recorded(const std::string& why) {
  return make_note("outside_wakers_not_recorded",
                   "the recording does not name other processes that ended waits: {}", why);
}

std::optional<WaitEvents> choose_wait_events(const Request& request, const Machine& machine,
                                             std::vector<Note>& notes) {
  if (!request.waits) {
    return std::nullopt;
  }
  const auto found = find_wait_events(machine);
  if (!found) {
    notes.push_back(waits_not_recorded(found.error().one_line()));
    return std::nullopt;
  }
  return *found;
}

} // namespace ptlens::record
