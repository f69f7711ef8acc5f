// Command line by CLI11.
#include "synth/synth_options.hpp"

#include "command/options.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace ptlens::ptsim::synth {
namespace {

constexpr double longest_slice = 1e9; // us
constexpr std::uint64_t usual_fault_distance = 64 << 10;
constexpr std::array<std::pair<std::string_view, FaultKind>, 5> fault_words{
    {{"ovf", FaultKind::overflow},
     {"truncate", FaultKind::truncated},
     {"cut", FaultKind::cut},
     {"no-pgd", FaultKind::no_pgd},
     {"lost-sideband", FaultKind::lost_records}}};

struct Raw {
  std::string style = "mixed";
  std::vector<std::string> faults;
  std::string filter;
  bool no_switch_events = false;
  bool cyc = false;
  bool no_cyc = false;
};

Error bad_usage(std::string message) {
  return Error{.kind = Error::Kind::bad_input,
               .message = std::move(message),
               .remedy = "see ptsim synth --help"};
}

void declare(CLI::App& app, SynthOptions& options, Raw& raw) {
  app.add_option("BINARY", options.binaries, "programs and libraries, the program first");
  app.add_option("-o,--output", options.output, "file to write");
  app.add_option("--truth", options.truth, "calls as JSON lines, for small traces");
  app.add_option("--counts", options.counts, "calls of each function of each thread, as a table");
  app.add_option("--branches", options.branches, "taken branches as a table");
  app.add_option("--seed", options.seed, "the same seed gives the same trace");
  app.add_option("--bytes", options.bytes, "size of the trace")->transform(CLI::AsSizeValue(false));
  app.add_option("--calls", options.calls, "end after so many calls");
  app.add_option("--functions", options.functions, "use at most so many functions");
  app.add_option("--style", raw.style, "mixed, branchy, predictable, call-heavy or loop-heavy");
  app.add_option("--depth", options.depth, "of the stack, after which functions return soon");
  app.add_option("--unwind", options.unwind, "probability of an exception instead of a return");
  app.add_option("--syscalls-every", options.system_calls_every,
                 "take a path to a system call once in this many times when another path exists; "
                 "real programs make one in hundreds or thousands of calls");
  app.add_option("--signals", options.signals, "probability of a signal at an interrupt");
  app.add_option("--interrupts", options.interrupts, "mean time between two, us");
  app.add_option("--threads", options.threads, "threads of the process")
      ->check(CLI::Range(1, 4096));
  app.add_option("--cpus", options.cpus, "processors")->check(CLI::Range(1, 1024));
  app.add_flag("--per-thread", options.per_thread,
               "a buffer of each thread, not of each processor");
  app.add_flag("-a,--all-cpus", options.system_wide, "tracing goes on across switches");
  app.add_flag("--no-switch-events", raw.no_switch_events, "with --per-thread");
  app.add_option("--slice", options.slice, "mean time that a thread runs, us");
  app.add_option("-e,--event", options.event, "intel_pt/TERMS/u");
  app.add_flag("--cyc", raw.cyc, "as the term cyc");
  app.add_flag("--no-cyc", raw.no_cyc, "as the term cyc=0");
  app.add_option("--aux-bytes", options.aux_bytes, "size of each AUX buffer")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--fault", raw.faults,
                 "ovf, truncate, cut, no-pgd: with :every=BYTES; lost-sideband:every=SWITCHES")
      ->allow_extra_args(false);
  app.add_option("--kernel", options.kernel,
                 "trace a made-up kernel too, and write its kcore and kallsyms to this folder");
  app.add_option("--filter", raw.filter, "'filter FUNCTION @ BINARY': only its code is traced");
}

Result<Fault> parse_fault(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = std::string_view(text).substr(0, colon);
  for (const auto& [word, kind] : fault_words) {
    if (word != name) {
      continue;
    }
    Fault fault{kind, kind == FaultKind::lost_records ? 4 : usual_fault_distance};
    if (colon == std::string::npos) {
      return fault;
    }
    const std::string_view rest = std::string_view(text).substr(colon + 1);
    constexpr std::string_view every = "every=";
    const char* end = rest.data() + rest.size();
    if (rest.starts_with(every) &&
        std::from_chars(rest.data() + every.size(), end, fault.every).ptr == end &&
        fault.every != 0) {
      return fault;
    }
  }
  return std::unexpected(bad_usage(fmt::format("there is no fault '{}'", text)));
}

Result<FilterRequest> parse_filter(const std::string& text) {
  constexpr std::string_view begin = "filter ";
  constexpr std::string_view at = " @ ";
  const std::size_t mark = text.rfind(at);
  if (!text.starts_with(begin) || mark == std::string::npos || mark <= begin.size()) {
    return std::unexpected(bad_usage(fmt::format("filter '{}' is not simulated", text)));
  }
  return FilterRequest{text.substr(begin.size(), mark - begin.size()),
                       text.substr(mark + at.size())};
}

Result<void> check(const Raw& raw, SynthOptions& options) {
  if (options.binaries.empty()) {
    return std::unexpected(bad_usage("no binary is named"));
  }
  const auto style = style_of(raw.style);
  if (!style) {
    return std::unexpected(bad_usage(fmt::format("there is no style '{}'", raw.style)));
  }
  options.style = *style;
  for (const std::string& text : raw.faults) {
    auto fault = parse_fault(text);
    if (!fault) {
      return std::unexpected(fault.error());
    }
    options.faults.push_back(*fault);
  }
  if (!raw.filter.empty()) {
    auto filter = parse_filter(raw.filter);
    if (!filter) {
      return std::unexpected(filter.error());
    }
    options.filter = std::move(*filter);
  }
  if (!options.kernel.empty()) {
    if (options.threads != 1 || options.filter || !options.faults.empty() || options.signals != 0) {
      return std::unexpected(
          bad_usage("--kernel goes with one thread and without faults, filters and signals"));
    }
    options.slice = longest_slice;
  }
  if (options.per_thread && options.system_wide) {
    return std::unexpected(bad_usage("give one of --per-thread and -a"));
  }
  ptsim::Options event;
  if (auto parsed = parse_event(options.event, event); !parsed) {
    return parsed;
  }
  options.trace = event.trace;
  options.event_config = event.event_config;
  constexpr std::uint64_t cyc_bit = 1 << 1;
  if (raw.cyc || raw.no_cyc) {
    options.trace.cyc = !raw.no_cyc;
    options.event_config = (options.event_config & ~cyc_bit) | (raw.no_cyc ? 0 : cyc_bit);
  }
  options.switch_events = !raw.no_switch_events;
  return {};
}

} // namespace

std::string_view word(FaultKind kind) {
  switch (kind) {
  case FaultKind::overflow:
    return "overflow";
  case FaultKind::truncated:
  case FaultKind::cut:
    return "truncated";
  case FaultKind::no_pgd:
    return "no_pgd";
  case FaultKind::lost_records:
    return "lost_records";
  }
  return "";
}

Result<SynthOptions> parse_synth_options(const std::vector<std::string>& arguments) {
  SynthOptions options;
  Raw raw;
  options.command_line = arguments;
  std::vector<std::string> own(arguments.begin() + 2, arguments.end());
  std::ranges::reverse(own); // as CLI11 wants them
  CLI::App app;
  declare(app, options, raw);
  app.set_help_flag();
  try {
    app.parse(own);
  } catch (const CLI::ParseError& error) {
    return std::unexpected(bad_usage(error.what()));
  }
  if (auto checked = check(raw, options); !checked) {
    return std::unexpected(checked.error());
  }
  return options;
}

std::string synth_usage() {
  SynthOptions options;
  Raw raw;
  CLI::App app{"ptsim synth: a made-up walk over the code of real binaries, as a recording of "
               "intel_pt, with the truth of every call",
               "ptsim synth"};
  declare(app, options, raw);
  app.set_help_flag();
  return app.help();
}

} // namespace ptlens::ptsim::synth
