// Converts rows to columns and back.
#include "cache/format/block.hpp"

#include <algorithm>
#include <array>
#include <functional>
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

// Small numbers of either sign become small ones without a sign.
constexpr std::uint64_t with_sign_below(std::uint64_t number) {
  constexpr unsigned top = 63;
  return (number << 1U) ^ (0 - (number >> top));
}
constexpr std::uint64_t with_sign_on_top(std::uint64_t number) {
  return (number >> 1U) ^ (0 - (number & 1));
}

// Returns the end of the call, at most 2^64 - 1.
std::uint64_t end_of(const Row& row, std::span<const Extra> extras) {
  const std::uint64_t removed = (row.flags & extra_bit) != 0 ? extras[row.extra].removed : 0;
  const std::uint64_t wall =
      removed > UINT64_MAX - row.latency ? UINT64_MAX : row.latency + removed;
  return wall > UINT64_MAX - row.start ? UINT64_MAX : row.start + wall;
}

} // namespace

template <class Value>
std::byte* BlockEncoder::add_extras(std::span<const Row> rows, std::span<const Extra> extras,
                                    std::byte* out, Value value) {
  std::size_t count = 0;
  for (const Row& row : rows) {
    if ((row.flags & extra_bit) != 0) {
      values_[count++] = value(extras[row.extra]);
    }
  }
  const auto values = std::span(values_).first(count);
  return write_column(values, plan_column(values), out);
}

// Fills in the columns. `starts`: the times that the starts are relative to; null: the start
// before.
void BlockEncoder::fill_columns(std::span<const Row> rows, const BlockEntry& entry,
                                const StartIndex* starts) {
  const std::size_t count = rows.size();
  std::uint64_t* at = values_.data();
  std::uint64_t last_start = entry.first_start;
  std::uint32_t last_order = entry.first_order;
  for (const Row& row : rows) {
    at[flags_column * count] = row.flags;
    if (starts != nullptr) {
      at[start_column * count] = with_sign_below(row.start - starts->about(index_of(row.order)));
    } else {
      at[start_column * count] = row.start - last_start;
      last_start = row.start;
    }
    at[latency_column * count] = row.latency;
    at[children_column * count] = row.children;
    at[order_column * count] = index_of(row.order) - last_order;
    at[distance_column * count] = distance_to_parent(row);
    at[uncertainty_column * count] = row.uncertainty;
    last_order = index_of(row.order);
    ++at;
  }
}

BlockEntry BlockEncoder::encode(std::vector<Row>& rows, std::span<const Extra> extras,
                                const StartIndex& starts) {
  constexpr std::size_t extra_columns = 6;
  if (!std::ranges::is_sorted(rows, {}, &Row::order)) {
    std::ranges::sort(rows, {}, &Row::order);
  }
  const std::size_t count = rows.size();
  BlockEntry entry;
  entry.calls = static_cast<std::uint16_t>(count);
  entry.first_order = index_of(rows.front().order);
  entry.first_start = UINT64_MAX;
  all_flags_ = 0;
  for (const Row& row : rows) {
    entry.first_start = std::min(entry.first_start, row.start);
    entry.last_end = std::max(entry.last_end, end_of(row, extras));
    entry.extras += (row.flags & extra_bit) != 0 ? 1 : 0;
    all_flags_ |= row.flags;
  }
  entry.has_inner = (all_flags_ & inner_bit) != 0 ? 1 : 0;
  values_.resize(std::max(values_.size(), all_shapes * count));
  bytes_.resize(std::max(bytes_.size(), 1 + (columns + extra_columns) * most_column_bytes(count)));
  constexpr std::size_t few = 4; // their differences are as short
  const bool can_index = count >= few && starts.covers(index_of(rows.back().order));
  fill_columns(rows, entry, can_index ? &starts : nullptr);
  std::array<ColumnPlan, columns> plans;
  std::uint8_t shape = can_index ? indexed_starts : 0;
  for (std::size_t number = 0; number < columns; ++number) {
    plans.at(number) = plan_column(column(number, count));
  }
  latencies_ = plans.at(latency_column);
  std::size_t child_times = children_column;
  if (plans.at(children_column).most_width != 0) {
    const auto rests = column(own_times_column, count);
    std::ranges::transform(column(latency_column, count), column(children_column, count),
                           rests.begin(), std::minus());
    if (const ColumnPlan own = plan_column(rests); own.bytes < plans.at(children_column).bytes) {
      plans.at(children_column) = own;
      child_times = own_times_column;
      shape |= own_times;
    }
  }
  bytes_.front() = std::byte{shape};
  std::byte* out = bytes_.data() + 1;
  for (std::size_t number = 0; number < columns; ++number) {
    const std::size_t from = number == children_column ? child_times : number;
    out = write_column(column(from, count), plans.at(number), out);
  }
  if (entry.extras != 0) {
    out = add_extras(rows, extras, out, [](const Extra& each) { return each.outside; });
    out = add_extras(rows, extras, out, [](const Extra& each) { return each.blocked; });
    out = add_extras(rows, extras, out, [](const Extra& each) { return each.preempted; });
    out = add_extras(rows, extras, out, [](const Extra& each) { return each.switches; });
    out = add_extras(rows, extras, out, [](const Extra& each) { return each.before; });
    out = add_extras(rows, extras, out, [](const Extra& each) { return each.removed; });
  }
  size_ = static_cast<std::size_t>(out - bytes_.data());
  entry.bytes = size_ & most_block_bytes;
  return entry;
}

std::optional<Block> Block::parse(std::span<const std::byte> bytes, const BlockEntry& entry,
                                  StartIndex starts) {
  Block block;
  block.starts = starts;
  if (bytes.empty()) {
    return std::nullopt;
  }
  block.shape = std::to_integer<std::uint8_t>(bytes.front());
  std::size_t at = 1;
  const auto read = [&](Column& column, std::size_t count) {
    const auto found = Column::parse(bytes, at, count);
    column = found.value_or(Column{});
    return found.has_value();
  };
  for (Column* const column : {&block.flags, &block.start, &block.latency, &block.child_time,
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
  std::vector<std::uint64_t> start(entry.calls);
  std::vector<std::uint64_t> latencies(entry.calls);
  std::vector<std::uint64_t> children(entry.calls);
  std::vector<std::uint32_t> orders(entry.calls);
  std::vector<std::uint32_t> distances(entry.calls);
  std::vector<std::uint32_t> uncertainties(entry.calls);
  std::vector<std::uint8_t> marks(entry.calls);
  read_starts(entry, start);
  latency.read(std::span(latencies));
  read_children(latencies, children);
  read_orders(entry, orders);
  distance.read(std::span(distances));
  uncertainty.read(std::span(uncertainties));
  flags.read(std::span(marks));
  std::uint32_t seen = 0;
  for (std::size_t i = 0; i < entry.calls; ++i) {
    Row row{.start = start[i],
            .latency = latencies[i],
            .children = children[i],
            .order = stacks::CallId{orders[i]},
            .parent = stacks::CallId::none,
            .uncertainty = uncertainties[i],
            .extra = 0,
            .flags = marks[i]};
    if (distances[i] != 0) {
      row.parent = stacks::CallId{orders[i] - distances[i]};
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
  read_starts_where(entry, [](std::size_t) { return true; }, out);
}

void Block::read_walls(const BlockEntry& entry, std::span<std::uint64_t> out) const {
  latency.read(out);
  if (entry.extras == 0 || removed.constant() == 0) {
    return;
  }
  each_extra(entry, [&](std::size_t call, std::size_t extra) { out[call] += removed[extra]; });
}

void Block::read_orders(const BlockEntry& entry, std::span<std::uint32_t> out) const {
  Position position(entry);
  read_orders(position, 0, out);
}

void Block::read_orders(Position& position, std::size_t first, std::span<std::uint32_t> out) const {
  order_step.read(out, first);
  std::uint32_t order = position.order;
  for (std::uint32_t& each : out) {
    order += each;
    each = order;
  }
  position.order = order;
}

void Block::read_starts(Position& position, std::size_t first,
                        std::span<const std::uint32_t> orders, std::span<std::uint64_t> out) const {
  start.read(out, first);
  if ((shape & indexed_starts) != 0) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = starts.about(orders[i]) + with_sign_on_top(out[i]);
    }
    return;
  }
  std::uint64_t last = position.start;
  for (std::uint64_t& each : out) {
    last += each;
    each = last;
  }
  position.start = last;
}

void Block::read_children(std::span<const std::uint64_t> latencies, std::span<std::uint64_t> out,
                          std::size_t first) const {
  child_time.read(out, first);
  if ((shape & own_times) != 0) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = latencies[i] - out[i];
    }
  }
}

} // namespace ptlens::cache
