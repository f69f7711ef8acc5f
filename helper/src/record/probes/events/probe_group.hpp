// Probe events in tracefs (Documentation/trace/uprobetracer.rst): a group of events that exists as
// long as its object. Its name contains the process of the helper, so that a later helper can
// remove the events of a killed one.
#pragma once

#include "base/error.hpp"
#include "record/processes/descriptor.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::record {

// The process that created a group, from its name "ptlens_PID_STARTTIME_SERIAL".
struct ProbeOwner {
  std::int32_t pid = -1;
  std::uint64_t start_time = 0; // field 22 of its /proc/PID/stat
};

// Returns nothing for a group of another program.
[[nodiscard]] std::optional<ProbeOwner> parse_group(std::string_view group);

// Returns "group/event" of one line of uprobe_events ("p:group/event path:0x... arguments").
[[nodiscard]] std::optional<std::string> parse_definition(std::string_view line);

// Returns the offset of an 8-byte field in the raw samples of an event, from the text of its
// `format` file.
[[nodiscard]] std::optional<std::uint32_t> field_offset(std::string_view format,
                                                        std::string_view field);

class ProbeGroup {
public:
  // `tracefs` is its mount point. Errors: no_rights, unsupported.
  static Result<ProbeGroup> make(const std::string& tracefs);

  ProbeGroup(ProbeGroup&& other) noexcept;
  ProbeGroup& operator=(ProbeGroup&&) = delete;
  ProbeGroup(const ProbeGroup&) = delete;
  ProbeGroup& operator=(const ProbeGroup&) = delete;
  ~ProbeGroup(); // removes its events

  [[nodiscard]] const std::string& name() const { return name_; }

  // Adds a probe at a byte offset of the file. All probes of an event must have the same arguments.
  // Errors: not_found, no_rights, failed with the kernel's reason.
  Result<void> add(const std::string& event, const std::string& file, std::uint64_t offset,
                   const std::string& arguments);

  // Adds a return probe to the function that is entered by the instruction at that offset, whose
  // stack pointer points to the return address. The event's samples have the stack pointer after
  // the return. Errors: the same.
  Result<void> add_return(const std::string& event, const std::string& file, std::uint64_t offset);

  // Checks the layout of an event's samples (u64 ip at byte 8, then each of `fields` as u64), and
  // returns its tracefs id. Errors: unsupported.
  Result<std::uint64_t> event_id(const std::string& event,
                                 const std::vector<std::string>& fields) const;
  // Does the same for return probes: u64 address of the probe at byte 8, return address, stack
  // pointer. Errors: unsupported.
  Result<std::uint64_t> return_event_id(const std::string& event) const;

  // Removes the events. Errors: failed when the kernel still uses one.
  Result<void> remove();

private:
  ProbeGroup(std::string tracefs, std::string name)
      : tracefs_(std::move(tracefs)), name_(std::move(name)) {}

  Result<int> open_file(const std::string& file);
  Result<void> define(char type, const std::string& event, const std::string& file,
                      std::uint64_t offset, std::string_view arguments);
  Result<std::uint64_t> checked_id(const std::string& event,
                                   const std::vector<std::string>& fields) const;

  std::string tracefs_;
  std::string name_;
  std::vector<std::string> events_;
  std::map<std::string, Descriptor>
      files_; // probed files. They stay open, because the
              // kernel gets /proc/PID/fd/N, which works for every name
};

// Removes the probes that an earlier helper left behind when it was killed. Returns their number.
Result<std::size_t> remove_stale_probes();

} // namespace ptlens::record
