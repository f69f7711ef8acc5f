// Command line by CLI11.
#include "command/options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <set>

namespace ptlens::ptsim {
namespace {

constexpr std::uint64_t page_size = 4096;

// What CLI11 fills in before it is checked.
struct Raw {
  std::vector<std::string> events;
  std::string mmap_pages;
  std::string control;
  int delay = 0;
  bool no_build_ids = false;
  bool no_build_id_cache = false;
  bool refused_compression = false;
  std::string refused_clock;
  std::vector<std::string> filters;
  std::optional<std::string> snapshot;
  std::vector<std::string> faults;
};

Error bad_usage(std::string message, std::string remedy = {}) {
  return Error{
      .kind = Error::Kind::bad_input, .message = std::move(message), .remedy = std::move(remedy)};
}

void declare(CLI::App& app, Options& options, Raw& raw) {
  app.add_option("-e,--event", raw.events, "intel_pt/TERMS/u")->allow_extra_args(false);
  app.add_flag("--per-thread", options.per_thread, "trace buffers of the threads there are");
  app.add_flag("--switch-events", options.switch_events, "record when the thread is switched out");
  app.add_option("-m,--mmap-pages", raw.mmap_pages, "[PAGES][,AUX_PAGES], or sizes: 8M,64M");
  app.add_option("-o,--output", options.output, "file to write");
  app.add_option("-p,--pid", options.pid, "attach to all threads of this process");
  app.add_option("-t,--tid", options.tid, "attach to this thread only");
  app.add_option("-D,--delay", raw.delay, "-1: wait for the control command to enable");
  app.add_option("--control", raw.control,
                 "fd:COMMANDS[,ACKNOWLEDGEMENTS], or the same with fifo: and paths");
  app.add_flag("-B,--no-buildid", raw.no_build_ids, "write no build-ids");
  app.add_flag("-N,--no-buildid-cache", raw.no_build_id_cache, "there is no cache to update");
  app.add_flag("--kcore", options.keep_kernel,
               "make a folder of the output, with a made-up kernel's code beside the data");
  app.add_option("--filter", raw.filters, "filter FUNCTION[/SIZE] @ BINARY")
      ->allow_extra_args(false);
  app.add_option("-S,--snapshot", raw.snapshot, "[e][SIZE]: on SIGUSR2, command, or (e) at the end")
      ->expected(0, 1)
      ->default_str("");
  app.add_flag("--unprivileged", options.unprivileged,
               "as perf without rights: no switch records of others' tasks");
  app.add_flag("-a,--all-cpus", options.system_wide, "whatever runs on the simulated processors");
  app.add_option("-C,--cpu", options.cpu_list, "0,2-3: whatever runs on these");
  app.add_option("--beside", options.beside, "with -a, -C: processes that run there too")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->envname("PTSIM_BESIDE");
  app.add_flag("--all-records", options.all_records,
               "with -C: records of the other processors too, as perf since 6.7");
  app.add_option("--cpus", options.cpus, "simulated processors [2]")->check(CLI::Range(1, 64));
  app.add_option("--seed", options.seed, "of preemptions, migrations and faults [1]");
  app.add_option("--slice", options.slice_cycles, "mean cycles until preemption, 0: never [60000]")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 40));
  app.add_option("--fault", raw.faults,
                 "ovf, truncate, cut, lost-sideband, lost-trap [:every=N], no-pgd")
      ->allow_extra_args(false);
  app.add_option("--truth", options.truth, "calls as JSON lines [OUTPUT.truth.jsonl]");
  app.add_flag("--branches{yes}", options.branches, "taken branches [OUTPUT.truth.branches.tsv]")
      ->expected(0, 1);
  app.add_option("--max-steps", options.max_steps, "stop tracing after so many instructions");
  app.add_option("--wait-scale", options.wait_scale,
                 "let system calls that wait take so many times the time that they really took");
  app.add_option("--start-at", options.start_at, "function or address to run to before tracing")
      ->envname("PTSIM_START_AT");
  app.add_option("--stop-at", options.stop_at, "function or address to stop tracing at")
      ->envname("PTSIM_STOP_AT");
  const std::string refused = "not simulated: refused";
  app.add_flag("-z,--compression-level{1}", raw.refused_compression, refused)->expected(0, 1);
  app.add_option("-k,--clockid", raw.refused_clock, refused);
  app.allow_extras();
}

std::optional<std::uint64_t> parse_pages(std::string_view text) {
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(parsed.ptr,
                              static_cast<std::size_t>(text.data() + text.size() - parsed.ptr));
  const std::map<std::string_view, std::uint64_t> units{
      {"", page_size}, {"B", 1}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}};
  const auto scale = units.find(unit);
  if (parsed.ec != std::errc{} || scale == units.end() || value > (1ULL << 40) / scale->second) {
    return std::nullopt;
  }
  return std::max(value * scale->second, page_size);
}

Result<void> take_mmap_pages(const std::string& text, Options& options) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) {
    return {};
  }
  const auto bytes = parse_pages(std::string_view(text).substr(comma + 1));
  if (!bytes) {
    return std::unexpected(bad_usage(fmt::format("-m {}: not a number of pages", text)));
  }
  options.aux_bytes = *bytes;
  return {};
}

Result<void> take_control(const std::string& text, Options& options) {
  if (text.empty()) {
    return {};
  }
  auto files = parse_control(text);
  if (!files) {
    return std::unexpected(files.error());
  }
  options.control = *files;
  return {};
}

Result<void> take_snapshot(const std::optional<std::string>& text, Options& options) {
  if (!text) {
    return {};
  }
  options.snapshot = true;
  options.snapshot_at_end = text->starts_with('e');
  const std::string_view size = std::string_view(*text).substr(options.snapshot_at_end ? 1 : 0);
  const auto parsed =
      std::from_chars(size.data(), size.data() + size.size(), options.snapshot_size);
  if (!size.empty() && (parsed.ec != std::errc{} || parsed.ptr != size.data() + size.size())) {
    return std::unexpected(bad_usage(fmt::format("--snapshot {}: only [e][SIZE]", *text)));
  }
  return {};
}

Result<void> take_filters_and_faults(const Raw& raw, Options& options) {
  for (const std::string& text : raw.filters) {
    auto filters = parse_filters(text);
    if (!filters) {
      return std::unexpected(filters.error());
    }
    options.filters.insert(options.filters.end(), filters->begin(), filters->end());
  }
  for (const std::string& text : raw.faults) {
    if (auto taken = parse_fault(text, options.faults); !taken) {
      return taken;
    }
  }
  return {};
}

Result<void> take_extras(const std::vector<std::string>& extras, Options& options) {
  for (const std::string& extra : extras) {
    if (!extra.starts_with('-')) {
      return std::unexpected(bad_usage(fmt::format("unexpected '{}'", extra),
                                       "put the program and its arguments behind --"));
    }
    options.warnings.push_back(fmt::format("option {} has no meaning here and is ignored", extra));
  }
  return {};
}

// "0,2-3"
std::optional<std::set<std::uint32_t>> parse_cpus(std::string_view text) {
  std::set<std::uint32_t> cpus;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::uint32_t first = 0;
    auto parsed = std::from_chars(at, end, first);
    std::uint32_t last = first;
    if (parsed.ec == std::errc{} && parsed.ptr != end && *parsed.ptr == '-') {
      parsed = std::from_chars(parsed.ptr + 1, end, last);
    }
    if (parsed.ec != std::errc{} || last < first || last - first > 1000) {
      return std::nullopt;
    }
    for (std::uint32_t cpu = first; cpu <= last; ++cpu) {
      cpus.insert(cpu);
    }
    if (parsed.ptr == end) {
      return cpus;
    }
    if (*parsed.ptr != ',') {
      return std::nullopt;
    }
    at = parsed.ptr + 1;
  }
}

// perf's precedence: a process or thread overrides processors, these override --per-thread.
Result<void> take_processors(Options& options) {
  options.system_wide = options.system_wide || options.cpu_list;
  if (options.system_wide && (options.pid || options.tid)) {
    options.warnings.emplace_back("-p and -t override -a and -C");
    options.system_wide = false;
    options.cpu_list.reset();
  }
  if (options.system_wide) {
    options.per_thread = false;
  } else if (!options.beside.empty()) {
    return std::unexpected(bad_usage("--beside goes with -a and -C alone"));
  }
  for (std::uint32_t cpu = 0; cpu < options.cpus; ++cpu) {
    options.traced_cpus.push_back(cpu);
  }
  if (options.cpu_list) {
    const auto cpus = parse_cpus(*options.cpu_list);
    if (!cpus || *cpus->rbegin() >= options.cpus) {
      return std::unexpected(bad_usage(
          fmt::format("-C {}: not a list of processors below {}", *options.cpu_list, options.cpus),
          "give more --cpus"));
    }
    options.traced_cpus.assign(cpus->begin(), cpus->end());
  }
  return {};
}

Result<void> check(const Raw& raw, Options& options) {
  const std::array<std::pair<bool, const char*>, 2> refused{
      {{raw.refused_compression, "-z: compressed records"},
       {!raw.refused_clock.empty(), "--clockid: other clocks"}}};
  for (const auto& [given, what] : refused) {
    if (given) {
      return std::unexpected(Error{.kind = Error::Kind::unsupported,
                                   .message = fmt::format("{} are not simulated", what)});
    }
  }
  if (options.pid && options.tid) {
    return std::unexpected(bad_usage("give one of -p and -t"));
  }
  if (auto taken = take_processors(options); !taken) {
    return taken;
  }
  if (!options.pid && !options.tid && options.program.empty() && options.beside.empty()) {
    return std::unexpected(
        bad_usage("nothing to trace", options.system_wide ? "give --beside PID or -- PROGRAM"
                                                          : "give -p PID, -t TID or -- PROGRAM"));
  }
  for (const std::string& event : raw.events) {
    if (event.starts_with("intel_pt")) {
      if (auto parsed = parse_event(event, options); !parsed) {
        return parsed;
      }
    } else {
      options.warnings.push_back(fmt::format("event {} is not recorded", event));
    }
  }
  return options.event.empty() ? parse_event("intel_pt//u", options) : Result<void>{};
}

} // namespace

Result<Options> parse_options(const std::vector<std::string>& arguments) {
  Options options;
  Raw raw;
  options.command_line = arguments;
  const auto begin = arguments.begin() + 1;
  if (begin == arguments.end() || *begin != "record") {
    return std::unexpected(bad_usage("the one command is: ptsim record"));
  }
  const auto dashes = std::find(begin, arguments.end(), "--");
  if (dashes != arguments.end()) {
    options.program.assign(dashes + 1, arguments.end());
  }
  std::vector<std::string> own(begin + 1, dashes);
  std::ranges::reverse(own); // as CLI11 wants them

  CLI::App app;
  declare(app, options, raw);
  app.set_help_flag();
  try {
    app.parse(own);
  } catch (const CLI::ParseError& error) {
    return std::unexpected(bad_usage(error.what()));
  }
  options.build_ids = !raw.no_build_ids;
  options.start_enabled = raw.delay >= 0;
  if (options.branches == "yes") {
    options.branches = options.output + ".truth.branches.tsv";
  }
  if (options.truth.empty()) {
    options.truth = options.output + ".truth.jsonl";
  }
  for (const Result<void>& taken :
       {take_mmap_pages(raw.mmap_pages, options), take_control(raw.control, options),
        take_snapshot(raw.snapshot, options), take_filters_and_faults(raw, options),
        take_extras(app.remaining(), options), check(raw, options)}) {
    if (!taken) {
      return std::unexpected(taken.error());
    }
  }
  return options;
}

std::string usage() {
  Options options;
  Raw raw;
  CLI::App app{"ptsim record: simulated `perf record -e intel_pt//u` for tests", "ptsim record"};
  declare(app, options, raw);
  app.set_help_flag();
  return app.help() + "\nThe program and its arguments follow a --.\n";
}

} // namespace ptlens::ptsim
