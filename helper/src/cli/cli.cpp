// Parsing of the command line by CLI11.
#include "cli/cli.hpp"

#include "cli/commands.hpp"
#include "server/server.hpp"
#include "symbols/dwarf/debuginfod.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <unistd.h>

namespace ptlens::cli {
namespace {

constexpr std::chrono::seconds debuginfod_limit(20);
constexpr int status_failed = 1;
constexpr int status_usage = 2;

constexpr unsigned most_workers = 256;
constexpr std::uint64_t least_memory = std::uint64_t{1} << 24U;
constexpr std::uint64_t most_memory = std::uint64_t{1} << 50U;
constexpr std::uint64_t least_segment = 256;
constexpr std::uint64_t most_segment = std::uint64_t{1} << 32U;

void allow_debuginfod(std::chrono::milliseconds limit) {
  if (!symbols::allow_debuginfod(limit)) {
    std::cerr << "ptlens: nothing is fetched: libdebuginfod.so.1 cannot be loaded; install it "
                 "(apt-get install libdebuginfod1)\n";
  }
}

void add_debuginfod(CLI::App& command) {
  auto* allow = command.add_flag_callback(
      "--debuginfod", [] { allow_debuginfod(debuginfod_limit); },
      "fetch what is lacking from the servers of DEBUGINFOD_URLS; give up what takes 20 s");
  command
      .add_option_function<double>(
          "--debuginfod-limit",
          [](double seconds) {
            allow_debuginfod(std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000)));
          },
          "give up what takes that many seconds")
      ->check(CLI::Range(0.1, 3600.0))
      ->needs(allow);
}

void add_source(CLI::App& command, RecordingOptions& options) {
  command
      .add_option("RECORDING", options.recording,
                  "perf.data file, directory from record, or bundle")
      ->required();
  command.add_option("--symfs", options.symfs, "look for every mapped binary under DIR first")
      ->type_name("DIR");
  command
      .add_option("--kallsyms", options.kallsyms,
                  "names of kernel functions; the code is the kcore beside it, or --kcore")
      ->type_name("FILE");
  command.add_option("--kcore", options.kcore, "kernel code, as 'perf record --kcore' keeps it")
      ->type_name("FILE");
  command
      .add_option_function<std::vector<std::string>>(
          "--source-map",
          [&options](const std::vector<std::string>& pairs) {
            for (const std::string& pair : pairs) {
              if (auto root = engine::parse_source_map(pair)) {
                options.source_map.push_back(std::move(*root));
              }
            }
          },
          "sources that were below FROM where the program was built are below TO here; repeatable")
      ->type_name("FROM=TO")
      ->check([](const std::string& pair) {
        return engine::parse_source_map(pair) ? std::string() : "FROM=TO is wanted";
      })
      ->allow_extra_args(false);
  command
      .add_option("--decoder", options.decoder,
                  "decoder of the trace: fast, or libipt for its block decoder")
      ->check(CLI::IsMember({"fast", "libipt"}))
      ->capture_default_str();
  command
      .add_option("--workers", options.workers,
                  "threads that decode, 0 for one on each processor; the result is the same")
      ->check(CLI::Range(0U, most_workers));
  command
      .add_option("--segment", options.segment_bytes,
                  "trace that a thread decodes at a time, at least; memory goes with it")
      ->check(CLI::Range(least_segment, most_segment))
      ->transform(CLI::AsSizeValue(false))
      ->type_name("SIZE")
      ->capture_default_str();
  command
      .add_option("--memory", options.memory_bytes,
                  "about what decoding may take beside symbols; without it a quarter of the "
                  "machine's")
      ->check(CLI::Range(least_memory, most_memory))
      ->transform(CLI::AsSizeValue(false))
      ->type_name("SIZE");
  add_debuginfod(command);
  command.add_option("--pid", options.pid, "only this process, of a recording of several")
      ->check(CLI::PositiveNumber);
}

void add_no_store(CLI::App& command, RecordingOptions& options) {
  command.add_flag("--no-store", options.no_store,
                   "decode, though the calls be kept from before, and keep none");
}

void add_json(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "one JSON object instead of text");
}

void add_function(CLI::App& command, std::string& function, std::string& binary, bool required) {
  command
      .add_option("--function", function,
                  "name, name without parameters, or NAME@0xADDRESS for one of several")
      ->type_name("F")
      ->required(required);
  command.add_option("--binary", binary, "path, or its end, of the binary that holds it")
      ->type_name("B");
}

void add_all(CLI::App& command, bool& all) {
  command.add_flag("--all", all,
                   "all functions that answer to the name together: the instances of a template, "
                   "overloads, statics of equal names");
}

const CLI::Range& positive_id() {
  static const CLI::Range range(1, std::numeric_limits<std::int32_t>::max());
  return range;
}

void add_selection(CLI::App& command, SelectionOptions& options) {
  command.add_option("--time", options.time, "calls that start in A,B after the trace began")
      ->type_name("A,B");
  command.add_option("--latency", options.latency, "calls that took A,B (ns, or with a unit)")
      ->type_name("A,B");
  command.add_option("--tid", options.tid, "calls of one thread")->check(positive_id());
  command
      .add_option("--ancestor", options.ancestor,
                  "calls below a call of G, which took between min and max")
      ->type_name("G[,min,max]");
}

class CommandLine {
public:
  explicit CommandLine(const std::string& version)
      : app_("Measures the latency of every call of a function in a running program.", "ptlens") {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", fmt::format("ptlens {}", version));
    add_doctor();
    add_processes();
    add_record();
    add_functions();
    add_report();
    add_calls();
    add_flame();
    add_lines();
    add_diff();
    add_decode();
    add_store();
    add_verify();
    add_bundle();
    add_serve(version);
  }

  int run(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      // CLI11 reports bad usage by exceptions; they end here.
      return app_.exit(error, std::cout, std::cerr) == 0 ? 0 : status_usage;
    }
    if (serve_) {
      return serve_();
    }
    const Result<void> result = action_();
    std::cout.flush();
    if (!result) {
      std::cerr << "ptlens: " << result.error().one_line() << '\n';
      return status_failed;
    }
    if (!std::cout) {
      std::cerr << "ptlens: standard output cannot be written; is the disk full?\n";
      return status_failed;
    }
    return 0;
  }

private:
  CLI::App* command(const std::string& name, const std::string& text,
                    std::function<Result<void>()> action) {
    CLI::App* command = app_.add_subcommand(name, text);
    command->callback([this, action = std::move(action)] { action_ = action; });
    return command;
  }

  void add_doctor() {
    CLI::App* app = command("doctor", "what this machine can measure, and what it lacks",
                            [this] { return doctor(doctor_); });
    app->add_option("--perf", doctor_.perf, "perf to use")->type_name("PATH");
    app->add_option("--binary", doctor_.binary, "look at its debug information as well")
        ->type_name("B");
    app->add_option("-o,--output", doctor_.folder, "folder where recordings would go")
        ->type_name("DIR");
    add_json(*app, doctor_.json);
  }

  void add_processes() {
    CLI::App* app = command("processes", "what could be measured; with --pid, the threads of one",
                            [this] { return processes(processes_); });
    auto* source = app->add_option("--source", processes_.source,
                                   "those first that were built from this source file");
    source->type_name("FILE");
    app->add_option("--pid", processes_.pid, "threads of this process")
        ->check(positive_id())
        ->excludes(source);
    add_json(*app, processes_.json);
  }

  void add_record() {
    CLI::App* app = command("record", "record a running process, or start a program",
                            [this] { return record_command(record_); });
    record::Request& request = record_.request;
    app->add_option("--pid", request.pid, "process")->check(positive_id());
    app->add_option("--tid", request.tid, "thread")->check(positive_id());
    app->add_option("--cpu", request.cpu, "everything on a CPU")
        ->check(CLI::Range(0, std::numeric_limits<std::int32_t>::max()));
    app->add_flag("-a,--all-cpus", request.all_cpus, "everything on every CPU");
    app->add_option("PROGRAM", request.program, "-- PROGRAM ARGS: started and recorded");
    app->add_option("--cwd", request.working_directory, "working directory of the program")
        ->type_name("DIR");
    app->add_option("--env", request.environment, "NAME=VALUE for the program; may be repeated")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false)
        ->check([](const std::string& text) {
          return text.find('=', 1) == std::string::npos ? "NAME=VALUE is wanted" : std::string();
        });
    app->parse_complete_callback([&request] {
      if (const auto target = record::check_target(request); !target) {
        throw CLI::ParseError(target.error().one_line(), CLI::ExitCodes::RequiredError);
      }
    });
    add_function(*app, request.function, request.binary, false);
    add_all(*app, request.all);
    app->add_option("--duration", request.duration_s, "seconds; until Ctrl-C where not given")
        ->check(CLI::Range(0.001, 86400.0));
    app->add_option("--backend", request.backend, "auto, intel_pt or uprobe")
        ->check(CLI::IsMember({"auto", "intel_pt", "uprobe"}));
    app->add_flag("--filter", request.filter, "trace inside the function only (intel_pt)");
    auto* snapshot =
        app->add_flag("--snapshot", request.snapshot,
                      "keep the last moments only, saved on SIGUSR2 and at the end (intel_pt)");
    app->add_option("--slower-than", request.slower_than_ns,
                    "save the snapshot when a call of the function took longer, e.g. 5ms, and end; "
                    "probes watch it, so root is needed")
        ->type_name("TIME")
        ->transform(CLI::AsNumberWithUnit(
            std::map<std::string, std::uint64_t>{
                {"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}},
            CLI::AsNumberWithUnit::UNIT_REQUIRED))
        ->needs(snapshot);
    app->add_flag("--probe,!--no-probe", request.probe,
                  "record for 50 ms first, and less than asked for where it would not fit "
                  "(intel_pt, of what runs already; on where the machine has it)");
    app->add_flag("--kernel", request.kernel, "trace the kernel as well (intel_pt)");
    app->add_option("--perf", request.perf, "perf to use")->type_name("PATH");
    app->add_option("-o,--output", request.output, "new directory for the recording")
        ->type_name("DIR")
        ->required();
    add_json(*app, record_.json);
  }

  void add_functions() {
    CLI::App* app =
        command("functions", "every function seen", [this] { return functions(functions_); });
    add_source(*app, functions_);
    add_no_store(*app, functions_);
    add_json(*app, functions_.json);
  }

  void add_report() {
    CLI::App* app = command("report", "latency, callers and children of one function",
                            [this] { return report(report_); });
    add_source(*app, report_.source);
    add_no_store(*app, report_.source);
    add_function(*app, report_.function, report_.binary, true);
    add_all(*app, report_.all);
    add_selection(*app, report_.selection);
    add_json(*app, report_.source.json);
  }

  void add_calls() {
    CLI::App* app =
        command("calls", "one line for each call of a function", [this] { return calls(calls_); });
    add_source(*app, calls_.query.source);
    add_no_store(*app, calls_.query.source);
    add_function(*app, calls_.query.function, calls_.query.binary, true);
    add_selection(*app, calls_.query.selection);
    auto* lines =
        app->add_flag("--json-lines", json_lines_, "one JSON object a line (the default)");
    app->add_flag("--csv", calls_.csv, "comma-separated values with a header")->excludes(lines);
  }

  void add_flame() {
    CLI::App* app = command("flame", "stacks with their time, for flame graphs",
                            [this] { return flame(flame_); });
    add_source(*app, flame_.query.source);
    add_no_store(*app, flame_.query.source);
    add_function(*app, flame_.query.function, flame_.query.binary, false);
    add_all(*app, flame_.query.all);
    add_selection(*app, flame_.query.selection);
    app->add_option("--format", flame_.format, "folded or json")
        ->check(CLI::IsMember({"folded", "json"}));
    auto* on = app->add_flag("--on", flame_.on, "on-CPU time alone");
    app->add_flag("--off", flame_.off, "off-CPU time alone")->excludes(on);
  }

  void add_lines() {
    CLI::App* app = command("lines", "functions and call sites of one source file",
                            [this] { return lines(lines_); });
    add_source(*app, lines_.source);
    add_no_store(*app, lines_.source);
    app->add_option("--file", lines_.file, "source file, or the end of its path")
        ->type_name("SOURCE")
        ->required();
    auto* time = app->add_flag("--time", lines_.time,
                               "how often each line was executed and how long its own instructions "
                               "took: decodes the trace once more");
    add_function(*app, lines_.function, lines_.binary, false);
    app->get_option("--function")->needs(time);
    add_json(*app, lines_.source.json);
  }

  void add_diff() {
    CLI::App* app = command("diff", "what changed from one recording to another",
                            [this] { return diff(diff_); });
    app->add_option("BASE", diff_.base, "recording to compare with")->required();
    add_source(*app, diff_.source);
    add_no_store(*app, diff_.source);
    add_function(*app, diff_.function, diff_.binary, false);
    add_json(*app, diff_.source.json);
  }

  void add_decode() {
    CLI::App* app =
        command("decode", "time_ns, tid, cpu, kind, from, to, symbol: one branch a line",
                [this] { return decode(decode_); });
    add_source(*app, decode_.source);
    app->add_option("--events", decode_.events, "calls or branches")
        ->check(CLI::IsMember({"calls", "branches"}));
    app->add_option("--tid", decode_.tid, "one thread")->check(positive_id());
  }

  void add_store() {
    CLI::App* app = command("store", "where the calls of a recording are kept once decoded",
                            [this] { return store(store_); });
    add_source(*app, store_.source);
    app->add_flag("--remove", store_.remove, "remove them, of whatever options");
    add_json(*app, store_.source.json);
  }

  void add_verify() {
    CLI::App* app = command("verify", "decodes a recording twice and tells the first difference",
                            [this] { return verify(verify_); });
    add_source(*app, verify_);
    add_json(*app, verify_.json);
  }

  void add_bundle() {
    CLI::App* app = command(
        "bundle", "one file with the recording and the binaries it needs, to open elsewhere",
        [this] { return bundle(bundle_); });
    add_source(*app, bundle_.source);
    app->add_option("-o,--output", bundle_.output, "new file")->type_name("FILE")->required();
    add_json(*app, bundle_.source.json);
  }

  void add_serve(const std::string& version) {
    CLI::App* app = app_.add_subcommand("serve", "JSON-RPC on stdin and stdout, for editors");
    app->add_flag("--stdio", stdio_, "stdin and stdout (the default)");
    add_debuginfod(*app);
    app->callback([this, version] {
      serve_ = [version] { return server::run(STDIN_FILENO, STDOUT_FILENO, version); };
    });
  }

  CLI::App app_;
  std::function<Result<void>()> action_;
  std::function<int()> serve_;
  bool stdio_ = true;      // the only way there is
  bool json_lines_ = true; // the format without --csv
  DoctorOptions doctor_;
  ProcessesOptions processes_;
  RecordOptions record_;
  RecordingOptions functions_;
  QueryOptions report_;
  CallsOptions calls_;
  FlameOptions flame_;
  LinesOptions lines_;
  DiffOptions diff_;
  BundleOptions bundle_;
  DecodeOptions decode_;
  StoreOptions store_;
  RecordingOptions verify_;
};

} // namespace

int run(int argc, char** argv, const std::string& version) {
  return CommandLine(version).run(argc, argv);
}

} // namespace ptlens::cli
