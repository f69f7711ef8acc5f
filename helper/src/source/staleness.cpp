// Texts are compared by the checksums of their lines, binaries by their build-ids.
#include "source/staleness.hpp"

#include "base/words.hpp"
#include "source/file_state.hpp"

#include <algorithm>

namespace ptlens::source {

namespace {

constexpr Word<Staleness> staleness_names[] = {{Staleness::current, "current"},
                                               {Staleness::unknown, "unknown"},
                                               {Staleness::edited_elsewhere, "edited_elsewhere"},
                                               {Staleness::newer_source, "newer_source"},
                                               {Staleness::edited, "edited"},
                                               {Staleness::rebuilt, "rebuilt"}};

bool newer_than_binaries(const MeasuredSources& measured, std::span<const std::string> binaries,
                         const std::string& path) {
  const std::int64_t changed = changed_ns(path);
  return std::ranges::any_of(binaries, [&](const std::string& binary) {
    const auto known = measured.binaries.find(binary);
    const std::int64_t built =
        known == measured.binaries.end() ? changed_ns(binary) : known->second.changed_ns;
    return built > 0 && is_later(changed, built);
  });
}

} // namespace

const char* name_of(Staleness staleness) {
  return word_of(staleness_names, staleness);
}

bool was_replaced(const std::string& path, const MeasuredBinary& measured) {
  const std::int64_t changed = changed_ns(path);
  if (changed == 0 || (changed == measured.changed_ns && size_of(path) == measured.size)) {
    return false;
  }
  return measured.build_id.empty() || build_id_of(path) != measured.build_id;
}

ShownSource::ShownSource(const MeasuredSources& measured, const std::string& file,
                         std::span<const std::string> binaries, const std::string& path,
                         const TextLines* shown) {
  const auto text = measured.files.find(file);
  if (text == measured.files.end()) {
    text_ = newer_than_binaries(measured, binaries, path) ? Staleness::newer_source
                                                          : Staleness::unknown;
  } else if (shown == nullptr) {
    text_ = Staleness::unknown;
  } else if (text->second.whole == shown->whole) {
    text_ = Staleness::current;
  } else {
    text_ = Staleness::edited;
    map_.emplace(text->second.lines, shown->lines);
  }
}

std::optional<LineMap::Line> ShownSource::now(std::uint32_t line) const {
  return map_ ? map_->now(line) : LineMap::Line{.number = line, .same = true};
}

bool ShownSource::was_edited(std::uint32_t first, std::uint32_t last) const {
  return map_ && !map_->intact(first, std::max(first, last));
}

Staleness ShownSource::of(bool lines_edited, bool binary_rebuilt) const {
  if (binary_rebuilt) {
    return Staleness::rebuilt;
  }
  if (lines_edited) {
    return Staleness::edited;
  }
  return text_ == Staleness::edited ? Staleness::edited_elsewhere : text_;
}

bool RebuiltBinaries::contains(const std::string& path) {
  const auto [at, added] = known_.try_emplace(path, false);
  if (added) {
    const auto measured = measured_->binaries.find(path);
    at->second = measured != measured_->binaries.end() && was_replaced(path, measured->second);
  }
  return at->second;
}

std::optional<std::uint32_t> present_line(const MeasuredSources& measured, const std::string& file,
                                          const TextLines* shown, std::uint32_t line) {
  const auto text = measured.files.find(file);
  if (text == measured.files.end() || shown == nullptr || text->second.whole == shown->whole) {
    return line;
  }
  const auto now = LineMap(text->second.lines, shown->lines).now(line);
  return now ? std::optional(now->number) : std::nullopt;
}

} // namespace ptlens::source
