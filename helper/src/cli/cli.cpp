// Parses the command line with CLI11.
#include "cli/cli.hpp"

#include "cli/commands.hpp"
#include "cli/durations.hpp"
#include "cli/selection_options.hpp"
#include "cli/usage.hpp"
#include "server/server.hpp"
#include "symbols/dwarf/debuginfod.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <functional>
#include <iostream>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
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
    std::cerr << "ptlens: cannot download debug information: libdebuginfod.so.1 cannot be loaded. "
                 "Install it: apt-get install libdebuginfod1\n";
  }
}

void add_debuginfod(CLI::App& command) {
  auto* allow = command.add_flag_callback(
      "--debuginfod", [] { allow_debuginfod(debuginfod_limit); },
      "download missing debug information from the servers in DEBUGINFOD_URLS; give up after 20 s "
      "per file");
  command
      .add_option_function<double>(
          "--debuginfod-limit",
          [](double seconds) {
            allow_debuginfod(std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000)));
          },
          "give up a download after that many seconds")
      ->check(CLI::Range(0.1, 3600.0))
      ->needs(allow);
}

void add_recording(CLI::App& command, RecordingOptions& options) {
  command
      .add_option("RECORDING", options.recording,
                  "perf.data file, directory from record, uftrace.data folder, or bundle")
      ->required();
  command.add_option("--symfs", options.symfs, "look for every mapped binary under DIR first")
      ->type_name("DIR");
  command
      .add_option(
          "--kallsyms", options.kallsyms,
          "names of kernel functions; the code comes from the kcore beside it, or from --kcore")
      ->type_name("FILE");
  command.add_option("--kcore", options.kcore, "kernel code, as 'perf record --kcore' saves it")
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
          "source files under FROM on the build machine are under TO here; repeatable")
      ->type_name("FROM=TO")
      ->check([](const std::string& pair) {
        return engine::parse_source_map(pair) ? std::string() : "write it as FROM=TO";
      })
      ->allow_extra_args(false);
  add_debuginfod(command);
  command.add_option("--pid", options.pid, "only this process of the recording")
      ->check(CLI::PositiveNumber);
}

void add_decoder(CLI::App& command, RecordingOptions& options) {
  command
      .add_option(
          "--decoder", options.decoder,
          "fast, or libipt: libipt's instruction decoder, slow, to check the results of fast")
      ->check(CLI::IsMember({"fast", "libipt"}))
      ->capture_default_str();
}

void add_decoding(CLI::App& command, RecordingOptions& options) {
  command.add_option("--workers", options.workers, "decoding threads; 0: one per processor")
      ->check(CLI::Range(0U, most_workers));
  command
      .add_option("--segment", options.segment_bytes,
                  "least trace that a thread decodes at a time; more needs more memory")
      ->check(CLI::Range(least_segment, most_segment))
      ->transform(CLI::AsSizeValue(false))
      ->type_name("SIZE")
      ->capture_default_str();
  command
      .add_option(
          "--memory", options.memory_bytes,
          "approximate limit of memory for decoding, without symbols; default: a quarter of the "
          "machine's memory")
      ->check(CLI::Range(least_memory, most_memory))
      ->transform(CLI::AsSizeValue(false))
      ->type_name("SIZE");
}

// Adds the options of every command that reads the calls of a recording.
void add_source(CLI::App& command, RecordingOptions& options) {
  add_recording(command, options);
  add_decoder(command, options);
  add_decoding(command, options);
}

void add_no_cache(CLI::App& command, RecordingOptions& options) {
  command.add_flag("--no-cache", options.no_cache,
                   "decode the trace again; neither read nor write the call cache");
  constexpr const char* hidden = "";
  command.add_flag("--no-store", options.no_cache, "the former name of --no-cache")->group(hidden);
}

void add_json(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "print one JSON object");
}

void add_binary(CLI::App& command, std::string& binary) {
  command.add_option("--binary", binary, "path of its binary, or the end of the path")
      ->type_name("B");
}

void add_function(CLI::App& command, std::string& function, std::string& binary, bool required) {
  command
      .add_option("--function", function,
                  "name, name without parameters, or NAME@0xADDRESS to choose one of several")
      ->type_name("F")
      ->required(required);
  add_binary(command, binary);
}

void add_all(CLI::App& command, bool& all) {
  command.add_flag(
      "--all", all,
      "report all functions of that name together: template instances, overloads, static "
      "functions with equal names");
}

std::string positive_id(const std::string& text) {
  std::int32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && rest == end && number > 0
             ? std::string()
             : fmt::format("\"{}\" is not the number of a process or thread: write a whole number "
                           "above 0",
                           text);
}

// Returns why --duration or --slower-than refuses the text; empty: it does not.
std::string refused_duration(const std::string& text, bool unit_required) {
  constexpr double shortest_s = 0.001;
  constexpr double longest_s = 86400;
  const auto seconds = parse_duration(text, unit_required);
  if (!seconds) {
    return seconds.error().one_line();
  }
  if (!unit_required && (*seconds < shortest_s || *seconds > longest_s)) {
    return fmt::format("{} is not between 1 ms and 24 h", text);
  }
  return *seconds > 0 && *seconds <= longest_s
             ? std::string()
             : fmt::format("{} is not between 1 ns and 24 h", text);
}

// Reads "5ms" as ns.
CLI::AsNumberWithUnit time_in_ns() {
  return CLI::AsNumberWithUnit(
      std::map<std::string, std::uint64_t>{
          {"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}},
      CLI::AsNumberWithUnit::UNIT_REQUIRED);
}

class CommandLine {
public:
  // `first`: the first argument. Where it is the name of a command, the other commands are not
  // added, which would take longer than many answers.
  CommandLine(const std::string& version, std::string_view first)
      : app_("Measures the latency of every call of a function in a running program.", "ptlens"),
        version_(version) {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", fmt::format("ptlens {}", version));
    struct Command {
      std::string_view name;
      void (CommandLine::*add)();
    };
    static constexpr std::array commands = {
        Command{"doctor", &CommandLine::add_doctor},
        Command{"processes", &CommandLine::add_processes},
        Command{"record", &CommandLine::add_record},
        Command{"functions", &CommandLine::add_functions},
        Command{"report", &CommandLine::add_report},
        Command{"calls", &CommandLine::add_calls},
        Command{"flame", &CommandLine::add_flame},
        Command{"explain", &CommandLine::add_explain},
        Command{"waits", &CommandLine::add_waits},
        Command{"timeline", &CommandLine::add_timeline},
        Command{"lines", &CommandLine::add_lines},
        Command{"diff", &CommandLine::add_diff},
        Command{"decode", &CommandLine::add_decode},
        Command{"cache", &CommandLine::add_cache},
        Command{"verify", &CommandLine::add_verify},
        Command{"bundle", &CommandLine::add_bundle},
        Command{"serve", &CommandLine::add_serve},
    };
    const bool names_one = std::ranges::find(commands, first, &Command::name) != commands.end();
    for (const Command& command : commands) {
      if (!names_one || command.name == first) {
        (this->*command.add)();
      }
    }
  }

  int run(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      // CLI11 reports bad usage with exceptions.
      const std::span<const char* const> arguments(argv, static_cast<std::size_t>(argc));
      if (const std::string unknown = unknown_name(app_, arguments.subspan(1));
          error.get_exit_code() != 0 && !unknown.empty()) {
        std::cerr << "ptlens: " << unknown << "\nRun with --help for more information.\n";
        return status_usage;
      }
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
      std::cerr << "ptlens: cannot write to standard output; is the disk full?\n";
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
    CLI::App* app = command("doctor", "show what this machine can measure, and what is missing",
                            [this] { return doctor(doctor_); });
    app->add_option("--perf", doctor_.perf, "perf program to use")->type_name("PATH");
    app->add_option("--binary", doctor_.binary, "also check the debug information of this binary")
        ->type_name("B");
    app->add_option("-o,--output", doctor_.folder,
                    "folder for recordings; its free space is checked")
        ->type_name("DIR");
    add_json(*app, doctor_.json);
  }

  void add_processes() {
    CLI::App* app = command(
        "processes", "list the processes that can be measured; with --pid, list the threads of one",
        [this] { return processes(processes_); });
    auto* source = app->add_option("--source", processes_.source,
                                   "list processes built from this source file first");
    source->type_name("FILE");
    app->add_option("--pid", processes_.pid, "list the threads of this process")
        ->check(positive_id)
        ->excludes(source);
    add_json(*app, processes_.json);
  }

  void add_record() {
    CLI::App* app = command("record", "record a running process, or start and record a program",
                            [this] { return record_command(record_); });
    record::Request& request = record_.request;
    app->add_option("--pid", request.pid, "process to record")->check(positive_id);
    app->add_option("--tid", request.tid, "thread to record")->check(positive_id);
    app->add_option("--cpu", request.cpu, "record everything on this CPU")
        ->check(CLI::Range(0, std::numeric_limits<std::int32_t>::max()));
    app->add_flag("-a,--all-cpus", request.all_cpus, "record everything on every CPU");
    app->add_option("PROGRAM", request.program,
                    "-- PROGRAM ARGS: start this program and record it");
    app->add_option("--cwd", request.working_directory, "working directory of the program")
        ->type_name("DIR");
    app->add_option("--env", request.environment, "environment variable of the program; repeatable")
        ->type_name("NAME=VALUE")
        ->allow_extra_args(false)
        ->check([](const std::string& text) {
          return text.find('=', 1) == std::string::npos ? "write it as NAME=VALUE" : std::string();
        });
    app->parse_complete_callback([this, &request] {
      std::vector<record::WantedFunction> wanted;
      for (const std::string& name : record_.functions) {
        wanted.push_back({.name = name, .binary = record_.binary, .all = record_.all});
      }
      request.binary = record_.binary;
      request.all = record_.all;
      request.set_functions(std::move(wanted));
      if (const auto target = record::check_target(request); !target) {
        throw CLI::ParseError(target.error().one_line(), CLI::ExitCodes::RequiredError);
      }
    });
    app->add_option("--function", record_.functions,
                    "function to measure: name, name without parameters, or NAME@0xADDRESS to "
                    "choose one of several; repeatable")
        ->type_name("F")
        ->allow_extra_args(false);
    app->add_option("--binary", record_.binary,
                    "path of the binary that contains the functions, or the end of the path")
        ->type_name("B");
    add_all(*app, record_.all);
    app->add_option_function<std::string>(
           "--duration",
           [&request](const std::string& text) {
             request.duration_s = parse_duration(text, false).value_or(0);
           },
           "time to record: seconds, or with a unit, such as 500ms or 2m; default: until Ctrl-C")
        ->type_name("TIME")
        ->check([](const std::string& text) { return refused_duration(text, false); });
    app->add_option("--backend", request.backend, "auto, intel_pt, uftrace or uprobe")
        ->check(CLI::IsMember({"auto", "intel_pt", "uftrace", "uprobe"}));
    app->add_option("--budget", request.budget,
                    "percent of its time that the program may lose to probes; default: 5; 100: no "
                    "limit")
        ->type_name("PERCENT")
        ->check(CLI::Range(0.01, 100.0));
    app->add_option(
           "--callees", request.callees,
           "functions to measure that the function calls: all, none, or names; repeatable; "
           "default: those that the budget allows (uprobe)")
        ->type_name("NAME")
        ->allow_extra_args(false);
    app->add_option("--returns", request.returns,
                    "how probes see the ends of calls: exit, uretprobe (faster, but ends programs "
                    "that unwind), or auto")
        ->check(CLI::IsMember({"auto", "exit", "uretprobe"}));
    app->add_flag(
        "--filter", request.filter,
        "trace only the function (intel_pt), or the function and what it calls (uftrace)");
    app->add_option("--min-latency", request.shortest_ns,
                    "leave out shorter calls, e.g. 1us (uftrace)")
        ->type_name("TIME")
        ->transform(time_in_ns());
    app->add_option("--depth", request.depth, "leave out calls that are deeper (uftrace)")
        ->check(CLI::Range(1U, 1024U));
    app->add_option("--max-data", request.most_bytes,
                    "end the recording when its data has so many bytes, e.g. 500MB; default: 1GB "
                    "(uftrace)")
        ->type_name("SIZE")
        ->transform(CLI::AsSizeValue(false));
    auto* snapshot = app->add_flag(
        "--snapshot", request.snapshot,
        "keep only the last part of the trace; save it on SIGUSR2 and at the end (intel_pt)");
    app->add_option_function<std::string>(
           "--slower-than",
           [&request](const std::string& text) {
             request.slower_than_ns =
                 static_cast<std::uint64_t>(parse_duration(text, true).value_or(0) * 1e9);
           },
           "save the snapshot and end when a call of the function takes longer, e.g. 5ms; probes "
           "watch the function, so this needs root")
        ->type_name("TIME")
        ->check([](const std::string& text) { return refused_duration(text, true); })
        ->needs(snapshot);
    app->add_flag(
        "--probe,!--no-probe", request.probe,
        "record for 50 ms first, and reduce the recording when it would lose trace (intel_pt, "
        "running processes; on by default)");
    app->add_flag("--kernel", request.kernel, "trace the kernel too (intel_pt)");
    app->add_flag(
        "--waits,!--no-waits", request.waits,
        "record what threads wait for and who wakes them (on by default where the machine "
        "allows it)");
    app->add_option("--perf", request.perf, "perf program to use")->type_name("PATH");
    app->add_option("-o,--output", request.output,
                    "new directory for the recording; default: ptlens-DATE-TIME in this directory")
        ->type_name("DIR");
    add_json(*app, record_.json);
  }

  void add_functions() {
    CLI::App* app = command("functions", "list every function with its time",
                            [this] { return functions(functions_); });
    add_source(*app, functions_);
    add_no_cache(*app, functions_);
    add_json(*app, functions_.json);
  }

  void add_report() {
    CLI::App* app = command("report", "show latency, callers and children of one function",
                            [this] { return report(report_); });
    add_source(*app, report_.source);
    add_no_cache(*app, report_.source);
    app->add_option("--function", report_.functions,
                    "name, name without parameters, or NAME@0xADDRESS to choose one of several; "
                    "repeatable: a report on each")
        ->type_name("F")
        ->required()
        ->allow_extra_args(false);
    add_binary(*app, report_.binary);
    add_all(*app, report_.all);
    app->add_flag("--raw", report_.raw,
                  "add the latency with the time of probes (JSON always has it)");
    add_selection(*app, report_.selection, false);
    add_json(*app, report_.source.json);
  }

  void add_calls() {
    CLI::App* app = command("calls", "print one line per call of a function, or of all functions",
                            [this] { return calls(calls_); });
    add_source(*app, calls_.query.source);
    add_no_cache(*app, calls_.query.source);
    add_function(*app, calls_.query.function, calls_.query.binary, false);
    add_all(*app, calls_.query.all);
    add_selection(*app, calls_.query.selection, true);
    auto* lines =
        app->add_flag("--json-lines", json_lines_, "one JSON object per line (the default)");
    app->add_flag("--csv", calls_.csv, "comma-separated values with a header")->excludes(lines);
  }

  void add_flame() {
    CLI::App* app = command("flame", "print call stacks with their time, for flame graphs",
                            [this] { return flame(flame_); });
    add_source(*app, flame_.query.source);
    add_no_cache(*app, flame_.query.source);
    add_function(*app, flame_.query.function, flame_.query.binary, false);
    add_all(*app, flame_.query.all);
    add_selection(*app, flame_.query.selection, false);
    app->add_option("--format", flame_.format, "folded or json")
        ->check(CLI::IsMember({"folded", "json"}));
    auto* on = app->add_flag("--on", flame_.on, "count only on-CPU time");
    app->add_flag("--off", flame_.off, "count only off-CPU time")->excludes(on);
    app->add_flag("--waits", flame_.waits, "show what calls waited for as frames");
  }

  void add_explain() {
    CLI::App* app = command("explain", "explain why the slow calls of a function are slow",
                            [this] { return explain(explain_); });
    add_source(*app, explain_.query.source);
    add_no_cache(*app, explain_.query.source);
    add_function(*app, explain_.query.function, explain_.query.binary, true);
    add_selection(*app, explain_.query.selection, false);
    app->add_option("--slow", explain_.slow,
                    "the slow calls: p99, '>5ms' or A,B; default: the selection, else p99")
        ->type_name("RANGE");
    app->add_option("--typical", explain_.typical,
                    "the calls to compare them with: a range, or others: all that are not slow; "
                    "default: p40-p60")
        ->type_name("RANGE");
    add_json(*app, explain_.query.source.json);
  }

  void add_waits() {
    CLI::App* app = command("waits", "show what threads waited for, and who woke them",
                            [this] { return waits(waits_); });
    add_source(*app, waits_.source);
    add_no_cache(*app, waits_.source);
    add_function(*app, waits_.function, waits_.binary, false);
    add_selection(*app, waits_.selection, false);
    add_json(*app, waits_.source.json);
  }

  void add_timeline() {
    CLI::App* app = command("timeline", "show one call in order of time, beside a typical one",
                            [this] { return timeline(timeline_); });
    add_source(*app, timeline_.query.source);
    add_no_cache(*app, timeline_.query.source);
    add_function(*app, timeline_.query.function, timeline_.query.binary, true);
    app->add_option("--call", timeline_.call,
                    "thread and start of the call, as `ptlens calls` prints them")
        ->type_name("TID:START")
        ->required();
    add_json(*app, timeline_.query.source.json);
  }

  void add_lines() {
    CLI::App* app = command("lines", "show the functions and call sites of one source file",
                            [this] { return lines(lines_); });
    add_source(*app, lines_.source);
    add_no_cache(*app, lines_.source);
    app->add_option("--file", lines_.file, "source file, or the end of its path")
        ->type_name("SOURCE")
        ->required();
    auto* time = app->add_flag("--time", lines_.time,
                               "also show how often each line was executed and how long its own "
                               "instructions took; decodes the trace again");
    add_function(*app, lines_.function, lines_.binary, false);
    app->get_option("--function")->needs(time);
    add_json(*app, lines_.source.json);
  }

  void add_diff() {
    CLI::App* app = command("diff", "compare two recordings, or several runs with several others",
                            [this] { return diff(diff_); });
    auto* base = app->add_option("BASE", diff_.base, "recording to compare with");
    add_source(*app, diff_.source);
    auto* recording = app->get_option("RECORDING")->required(false);
    constexpr int any_number = -1;
    auto* base_runs = app->add_option("--base", diff_.base_runs,
                                      "recordings to compare with: runs of one program; with --now")
                          ->type_name("RECORDING...")
                          ->expected(1, any_number)
                          ->excludes(base)
                          ->excludes(recording);
    auto* now_runs = app->add_option("--now", diff_.now_runs, "recordings to compare")
                         ->type_name("RECORDING...")
                         ->expected(1, any_number)
                         ->needs(base_runs);
    base_runs->needs(now_runs);
    app->parse_complete_callback([base_runs, recording] {
      if (base_runs->count() == 0 && recording->count() == 0) {
        throw CLI::ParseError("diff needs two recordings, BASE and RECORDING, or --base and --now",
                              CLI::ExitCodes::RequiredError);
      }
    });
    add_no_cache(*app, diff_.source);
    add_function(*app, diff_.function, diff_.binary, false);
    add_json(*app, diff_.source.json);
  }

  void add_decode() {
    CLI::App* app =
        command("decode", "print one branch per line: time_ns, tid, cpu, kind, from, to, symbol",
                [this] { return decode(decode_); });
    add_source(*app, decode_.source);
    app->add_option("--events", decode_.events, "calls or branches")
        ->check(CLI::IsMember({"calls", "branches"}));
    app->add_option("--tid", decode_.tid, "only this thread")->check(positive_id);
  }

  void add_cache() {
    const auto add = [this](const char* name, const char* text) {
      CLI::App* app = command(name, text, [this] { return cache(cache_); });
      add_recording(*app, cache_.source);
      add_decoder(*app, cache_.source);
      app->add_flag("--remove", cache_.remove, "remove every call cache of the recording");
      add_json(*app, cache_.source.json);
      return app;
    };
    add("cache", "show where the decoded calls of a recording are cached, or remove them");
    constexpr const char* hidden = "";
    add("store", "the former name of cache")->group(hidden);
  }

  void add_verify() {
    CLI::App* app =
        command("verify", "decode a recording with both decoders and report the first difference",
                [this] { return verify(verify_); });
    add_recording(*app, verify_);
    add_decoding(*app, verify_);
    add_json(*app, verify_.json);
  }

  void add_bundle() {
    CLI::App* app = command(
        "bundle", "pack a recording and its binaries into one file, to open it on another machine",
        [this] { return bundle(bundle_); });
    add_recording(*app, bundle_.source);
    app->add_option("-o,--output", bundle_.output, "file to write")->type_name("FILE")->required();
    add_json(*app, bundle_.source.json);
  }

  void add_serve() {
    CLI::App* app =
        app_.add_subcommand("serve", "serve an editor with JSON-RPC on stdin and stdout");
    app->add_flag("--stdio", stdio_, "use stdin and stdout (the default)");
    add_debuginfod(*app);
    app->callback(
        [this] { serve_ = [this] { return server::run(STDIN_FILENO, STDOUT_FILENO, version_); }; });
  }

  CLI::App app_;
  std::string version_;
  std::function<Result<void>()> action_;
  std::function<int()> serve_;
  bool stdio_ = true;      // the only transport
  bool json_lines_ = true; // the default format
  DoctorOptions doctor_;
  ProcessesOptions processes_;
  RecordOptions record_;
  RecordingOptions functions_;
  QueryOptions report_;
  CallsOptions calls_;
  FlameOptions flame_;
  ExplainOptions explain_;
  QueryOptions waits_;
  TimelineOptions timeline_;
  LinesOptions lines_;
  DiffOptions diff_;
  BundleOptions bundle_;
  DecodeOptions decode_;
  CacheOptions cache_;
  RecordingOptions verify_;
};

} // namespace

int run(int argc, char** argv, const std::string& version) {
  return CommandLine(version, argc > 1 ? argv[1] : "").run(argc, argv);
}

} // namespace ptlens::cli
