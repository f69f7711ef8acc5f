// Child processes, perf script's text and the truth files.
#include "harness.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
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

std::uint64_t hex(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 16);
}

std::vector<std::string> words_of(const std::string& line) {
  std::stringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  return words;
}

// "3961.660128317:"
std::uint64_t nanoseconds(const std::string& time) {
  const std::size_t point = time.find('.');
  return point == std::string::npos
             ? 0
             : std::stoull(time) * 1'000'000'000 + std::stoull(time.substr(point + 1));
}

// "-1 [003] 3961.660128317: ...": thread, processor, time.
bool parse_head(const std::vector<std::string>& words, int& tid, int& cpu, std::uint64_t& ns) {
  if (words.size() < 4 || !words[1].starts_with('[') || !words[2].ends_with(':')) {
    return false;
  }
  tid = std::atoi(words[0].c_str());
  cpu = std::atoi(words[1].c_str() + 1);
  ns = nanoseconds(words[2]);
  return true;
}

// "28889 [000] 3961.660128317:   tr strt       0 =>     56420abdc260"
std::optional<BranchEvent> parse_event(const std::string& line) {
  const std::vector<std::string> words = words_of(line);
  BranchEvent event;
  const std::size_t count = words.size();
  if (count < 7 || words[count - 2] != "=>" || !parse_head(words, event.tid, event.cpu, event.ns)) {
    return std::nullopt;
  }
  event.from = hex(words[count - 3]);
  event.to = hex(words[count - 1]);
  event.kind = words[3];
  for (std::size_t index = 4; index < count - 3; ++index) {
    event.kind += " " + words[index];
  }
  return event;
}

// When the thread was switched out, by its records.
struct Interval {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
std::map<int, std::vector<Interval>> off_cpu_intervals(const std::vector<SwitchEvent>& switches) {
  std::map<int, std::vector<Interval>> intervals;
  std::map<int, std::uint64_t> out;
  for (const SwitchEvent& event : switches) {
    if (event.tid <= 0) { // idle, on each processor; or gone
      continue;
    }
    const auto since = out.find(event.tid);
    if (event.out) {
      EXPECT_EQ(since, out.end()) << event.tid << " is switched out twice at " << event.ns;
      out[event.tid] = event.ns;
    } else if (since != out.end()) {
      intervals[event.tid].push_back({since->second, event.ns});
      out.erase(since);
    }
  }
  return intervals;
}

// Branches as perf prints them with those fields; `head` goes before each line.
std::vector<BranchEvent> script(const std::string& file, const std::string& what,
                                const std::string& fields, const std::string& head) {
  const Output text =
      run({"perf", "script", "-f", "-i", file, "--itrace=" + what, "--ns", "-F", fields});
  EXPECT_EQ(text.status, 0) << text.err;
  std::vector<BranchEvent> events;
  for (const std::string& line : lines_of(text.out)) {
    if (const auto event = parse_event(head + line)) {
      events.push_back(*event);
    } else {
      ADD_FAILURE() << "perf script printed: " << line;
    }
  }
  return events;
}

std::vector<TruthCall> calls_of(const std::string& path) {
  std::vector<TruthCall> calls;
  for (const std::string& line : lines_of(contents(path))) {
    const auto json = nlohmann::json::parse(line);
    if (!json.contains("function")) {
      continue;
    }
    TruthCall call;
    call.tid = json.at("tid");
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

std::string text_of(const BranchEvent& event) {
  return fmt::format("{} from {:#x} to {:#x} at {}", event.kind, event.from, event.to, event.ns);
}

} // namespace

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::size_t count_of(const std::string& text, const std::string& words) {
  std::size_t count = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) {
    ++count;
  }
  return count;
}

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

Background::~Background() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (input_ >= 0) {
    close(input_);
  }
}

void Background::start(const std::vector<std::string>& arguments, bool talk) {
  int input[2] = {-1, -1};
  if (talk) {
    ASSERT_EQ(pipe2(input, O_CLOEXEC), 0);
    input_ = input[1];
  }
  pid_ = fork();
  if (pid_ == 0) {
    if (talk) {
      dup2(input[0], STDIN_FILENO);
    }
    std::vector<char*> pointers;
    pointers.reserve(arguments.size() + 1);
    for (const std::string& argument : arguments) {
      pointers.push_back(const_cast<char*>(argument.c_str()));
    }
    pointers.push_back(nullptr);
    execvp(pointers.front(), pointers.data());
    _exit(127);
  }
}

void Background::say(const std::string& text) const {
  EXPECT_EQ(write(input_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

std::vector<pid_t> Background::threads() const {
  std::vector<pid_t> threads;
  std::error_code ignored;
  const std::string tasks = "/proc/" + std::to_string(pid_) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks, ignored)) {
    threads.push_back(std::atoi(task.path().filename().c_str()));
  }
  std::ranges::sort(threads);
  return threads;
}

void Background::send(int signal) const {
  kill(pid_, signal);
}

int Background::wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return status;
}

bool Background::lives() const {
  const std::string state = status_field("State");
  return !state.empty() && state.find('Z') == std::string::npos;
}

void Background::await_sleep() const {
  while (lives() && status_field("State").find("sleeping") == std::string::npos) {
    usleep(1000);
  }
}

std::string Background::status_field(const std::string& field) const {
  for (const std::string& line : lines_of(contents("/proc/" + std::to_string(pid_) + "/status"))) {
    if (line.starts_with(field + ":")) {
      return line;
    }
  }
  return {};
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
  compile_file(program + ".cpp", program, linkage);
}

void compile_file(const std::string& source, const std::string& program,
                  const std::string& linkage) {
  const Output compiled = run({"g++", "-std=c++20", "-O2", "-g", linkage, "-o", program, source});
  ASSERT_EQ(compiled.status, 0) << compiled.err;
}

std::string Recording::errors() const {
  const Output events = run({"perf", "script", "-f", "-i", file, "--itrace=e"});
  return events.status == 0 ? events.out + events.err : "perf failed: " + events.err;
}

std::vector<BranchEvent> Recording::decoded(const std::string& what) const {
  return script(file, what, "tid,cpu,time,ip,addr,flags", "");
}

std::vector<BranchEvent> Recording::decoded_without_time() const {
  return script(file, "b", "ip,addr,flags", "0 [000] 0.0: ");
}

std::vector<BranchEvent> Recording::stepped() const {
  std::vector<BranchEvent> events;
  for (const std::string& line : lines_of(contents(file + ".truth.branches.tsv"))) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() != 7) {
      ADD_FAILURE() << "a line of the branch log: " << line;
      continue;
    }
    events.push_back({.tid = std::atoi(words[0].c_str()),
                      .cpu = std::atoi(words[4].c_str()),
                      .from = hex(words[1]),
                      .to = hex(words[2]),
                      .kind = words[3],
                      .ns = std::stoull(words[5]),
                      .lost = words[6] == "1"});
  }
  return events;
}

std::vector<SwitchEvent> Recording::switches() const {
  const Output text = run({"perf", "script", "-f", "-i", file, "--no-itrace", "--ns",
                           "--show-switch-events", "-F", "tid,cpu,time"});
  EXPECT_EQ(text.status, 0) << text.err;
  std::vector<SwitchEvent> events;
  for (const std::string& line : lines_of(text.out)) {
    const std::vector<std::string> words = words_of(line);
    SwitchEvent event;
    if (line.find("PERF_RECORD_SWITCH") == std::string::npos ||
        !parse_head(words, event.tid, event.cpu, event.ns) || words.size() < 5) {
      continue;
    }
    event.out = words[4] == "OUT";
    event.preempted = words.size() > 5 && words[5] == "preempt";
    events.push_back(event);
  }
  return events;
}

std::vector<TruthCall> Recording::truth() const {
  return calls_of(file + ".truth.jsonl");
}

std::vector<TruthCall> Recording::filtered_truth() const {
  return calls_of(file + ".truth.jsonl.filtered");
}

std::vector<LostTrace> Recording::lost() const {
  std::vector<LostTrace> lost;
  for (const std::string& line : lines_of(contents(file + ".truth.jsonl"))) {
    const auto json = nlohmann::json::parse(line);
    if (json.contains("lost")) {
      lost.push_back({json.at("tid"), json.at("lost").at(0), json.at("lost").at(1)});
    }
  }
  return lost;
}

std::size_t Recording::lost_records() const {
  const auto truth = lines_of(contents(file + ".truth.jsonl"));
  return static_cast<std::size_t>(std::ranges::count_if(truth, [](const std::string& line) {
    return nlohmann::json::parse(line).contains("lost_record");
  }));
}

std::string Recording::error_lines() const {
  return run({"perf", "script", "-f", "-i", file, "--itrace=e"}).out;
}

std::size_t Recording::count(const std::string& symbol, const std::string& state) const {
  const auto calls = truth();
  return static_cast<std::size_t>(std::ranges::count_if(
      calls, [&](const TruthCall& call) { return call.symbol == symbol && call.state == state; }));
}

std::string Recording::dump() const {
  return run({"perf", "script", "-f", "-D", "-i", file}).out;
}

ByThread by_thread(const std::vector<BranchEvent>& events) {
  ByThread threads;
  for (const BranchEvent& event : events) {
    threads[event.tid].push_back(event);
  }
  return threads;
}

void expect_branches_equal(const Recording& recording) {
  EXPECT_EQ(recording.errors(), "");
  const ByThread decoded = by_thread(recording.decoded("b"));
  const ByThread stepped = by_thread(recording.stepped());
  EXPECT_EQ(decoded.size(), stepped.size());
  for (const auto& [tid, expected] : stepped) {
    const auto found = decoded.find(tid);
    ASSERT_NE(found, decoded.end()) << "thread " << tid;
    EXPECT_EQ(found->second.size(), expected.size()) << "thread " << tid;
    for (std::size_t index = 0; index < std::min(found->second.size(), expected.size()); ++index) {
      ASSERT_TRUE(found->second[index].same_transfer(expected[index]))
          << "thread " << tid << ", branch " << index << ": perf " << text_of(found->second[index])
          << ", stepped " << text_of(expected[index]);
    }
  }
}

void expect_off_cpu_equal(const Recording& recording) {
  const auto off = off_cpu_intervals(recording.switches());
  std::size_t compared = 0;
  for (const TruthCall& call : recording.truth()) {
    std::uint64_t sum = 0;
    if (const auto found = off.find(call.tid); found != off.end()) {
      for (const Interval& interval : found->second) {
        const std::uint64_t begin = std::max(interval.begin, call.start);
        const std::uint64_t end = std::min(interval.end, call.end);
        sum += end > begin ? end - begin : 0;
      }
    }
    if (call.state == "complete") {
      ASSERT_EQ(call.off_cpu, sum) << call.symbol << " in " << call.tid << " at " << call.start;
      ++compared;
    }
  }
  EXPECT_GT(compared, 0U);
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
  for (const std::string& line : lines_of(run({"nm", "-S", "--defined-only", program}).out)) {
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
