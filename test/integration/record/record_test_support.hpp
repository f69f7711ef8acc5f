// Programs that a test compiles, recordings of them, and the samples of a recording with the probes
// that wrote them.
#pragma once

#include "perfdata/recording.hpp"
#include "record/machine/machine.hpp"
#include "record/probes/events/probe_group.hpp"
#include "record/processes/child.hpp"
#include "record/processes/files.hpp"
#include "record/recorder.hpp"
#include "record/temporary_folder.hpp"
#include "symbols/binary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace ptlens::record::test {

// A folder in which programs can be compiled.
class ProgramFolder : public TemporaryFolder {
public:
  using TemporaryFolder::TemporaryFolder;

  // Compiles C++ source to the program `name`; its path, or nothing when that failed.
  [[nodiscard]] std::string compile(std::string_view name, std::string_view source,
                                    const std::vector<std::string>& options = {"-O1"}) const {
    const std::string input = *this / (std::string(name) + ".cpp");
    const std::string output = *this / name;
    std::ofstream(input) << source;
    std::vector<std::string> command = {find_program("g++"), "-g", "-pthread", "-o", output, input};
    command.insert(command.end(), options.begin(), options.end());
    const auto said = run(command, std::chrono::minutes(2));
    EXPECT_TRUE(std::filesystem::exists(output)) << (said ? *said : said.error().one_line());
    return output;
  }
};

// Why probes cannot be tested here, empty when they can.
inline std::string why_no_probes() {
  const Machine machine = read_machine("");
  if (!machine.rights.root) {
    return "setting probes needs root";
  }
  if (machine.tracefs.empty() ||
      ::access((machine.tracefs + "/uprobe_events").c_str(), W_OK) != 0) {
    return "tracefs with uprobe_events is not mounted";
  }
  return find_program("perf").empty() ? "perf is not installed" : "";
}

// Lines of uprobe_events that this process made.
inline std::size_t probes_left(std::int32_t maker = ::getpid()) {
  const std::string text =
      read_text(read_machine("").tracefs + "/uprobe_events", std::size_t{16} << 20).value_or("");
  const std::string group = "ptlens_" + std::to_string(maker) + "_";
  std::size_t count = 0;
  for (std::size_t at = text.find(group); at != std::string::npos; at = text.find(group, at + 1)) {
    ++count;
  }
  return count;
}

// A started program in these tests runs for itself; an attached one waits until this file exists.
inline constexpr std::string_view wait_for_file = R"(
#include <unistd.h>
static void wait_for(const char* file) { while (access(file, F_OK) != 0) usleep(1000); }
)";

struct Hit {
  std::uint64_t time_ns = 0;
  std::int32_t tid = -1;
  std::uint64_t sp = 0;
  std::string function; // name
  bool entry = false;
  bool tail_call = false;
};

// The samples of a recording in order of time, each with the probe that the manifest names for its
// event and for its instruction pointer, brought to an ELF address by the recorded mappings.
inline std::vector<Hit> read_hits(const Outcome& outcome) {
  std::vector<Hit> hits;
  const auto recording = perfdata::Recording::open(outcome.directory + "/perf.data");
  const auto manifest = read_manifest(outcome.directory);
  if (!recording || !manifest) {
    ADD_FAILURE() << (recording ? manifest.error() : recording.error()).one_line();
    return hits;
  }
  std::map<std::string, std::shared_ptr<const symbols::Binary>> binaries;
  for (const Probe& probe : manifest->probes) {
    if (!binaries.contains(probe.binary)) {
      binaries[probe.binary] = symbols::Binary::open(probe.binary).value();
    }
  }
  const ProbeTable table(manifest->probes);
  for (const perfdata::Sample& sample : recording->samples()) {
    if (perfdata::is_wait_event(recording->attributes()[sample.attribute])) {
      continue;
    }
    std::uint64_t ip = 0;
    Hit hit{.time_ns = sample.time_ns, .tid = sample.tid, .function = {}};
    if (sample.raw.size() < 24) {
      ADD_FAILURE() << "a sample without its fields";
      continue;
    }
    std::memcpy(&ip, sample.raw.data() + 8, sizeof ip);
    const std::uint64_t event = recording->attributes()[sample.attribute].config;
    const bool returned = std::ranges::any_of(manifest->probes, [event](const Probe& probe) {
      return probe.kind == Probe::Kind::returned && probe.event_id == event;
    });
    if (returned && sample.raw.size() < 32) {
      ADD_FAILURE() << "a sample without its fields";
      continue;
    }
    // A return probe's stack pointer is behind the return address.
    std::memcpy(&hit.sp, sample.raw.data() + (returned ? 24 : 16), sizeof hit.sp);
    hit.sp -= returned ? sizeof(std::uint64_t) : 0;
    const Probe* probe = nullptr;
    for (const perfdata::Mapping& mapping : recording->mappings()) {
      if (mapping.pid != sample.pid || ip - mapping.start >= mapping.length ||
          !binaries.contains(mapping.path)) {
        continue;
      }
      const auto address = binaries.at(mapping.path)
                               ->address_of_file_offset(ip - mapping.start + mapping.file_offset);
      const Probe* found = address ? table.find(event, mapping.path, *address) : nullptr;
      probe = found != nullptr ? found : probe;
    }
    if (probe == nullptr) {
      ADD_FAILURE() << "a sample of no probe";
      continue;
    }
    const auto& binary = binaries.at(probe->binary);
    hit.function =
        binary->functions()[binary->function_entry(probe->function).value()].linkage_name;
    hit.entry = probe->kind == Probe::Kind::entry;
    hit.tail_call = probe->tail_call;
    hits.push_back(std::move(hit));
  }
  return hits;
}

inline std::size_t count_hits(const std::vector<Hit>& hits, std::string_view linkage_name,
                              bool entry) {
  std::size_t count = 0;
  for (const Hit& hit : hits) {
    count += static_cast<std::size_t>(hit.function == linkage_name && hit.entry == entry);
  }
  return count;
}

// A running program that ends with this object.
class Running {
public:
  explicit Running(std::vector<std::string> arguments)
      : child_(Child::start(ChildOptions{.arguments = std::move(arguments)})) {
    EXPECT_TRUE(child_.has_value()) << child_.error().one_line();
  }
  [[nodiscard]] std::int32_t pid() const { return child_ ? child_->pid() : -1; }
  [[nodiscard]] bool alive() { return child_ && !child_->ended(); }
  // Its wait status; waits for at most a minute.
  [[nodiscard]] std::optional<int> wait() {
    return child_ ? child_->wait(std::chrono::minutes(1)) : std::nullopt;
  }
  void signal(int number) const { child_->signal(number); }
  [[nodiscard]] const std::string& output() const { return child_->output(); }

private:
  Result<Child> child_;
};

// Listens for the moment when perf measures, and does something then, once.
inline Progress::Listener when_recording(std::function<void()> action) {
  return [action = std::move(action), done = false](const ProgressReport& report) mutable {
    if (report.stage == "recording" && !done) {
      done = true;
      action();
    }
  };
}

// Skips where probes cannot be set, and checks that none is left.
class ProbeTest : public ::testing::Test {
protected:
  void SetUp() override {
    const std::string why = why_no_probes();
    if (!why.empty()) {
      GTEST_SKIP() << why;
    }
  }
  void TearDown() override { EXPECT_EQ(probes_left(), 0U); }

  static Result<Outcome> record_program(const ProgramFolder& folder,
                                        std::vector<std::string> program,
                                        const std::string& function,
                                        const std::string& returns = "auto") {
    Request request;
    request.budget = 100;
    request.program = std::move(program);
    request.function = function;
    request.backend = "uprobe";
    request.returns = returns;
    request.output = folder / "recording";
    const Progress progress;
    return record(request, progress);
  }
};

} // namespace ptlens::record::test
