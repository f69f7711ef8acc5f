// Runs compilers, ptsim and the engine for one sample.
#include "sample_runs.hpp"

#include "engine/engine.hpp"
#include "support/run_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>
#include <tuple>
#include <unordered_map>

namespace ptlens::stacks::testing {
namespace {

const std::string simulator = PTLENS_BUILD_DIR "/ptsim/ptsim";
const std::string sources = PTLENS_SOURCE_ROOT "/test/samples/stacks/";

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns stdout and status; stderr goes to a file.
test::CommandResult quietly(const std::string& errors, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"sh", "-c", "exec \"$@\" 2>\"$0\"", errors});
  return test::run_command(arguments);
}

std::string clang() {
  static const std::string found = [] {
    for (const char* name : {"clang-19", "clang", "clang-14"}) {
      if (test::has_command(name)) {
        return std::string(name);
      }
    }
    return std::string();
  }();
  return found;
}

std::vector<Variant>
with_both_compilers(const std::vector<std::pair<std::vector<std::string>, bool>>& flag_sets) {
  std::vector<Variant> variants;
  for (const std::string& compiler : {std::string("gcc"), clang()}) {
    for (const auto& [flags, optimised] : flag_sets) {
      if (!compiler.empty()) {
        variants.push_back({compiler, flags, optimised});
      }
    }
  }
  return variants;
}

std::string build(const Sample& sample, const Variant& variant, std::string& problem) {
  const std::string source = sources + sample.source;
  const bool cpp = source.ends_with(".cpp");
  std::string compiler = variant.compiler;
  if (cpp) {
    compiler = variant.is_gcc() ? "g++" : compiler.insert(std::string_view("clang").size(), "++");
  }
  std::vector<std::string> command{compiler, "-g"};
  command.insert(command.end(), variant.flags.begin(), variant.flags.end());
  command.insert(command.end(), sample.flags.begin(), sample.flags.end());
  std::string key =
      fmt::format("{} {} {} {} {}", fmt::join(command, " "), fmt::join(sample.libraries, " "),
                  sample.source, contents(source), contents(sources + "sample.h"));
  for (const std::string& more : sample.libraries) {
    key += contents(more); // of a second source file
  }
  const std::filesystem::path folder =
      fmt::format(PTLENS_BUILD_DIR "/samples/stacks/{:016x}", std::hash<std::string>{}(key));
  const std::string program = folder / std::filesystem::path(sample.source).stem();
  if (std::filesystem::exists(program)) {
    return program;
  }
  std::filesystem::create_directories(folder);
  const std::string made = program + ".new";
  command.insert(command.end(), {"-o", made, source});
  command.insert(command.end(), sample.libraries.begin(), sample.libraries.end());
  if (quietly(program + ".err", command).status != 0) {
    problem = fmt::format("{}: {}", fmt::join(command, " "), contents(program + ".err"));
    return {};
  }
  std::filesystem::rename(made, program);
  return program;
}

std::vector<TruthCall> read_truth(const std::string& path) {
  std::vector<TruthCall> calls;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::json::parse(line);
    if (!json.contains("call")) {
      continue; // the format, or a record of a fault
    }
    const auto number = [&json](const char* key) {
      return std::stoull(json.at(key).get<std::string>(), nullptr, 16);
    };
    TruthCall call;
    call.number = json.at("call");
    if (!json.at("parent").is_null()) {
      call.parent = json.at("parent").get<std::uint64_t>();
    }
    call.symbol = json.at("symbol");
    call.binary = json.at("binary");
    call.address = number("address");
    call.start = json.at("start");
    call.end = json.at("end");
    call.caller = number("caller");
    call.off_cpu = json.at("off_cpu");
    call.state = json.at("state");
    call.tail_call = json.at("tail_call");
    call.signal_handler = json.at("signal_handler");
    calls.push_back(std::move(call));
  }
  std::ranges::sort(calls, {}, &TruthCall::number);
  return calls;
}

SampleRun make_run(const Sample& sample, const Variant& variant) {
  SampleRun run;
  run.variant = variant;
  run.program = build(sample, variant, run.problem);
  if (run.program.empty()) {
    return run;
  }
  static std::atomic<unsigned> recordings = 0;
  run.recording = fmt::format("{}.{}.{}.data", run.program, ::getpid(), recordings++);
  const std::string errors = run.recording + ".err";
  std::vector<std::string> command{"env"};
  command.insert(command.end(), sample.environment.begin(), sample.environment.end());
  command.insert(command.end(), {simulator, "record", "-e",
                                 fmt::format("intel_pt/{}/u", sample.event), "-o", run.recording});
  command.insert(command.end(), sample.record.begin(), sample.record.end());
  command.insert(command.end(), {"--", run.program});
  command.insert(command.end(), sample.arguments.begin(), sample.arguments.end());
  run.status = quietly(errors, command).status;
  auto measured = engine::open(run.recording, {}, {});
  if (!measured) {
    run.problem = fmt::format("{}\n{}", measured.error().one_line(), contents(errors));
    return run;
  }
  run.measurement = std::make_shared<const measure::test::MeasuredCalls>(**measured);
  run.truth = read_truth(run.recording + ".truth.jsonl");
  return run;
}

void remove_recording(const SampleRun& run) {
  for (const char* ending : {"", ".err", ".truth.jsonl"}) {
    std::error_code ignored;
    std::filesystem::remove(run.recording + ending, ignored);
  }
}

const char* word(CallState state) {
  switch (state) {
  case CallState::complete:
    return "complete";
  case CallState::incomplete:
    return "incomplete";
  case CallState::unwound:
    return "unwound";
  }
  return "?";
}

using Place = std::pair<std::string, std::uint64_t>; // file name, ELF address

Place place_of(const std::string& binary, std::uint64_t address) {
  return {std::filesystem::path(binary).filename(), address};
}

// One call, as the truth and the measurement describe it.
struct Seen {
  std::string text;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t uncertainty = 0; // of its latency
  bool complete = false;
};

bool bottom(const TruthCall& call) {
  return !call.parent && call.caller == 0 && !call.signal_handler;
}

// Returns the name in the source, without the suffix that the compiler added for a copy or part.
std::string source_name(const std::string& name) {
  return name.substr(0, name.find(" [clone"));
}

} // namespace

std::string Variant::name() const {
  return fmt::format("{} {}", compiler, fmt::join(flags, " "));
}

std::vector<Variant> all_variants() {
  return with_both_compilers({{{"-O0"}, false},
                              {{"-O2", "-no-pie"}, true},
                              {{"-O3", "-fno-plt", "-pie", "-fPIE"}, true},
                              {{"-O2", "-static"}, true}});
}

std::vector<Variant> few_variants() {
  std::vector<Variant> variants = all_variants();
  std::erase_if(variants, [](const Variant& variant) {
    const bool fixed = std::ranges::find(variant.flags, "-no-pie") != variant.flags.end();
    return !fixed && (variant.optimised || !variant.is_gcc());
  });
  return variants;
}

std::string why_no_samples() {
  if (!std::filesystem::exists(simulator)) {
    return simulator + " is not built";
  }
  if (!test::has_command("gcc")) {
    return "gcc is not installed";
  }
  const std::string probe =
      std::filesystem::temp_directory_path() / fmt::format("ptlens-probe-{}", ::getpid());
  const bool steps =
      quietly(probe + ".err", {simulator, "record", "--max-steps", "10", "-o", probe, "--", "true"})
          .status == 0;
  for (const char* ending : {"", ".err", ".truth.jsonl"}) {
    std::error_code ignored;
    std::filesystem::remove(probe + ending, ignored);
  }
  return steps ? "" : "a program cannot be single-stepped here";
}

void for_each_run(const Sample& sample, const std::vector<Variant>& variants,
                  const std::function<void(const SampleRun&)>& check) {
  std::vector<SampleRun> runs(variants.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t index = next++; index < variants.size(); index = next++) {
      runs[index] = make_run(sample, variants[index]);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) {
      threads.emplace_back(work);
    }
    work();
  }
  for (const SampleRun& run : runs) {
    SCOPED_TRACE(sample.source + " by " + run.variant.name() + ": " + run.recording);
    EXPECT_EQ(run.problem, "");
    if (run.measurement) {
      check(run);
    }
    if (!::testing::Test::HasFailure()) {
      remove_recording(run);
    }
  }
}

std::vector<std::string> SampleRun::symbols() const {
  std::vector<std::string> symbols;
  std::istringstream words(test::run_command({"nm", "-j", "--defined-only", program}).output);
  for (std::string word; words >> word;) {
    symbols.push_back(word);
  }
  return symbols;
}

std::set<std::string> SampleRun::called() const {
  std::set<std::string> names;
  for (const FunctionId function : measurement->calls.function) {
    names.insert(measurement->functions[function].name);
  }
  return names;
}

std::vector<std::uint32_t> SampleRun::calls(const std::string& function) const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t call = 0; call < measurement->calls.size(); ++call) {
    if (source_name(measurement->functions[measurement->calls.function[call]].name) == function) {
      found.push_back(call);
    }
  }
  return found;
}

std::string SampleRun::caller(std::uint32_t call) const {
  const CallIndex parent = measurement->calls.parent[call];
  return parent == CallIndex::none
             ? ""
             : source_name(
                   measurement->functions[measurement->calls.function[index_of(parent)]].name);
}

std::uint64_t SampleRun::end(std::uint32_t call) const {
  return measurement->calls.start[call] + measurement->calls.latency[call];
}

void expect_calls(const SampleRun& run, const std::vector<Edge>& edges) {
  using Key = std::tuple<std::string, std::string, std::string, bool>;
  std::map<Key, std::size_t> expected;
  for (const Edge& edge : edges) {
    expected[{edge.callee, edge.caller, word(edge.state), edge.tail_call}] += edge.count;
  }
  std::map<Key, std::size_t> found;
  std::vector<std::string> named;
  for (const Edge& edge : edges) {
    if (std::ranges::find(named, edge.callee) != named.end()) {
      continue;
    }
    named.push_back(edge.callee);
    for (const std::uint32_t call : run.calls(edge.callee)) {
      const CallTable& table = run.measurement->calls;
      ++found[{edge.callee, run.caller(call), word(table.state[call]), table.tail_call[call] != 0}];
    }
  }
  std::string differences;
  const auto compare = [&](const Key& key) {
    if (expected[key] != found[key]) {
      const auto& [callee, caller, state, tail] = key;
      differences += fmt::format("{} from {}, {}{}: {}, not {}\n", callee, caller, state,
                                 tail ? ", by a jump" : "", found[key], expected[key]);
    }
  };
  std::set<Key> keys;
  for (const auto& counts : {expected, found}) {
    for (const auto& [key, count] : counts) {
      keys.insert(key);
    }
  }
  std::ranges::for_each(keys, compare);
  EXPECT_EQ(differences, "");
}

void expect_truth(const SampleRun& run) {
  const measure::test::MeasuredCalls& measurement = *run.measurement;
  std::map<Place, std::string> symbols;
  std::unordered_map<std::uint64_t, const TruthCall*> by_number;
  for (const TruthCall& call : run.truth) {
    by_number[call.number] = &call;
    if (!call.symbol.empty() && !call.binary.starts_with('[')) {
      symbols.try_emplace(place_of(call.binary, call.address), call.symbol);
    }
  }
  const auto symbol_at = [&symbols](const std::string& binary, std::uint64_t address) {
    const auto found = symbols.find(place_of(binary, address));
    return found == symbols.end() ? std::string() : found->second;
  };
  const auto in_program = [&run](const std::string& binary) { return binary == run.program; };

  std::vector<Seen> expected;
  for (const TruthCall& call : run.truth) {
    const TruthCall* caller = call.parent ? by_number.at(*call.parent) : nullptr;
    const std::string symbol = symbol_at(call.binary, call.address);
    const bool from_program = caller != nullptr && in_program(caller->binary);
    if (symbol.empty() || bottom(call) || !(in_program(call.binary) || from_program)) {
      continue;
    }
    const std::string parent = caller == nullptr ? "" : symbol_at(caller->binary, caller->address);
    expected.push_back({fmt::format("{} from {}, {}{}", symbol, parent, call.state,
                                    call.tail_call ? ", by a jump" : ""),
                        call.start, call.end});
  }
  std::vector<Seen> found;
  const CallTable& table = measurement.calls;
  for (std::uint32_t call = 0; call < table.size(); ++call) {
    const FunctionInfo& function = measurement.functions[table.function[call]];
    const std::string symbol = symbol_at(function.binary, function.address);
    if (symbol.empty() || table.parent[call] == CallIndex::none ||
        (table.site[call] == SiteId::none && table.state[call] == CallState::incomplete)) {
      continue;
    }
    const FunctionInfo& caller =
        measurement.functions[table.function[index_of(table.parent[call])]];
    if (!in_program(function.binary) && !in_program(caller.binary)) {
      continue;
    }
    found.push_back(
        {fmt::format("{} from {}, {}{}", symbol, symbol_at(caller.binary, caller.address),
                     word(table.state[call]), table.tail_call[call] != 0 ? ", by a jump" : ""),
         table.start[call], run.end(call), table.uncertainty[call],
         table.state[call] == CallState::complete});
  }
  EXPECT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    ASSERT_EQ(found[i].text, expected[i].text) << "call " << i;
  }
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    if (!found[i].complete) {
      continue; // the thread's end is in the kernel
    }
    constexpr std::uint64_t rounding = 2;
    const std::uint64_t latency = found[i].end - found[i].start;
    const std::uint64_t exact = expected[i].end - expected[i].start;
    EXPECT_LE(std::max(latency, exact) - std::min(latency, exact), found[i].uncertainty + rounding)
        << expected[i].text;
  }
}

void expect_time_adds_up(const SampleRun& run) {
  const measure::test::MeasuredCalls& measurement = *run.measurement;
  const CallTable& table = measurement.calls;
  std::vector<std::uint64_t> self(measurement.threads.size());
  using ByFunction = IdVector<FunctionId, std::uint64_t>;
  std::vector<ByFunction> inclusive(measurement.threads.size(),
                                    ByFunction(measurement.functions.size()));
  for (std::uint32_t call = 0; call < table.size(); ++call) {
    ASSERT_LE(table.children[call], table.latency[call]) << call;
    self[table.thread[call]] += table.self(call);
    if (table.inner[call] == 0) {
      inclusive[table.thread[call]][table.function[call]] += table.latency[call];
    }
    if (table.parent[call] != CallIndex::none) {
      const std::uint32_t parent = index_of(table.parent[call]);
      EXPECT_LT(parent, call);
      EXPECT_GE(table.start[call], table.start[parent]);
      EXPECT_LE(run.end(call), run.end(parent));
    }
  }
  for (std::size_t thread = 0; thread < measurement.threads.size(); ++thread) {
    const ThreadInfo& info = measurement.threads[thread];
    const std::uint64_t traced = info.last_ns - info.first_ns;
    EXPECT_EQ(self[thread], traced);
    for (const FunctionId function : measurement.functions.ids()) {
      EXPECT_LE(inclusive[thread][function], traced) << measurement.functions[function].name;
    }
  }
}

} // namespace ptlens::stacks::testing
