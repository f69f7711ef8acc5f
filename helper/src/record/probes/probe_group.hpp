// Probe events in tracefs (Documentation/trace/uprobetracer.rst): a group of events that exists as
// long as its object, named after the helper process so that a later one can remove what a killed
// one left.
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

// Who made a group: "ptlens_PID_STARTTIME_SERIAL".
struct ProbeOwner {
  std::int32_t pid = -1;
  std::uint64_t start_time = 0; // field 22 of its /proc/PID/stat
};

// Nothing when the group is not one of ours.
[[nodiscard]] std::optional<ProbeOwner> parse_group(std::string_view group);

// "group/event" of one line of uprobe_events ("p:group/event path:0x... arguments").
[[nodiscard]] std::optional<std::string> parse_definition(std::string_view line);

// Where each field of an event lies in its raw samples, from the text of its `format` file.
[[nodiscard]] std::optional<std::uint32_t> field_offset(std::string_view format,
                                                        std::string_view field);

class ProbeGroup {
public:
  // `tracefs`: where it is mounted. Errors: no_rights, unsupported.
  static Result<ProbeGroup> make(const std::string& tracefs);

  ProbeGroup(ProbeGroup&& other) noexcept;
  ProbeGroup& operator=(ProbeGroup&&) = delete;
  ProbeGroup(const ProbeGroup&) = delete;
  ProbeGroup& operator=(const ProbeGroup&) = delete;
  ~ProbeGroup(); // removes its events

  [[nodiscard]] const std::string& name() const { return name_; }

  // A probe at a byte offset of the file; probes of one `event` must have the same arguments.
  // Errors: not_found, no_rights, failed with the kernel's reason.
  Result<void> add(const std::string& event, const std::string& file, std::uint64_t offset,
                   const std::string& arguments);

  // tracefs id of an event, after the layout of its samples has been checked: u64 ip at byte 8,
  // then each of `fields` as u64. Errors: unsupported.
  Result<std::uint64_t> event_id(const std::string& event,
                                 const std::vector<std::string>& fields) const;

  // Removes its events. Errors: failed when the kernel still holds one.
  Result<void> remove();

private:
  ProbeGroup(std::string tracefs, std::string name)
      : tracefs_(std::move(tracefs)), name_(std::move(name)) {}

  Result<int> open_file(const std::string& file);

  std::string tracefs_;
  std::string name_;
  std::vector<std::string> events_;
  std::map<std::string, Descriptor> files_; // probed files, kept open: the kernel is told
                                            // /proc/PID/fd/N, so that any name will do
};

// Removes the probes that an earlier helper left behind when it was killed. Returns their number.
Result<std::size_t> remove_stale_probes();

} // namespace ptlens::record
