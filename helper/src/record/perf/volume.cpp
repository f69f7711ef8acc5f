#include "record/perf/volume.hpp"

#include "perfdata/recording.hpp"
#include "record/perf/session.hpp"
#include "record/processes/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <system_error>

namespace ptlens::record {
namespace {

namespace fs = std::filesystem;

constexpr double drained_bytes_s = 200e6;
constexpr double disk_share = 0.8;
constexpr double filter_share = 0.2; // of the data remains with an address filter, often less
constexpr double shortest_s = 0.1;
constexpr double shortest_share = 0.1;
constexpr double mb = 1e6;

// Returns the time in seconds for which a rate in bytes per second fits.
double longest_s(double rate, const Room& room) {
  double longest = disk_share * static_cast<double>(room.disk_bytes) / rate;
  if (rate > drained_bytes_s) {
    longest = std::min(longest, static_cast<double>(room.buffer_bytes) / (rate - drained_bytes_s));
  }
  return longest;
}

// Returns the CPU time of each thread so far in ns (first field of /proc/PID/task/TID/schedstat).
std::map<std::int32_t, std::uint64_t> thread_times(std::int32_t pid) {
  std::map<std::int32_t, std::uint64_t> times;
  std::error_code failed;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fmt::format("/proc/{}/task", pid), failed)) {
    const std::string text = read_text(entry.path().string() + "/schedstat", 256).value_or("0");
    times[std::atoi(entry.path().filename().c_str())] = std::strtoull(text.c_str(), nullptr, 10);
  }
  return times;
}

void find_busiest(std::int32_t pid, const std::map<std::int32_t, std::uint64_t>& before,
                  Volume& volume) {
  std::uint64_t all = 0;
  std::uint64_t most = 0;
  for (const auto& [tid, time] : thread_times(pid)) {
    const auto known = before.find(tid);
    const std::uint64_t start = known == before.end() ? 0 : known->second;
    const std::uint64_t used = time > start ? time - start : 0;
    all += used;
    if (used > most) {
      most = used;
      volume.busiest = tid;
    }
  }
  volume.busiest_share = all == 0 ? 1 : static_cast<double>(most) / static_cast<double>(all);
}

} // namespace

VolumeChoice choose_volume(const Request& request, const Volume& volume, const Room& room) {
  VolumeChoice choice;
  if (volume.seconds <= 0 || volume.bytes == 0) {
    return choice;
  }
  const double rate = static_cast<double>(volume.bytes) / volume.seconds;
  const double wanted = request.duration_s > 0 ? request.duration_s : 1;
  const double longest = longest_s(rate, room);
  if (wanted <= longest && !volume.truncated) {
    return choice;
  }
  const std::string measured = fmt::format(
      "{:.0f} ms produced {:.1f} MB of trace, so {:.1f} s would produce {:.0f} MB, which "
      "does not fit the buffers and the disk",
      volume.seconds * 1000, static_cast<double>(volume.bytes) / mb, wanted, rate * wanted / mb);
  const auto in_s = [](double seconds) { return fmt::format("{:.2f}", seconds); };
  if (room.may_filter && !request.filter) {
    choice.filter = true;
    choice.reasons.push_back(
        make_note("volume_filter",
                  "{}: the address filter was added. Use --no-probe to prevent this", measured));
    const double filtered = longest_s(rate * filter_share, room);
    if (request.duration_s > filtered) {
      choice.duration_s = filtered;
      choice.reasons.push_back(make_note(
          "volume_filter_duration",
          "with the address filter too, the recording was shortened to {} s", in_s(filtered)));
    }
    return choice;
  }
  if (longest >= std::max(shortest_s, wanted * shortest_share)) {
    choice.duration_s = longest;
    choice.reasons.push_back(
        make_note("volume_duration",
                  "{}: the recording was shortened to {} s. Use --no-probe to prevent this",
                  measured, in_s(longest)));
    return choice;
  }
  choice.duration_s = std::clamp(longest, shortest_s, wanted);
  if (request.pid && volume.busiest && volume.busiest_share < 1) {
    choice.thread = volume.busiest;
    choice.duration_s =
        std::clamp(longest_s(rate * volume.busiest_share, room), shortest_s, wanted);
    choice.reasons.push_back(make_note(
        "volume_thread",
        "{}: only the busiest thread, {}, was recorded, for {} s. Use --no-probe to prevent this",
        measured, *choice.thread, in_s(*choice.duration_s)));
  } else {
    choice.reasons.push_back(make_note("volume_loss",
                                       "{}: the recording was shortened to {} s, and part of the "
                                       "trace will be lost. Use --no-probe "
                                       "to prevent this",
                                       measured, in_s(*choice.duration_s)));
  }
  return choice;
}

Result<std::optional<Volume>> measure_volume(const Request& request,
                                             const std::vector<std::string>& command,
                                             const std::string& data_file, PerfControl control,
                                             const Progress& progress) {
  constexpr double probe_s = 0.05;
  const auto before =
      request.pid ? thread_times(*request.pid) : std::map<std::int32_t, std::uint64_t>{};
  Session session = session_of(request, command);
  session.duration_s = probe_s;
  session.stage = "probing";
  const auto end = run_session(session, std::move(control), progress);
  if (!end && end.error().kind == Error::Kind::cancelled) {
    return std::unexpected(end.error());
  }
  std::optional<Volume> volume;
  if (const auto recording = perfdata::Recording::open(data_file); end && recording) {
    volume = Volume{
        .seconds = end->measured_s,
        .bytes = recording->trace_bytes(),
        .truncated = std::ranges::any_of(recording->aux_writes(), &perfdata::AuxWrite::truncated)};
    if (request.pid) {
      find_busiest(*request.pid, before, *volume);
    }
  }
  return volume;
}

} // namespace ptlens::record
