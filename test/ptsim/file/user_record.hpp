// The records that perf itself adds to those of the kernel (tools/lib/perf/include/perf/event.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace ptlens::ptsim {

enum UserRecord : std::uint32_t {
  finished_round = 68,
  id_index = 69,
  auxtrace_info = 70,
  auxtrace = 71,
  thread_map = 73,
  time_conv = 79,
};

inline constexpr std::size_t thread_name_size = 16; // TASK_COMM_LEN

} // namespace ptlens::ptsim
