#include "record/probes/session/watched_target.hpp"

#include "record/probes/events/process_records.hpp"
#include "record/processes/fields.hpp"
#include "record/processes/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <unistd.h>

namespace ptlens::record {
namespace {

// Returns the process of a thread.
std::int32_t process_of(std::int32_t tid) {
  constexpr std::string_view name = "\nTgid:\t";
  const std::string status = read_text(fmt::format("/proc/{}/status", tid)).value_or("");
  const std::size_t at = status.find(name);
  return at == std::string::npos
             ? tid
             : to_number<std::int32_t>(std::string_view(status).substr(at + name.size()))
                   .value_or(tid);
}

} // namespace

Watched watched_by(const Request& request, std::int32_t program) {
  Watched watched;
  const long cpus = ::sysconf(_SC_NPROCESSORS_CONF);
  for (int cpu = 0; cpu < cpus; ++cpu) {
    if (request.cpu.value_or(cpu) == cpu) {
      watched.cpus.push_back(cpu);
    }
  }
  if (program > 0) {
    watched.threads = {program};
  } else if (request.tid) {
    watched.threads = {*request.tid};
  } else if (request.pid) {
    watched.threads = threads_of(*request.pid);
    if (watched.threads.empty()) {
      watched.threads = {*request.pid};
    }
  }
  return watched;
}

Records records_of(const Request& request) {
  const auto attached = request.attached();
  Records records;
  for (const std::int32_t pid :
       attached ? std::vector<std::int32_t>{process_of(*attached)} : all_processes()) {
    Records more = process_records(pid);
    std::ranges::move(more, std::back_inserter(records));
  }
  return records;
}

} // namespace ptlens::record
