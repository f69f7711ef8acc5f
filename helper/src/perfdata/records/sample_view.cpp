#include "perfdata/records/sample_view.hpp"

#include "perfdata/bytes/byte_reader.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace ptlens::perfdata {

Sample decode_sample(const SampleRecord& record, const AttributeTable& attributes) {
  ByteReader reader(std::span(record.payload, record.size));
  const SampleFields fields = attributes.layout(record.attribute).read_sample(reader);
  return {.time_ns = fields.id.time_ns,
          .pid = fields.id.pid,
          .tid = fields.id.tid,
          .cpu = fields.id.cpu,
          .ip = fields.ip,
          .attribute = record.attribute,
          .raw = fields.raw,
          .chain = fields.chain,
          .registers = fields.registers,
          .user_stack = fields.user_stack};
}

void order_samples(SideBand& side_band, const AttributeTable& attributes) {
  if (side_band.samples_in_order) {
    return;
  }
  std::vector<std::pair<std::uint64_t, SampleRecord>> timed;
  timed.reserve(side_band.samples.size());
  for (const SampleRecord& record : side_band.samples) {
    timed.emplace_back(decode_sample(record, attributes).time_ns, record);
  }
  std::ranges::stable_sort(timed, {}, &std::pair<std::uint64_t, SampleRecord>::first);
  auto to = side_band.samples.begin();
  for (const auto& [time_ns, record] : timed) {
    *to++ = record;
  }
  side_band.samples_in_order = true;
}

} // namespace ptlens::perfdata
