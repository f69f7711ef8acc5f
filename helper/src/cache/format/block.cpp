// Converts rows to columns and back.
#include "cache/format/block.hpp"

#include <algorithm>
#include <utility>

namespace ptlens::cache {
namespace {

std::uint64_t distance_to_parent(const Row& row) {
  if (row.parent == stacks::CallId::none) {
    return 0;
  }
  return static_cast<std::uint64_t>(std::int64_t{index_of(row.order)} -
                                    std::int64_t{index_of(row.parent)});
}

// Returns the end of the call, at most 2^64 - 1.
std::uint64_t end_of(const Row& row, std::span<const Extra> extras) {
  const std::uint64_t removed = (row.flags & extra_bit) != 0 ? extras[row.extra].removed : 0;
  const std::uint64_t wall =
      removed > UINT64_MAX - row.latency ? UINT64_MAX : row.latency + removed;
  return wall > UINT64_MAX - row.start ? UINT64_MAX : row.start + wall;
}

} // namespace

void FunctionSums::add(const FunctionSums& other) {
  for (std::size_t state = 0; state < calls.size(); ++state) {
    calls.at(state) += other.calls.at(state);
  }
  complete_latency.add(other.complete_latency);
  uncertainty.add(other.uncertainty);
  inclusive.add(other.inclusive);
  self.add(other.self);
  off_cpu.add(other.off_cpu);
  least = std::min(least, other.least);
  most = std::max(most, other.most);
}

FunctionSums sums_of(std::span<const Row> rows, std::span<const Extra> extras) {
  FunctionSums sums;
  Sum complete_latency;
  Sum uncertainty;
  Sum inclusive;
  Sum self;
  std::uint64_t complete = 0;
  for (const Row& row : rows) {
    self.add(row.latency > row.children ? row.latency - row.children : 0);
    if ((row.flags & inner_bit) == 0) {
      inclusive.add(row.latency);
    }
    if ((row.flags & state_bits) == 0) [[likely]] {
      ++complete;
      complete_latency.add(row.latency);
      uncertainty.add(row.uncertainty);
      sums.least = std::min(sums.least, row.latency);
      sums.most = std::max(sums.most, row.latency);
    } else {
      ++sums.calls[(row.flags & state_bits) % sums.calls.size()];
    }
    if ((row.flags & (inner_bit | extra_bit)) == extra_bit) [[unlikely]] {
      sums.off_cpu.add(extras[row.extra].blocked);
      sums.off_cpu.add(extras[row.extra].preempted);
    }
  }
  sums.calls[0] = complete;
  sums.complete_latency = complete_latency;
  sums.uncertainty = uncertainty;
  sums.inclusive = inclusive;
  sums.self = self;
  return sums;
}

void turn_inner(FunctionSums& sums, const Row& row, std::span<const Extra> extras) {
  const auto turn = [&](Sum& sum, std::uint64_t value) {
    if ((row.flags & inner_bit) != 0) {
      sum.subtract(value);
    } else {
      sum.add(value);
    }
  };
  turn(sums.inclusive, row.latency);
  if ((row.flags & extra_bit) != 0) {
    turn(sums.off_cpu, extras[row.extra].blocked);
    turn(sums.off_cpu, extras[row.extra].preempted);
  }
}

template <class Value>
std::byte* BlockEncoder::add_extras(std::span<const Row> rows, std::span<const Extra> extras,
                                    std::byte* out, Value value) {
  std::size_t count = 0;
  for (const Row& row : rows) {
    if ((row.flags & extra_bit) != 0) {
      values_[count++] = value(extras[row.extra]);
    }
  }
  return write_column(std::span(values_).first(count), out);
}

BlockEntry BlockEncoder::encode(std::vector<Row>& rows, std::span<const Extra> extras) {
  constexpr std::size_t columns = 7;
  constexpr std::size_t extra_columns = 6;
  if (!std::ranges::is_sorted(rows, {}, &Row::order)) {
    std::ranges::sort(rows, {}, &Row::order);
  }
  const std::size_t count = rows.size();
  BlockEntry entry;
  entry.calls = static_cast<std::uint16_t>(count);
  entry.first_order = index_of(rows.front().order);
  entry.first_start = UINT64_MAX;
  for (const Row& row : rows) {
    entry.first_start = std::min(entry.first_start, row.start);
    entry.last_end = std::max(entry.last_end, end_of(row, extras));
  }
  values_.resize(std::max(values_.size(), columns * count));
  bytes_.resize(std::max(bytes_.size(), (columns + extra_columns) * most_column_bytes(count)));
  const auto column = [&](std::size_t number) {
    return std::span(values_).subspan(number * count, count);
  };
  std::uint64_t* at = values_.data();
  std::uint64_t last_start = entry.first_start;
  std::uint32_t last_order = entry.first_order;
  unsigned extra = 0;
  unsigned inner = 0;
  for (const Row& row : rows) {
    at[0] = row.flags;
    at[count] = row.start - last_start;
    at[2 * count] = row.latency;
    at[3 * count] = row.children;
    at[4 * count] = index_of(row.order) - last_order;
    at[5 * count] = distance_to_parent(row);
    at[6 * count] = row.uncertainty;
    last_start = row.start;
    last_order = index_of(row.order);
    extra += (row.flags & extra_bit) != 0 ? 1U : 0U;
    inner += (row.flags & inner_bit) != 0 ? 1U : 0U;
    ++at;
  }
  entry.extras = static_cast<std::uint16_t>(extra);
  entry.inner = static_cast<std::uint16_t>(inner);
  std::byte* out = bytes_.data();
  for (std::size_t number = 0; number < columns; ++number) {
    out = write_column(column(number), out);
  }
  if (entry.extras != 0) {
    out = add_extras(rows, extras, out, [](const Extra& each) { return each.outside; });
    out = add_extras(rows, extras, out, [](const Extra& each) { return each.blocked; });
    out = add_extras(rows, extras, out, [](const Extra& each) { return each.preempted; });
    out = add_extras(rows, extras, out, [](const Extra& each) { return each.switches; });
    out = add_extras(rows, extras, out, [](const Extra& each) { return each.before; });
    out = add_extras(rows, extras, out, [](const Extra& each) { return each.removed; });
  }
  entry.bytes = static_cast<std::uint32_t>(out - bytes_.data());
  size_ = entry.bytes;
  return entry;
}

std::optional<Block> Block::parse(std::span<const std::byte> bytes, const BlockEntry& entry) {
  Block block;
  std::size_t at = 0;
  const auto read = [&](Column& column, std::size_t count) {
    const auto found = Column::parse(bytes, at, count);
    column = found.value_or(Column{});
    return found.has_value();
  };
  for (Column* const column : {&block.flags, &block.start_step, &block.latency, &block.children,
                               &block.order_step, &block.distance, &block.uncertainty}) {
    if (!read(*column, entry.calls)) {
      return std::nullopt;
    }
  }
  if (entry.extras != 0) {
    for (Column* const column : {&block.outside, &block.blocked, &block.preempted, &block.switches,
                                 &block.before, &block.removed}) {
      if (!read(*column, entry.extras)) {
        return std::nullopt;
      }
    }
  }
  return at == bytes.size() ? std::optional(block) : std::nullopt;
}

void Block::read_rows(const BlockEntry& entry, std::vector<Row>& rows,
                      std::vector<Extra>& extras) const {
  std::vector<std::uint64_t> starts(entry.calls);
  std::vector<std::uint32_t> orders(entry.calls);
  read_starts(entry, starts);
  read_orders(entry, orders);
  std::uint32_t seen = 0;
  for (std::size_t i = 0; i < entry.calls; ++i) {
    Row row{.start = starts[i],
            .latency = latency[i],
            .children = children[i],
            .order = stacks::CallId{orders[i]},
            .parent = stacks::CallId::none,
            .uncertainty = static_cast<std::uint32_t>(uncertainty[i]),
            .extra = 0,
            .flags = static_cast<std::uint8_t>(flags[i])};
    if (const auto away = static_cast<std::uint32_t>(distance[i]); away != 0) {
      row.parent = stacks::CallId{orders[i] - away};
    }
    if ((row.flags & extra_bit) != 0 && seen < entry.extras) {
      row.extra = static_cast<std::uint32_t>(extras.size());
      extras.push_back({.outside = outside[seen],
                        .blocked = blocked[seen],
                        .preempted = preempted[seen],
                        .switches = static_cast<std::uint32_t>(switches[seen]),
                        .before = static_cast<std::uint32_t>(before[seen]),
                        .removed = removed[seen]});
      ++seen;
    } else {
      row.flags &= static_cast<std::uint8_t>(~extra_bit);
    }
    rows.push_back(row);
  }
}

void Block::read_starts(const BlockEntry& entry, std::span<std::uint64_t> out) const {
  start_step.read(out);
  std::uint64_t start = entry.first_start;
  for (std::uint64_t& each : out) {
    start += each;
    each = start;
  }
}

void Block::read_walls(const BlockEntry& entry, std::span<std::uint64_t> out) const {
  latency.read(out);
  std::size_t extra = 0;
  for (std::size_t i = 0; i < out.size() && extra < entry.extras; ++i) {
    if ((flags[i] & extra_bit) != 0) {
      out[i] += removed[extra++];
    }
  }
}

void Block::read_orders(const BlockEntry& entry, std::span<std::uint32_t> out) const {
  order_step.read(out);
  std::uint32_t order = entry.first_order;
  for (std::uint32_t& each : out) {
    order += each;
    each = order;
  }
}

} // namespace ptlens::cache
