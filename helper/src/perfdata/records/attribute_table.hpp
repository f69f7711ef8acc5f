// The events of a recording, and the event of each record. A record names its event by an id. The
// position of the id depends on the event's own layout, so all positions in use are tried; perf
// ensures that they agree.
#pragma once

#include "perfdata/contents/records.hpp"
#include "perfdata/records/sample_layout.hpp"

#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ptlens::perfdata {

class AttributeTable {
public:
  // Adds a struct perf_event_attr of any size that the kernel ever had. Returns false where there
  // are fewer bytes than the smallest size, or than the attribute's own size field.
  [[nodiscard]] bool add(std::span<const std::byte> attribute, std::vector<std::uint64_t> ids);

  // Names the event that has one of the ids, else the event at `position` (HEADER_EVENT_DESC lists
  // events in the order of the file).
  void set_name(std::span<const std::uint64_t> ids, std::size_t position, std::string_view name);

  [[nodiscard]] const std::vector<Attribute>& attributes() const { return attributes_; }
  [[nodiscard]] const SampleLayout& layout(std::uint32_t attribute) const {
    return layouts_[attribute];
  }
  [[nodiscard]] bool knows_id(std::uint64_t id) const { return by_id_.contains(id); }

  // Returns the layout of a kernel record that is not a sample: that of its event, or of the first
  // event where the record names none, as in the records that perf itself invents.
  [[nodiscard]] const SampleLayout& layout_of_record(std::span<const std::byte> payload) const;
  // Returns the event of a sample; nothing where the recording has no events at all.
  [[nodiscard]] std::optional<std::uint32_t>
  attribute_of_sample(std::span<const std::byte> payload) const;

private:
  static constexpr std::size_t slots = 8; // in units of 8 bytes
  std::vector<Attribute> attributes_;
  std::vector<SampleLayout> layouts_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_id_;
  std::bitset<slots> id_slots_from_end_;
  std::bitset<slots> id_slots_from_start_;
};

} // namespace ptlens::perfdata
