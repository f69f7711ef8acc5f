// The probe events of a recording, opened on a program with perf_event_open(2), and the side-band
// events beside them. There is one buffer per CPU.
#pragma once

#include "base/error.hpp"
#include "record/machine/wait_events.hpp"
#include "record/probes/events/probe_event.hpp"
#include "record/probes/events/ring_buffer.hpp"
#include "record/processes/descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <linux/perf_event.h>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace ptlens::record {

// What is watched.
struct Watched {
  std::vector<std::int32_t> threads = {}; // with the threads and processes that they create; empty:
                                          // everything that runs on the CPUs
  std::vector<int> cpus = {};
};

// Returns the time of the clock that all events use: CLOCK_MONOTONIC, ns.
[[nodiscard]] std::uint64_t event_clock_ns();

// Returns the time of a record of these events, its header included; 0 where it has none.
[[nodiscard]] std::uint64_t time_of_record(std::span<const std::byte> record);

// What a hit says.
struct Hit {
  std::int32_t tid = -1;
  std::uint64_t event_id = 0;
  std::uint64_t ip = 0; // of the probe
};

[[nodiscard]] bool is_sample(std::span<const std::byte> record);
// Returns the thread of a sample; -1 for a sample that is too short.
[[nodiscard]] std::int32_t tid_of_sample(std::span<const std::byte> record);
// Returns nothing for a sample that is too short.
[[nodiscard]] std::optional<Hit> hit_of_sample(std::span<const std::byte> record);
// Returns the payload of a sample from which hit_of_sample() returned a hit.
[[nodiscard]] std::span<const std::byte> payload_of_sample(std::span<const std::byte> record);

class HitEvents {
public:
  // Opens the side-band events, which record mappings, names, starts, exits and context switches
  // from here on. `pages`: of each buffer. Errors: gone, no_rights, failed with the kernel's
  // reason.
  static Result<HitEvents> open(const Watched& watched, std::size_t pages);

  // Opens the tracepoints of waits on the threads, disabled. Errors: the same; none of them is open
  // then.
  Result<void> add_waits(const WaitEvents& waits, const Watched& watched);
  // Opens the tracepoint of wakings on all CPUs, for wakings of these threads by others. It also
  // records the starts and names of all processes. It takes the place of the one that was opened
  // before, and is enabled as that one is. Errors: the same, and the kernel's for the filter.
  Result<void> add_outside_wakings(const WaitEvents& waits, const std::set<std::int32_t>& threads,
                                   const std::vector<int>& cpus);
  // Returns whether the event of the record is that one.
  [[nodiscard]] bool is_from_outside(std::span<const std::byte> record) const;
  // Returns whether the record is a sample of a tracepoint of waits.
  [[nodiscard]] bool is_of_wait(std::span<const std::byte> record) const;

  // Opens the probe's event on the threads, disabled. This sets its breakpoints in the program.
  // Errors: the same.
  Result<void> add(const ProbeEvent& event, const Watched& watched);
  // Enable and disable all probe events and the tracepoints of waits. A disabled probe records
  // nothing but costs the same.
  void enable();
  void disable();
  // Closes the event of that number, or all probe events. The kernel then removes the breakpoints
  // from the program: at once where the probe is held by hold(), or else after some tenths of a
  // second.
  void remove(std::uint64_t event_id);
  void remove_all();

  void drain(const RingBuffer::Visit& visit);

  // An event as a perf.data file describes it.
  struct Described {
    perf_event_attr attribute;
    std::vector<std::uint64_t> ids;
    std::string name = {}; // as perf writes it; empty: none
  };
  // Returns the events that were opened so far, the side-band event first.
  [[nodiscard]] const std::vector<Described>& described() const { return described_; }

private:
  struct Opened {
    std::uint64_t event_id = 0;
    Descriptor descriptor;
  };

  HitEvents() = default;
  struct Opening {
    perf_event_attr attribute;
    const char* name = "";
    const ProbeEvent* probe = nullptr;
    std::vector<Descriptor>* kept_in = nullptr; // null: among the probes
    std::string filter = {};
  };
  Result<void> open_on(const Opening& opening, const Watched& watched, std::size_t pages);
  void use_all(unsigned long request) const;

  std::vector<Descriptor> side_band_;
  std::vector<Descriptor> waits_;
  std::set<std::uint64_t> wait_ids_;
  std::vector<Descriptor> outside_;
  std::set<std::uint64_t> outside_ids_;
  bool enabled_ = false;
  std::map<int, int> output_; // descriptor by CPU
  std::vector<RingBuffer> buffers_;
  std::vector<Opened> probes_;
  std::vector<Described> described_;
};

// Keeps a probe registered while no program is watched: opens its event on the helper itself, which
// never executes the probed code. Setting and removing the breakpoints of a registered probe takes
// far less time. Errors: failed with the kernel's reason.
[[nodiscard]] Result<Descriptor> hold(const ProbeEvent& event);

} // namespace ptlens::record
