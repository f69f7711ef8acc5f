// What a recording is asked to do, and the only check of it: the command line, the server and
// record() all use check_target() and check_request().
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ptlens::record {

enum class TargetKind { process, thread, cpu, all_cpus, program };

// The build in which a function was chosen, and how it is found in another one.
struct FunctionOrigin {
  std::string build_id = {}; // hex; the address counts only there; empty: it counts in every build
  std::string linkage_name = {}; // mangled; empty: unknown
  std::string file = {};         // source file of the declaration; empty: unknown
  std::uint32_t line = 0;        // of the declaration; 0: unknown
};

// A function as a user names it.
struct WantedFunction {
  std::string name;                          // or NAME@0xADDRESS
  std::string binary = {};                   // empty: the executable, then its libraries
  std::optional<std::uint64_t> address = {}; // ELF address of the entry, instead of the name
  bool all = false;                          // every function of that name
  FunctionOrigin origin = {};
};

struct Request {
  // Exactly one of these five is set.
  std::optional<std::int32_t> pid;
  std::optional<std::int32_t> tid;
  std::optional<std::int32_t> cpu;
  bool all_cpus = false;
  std::vector<std::string> program;        // argv
  std::string working_directory;           // of the started program; empty: the helper's own
  std::vector<std::string> environment;    // "NAME=VALUE", added for the started program
  std::optional<std::uint64_t> start_time; // of the process or thread, in clock ticks since boot
                                           // (/proc/PID/stat, field 22). The recording is refused
                                           // when the process that runs now has another one.

  std::string function;                 // name, or NAME@0xADDRESS; required by the uprobe backend
  bool all = false;                     // every function of that name
  std::optional<std::uint64_t> address; // ELF address of the function's entry, instead of a name
  std::string binary;    // that contains the function; empty: the executable, then its libraries
  FunctionOrigin origin; // of that function
  std::vector<WantedFunction> more_functions; // measured together with the function above
  double duration_s = 0;        // 0: until the target ends or Progress::finish() is called
  std::string backend = "auto"; // auto, intel_pt, uftrace, uprobe
  bool filter = false;
  bool snapshot = false; // keep only the newest trace: at the end, or each time a snapshot is asked
  std::uint64_t slower_than_ns = 0; // with snapshot: take one and end the recording when a call of
                                    // the function takes longer; 0: off
  bool kernel = false;
  bool waits = true; // record the reasons of waits where the machine allows it
  // These bound the data of the uftrace backend.
  std::uint64_t shortest_ns = 0;                         // leave out shorter calls
  std::uint32_t depth = 0;                               // calls in calls; 0: no limit
  std::uint64_t most_bytes = std::uint64_t{1024} << 20U; // then the recording ends
  // Record for a short time first to measure the data rate, and reduce the request where the data
  // would not fit. Not set: only on a machine with Intel PT.
  std::optional<bool> probe;
  double budget = 5; // probes: percent of its time that the program may lose; 100: no limit
  // Probes: "all", "none", or names of functions that the requested one calls. Empty: those that
  // the budget allows.
  std::vector<std::string> callees;
  // Probes: how the ends of calls are seen: "exit", a probe at each exit; "uretprobe", a return
  // probe, which ends programs that unwind through it; "auto", a return probe where nothing
  // unwinds.
  std::string returns = "auto";
  std::string perf;   // path; empty: from PATH
  std::string output; // directory; created when missing, refused when it contains a recording

  // Returns the process or thread that is attached to, or nothing for a CPU or a program.
  [[nodiscard]] std::optional<std::int32_t> attached() const { return pid ? pid : tid; }

  [[nodiscard]] bool names_function() const { return !function.empty() || address.has_value(); }

  // Returns every requested function, in the order of the request.
  [[nodiscard]] std::vector<WantedFunction> functions() const;

  // Returns the names of the requested functions, separated by commas.
  [[nodiscard]] std::string function_names() const;

  // Sets the requested functions.
  void set_functions(std::vector<WantedFunction> wanted);
};

// Returns the kind of the one target that the request names. Errors: bad_input when it names none
// or several, or a number that cannot exist.
[[nodiscard]] Result<TargetKind> check_target(const Request& request);

// Checks the target and every combination of options. Errors: bad_input.
[[nodiscard]] Result<TargetKind> check_request(const Request& request);

// Checks the options against the backend that was chosen. Errors: unsupported.
[[nodiscard]] Result<void> check_backend(const Request& request, const std::string& backend,
                                         bool has_intel_pt);

// Returns the name of a folder in the working directory that does not exist: "ptlens-" and the
// local date and time.
[[nodiscard]] std::string new_folder_name();

// Returns a text such as "process 42" or "program ./a". The request must have passed
// check_target().
[[nodiscard]] std::string target_text(const Request& request);

} // namespace ptlens::record
