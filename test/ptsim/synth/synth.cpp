// The order of things in a made-up recording.
#include "synth/synth.hpp"

#include "file/perf_data_writer.hpp"
#include "synth/behaviour.hpp"
#include "synth/machine.hpp"
#include "synth/random.hpp"
#include "synth/truth_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <vector>

namespace ptlens::ptsim::synth {
namespace {

Result<std::ofstream> open_file(const std::string& path) {
  std::ofstream file(path, std::ios::trunc);
  if (!file) {
    return std::unexpected(
        Error{.message = std::strerror(errno), .file = path, .remedy = "choose another file"});
  }
  return file;
}

struct ResolvedFilter {
  AddressFilter range;
  std::string text; // as perf notes it
};

Result<ResolvedFilter> resolve(const FilterRequest& request, const Process& process) {
  const CodeGraph& graph = process.graph();
  for (const FunctionId id : graph.usable()) {
    const FunctionNode& function = graph.function(id);
    const ElfCode& elf = graph.binaries()[function.binary];
    const std::string name = std::filesystem::path(elf.path()).filename().string();
    if (function.name != request.function ||
        (elf.path() != request.binary && name != request.binary)) {
      continue;
    }
    const auto segment = std::ranges::find_if(elf.segments(), [&](const CodeSegment& of) {
      return function.address >= of.address && function.address - of.address < of.size;
    });
    const std::uint64_t offset = segment->file_offset + (function.address - segment->address);
    const std::uint64_t entry = process.entry(id);
    return ResolvedFilter{{entry, entry + function.size},
                          fmt::format("filter {:#x}/{:#x}@{}", offset, function.size, elf.path())};
  }
  return std::unexpected(
      Error{.kind = Error::Kind::not_found,
            .message = fmt::format("no function '{}' can be walked", request.function),
            .file = request.binary,
            .remedy = "give a symbol as nm prints it, or more --functions"});
}

RecordingConfig recording_config(const SynthOptions& options, const Clock& clock, Task main,
                                 const std::string& comm) {
  RecordingConfig config;
  config.path = options.output;
  config.command_line = options.command_line;
  config.event = options.event;
  config.event_config = options.event_config;
  config.per_thread = options.per_thread;
  config.switch_events = options.switch_events;
  config.inherit = !options.per_thread;
  config.rates = clock.rates();
  config.conversion = clock.conversion();
  for (std::size_t thread = 0; thread < options.threads; ++thread) {
    const pid_t tid = main.tid + static_cast<pid_t>(thread);
    config.threads.push_back({tid, comm});
    if (options.per_thread) {
      config.lanes.push_back({-1, tid});
    }
  }
  for (std::size_t cpu = 0; !options.per_thread && cpu < options.cpus; ++cpu) {
    config.lanes.push_back({static_cast<std::int32_t>(cpu), options.system_wide ? -1 : main.tid});
  }
  return config;
}

void write_process(PerfDataWriter& file, const Process& process, Task main,
                   const std::string& comm) {
  file.comm({0, 0, main, 0}, comm, false);
  for (const Mapping& mapping : process.mappings()) {
    file.mapping({0, 0, main, 0}, mapping, process.binary(mapping).build_id());
  }
}

} // namespace

Result<Summary> synthesise(const SynthOptions& options, const CodeGraph& graph,
                           const MakeSink& make_sink) {
  Random random(options.seed);
  const Process process(graph, random.next());
  const Behaviour behaviour(graph, options.style, options.depth, random.next(),
                            options.system_calls_every);
  const Clock clock(ClockRates{}, 1'000'000'000'000 + random.below(1'000'000'000'000));
  const auto pid = static_cast<pid_t>(random.between(1000, 100'000));
  const Task main{pid, pid};
  WalkerConfig walk{options.unwind, std::nullopt, nullptr};
  std::string filter_text;
  std::optional<Kernel> kernel;
  if (!options.kernel.empty()) {
    kernel.emplace(static_cast<FunctionId>(graph.functions().size()));
    if (auto written = kernel->write(options.kernel); !written) {
      return std::unexpected(written.error());
    }
    walk.kernel = &*kernel;
  }
  if (options.filter) {
    auto filter = resolve(*options.filter, process);
    if (!filter) {
      return std::unexpected(filter.error());
    }
    walk.filter = filter->range;
    filter_text = filter->text;
  }

  std::ofstream truth_file;
  std::ofstream branches;
  std::ofstream counts_file;
  for (const auto& [path, file] :
       {std::pair{&options.truth, &truth_file}, std::pair{&options.branches, &branches},
        std::pair{&options.counts, &counts_file}}) {
    if (!path->empty()) {
      auto opened = open_file(*path);
      if (!opened) {
        return std::unexpected(opened.error());
      }
      *file = std::move(*opened);
    }
  }
  std::optional<TruthFile> truth;
  std::optional<CallCounts> counts;
  std::vector<CallSink*> sinks;
  if (!options.truth.empty()) {
    sinks.push_back(&truth.emplace(truth_file, process, clock, walk.kernel));
  }
  if (!options.counts.empty()) {
    sinks.push_back(&counts.emplace(process, clock));
  }
  const std::unique_ptr<CallSink> own = make_sink ? make_sink(process, clock) : nullptr;
  if (own) {
    sinks.push_back(own.get());
  }

  const std::string comm = std::filesystem::path(graph.binaries()[0].path()).filename().string();
  RecordingConfig config = recording_config(options, clock, main, comm);
  config.filter = filter_text;
  config.kernel = kernel.has_value();
  auto file = PerfDataWriter::create(config);
  if (!file) {
    return std::unexpected(file.error());
  }
  if (kernel) {
    file->kernel_mapping(Kernel::base, kernel->size(), Kernel::build_id);
  }
  write_process(*file, process, main, comm);
  const auto start = std::chrono::steady_clock::now();
  Machine machine(options, process, behaviour, clock, walk, main, *file, sinks,
                  options.branches.empty() ? nullptr : &branches);
  if (auto run = machine.run(); !run) {
    return std::unexpected(run.error());
  }
  if (auto finished = file->finish(); !finished) {
    return std::unexpected(finished.error());
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (counts) {
    counts->write(counts_file);
  }
  return Summary{machine.trace_bytes(), machine.calls(), graph.usable().size(), seconds.count()};
}

Result<void> run_synth(const SynthOptions& options) {
  auto graph =
      CodeGraph::read(options.binaries, options.functions, options.system_calls_every != 0);
  if (!graph) {
    return std::unexpected(graph.error());
  }
  auto summary = synthesise(options, *graph);
  if (!summary) {
    return std::unexpected(summary.error());
  }
  constexpr double megabyte = 1e6;
  fmt::print(
      stderr, "[ ptsim: {} bytes of made-up trace, {} calls, {} functions, {:.1f} MB/s -> {} ]\n",
      summary->trace_bytes, summary->calls, summary->functions,
      static_cast<double>(summary->trace_bytes) / megabyte / summary->seconds, options.output);
  return {};
}

} // namespace ptlens::ptsim::synth
