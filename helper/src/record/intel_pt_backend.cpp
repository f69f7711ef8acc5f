// Measures by Intel Processor Trace. Event terms, buffers and filters: perf-intel-pt(1).
#include "record/intel_pt_backend.hpp"

#include "record/child.hpp"
#include "record/finish.hpp"
#include "record/perf_command.hpp"
#include "record/proc.hpp"
#include "record/session.hpp"
#include "record/target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <string_view>
#include <sys/auxv.h>

namespace ptlens::record {
namespace {

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

} // namespace

Result<void> record_intel_pt(const Request& request, const Machine& machine,
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
      return allowed;
    }
  }
  const bool keep_kernel = keeps_kernel(request, machine, perf);
  describe(request, machine, keep_kernel, manifest.notes);
  std::string filter;
  if (request.filter) {
    auto made = address_filter(request, machine, manifest.notes);
    if (!made) {
      return std::unexpected(made.error());
    }
    filter = std::move(*made);
  }
  if (auto written = write_vdso(request.output); !written) {
    return written;
  }
  auto control = PerfControl::make();
  if (!control) {
    return std::unexpected(control.error());
  }
  manifest.perf_command = intel_pt_command(request, machine,
                                           PerfSetting{.perf = perf,
                                                       .data_file = data_file,
                                                       .control = control->argument(),
                                                       .keep_kernel = keep_kernel},
                                           filter);
  auto end = run_session(session_of(request, manifest.perf_command), std::move(*control), progress);
  if (!end) {
    return std::unexpected(end.error());
  }
  const FinishedSession finished{.end = *end,
                                 .data_file =
                                     keep_kernel ? data_file + "/" + data_in_folder : data_file,
                                 .request = &request};
  return finish_recording(finished, manifest);
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
