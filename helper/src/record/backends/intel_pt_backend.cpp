// Event terms, buffers and filters: perf-intel-pt(1).
#include "record/backends/intel_pt_backend.hpp"

#include "record/backends/finish.hpp"
#include "record/machine/wait_events.hpp"
#include "record/perf/perf_command.hpp"
#include "record/perf/session.hpp"
#include "record/perf/trace_settings.hpp"
#include "record/perf/volume.hpp"
#include "record/probes/session/late_calls.hpp"
#include "record/probes/session/slow_call_watch.hpp"
#include "record/processes/child.hpp"
#include "record/processes/process_stat.hpp"
#include "record/targets/target_functions.hpp"
#include "record/vdso.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string_view>

namespace ptlens::record {
namespace {

namespace fs = std::filesystem;

Result<void> check_rights(const Request& request, const Machine& machine) {
  const std::int64_t highest = request.cpu || request.all_cpus ? 0 : request.kernel ? 1 : 2;
  if (machine.rights.root || machine.rights.perfmon || machine.paranoid <= highest) {
    return {};
  }
  return std::unexpected(Error{
      .kind = Error::Kind::no_rights,
      .message = fmt::format("this recording is not allowed: kernel.perf_event_paranoid is {}",
                             machine.paranoid),
      .file = "/proc/sys/kernel/perf_event_paranoid",
      .remedy = fmt::format("sudo sysctl kernel.perf_event_paranoid={}", highest)});
}

bool can_filter(const Machine& machine) {
  return !machine.intel_pt ||
         (machine.intel_pt->ip_filtering && machine.intel_pt->address_filters > 0);
}

// Returns "filter 0xOFFSET/0xSIZE@PATH" for the first range of the function. OFFSET is in the file.
Result<std::string> address_filter(const Request& request, const Machine& machine,
                                   std::vector<Note>& notes) {
  if (!request.names_function()) {
    return std::unexpected(Error{.kind = Error::Kind::bad_input,
                                 .message = "an address filter requires a function",
                                 .remedy = "add --function NAME, or omit --filter"});
  }
  if (!can_filter(machine)) {
    return std::unexpected(Error{.kind = Error::Kind::unsupported,
                                 .message = "this processor does not support address filters",
                                 .remedy = "omit --filter"});
  }
  auto files = TargetFiles::of(request);
  if (!files) {
    return std::unexpected(files.error());
  }
  const auto target = find_target(request, *files);
  if (!target) {
    return std::unexpected(target.error());
  }
  if (target->binary->has_go_runtime()) {
    return std::unexpected(
        Error{.kind = Error::Kind::unsupported,
              .message = fmt::format("an address filter hides where threads go from one goroutine "
                                     "to another, so that calls of {} cannot be matched with their "
                                     "returns",
                                     (*target)->name),
              .file = target->binary->path(),
              .remedy = "omit --filter"});
  }
  const symbols::AddressRange range = (*target)->ranges.front();
  const auto offset = target->binary->file_offset_of_address(range.low);
  if (!offset) {
    return std::unexpected(
        Error{.kind = Error::Kind::bad_input,
              .message = fmt::format("the file does not contain the code of {}", (*target)->name),
              .file = target->binary->path()});
  }
  notes.push_back(make_note("filtered_to_function",
                            "only the code of {0} was traced. The functions that it calls are not "
                            "shown, and their time counts as self time of {0}",
                            (*target)->name));
  return fmt::format("filter {:#x}/{:#x}@{}", *offset, range.high - range.low,
                     files->file_of(target->binary.get())->path);
}

// Returns true when perf is to copy the kernel's code, without which its trace cannot be decoded. A
// replacement for perf creates its own.
bool copies_kernel(const Request& request, const Machine& machine, const std::string& perf) {
  if (!request.kernel || (machine.intel_pt && !machine.kernel_readable)) {
    return false;
  }
  const auto usage = run({perf, "record", "-h"}, std::chrono::seconds(10));
  return usage && usage->find("--kcore") != std::string::npos;
}

void describe(const Request& request, const Machine& machine, bool copy_kernel,
              std::vector<Note>& notes) {
  if (machine.intel_pt) {
    notes.push_back(make_note("intel_pt",
                              "recorded with Intel Processor Trace. The program runs at nearly "
                              "full speed. Where the trace "
                              "buffer was full, calls are incomplete and the gap is counted"));
  } else {
    notes.push_back(
        make_note("simulated_trace",
                  "this machine does not support Intel Processor Trace. {} simulated the "
                  "trace, so its times are not real times",
                  request.perf));
  }
  if (request.kernel && copy_kernel) {
    notes.push_back(
        make_note("kernel_code_copied",
                  "kernel code was traced too. A copy of it is stored in the recording"));
  } else if (request.kernel) {
    notes.push_back(make_note(
        "kernel_code_not_copied",
        "kernel code was traced too, but it was not copied because {}. Provide it with --kallsyms "
        "and --kcore",
        machine.kernel_readable ? "perf is older than 5.5" : "/proc/kcore cannot be read"));
  }
  if (request.snapshot) {
    notes.push_back(make_note(
        "snapshot",
        "this is a snapshot. It contains only the trace that was in the buffers at the end"));
  }
  if (request.tid) {
    notes.push_back(
        make_note("one_thread", "only this thread was traced, not the threads that it started"));
  }
}

// Returns true when an address filter can be added. A filter accepts one range of code, and a
// function with hot and cold parts has several.
bool may_filter(const Request& request, const Machine& machine) {
  if (request.filter || request.functions().size() != 1 || !can_filter(machine)) {
    return false;
  }
  auto files = TargetFiles::of(request);
  const auto target =
      files ? find_target(request, *files) : Result<Place>(std::unexpected(Error{}));
  return target && (*target)->ranges.size() == 1 && !target->binary->has_go_runtime();
}

class TraceRecorder {
public:
  TraceRecorder(Request request, const Machine& machine, const std::string& perf,
                const std::string& data_file, const Progress& progress, Manifest& manifest)
      : request_(std::move(request)), machine_(machine), perf_(perf), data_file_(data_file),
        progress_(progress), manifest_(manifest),
        copy_kernel_(copies_kernel(request_, machine, perf)) {}

  Result<Summary> go() {
    if (auto fitted = fit_volume(); !fitted) {
      return std::unexpected(fitted.error());
    }
    describe(request_, machine_, copy_kernel_, manifest_.notes);
    // A stand-in for perf does not record them. A snapshot would keep all of them.
    if (machine_.intel_pt && !request_.snapshot) {
      waits_ = choose_wait_events(request_, machine_, manifest_.notes).has_value();
    }
    manifest_.notes.push_back(choose_settings(request_, machine_).reason);
    if (auto filter = make_filter(manifest_.notes); !filter) {
      return std::unexpected(filter.error());
    }
    if (auto written = write_vdso(request_.output); !written) {
      return std::unexpected(written.error());
    }
    std::optional<SlowCallWatch> watch;
    if (request_.slower_than_ns != 0) {
      auto started = SlowCallWatch::start(request_, machine_);
      if (!started) {
        return std::unexpected(started.error());
      }
      watch.emplace(std::move(*started));
    }
    auto control = PerfControl::make();
    if (!control) {
      return std::unexpected(control.error());
    }
    manifest_.perf_command = command(data_file_, copy_kernel_, *control);
    Session session = session_of(request_, manifest_.perf_command);
    session.snapshots = request_.snapshot;
    session.drains = !request_.snapshot;
    std::optional<SlowCall> slow;
    if (watch) {
      session.caught = [&watch, &slow] {
        slow = watch->poll();
        return slow.has_value();
      };
    }
    const auto end = run_session(session, std::move(*control), progress_);
    if (!end) {
      return std::unexpected(end.error());
    }
    if (watch) {
      manifest_.notes.push_back(
          slow_call_note(watch->function(), slow, watch->calls(), request_.slower_than_ns));
    }
    const FinishedSession finished{.end = *end,
                                   .data_file = copy_kernel_ ? data_file_ + "/" + data_in_folder
                                                             : data_file_,
                                   .request = &request_};
    return finish_recording(finished, machine_, manifest_);
  }

private:
  [[nodiscard]] std::vector<std::string> command(const std::string& data_file, bool copy_kernel,
                                                 const PerfControl& control) const {
    return intel_pt_command(request_, machine_,
                            PerfSetting{.perf = perf_,
                                        .data_file = data_file,
                                        .control = control.argument(),
                                        .copy_kernel = copy_kernel,
                                        .waits = waits_},
                            filter_);
  }

  Result<void> make_filter(std::vector<Note>& notes) {
    if (!request_.filter) {
      return {};
    }
    auto made = address_filter(request_, machine_, notes);
    if (!made) {
      return std::unexpected(made.error());
    }
    filter_ = std::move(*made);
    return {};
  }

  // Records for 50 ms, and reduces the request when its data would not fit.
  Result<void> fit_volume() {
    const bool attached = request_.program.empty();
    if (!attached || request_.snapshot || !request_.probe.value_or(machine_.intel_pt.has_value())) {
      return {};
    }
    std::vector<Note> ignored;
    if (auto filter = make_filter(ignored); !filter) {
      return filter;
    }
    auto control = PerfControl::make();
    if (!control) {
      return std::unexpected(control.error());
    }
    const fs::path folder = fs::path(data_file_).parent_path() / "probe";
    std::error_code failed;
    fs::create_directories(folder, failed);
    const std::string probe_file = folder / "perf.data";
    const std::vector<std::string> arguments = command(probe_file, false, *control);
    const auto volume =
        measure_volume(request_, arguments, probe_file, std::move(*control), progress_);
    fs::remove_all(folder, failed);
    if (!volume) {
      return std::unexpected(volume.error());
    }
    if (*volume) {
      adopt(choose_volume(request_, **volume, room()));
    }
    return {};
  }

  [[nodiscard]] Room room() const {
    const BufferSizes buffers = choose_buffers(request_, machine_, true);
    std::error_code failed;
    const fs::space_info disk = fs::space(fs::path(data_file_).parent_path(), failed);
    return {.buffer_bytes = buffers.count * buffers.aux_pages * machine_.page_size,
            .disk_bytes = failed ? std::uint64_t{0} : disk.available,
            .may_filter = may_filter(request_, machine_)};
  }

  void adopt(const VolumeChoice& choice) {
    request_.filter = request_.filter || choice.filter;
    request_.duration_s = choice.duration_s.value_or(request_.duration_s);
    if (choice.thread) {
      request_.pid.reset();
      request_.tid = choice.thread;
      const auto stat = process_stat(*choice.thread);
      request_.start_time = stat ? std::optional(stat->start_time) : std::nullopt;
    }
    manifest_.notes.insert(manifest_.notes.end(), choice.reasons.begin(), choice.reasons.end());
  }

  Request request_;
  const Machine& machine_;
  const std::string& perf_;
  const std::string& data_file_;
  const Progress& progress_;
  Manifest& manifest_;
  bool copy_kernel_;
  bool waits_ = false; // recorded too
  std::string filter_;
};

} // namespace

Result<Summary> record_intel_pt(const Request& request, const Machine& machine,
                                const std::string& perf, const std::string& data_file,
                                const Progress& progress, Manifest& manifest) {
  if (!machine.intel_pt && request.perf.empty()) {
    return std::unexpected(Error{.kind = Error::Kind::unsupported,
                                 .message = "this machine does not support Intel Processor Trace",
                                 .file = "/sys/bus/event_source/devices/intel_pt",
                                 .remedy = "use --backend uprobe, or run `ptlens doctor`"});
  }
  if (machine.intel_pt) {
    if (auto allowed = check_rights(request, machine); !allowed) {
      return std::unexpected(allowed.error());
    }
  }
  return TraceRecorder(request, machine, perf, data_file, progress, manifest).go();
}

} // namespace ptlens::record
