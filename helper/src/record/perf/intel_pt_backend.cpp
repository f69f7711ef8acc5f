// Measures by Intel Processor Trace. Event terms, buffers and filters: perf-intel-pt(1).
#include "record/perf/intel_pt_backend.hpp"

#include "record/finish.hpp"
#include "record/machine/proc.hpp"
#include "record/perf/perf_command.hpp"
#include "record/perf/session.hpp"
#include "record/perf/trace_settings.hpp"
#include "record/perf/volume.hpp"
#include "record/probes/slow_call_watch.hpp"
#include "record/processes/child.hpp"
#include "record/target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <sys/auxv.h>

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
      .message = fmt::format("the kernel's setting perf_event_paranoid is {}: too strict for this "
                             "recording",
                             machine.paranoid),
      .file = "/proc/sys/kernel/perf_event_paranoid",
      .remedy = fmt::format("sudo sysctl kernel.perf_event_paranoid={}", highest)});
}

// "filter 0xOFFSET/0xSIZE@PATH": the main part of the function, by its offset in the file.
Result<std::string> address_filter(const Request& request, const Machine& machine,
                                   std::vector<std::string>& notes) {
  if (request.function.empty() && !request.address) {
    return std::unexpected(Error{.kind = Error::Kind::bad_input,
                                 .message = "a filter needs a function",
                                 .remedy = "add --function NAME, or leave out --filter"});
  }
  if (machine.intel_pt &&
      (!machine.intel_pt->ip_filtering || machine.intel_pt->address_filters == 0)) {
    return std::unexpected(Error{.kind = Error::Kind::unsupported,
                                 .message = "this processor has no address filters",
                                 .remedy = "leave out --filter"});
  }
  auto files = TargetFiles::of(request);
  if (!files) {
    return std::unexpected(files.error());
  }
  const auto target = find_target(request, *files);
  if (!target) {
    return std::unexpected(target.error());
  }
  const symbols::AddressRange range = (*target)->ranges.front();
  const auto offset = target->binary->file_offset_of_address(range.low);
  if (!offset) {
    return std::unexpected(
        Error{.kind = Error::Kind::bad_input,
              .message = fmt::format("{} has no code in the file", (*target)->name),
              .file = target->binary->path()});
  }
  notes.push_back(fmt::format("only code of {} itself was traced: the functions that it calls are "
                              "not seen, their time is part of its own",
                              (*target)->name));
  return fmt::format("filter {:#x}/{:#x}@{}", *offset, range.high - range.low,
                     files->file_of(target->binary.get())->path);
}

// Whether perf is to copy the kernel's code, as a trace of it cannot be decoded without; a stand-in
// makes up its own.
bool keeps_kernel(const Request& request, const Machine& machine, const std::string& perf) {
  if (!request.kernel || (machine.intel_pt && !machine.kernel_readable)) {
    return false;
  }
  const auto usage = run({perf, "record", "-h"}, std::chrono::seconds(10));
  return usage && usage->find("--kcore") != std::string::npos;
}

void describe(const Request& request, const Machine& machine, bool keep_kernel,
              std::vector<std::string>& notes) {
  if (machine.intel_pt) {
    notes.emplace_back("measured by Intel Processor Trace: the program runs at nearly its own "
                       "speed; where the trace buffer was full, calls are incomplete and the gap "
                       "is counted");
  } else {
    notes.push_back(fmt::format("this machine has no Intel Processor Trace: {} made the trace in "
                                "perf's place, its times are not those of the machine",
                                request.perf));
  }
  if (request.kernel && keep_kernel) {
    notes.emplace_back("kernel code was traced too; a copy of it lies beside the trace");
  } else if (request.kernel) {
    notes.push_back(fmt::format(
        "kernel code was traced too; it was not copied, since {}: --kallsyms "
        "and --kcore give it",
        machine.kernel_readable ? "perf is older than 5.5" : "/proc/kcore cannot be read"));
  }
  if (request.snapshot) {
    notes.emplace_back("a snapshot: only what the trace buffers held at the end was kept");
  }
  if (request.tid) {
    notes.emplace_back("only this thread was traced, not the threads that it started");
  }
}

// One range of code is what a filter takes; a function of hot and cold parts has several.
bool may_filter(const Request& request, const Machine& machine) {
  if (request.filter || (request.function.empty() && !request.address) ||
      (machine.intel_pt &&
       (!machine.intel_pt->ip_filtering || machine.intel_pt->address_filters == 0))) {
    return false;
  }
  auto files = TargetFiles::of(request);
  const auto target =
      files ? find_target(request, *files) : Result<Place>(std::unexpected(Error{}));
  return target && (*target)->ranges.size() == 1;
}

class TraceRecorder {
public:
  TraceRecorder(Request request, const Machine& machine, const std::string& perf,
                const std::string& data_file, const Progress& progress, Manifest& manifest)
      : request_(std::move(request)), machine_(machine), perf_(perf), data_file_(data_file),
        progress_(progress), manifest_(manifest),
        keep_kernel_(keeps_kernel(request_, machine, perf)) {}

  Result<Summary> go() {
    if (auto fitted = fit_volume(); !fitted) {
      return std::unexpected(fitted.error());
    }
    describe(request_, machine_, keep_kernel_, manifest_.notes);
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
    manifest_.perf_command = command(data_file_, keep_kernel_, *control);
    Session session = session_of(request_, manifest_.perf_command);
    session.snapshots = request_.snapshot;
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
      describe_catch(*watch, slow);
    }
    const FinishedSession finished{.end = *end,
                                   .data_file = keep_kernel_ ? data_file_ + "/" + data_in_folder
                                                             : data_file_,
                                   .request = &request_};
    return finish_recording(finished, machine_, manifest_);
  }

private:
  [[nodiscard]] std::vector<std::string> command(const std::string& data_file, bool keep_kernel,
                                                 const PerfControl& control) const {
    return intel_pt_command(request_, machine_,
                            PerfSetting{.perf = perf_,
                                        .data_file = data_file,
                                        .control = control.argument(),
                                        .keep_kernel = keep_kernel},
                            filter_);
  }

  Result<void> make_filter(std::vector<std::string>& notes) {
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

  // Records for 50 ms and changes the request where what was asked for would not fit.
  Result<void> fit_volume() {
    const bool attached = request_.program.empty();
    if (!attached || request_.snapshot || !request_.probe.value_or(machine_.intel_pt.has_value())) {
      return {};
    }
    std::vector<std::string> ignored;
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
    const std::vector<std::string> words = command(probe_file, false, *control);
    const auto volume = probe_volume(request_, words, probe_file, std::move(*control), progress_);
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

  void describe_catch(const SlowCallWatch& watch, const std::optional<SlowCall>& slow) {
    constexpr double ns_per_ms = 1e6;
    if (slow) {
      manifest_.notes.push_back(fmt::format(
          "caught: a call of {} took {:.3f} ms on thread {}, after {} calls; times of the catch "
          "are by probes",
          watch.function(), static_cast<double>(slow->latency_ns) / ns_per_ms, slow->tid,
          watch.calls()));
    } else {
      manifest_.notes.push_back(fmt::format(
          "none of {} calls of {} took longer than {:.3f} ms: nothing was kept", watch.calls(),
          watch.function(), static_cast<double>(request_.slower_than_ns) / ns_per_ms));
    }
  }

  Request request_;
  const Machine& machine_;
  const std::string& perf_;
  const std::string& data_file_;
  const Progress& progress_;
  Manifest& manifest_;
  bool keep_kernel_;
  std::string filter_;
};

} // namespace

Result<Summary> record_intel_pt(const Request& request, const Machine& machine,
                                const std::string& perf, const std::string& data_file,
                                const Progress& progress, Manifest& manifest) {
  if (!machine.intel_pt && request.perf.empty()) {
    return std::unexpected(
        Error{.kind = Error::Kind::unsupported,
              .message = "this machine has no Intel Processor Trace",
              .file = "/sys/bus/event_source/devices/intel_pt",
              .remedy = "use --backend uprobe, or see what `ptlens doctor` says"});
  }
  if (machine.intel_pt) {
    if (auto allowed = check_rights(request, machine); !allowed) {
      return std::unexpected(allowed.error());
    }
  }
  return TraceRecorder(request, machine, perf, data_file, progress, manifest).go();
}

Result<void> write_vdso(const std::string& directory) {
  const std::uint64_t start = ::getauxval(AT_SYSINFO_EHDR);
  const std::string maps = read_text("/proc/self/maps", std::size_t{16} << 20).value_or("");
  const std::size_t at = maps.find(fmt::format("{:x}-", start));
  std::uint64_t end = 0;
  if (start != 0 && at != std::string::npos) {
    const std::size_t number = maps.find('-', at) + 1;
    std::from_chars(maps.data() + number, maps.data() + maps.size(), end, 16);
  }
  if (end <= start) {
    return {}; // a kernel without vdso
  }
  const std::string path = directory + "/" + vdso_name;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  // The kernel maps the vdso into this process for its whole life.
  const char* const bytes = reinterpret_cast<const char*>(start); // NOLINT
  file.write(bytes, static_cast<std::streamsize>(end - start));
  file.flush();
  if (!file) {
    return std::unexpected(Error{.message = "cannot be written",
                                 .file = path,
                                 .remedy = "check the folder's rights and free space"});
  }
  return {};
}

} // namespace ptlens::record
