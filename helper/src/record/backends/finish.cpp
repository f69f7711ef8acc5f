#include "record/backends/finish.hpp"

#include "perfdata/recording.hpp"
#include "record/backends/summarize.hpp"
#include "record/probes/events/probe_sample.hpp"
#include "record/waits/kernel_symbols.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>
#include <sys/wait.h>
#include <system_error>

namespace ptlens::record {
namespace {

std::string function_text(const Manifest& manifest) {
  return manifest.function.empty() ? std::string("the function") : manifest.function;
}

// Returns the entries of the requested functions as offsets in a page, which are the same in the
// file and in every process.
std::set<std::uint64_t> target_entries_in_page(const Manifest& manifest) {
  constexpr std::uint64_t in_page = 0xfff;
  std::set<std::uint64_t> entries;
  for (const Probe& probe : manifest.probes) {
    if (probe.target && probe.kind == Probe::Kind::entry) {
      entries.insert(probe.address & in_page);
    }
  }
  return entries;
}

bool was_called(const perfdata::Recording& recording, const Manifest& manifest) {
  constexpr std::uint64_t in_page = 0xfff;
  const auto entries = target_entries_in_page(manifest);
  const auto event = event_of(manifest.probes, Probe::Kind::entry);
  bool called = false;
  recording.each_sample([&](const perfdata::Sample& sample) {
    const std::uint64_t ip = instruction_pointer(sample.raw).value_or(0);
    const perfdata::Attribute& attribute = recording.attributes()[sample.attribute];
    called = !perfdata::is_wait_event(attribute) && attribute.config == event &&
             entries.contains(ip & in_page);
    return !called;
  });
  return called;
}

void note_hits(const perfdata::Recording& recording, const FinishedSession& finished,
               Manifest& manifest) {
  if (!was_called(recording, manifest)) {
    manifest.notes.push_back(make_note(
        "no_calls", "{} was not called in {} s: it did not run, or all its calls were inlined",
        function_text(manifest), fmt::format("{:.1f}", finished.end.measured_s)));
  }
}

void note_program(const FinishedSession& finished, Manifest& manifest) {
  if (finished.request->program.empty() || finished.end.forced) {
    return;
  }
  // perf exits with the status of the program that it ran.
  const int status = finished.end.wait_status;
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    manifest.notes.push_back(
        make_note("program_failed", "the program exited with status {}", WEXITSTATUS(status)));
  }
}

} // namespace

bool has_measured(const FinishedSession& finished) {
  return finished.end.measured || (!finished.request->program.empty() &&
                                   perfdata::Recording::open(finished.data_file).has_value());
}

Result<Summary> finish_recording(const FinishedSession& finished, const Machine& machine,
                                 Manifest& manifest) {
  const SessionEnd& end = finished.end;
  std::error_code failed;
  const bool written = std::filesystem::file_size(finished.data_file, failed) > 0 && !failed;
  // A program can end before perf reads its first command.
  const bool begun = end.measured || !finished.request->program.empty();
  if (!written || !begun) {
    return std::unexpected(
        Error{.message = fmt::format("perf recorded nothing: {}",
                                     end.last_line.empty() ? "it gave no reason" : end.last_line),
              .remedy = "run `ptlens doctor` to check this machine"});
  }
  const auto recording = perfdata::Recording::open(finished.data_file);
  if (!recording) {
    Error error = recording.error();
    error.message += fmt::format(" (perf printed: {})", end.last_line);
    return std::unexpected(std::move(error));
  }
  if (end.forced) {
    manifest.notes.push_back(
        make_note("perf_killed", "perf did not stop on request and was killed. The end of the "
                                 "recording is missing"));
  }
  if (manifest.backend == "uprobe") {
    note_hits(*recording, finished, manifest);
  } else if (recording->trace_bytes() == 0) {
    manifest.notes.push_back(make_note(
        "no_trace",
        "no trace was written in {} s: the traced code did not run, or the address filter excluded "
        "all of it",
        fmt::format("{:.1f}", end.measured_s)));
  }
  note_program(finished, manifest);
  manifest.kernel_symbols = kernel_symbols_of(*recording);
  return summarize(*finished.request, machine, end, *recording, manifest.backend);
}

} // namespace ptlens::record
