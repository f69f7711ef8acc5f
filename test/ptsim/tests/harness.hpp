// Makes recordings of small programs and reads them back: with perf, with nm, and from ptsim's
// truth.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace ptlens::ptsim::testing {

inline constexpr const char* cycle_accurate =
    "intel_pt/cyc,mtc_period=3,psb_period=0,noretcomp=0/u";

struct Output {
  int status = -1; // exit status, 128 + signal
  std::string out;
  std::string err;
};

// Runs a program and waits for it.
Output run(const std::vector<std::string>& arguments);

// A process in the background, killed with the object.
class Background {
public:
  Background() = default;
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  Background(Background&&) = delete;
  Background& operator=(Background&&) = delete;
  ~Background();

  // With `talk`, say() writes to its standard input.
  void start(const std::vector<std::string>& arguments, bool talk = false);
  void say(const std::string& text) const;
  void send(int signal) const;
  int wait(); // its wait status
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool lives() const;
  void await_sleep() const; // it has been loaded, and waits for something
  [[nodiscard]] std::string status_field(const std::string& field) const; // of /proc/PID/status

  [[nodiscard]] std::vector<pid_t> threads() const; // the main one first

private:
  pid_t pid_ = -1;
  int input_ = -1;
};

std::vector<std::string> lines_of(const std::string& text);
std::size_t count_of(const std::string& text, const std::string& words);

// Why recordings cannot be made here, as a plain sentence; empty where they can.
std::string why_no_recordings();

// A folder that goes away with the object.
class TemporaryFolder {
public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

private:
  std::string path_;
};

// Compiles C++ source text with g++ -O2; fails the test where that fails.
void compile(const std::string& source, const std::string& program,
             const std::string& linkage = "-pie");
void compile_file(const std::string& source, const std::string& program,
                  const std::string& linkage);

struct BranchEvent {
  int tid = 0;
  int cpu = 0;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::string kind; // perf's flags: "call", "jcc", "tr strt"; or the branch log's words
  std::uint64_t ns = 0;
  bool lost = false; // branch log only

  // What both sources know.
  [[nodiscard]] bool same_transfer(const BranchEvent& other) const {
    return from == other.from && to == other.to;
  }
};

using ByThread = std::map<int, std::vector<BranchEvent>>;

// A SWITCH or SWITCH_CPU_WIDE record as perf prints it.
struct SwitchEvent {
  int tid = 0; // -1: it was gone
  int cpu = 0;
  std::uint64_t ns = 0;
  bool out = false;
  bool preempted = false;
};

// What a fault took from the trace of a thread, by the truth.
struct LostTrace {
  int tid = 0;
  std::uint64_t begin = 0; // ns
  std::uint64_t end = 0;
};

struct TruthCall {
  int tid = 0;
  std::string symbol;
  std::string binary;
  std::uint64_t function = 0;
  std::uint64_t caller = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t depth = 0;
  std::uint64_t off_cpu = 0;
  std::string state;
  bool tail_call = false;
  bool signal_handler = false;
};

// One recording with everything that was written beside it.
struct Recording {
  std::string file;
  Output made;

  // What perf says is wrong with it; empty where nothing is.
  [[nodiscard]] std::string errors() const;
  [[nodiscard]] std::string error_lines() const; // of perf script --itrace=e
  // perf's decode: `what` is "b" for all branches, "cr" for calls and returns.
  [[nodiscard]] std::vector<BranchEvent> decoded(const std::string& what) const;
  [[nodiscard]] std::vector<BranchEvent> decoded_without_time() const; // all branches
  [[nodiscard]] std::vector<BranchEvent> stepped() const;
  [[nodiscard]] std::vector<SwitchEvent> switches() const;
  [[nodiscard]] std::vector<TruthCall> truth() const;
  [[nodiscard]] std::vector<TruthCall> filtered_truth() const;
  [[nodiscard]] std::vector<LostTrace> lost() const;
  [[nodiscard]] std::size_t lost_records() const; // according to the truth
  // Calls of that symbol in that state.
  [[nodiscard]] std::size_t count(const std::string& symbol, const std::string& state) const;
  [[nodiscard]] std::string dump() const; // perf script -D
};

// Per thread, in order.
ByThread by_thread(const std::vector<BranchEvent>& events);

// perf finds no error, and each thread's branches are the stepped ones.
void expect_branches_equal(const Recording& recording);
// Each complete call was switched out as long as perf's switch records of its thread say.
void expect_off_cpu_equal(const Recording& recording);

// ptsim record OPTIONS --branches -o FILE -- PROGRAM, with the event given.
Recording record(const std::string& file, const std::string& event,
                 const std::vector<std::string>& options, const std::vector<std::string>& program);

struct SymbolRange {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
};
// nm's view of the program's functions.
std::map<std::string, SymbolRange> functions_by_nm(const std::string& program);

} // namespace ptlens::ptsim::testing
