// Layout of records: include/uapi/linux/perf_event.h, MMAP2 and COMM. Their time is 0, like that of
// the records that perf makes itself.
#include "record/probes/events/process_records.hpp"

#include "record/processes/fields.hpp"
#include "record/processes/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <dirent.h>
#include <linux/perf_event.h>
#include <memory>
#include <sys/mman.h>

namespace ptlens::record {
namespace {

constexpr std::size_t longest_mapped_path = 4096;

class RecordBuilder {
public:
  RecordBuilder(std::uint32_t type, std::uint16_t misc) {
    put(perf_event_header{.type = type, .misc = misc, .size = 0});
  }
  template <class Value>
  void put(const Value& value) {
    const auto* const begin = reinterpret_cast<const std::byte*>(&value); // NOLINT
    bytes_.insert(bytes_.end(), begin, begin + sizeof value);
  }
  // Adds the text, its end, the padding and the sample id.
  std::vector<std::byte> finish(std::string_view text, std::int32_t pid, std::int32_t tid) {
    const auto* const begin = reinterpret_cast<const std::byte*>(text.data()); // NOLINT
    bytes_.insert(bytes_.end(), begin, begin + text.size());
    bytes_.resize((bytes_.size() / 8 + 1) * 8);
    put(pid);
    put(tid);
    put(std::uint64_t{0}); // time
    put(std::uint64_t{0}); // CPU
    put(std::uint64_t{0}); // identifier
    const auto size = static_cast<std::uint16_t>(bytes_.size());
    std::memcpy(bytes_.data() + offsetof(perf_event_header, size), &size, sizeof size);
    return std::move(bytes_);
  }

private:
  std::vector<std::byte> bytes_;
};

std::vector<std::int32_t> numbers_in(const std::string& folder) {
  std::vector<std::int32_t> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(::opendir(folder.c_str()), ::closedir);
  while (const dirent* entry = opened ? ::readdir(opened.get()) : nullptr) {
    if (const auto number = to_number<std::int32_t>(entry->d_name); number && *number > 0) {
      numbers.push_back(*number);
    }
  }
  return numbers;
}

} // namespace

std::vector<std::vector<std::byte>> mapping_records(std::int32_t pid, std::string_view maps) {
  std::vector<std::vector<std::byte>> records;
  while (!maps.empty()) {
    const std::size_t end = std::min(maps.find('\n'), maps.size());
    std::string_view line = maps.substr(0, end);
    maps.remove_prefix(std::min(end + 1, maps.size()));
    // "start-end perms offset major:minor inode path"
    const std::string_view range = next_field(line);
    const std::string_view permissions = next_field(line);
    const auto offset = to_number<std::uint64_t>(next_field(line), 16);
    next_field(line); // device
    next_field(line); // inode
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::size_t dash = range.find('-');
    if (dash == std::string_view::npos || permissions.size() < 4 || permissions[2] != 'x' ||
        !offset || line.size() > longest_mapped_path) {
      continue;
    }
    const auto start = to_number<std::uint64_t>(range.substr(0, dash), 16);
    const auto stop = to_number<std::uint64_t>(range.substr(dash + 1), 16);
    if (!start || !stop || *stop <= *start) {
      continue;
    }
    RecordBuilder record(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
    record.put(pid);
    record.put(pid);
    record.put(*start);
    record.put(*stop - *start);
    record.put(*offset);
    record.put(std::uint64_t{0}); // device
    record.put(std::uint64_t{0}); // inode
    record.put(std::uint64_t{0}); // generation
    record.put(std::uint32_t{PROT_READ | PROT_EXEC});
    record.put(static_cast<std::uint32_t>(permissions[3] == 's' ? MAP_SHARED : MAP_PRIVATE));
    records.push_back(record.finish(line.empty() ? "//anon" : line, pid, pid));
  }
  return records;
}

std::vector<std::byte> name_record(std::int32_t pid, std::int32_t tid, const std::string& name) {
  constexpr std::size_t longest_name = 15;
  RecordBuilder record(PERF_RECORD_COMM, 0);
  record.put(pid);
  record.put(tid);
  return record.finish(name.substr(0, longest_name), pid, tid);
}

std::vector<std::vector<std::byte>> process_records(std::int32_t pid) {
  std::vector<std::vector<std::byte>> records;
  for (const std::int32_t tid : threads_of(pid)) {
    auto name = read_text(fmt::format("/proc/{}/task/{}/comm", pid, tid));
    if (name) {
      name->resize(std::min(name->find('\n'), name->size()));
      records.push_back(name_record(pid, tid, *name));
    }
  }
  const auto maps = read_text(fmt::format("/proc/{}/maps", pid), std::size_t{64} << 20);
  auto mappings = mapping_records(pid, maps.value_or(""));
  std::ranges::move(mappings, std::back_inserter(records));
  return records;
}

std::vector<std::int32_t> threads_of(std::int32_t pid) {
  return numbers_in(fmt::format("/proc/{}/task", pid));
}

std::vector<std::int32_t> all_processes() {
  return numbers_in("/proc");
}

} // namespace ptlens::record
