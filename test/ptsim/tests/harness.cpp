// Child processes, perf script's text and the truth files.
#include "harness.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace ptlens::ptsim::testing {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::uint64_t hex(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 16);
}

// "3961.660128317:   tr strt       0 =>     56420abdc260": time, words of flags, from, to.
std::optional<BranchEvent> parse_event(const std::string& line) {
  std::stringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  const std::size_t count = words.size();
  if (count < 5 || words[count - 2] != "=>") {
    return std::nullopt;
  }
  BranchEvent event{hex(words[count - 3]), hex(words[count - 1]), words[1], 0};
  for (std::size_t index = 2; index < count - 3; ++index) {
    event.kind += " " + words[index];
  }
  const std::size_t point = words[0].find('.');
  if (point == std::string::npos) {
    return std::nullopt;
  }
  event.ns = std::stoull(words[0]) * 1'000'000'000 + std::stoull(words[0].substr(point + 1));
  return event;
}

} // namespace

Output run(const std::vector<std::string>& arguments) {
  const TemporaryFolder folder;
  const std::string out = folder / "out";
  const std::string err = folder / "err";
  const pid_t pid = fork();
  if (pid == 0) {
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    dup2(open(out.c_str(), flags, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), flags, 0600), STDERR_FILENO);
    std::vector<char*> pointers;
    pointers.reserve(arguments.size() + 1);
    for (const std::string& argument : arguments) {
      pointers.push_back(const_cast<char*>(argument.c_str()));
    }
    pointers.push_back(nullptr);
    execvp(pointers.front(), pointers.data());
    _exit(127);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), contents(out),
          contents(err)};
}

std::string why_no_recordings() {
  if (run({"perf", "--version"}).status != 0) {
    return "perf is not installed, so nothing can judge a recording";
  }
  if (run({"g++", "--version"}).status != 0) {
    return "g++ is not installed, so there is no program to record";
  }
  const TemporaryFolder folder;
  const Output probe =
      run({PTSIM, "record", "--max-steps", "10", "-o", folder / "probe", "--", "true"});
  return probe.status == 0 ? "" : "a program cannot be single-stepped here: " + probe.err;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = std::filesystem::temp_directory_path() / "ptsim-test-XXXXXX";
  path_ = mkdtemp(name.data()) == nullptr ? "." : name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void compile(const std::string& source, const std::string& program, const std::string& linkage) {
  std::ofstream(program + ".cpp") << source;
  const Output compiled =
      run({"g++", "-std=c++17", "-O2", "-g", linkage, "-o", program, program + ".cpp"});
  ASSERT_EQ(compiled.status, 0) << compiled.err;
}

std::string Recording::errors() const {
  const Output events = run({"perf", "script", "-f", "-i", file, "--itrace=e"});
  return events.status == 0 ? events.out + events.err : "perf failed: " + events.err;
}

std::vector<BranchEvent> Recording::decoded(const std::string& what) const {
  const Output text = run(
      {"perf", "script", "-f", "-i", file, "--itrace=" + what, "--ns", "-F", "time,ip,addr,flags"});
  EXPECT_EQ(text.status, 0) << text.err;
  std::vector<BranchEvent> events;
  for (const std::string& line : lines(text.out)) {
    const auto event = parse_event(line);
    if (event) {
      events.push_back(*event);
    } else {
      ADD_FAILURE() << "perf script printed: " << line;
    }
  }
  return events;
}

std::vector<BranchEvent> Recording::stepped() const {
  std::vector<BranchEvent> events;
  for (const std::string& line : lines(contents(file + ".truth.branches.tsv"))) {
    std::stringstream fields(line);
    std::string tid;
    std::string from;
    std::string to;
    std::string kind;
    fields >> tid >> from >> to >> kind;
    events.push_back({hex(from), hex(to), kind, 0});
  }
  return events;
}

std::vector<TruthCall> Recording::truth() const {
  std::vector<TruthCall> calls;
  for (const std::string& line : lines(contents(file + ".truth.jsonl"))) {
    const auto json = nlohmann::json::parse(line);
    if (json.contains("format")) {
      continue;
    }
    TruthCall call;
    call.symbol = json.at("symbol");
    call.binary = json.at("binary");
    call.function = hex(json.at("function"));
    call.caller = hex(json.at("caller"));
    call.start = json.at("start");
    call.end = json.at("end");
    call.depth = json.at("depth");
    call.off_cpu = json.at("off_cpu");
    call.state = json.at("state");
    call.tail_call = json.at("tail_call");
    call.signal_handler = json.at("signal_handler");
    calls.push_back(call);
  }
  return calls;
}

std::size_t Recording::count(const std::string& symbol, const std::string& state) const {
  const auto calls = truth();
  return static_cast<std::size_t>(std::ranges::count_if(
      calls, [&](const TruthCall& call) { return call.symbol == symbol && call.state == state; }));
}

std::string Recording::dump() const {
  return run({"perf", "script", "-f", "-D", "-i", file}).out;
}

Recording record(const std::string& file, const std::string& event,
                 const std::vector<std::string>& options, const std::vector<std::string>& program) {
  std::vector<std::string> arguments{PTSIM, "record", "-e", event, "--branches", "-o", file};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), program.begin(), program.end());
  return {file, run(arguments)};
}

std::map<std::string, SymbolRange> functions_by_nm(const std::string& program) {
  std::map<std::string, SymbolRange> functions;
  for (const std::string& line : lines(run({"nm", "-S", "--defined-only", program}).out)) {
    std::stringstream fields(line);
    std::string address;
    std::string size;
    std::string type;
    std::string name;
    if (fields >> address >> size >> type >> name && (type == "T" || type == "t")) {
      functions[name] = {hex(address), hex(size)};
    }
  }
  return functions;
}

} // namespace ptlens::ptsim::testing
