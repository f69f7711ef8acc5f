#include "record/processes/process_stat.hpp"

#include "record/processes/fields.hpp"
#include "record/processes/files.hpp"

#include <fmt/format.h>

namespace ptlens::record {

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  ProcessStat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  std::string_view rest = text.substr(close + 1);
  const std::string_view state = next_field(rest);
  const auto parent = to_number<std::int32_t>(next_field(rest));
  const auto skip = [&rest](int fields) {
    for (int field = 0; field < fields; ++field) {
      next_field(rest);
    }
  };
  skip(9); // 5 to 13
  const auto user_time = to_number<std::uint64_t>(next_field(rest));
  const auto kernel_time = to_number<std::uint64_t>(next_field(rest));
  skip(4); // 16 to 19
  const auto threads = to_number<std::uint32_t>(next_field(rest));
  skip(1);
  const auto start_time = to_number<std::uint64_t>(next_field(rest));
  if (state.size() != 1 || !parent || !start_time) {
    return std::nullopt;
  }
  stat.state = state.front();
  stat.parent = *parent;
  stat.start_time = *start_time;
  stat.cpu_time = user_time.value_or(0) + kernel_time.value_or(0);
  stat.threads = threads.value_or(0);
  return stat;
}

std::optional<ProcessStat> process_stat(std::int32_t pid) {
  const std::optional<std::string> text = read_text(fmt::format("/proc/{}/stat", pid));
  return text ? parse_process_stat(*text) : std::nullopt;
}

bool is_running(std::int32_t pid, std::uint64_t start_time) {
  const std::optional<ProcessStat> stat = process_stat(pid);
  return stat && stat->start_time == start_time && stat->runs();
}

Error process_is_gone(std::int32_t pid) {
  return {.kind = Error::Kind::gone,
          .message = fmt::format("process {} does not exist", pid),
          .remedy = "choose a running process"};
}

} // namespace ptlens::record
