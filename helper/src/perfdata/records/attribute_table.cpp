// Layout: struct perf_event_attr of <linux/perf_event.h>.
#include "perfdata/records/attribute_table.hpp"

#include <cstring>
#include <linux/perf_event.h>

namespace ptlens::perfdata {

namespace {

constexpr std::uint64_t exclude_user_flag = 1U << 4;
constexpr std::uint64_t exclude_kernel_flag = 1U << 5;
constexpr std::uint64_t sample_id_all_flag = 1U << 18;
constexpr std::uint64_t context_switch_flag = 1U << 26;

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t position) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.subspan(position, sizeof(word)).data(), sizeof(word));
  return word;
}

} // namespace

bool AttributeTable::add(std::span<const std::byte> attribute, std::vector<std::uint64_t> ids) {
  ByteReader reader(attribute);
  Attribute fields;
  fields.type = reader.read<std::uint32_t>();
  const auto size = reader.read<std::uint32_t>();
  fields.config = reader.read<std::uint64_t>();
  reader.skip(sizeof(std::uint64_t)); // sample period or frequency
  SampleLayout layout;
  layout.sample_type = reader.read<std::uint64_t>();
  layout.read_format = reader.read<std::uint64_t>();
  const auto flags = reader.read<std::uint64_t>();
  if (reader.failed() || attribute.size() < PERF_ATTR_SIZE_VER0 || size > attribute.size()) {
    return false;
  }
  layout.sample_id_all = (flags & sample_id_all_flag) != 0;
  fields.sample_type = layout.sample_type;
  fields.exclude_kernel = (flags & exclude_kernel_flag) != 0;
  fields.exclude_user = (flags & exclude_user_flag) != 0;
  fields.context_switch = (flags & context_switch_flag) != 0;
  constexpr std::uint64_t before_registers = 80;
  if (size >= before_registers + sizeof(std::uint64_t) &&
      attribute.size() >= before_registers + sizeof(std::uint64_t)) {
    layout.registers = word_at(attribute, before_registers);
    fields.registers = layout.registers;
  }
  fields.ids = std::move(ids);

  const auto index = static_cast<std::uint32_t>(attributes_.size());
  for (const std::uint64_t id : fields.ids) {
    by_id_.emplace(id, index);
  }
  if (const auto slot = layout.id_from_end()) {
    id_slots_from_end_.set(*slot / sizeof(std::uint64_t));
  }
  if (const auto slot = layout.id_from_start()) {
    id_slots_from_start_.set(*slot / sizeof(std::uint64_t));
  }
  attributes_.push_back(std::move(fields));
  layouts_.push_back(layout);
  return true;
}

void AttributeTable::set_name(std::span<const std::uint64_t> ids, std::size_t position,
                              std::string_view name) {
  for (const std::uint64_t id : ids) {
    if (const auto found = by_id_.find(id); found != by_id_.end()) {
      attributes_[found->second].name = name;
      return;
    }
  }
  if (position < attributes_.size()) {
    attributes_[position].name = name;
  }
}

const SampleLayout& AttributeTable::layout_of_record(std::span<const std::byte> payload) const {
  static constexpr SampleLayout no_events;
  if (layouts_.empty()) {
    return no_events;
  }
  for (std::size_t slot = 1; slot < slots && layouts_.size() > 1; ++slot) {
    const std::size_t back = slot * sizeof(std::uint64_t);
    if (!id_slots_from_end_.test(slot) || back > payload.size()) {
      continue;
    }
    const auto found = by_id_.find(word_at(payload, payload.size() - back));
    if (found != by_id_.end() && layouts_[found->second].id_from_end() == back) {
      return layouts_[found->second];
    }
  }
  return layouts_.front();
}

std::optional<std::uint32_t>
AttributeTable::attribute_of_sample(std::span<const std::byte> payload) const {
  if (layouts_.empty()) {
    return std::nullopt;
  }
  for (std::size_t slot = 0; slot < slots && layouts_.size() > 1; ++slot) {
    const std::size_t position = slot * sizeof(std::uint64_t);
    if (!id_slots_from_start_.test(slot) || position + sizeof(std::uint64_t) > payload.size()) {
      continue;
    }
    const auto found = by_id_.find(word_at(payload, position));
    if (found != by_id_.end() && layouts_[found->second].id_from_start() == position) {
      return found->second;
    }
  }
  return 0;
}

} // namespace ptlens::perfdata
