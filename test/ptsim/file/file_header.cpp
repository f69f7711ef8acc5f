// HEADER_ sections.
#include "file/file_header.hpp"

#include <sys/utsname.h>
#include <unistd.h>

namespace ptlens::ptsim {
namespace {

enum Feature : unsigned {
  build_id = 2,
  hostname = 3,
  os_release = 4,
  version = 5,
  architecture = 6,
  cpu_count = 7,
  cpu_description = 8,
  cpu_id = 9,
  command_line = 11,
  event_description = 12,
  pmu_mappings = 16,
  auxtrace_index = 18,
};

constexpr std::size_t name_alignment = 64;
constexpr std::size_t build_id_capacity = 20;
constexpr std::uint32_t software_pmu = 1;
constexpr std::uint32_t host_machine = ~std::uint32_t{0}; // binaries are not those of a guest

// The machine that the packets are those of: its packet rules need no erratum of single models.
constexpr const char* simulated_cpu = "ptsim, simulated Intel processor";
constexpr const char* simulated_cpu_id = "GenuineIntel,6,126,5";

ByteBuffer& add_string(ByteBuffer& buffer, std::string_view text) {
  const std::size_t size = rounded_up(text.size() + 1, name_alignment);
  return buffer.u32(static_cast<std::uint32_t>(size)).text(text, size);
}

ByteBuffer string_section(std::string_view text) {
  ByteBuffer buffer;
  add_string(buffer, text);
  return buffer;
}

ByteBuffer cpu_count_section() {
  ByteBuffer buffer;
  buffer.u32(static_cast<std::uint32_t>(sysconf(_SC_NPROCESSORS_CONF)));
  buffer.u32(static_cast<std::uint32_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  return buffer;
}

ByteBuffer command_line_section(const std::vector<std::string>& arguments) {
  ByteBuffer buffer;
  buffer.u32(static_cast<std::uint32_t>(arguments.size()));
  for (const std::string& argument : arguments) {
    add_string(buffer, argument);
  }
  return buffer;
}

ByteBuffer events_section(const std::vector<EventDescription>& events) {
  ByteBuffer buffer;
  buffer.u32(static_cast<std::uint32_t>(events.size()));
  buffer.u32(sizeof(perf_event_attr));
  for (const EventDescription& event : events) {
    buffer.add(event.attributes);
    buffer.u32(static_cast<std::uint32_t>(event.ids.size()));
    add_string(buffer, event.name);
    for (const std::uint64_t id : event.ids) {
      buffer.u64(id);
    }
  }
  return buffer;
}

ByteBuffer pmu_section() {
  ByteBuffer buffer;
  buffer.u32(2);
  buffer.u32(intel_pt_pmu);
  add_string(buffer, "intel_pt");
  buffer.u32(software_pmu);
  add_string(buffer, "software");
  return buffer;
}

ByteBuffer build_id_section(const Features& features) {
  ByteBuffer buffer;
  for (const BuildId& entry : features.build_ids) {
    if (entry.bytes.empty() || entry.bytes.size() > build_id_capacity) {
      continue;
    }
    const std::size_t name_size = rounded_up(entry.path.size() + 1, name_alignment);
    constexpr std::uint16_t size_is_given = 1 << 15; // PERF_RECORD_MISC_BUILD_ID_SIZE
    const std::size_t size = sizeof(perf_event_header) + 4 + build_id_capacity + 4 + name_size;
    const bool kernel = entry.path.starts_with("[kernel");
    const int mode = kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
    buffer.u32(0).u16(static_cast<std::uint16_t>(mode | size_is_given));
    buffer.u16(static_cast<std::uint16_t>(size)).u32(host_machine);
    for (const std::uint8_t byte : entry.bytes) {
      buffer.u8(byte);
    }
    buffer.zeros(build_id_capacity - entry.bytes.size());
    buffer.u8(static_cast<std::uint8_t>(entry.bytes.size())).zeros(3);
    buffer.text(entry.path, name_size);
  }
  return buffer;
}

ByteBuffer trace_index_section(const std::vector<TraceIndexEntry>& entries) {
  ByteBuffer buffer;
  buffer.u64(entries.size());
  for (const TraceIndexEntry& entry : entries) {
    buffer.u64(entry.file_offset).u64(entry.record_size);
  }
  return buffer;
}

} // namespace

std::vector<std::pair<unsigned, ByteBuffer>> feature_sections(const Features& features) {
  utsname system{};
  uname(&system);
  std::vector<std::pair<unsigned, ByteBuffer>> sections;
  ByteBuffer build_ids = build_id_section(features);
  if (build_ids.size() > 0) {
    sections.emplace_back(build_id, std::move(build_ids));
  }
  sections.emplace_back(hostname, string_section(system.nodename));
  sections.emplace_back(os_release, string_section(system.release));
  sections.emplace_back(version, string_section("6.1.0 ptsim"));
  sections.emplace_back(architecture, string_section(system.machine));
  sections.emplace_back(cpu_count, cpu_count_section());
  sections.emplace_back(cpu_description, string_section(simulated_cpu));
  sections.emplace_back(cpu_id, string_section(simulated_cpu_id));
  sections.emplace_back(command_line, command_line_section(features.command_line));
  sections.emplace_back(event_description, events_section(features.events));
  sections.emplace_back(pmu_mappings, pmu_section());
  sections.emplace_back(auxtrace_index, trace_index_section(features.trace_index));
  return sections;
}

} // namespace ptlens::ptsim
