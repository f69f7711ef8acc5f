// Builds small perf.data files byte by byte, for tests of all readers of recordings. The layouts
// are written here a second time, from <linux/perf_event.h> and perf.data-file-format.txt, so that
// an error in the reader shows.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <linux/perf_event.h>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ptlens::test {

// A growing sequence of little-endian fields.
class Bytes {
public:
  Bytes() = default;
  explicit Bytes(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}

  template <std::integral T>
  Bytes& add(T value) {
    std::array<std::byte, sizeof(T)> field{};
    std::memcpy(field.data(), &value, sizeof(T));
    bytes_.insert(bytes_.end(), field.begin(), field.end());
    return *this;
  }
  Bytes& add(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  Bytes& add(const Bytes& other) { return add(other.bytes()); }
  Bytes& zeros(std::size_t count) {
    bytes_.insert(bytes_.end(), count, std::byte{0});
    return *this;
  }
  // Adds the text, then at least one NUL, up to a multiple of `alignment`.
  Bytes& text(std::string_view text, std::size_t alignment = 8) {
    add(std::as_bytes(std::span(text)));
    return zeros(alignment - text.size() % alignment);
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }

private:
  std::vector<std::byte> bytes_;
};

inline constexpr std::uint64_t default_sample_type =
    PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

struct Event { // a perf_event_attr and its ids
  std::uint32_t type = 1;
  std::uint64_t config = 9; // a dummy software event
  std::uint64_t sample_type = default_sample_type;
  std::uint64_t read_format = PERF_FORMAT_ID;
  bool sample_id_all = true;
  bool exclude_kernel = false;
  bool exclude_user = false;
  std::vector<std::uint64_t> ids = {1};
  std::string name = "dummy";
  std::uint64_t registers = 0; // sample_regs_user
};

struct Id { // the fields of a sample-id trailer
  std::uint64_t time = 0;
  std::int32_t pid = 0;
  std::int32_t tid = 0;
  std::int32_t cpu = 0;
  std::uint64_t id = 1; // of the event
  std::uint64_t stream_id = 0;
};

// Returns the trailer of a record of the event.
inline Bytes trailer(const Event& event, const Id& id) {
  Bytes bytes;
  if (!event.sample_id_all) {
    return bytes;
  }
  const auto has = [&](std::uint64_t bit) { return (event.sample_type & bit) != 0; };
  if (has(PERF_SAMPLE_TID)) {
    bytes.add(id.pid).add(id.tid);
  }
  if (has(PERF_SAMPLE_TIME)) {
    bytes.add(id.time);
  }
  if (has(PERF_SAMPLE_ID)) {
    bytes.add(id.id);
  }
  if (has(PERF_SAMPLE_STREAM_ID)) {
    bytes.add(id.stream_id);
  }
  if (has(PERF_SAMPLE_CPU)) {
    bytes.add(id.cpu).add(std::uint32_t{0});
  }
  if (has(PERF_SAMPLE_IDENTIFIER)) {
    bytes.add(id.id);
  }
  return bytes;
}

// Returns a complete record.
inline Bytes record(std::uint32_t type, std::uint16_t misc, const Bytes& payload) {
  Bytes bytes;
  bytes.add(type).add(misc).add(static_cast<std::uint16_t>(8 + payload.size()));
  return bytes.add(payload);
}

class PerfDataBuilder {
public:
  std::uint64_t attribute_size = 128; // bytes of perf_event_attr, 64 to 136 are known

  PerfDataBuilder() : PerfDataBuilder({Event{}}) {}
  explicit PerfDataBuilder(std::vector<Event> events) : events_(std::move(events)) {}

  // Adds a record of any kind, with the trailer of event `event`.
  PerfDataBuilder& add(std::uint32_t type, std::uint16_t misc, Bytes payload, const Id& id,
                       std::size_t event = 0) {
    return raw(record(type, misc, payload.add(trailer(events_.at(event), id))));
  }
  PerfDataBuilder& raw(const Bytes& bytes) {
    data_.add(bytes);
    return *this;
  }

  PerfDataBuilder& mmap2(std::int32_t pid, std::uint64_t start, std::uint64_t length,
                         std::uint64_t file_offset, std::string_view path, const Id& id,
                         std::uint32_t protection = 5) {
    Bytes body;
    body.add(pid).add(pid).add(start).add(length).add(file_offset).zeros(24);
    return add(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER,
               body.add(protection).add(std::uint32_t{2}).text(path), id);
  }
  PerfDataBuilder& comm(std::int32_t pid, std::int32_t tid, std::string_view name, bool exec,
                        const Id& id) {
    return add(PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0,
               Bytes().add(pid).add(tid).text(name), id);
  }
  PerfDataBuilder& fork(std::int32_t pid, std::int32_t parent_pid, std::int32_t tid,
                        std::int32_t parent_tid, const Id& id) {
    return add(PERF_RECORD_FORK, 0,
               Bytes().add(pid).add(parent_pid).add(tid).add(parent_tid).add(id.time), id);
  }
  PerfDataBuilder& exit(std::int32_t pid, std::int32_t tid, const Id& id) {
    return add(PERF_RECORD_EXIT, 0, Bytes().add(pid).add(pid).add(tid).add(tid).add(id.time), id);
  }
  // Adds a switch: the thread in the trailer goes out or comes in.
  PerfDataBuilder& context_switch(bool out, bool preempted, const Id& id) {
    return add(PERF_RECORD_SWITCH, switch_misc(out, preempted), {}, id);
  }
  PerfDataBuilder& context_switch_cpu_wide(bool out, bool preempted, std::int32_t other_pid,
                                           std::int32_t other_tid, const Id& id) {
    return add(PERF_RECORD_SWITCH_CPU_WIDE, switch_misc(out, preempted),
               Bytes().add(other_pid).add(other_tid), id);
  }
  PerfDataBuilder& aux(std::uint64_t offset, std::uint64_t size, std::uint64_t flags,
                       const Id& id) {
    return add(PERF_RECORD_AUX, 0, Bytes().add(offset).add(size).add(flags), id);
  }
  PerfDataBuilder& itrace_start(std::int32_t pid, std::int32_t tid, const Id& id) {
    return add(PERF_RECORD_ITRACE_START, 0, Bytes().add(pid).add(tid), id);
  }
  // Adds an AUXTRACE record and its trace bytes.
  PerfDataBuilder& auxtrace(std::uint32_t index, std::int32_t tid, std::int32_t cpu,
                            std::uint64_t offset, std::uint64_t reference,
                            std::span<const std::byte> trace) {
    Bytes body;
    body.add(std::uint64_t{trace.size()}).add(offset).add(reference);
    body.add(index).add(tid).add(cpu).add(std::uint32_t{0});
    return raw(record(71, 0, body).add(trace));
  }
  PerfDataBuilder& time_conv(std::uint64_t shift, std::uint64_t multiplier, std::uint64_t zero) {
    return raw(record(79, 0, Bytes().add(shift).add(multiplier).add(zero)));
  }
  // Adds an AUXTRACE_INFO of Intel PT, with the fields in the order of tools/perf/util/intel-pt.h.
  PerfDataBuilder& intel_pt_info(const std::vector<std::uint64_t>& fields,
                                 std::string_view filter = {}) {
    Bytes body;
    body.add(std::uint32_t{1}).add(std::uint32_t{0});
    for (const std::uint64_t field : fields) {
      body.add(field);
    }
    return raw(record(70, 0, filter.empty() ? body : body.text(filter)));
  }

  PerfDataBuilder& feature(std::uint32_t bit, const Bytes& bytes) {
    features_[bit] = bytes;
    return *this;
  }
  // Adds a feature with a single text: host name 3, CPU 9.
  PerfDataBuilder& feature_text(std::uint32_t bit, std::string_view text) {
    return feature(bit, header_string(text));
  }
  PerfDataBuilder& command_line(const std::vector<std::string>& arguments) {
    Bytes bytes;
    bytes.add(static_cast<std::uint32_t>(arguments.size()));
    for (const std::string& argument : arguments) {
      bytes.add(header_string(argument));
    }
    return feature(11, bytes);
  }
  // Adds HEADER_EVENT_DESC: the events' names.
  PerfDataBuilder& event_names() {
    Bytes bytes;
    bytes.add(static_cast<std::uint32_t>(events_.size()));
    bytes.add(static_cast<std::uint32_t>(attribute_size));
    for (const Event& event : events_) {
      bytes.add(attribute(event)).add(static_cast<std::uint32_t>(event.ids.size()));
      bytes.add(header_string(event.name));
      for (const std::uint64_t id : event.ids) {
        bytes.add(id);
      }
    }
    return feature(12, bytes);
  }

  [[nodiscard]] static Bytes header_string(std::string_view text) {
    const Bytes padded = Bytes().text(text, 64);
    return Bytes().add(static_cast<std::uint32_t>(padded.size())).add(padded);
  }

  // Returns the start of the data section.
  [[nodiscard]] std::uint64_t data_offset() const {
    std::uint64_t ids = 0;
    for (const Event& event : events_) {
      ids += event.ids.size();
    }
    return 104 + 8 * ids + events_.size() * (attribute_size + 16);
  }

  // Returns the file: header, ids, attributes, data, feature table, features.
  [[nodiscard]] std::vector<std::byte> build() const {
    Bytes ids;
    Bytes attributes;
    for (const Event& event : events_) {
      attributes.add(attribute(event));
      attributes.add(std::uint64_t{104} + ids.size()).add(std::uint64_t{8} * event.ids.size());
      for (const std::uint64_t id : event.ids) {
        ids.add(id);
      }
    }
    const std::uint64_t data_end = data_offset() + data_.size();
    std::uint64_t flags = 0;
    Bytes table;
    Bytes contents;
    for (const auto& [bit, bytes] : features_) {
      flags |= std::uint64_t{1} << bit;
      table.add(data_end + 16 * features_.size() + contents.size());
      table.add(std::uint64_t{bytes.size()});
      contents.add(bytes);
    }
    Bytes file;
    file.add(std::uint64_t{0x32454c4946524550}).add(std::uint64_t{104}).add(attribute_size + 16);
    file.add(std::uint64_t{104} + ids.size()).add(std::uint64_t{attributes.size()});
    file.add(data_offset()).add(std::uint64_t{data_.size()}).zeros(16).add(flags).zeros(24);
    file.add(ids).add(attributes).add(data_).add(table).add(contents);
    return {file.bytes().begin(), file.bytes().end()};
  }

private:
  static std::uint16_t switch_misc(bool out, bool preempted) {
    return static_cast<std::uint16_t>((out ? PERF_RECORD_MISC_SWITCH_OUT : 0) |
                                      (preempted ? PERF_RECORD_MISC_SWITCH_OUT_PREEMPT : 0));
  }

  [[nodiscard]] Bytes attribute(const Event& event) const {
    perf_event_attr attr{};
    attr.type = event.type;
    attr.size = static_cast<std::uint32_t>(attribute_size);
    attr.config = event.config;
    attr.sample_period = 1;
    attr.sample_type = event.sample_type;
    attr.read_format = event.read_format;
    attr.exclude_kernel = event.exclude_kernel ? 1 : 0;
    attr.exclude_user = event.exclude_user ? 1 : 0;
    attr.sample_id_all = event.sample_id_all ? 1 : 0;
    attr.sample_regs_user = event.registers;
    Bytes bytes;
    bytes.add(std::as_bytes(std::span(&attr, 1))
                  .first(std::min<std::size_t>(sizeof(attr), attribute_size)));
    return bytes.zeros(attribute_size - bytes.size());
  }

  std::vector<Event> events_;
  Bytes data_;
  std::map<std::uint32_t, Bytes> features_;
};

// A file that is removed with the object. It is in memory where the machine has a folder for that,
// because tests that write thousands of versions would wait for a disk.
class TemporaryFile {
public:
  explicit TemporaryFile(std::span<const std::byte> bytes = {}) {
    const std::filesystem::path memory = "/dev/shm";
    const auto folder =
        ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
    std::string name = (folder / "ptlens-test-XXXXXX").string();
    const int descriptor = ::mkstemp(name.data());
    if (descriptor >= 0) {
      ::close(descriptor);
    }
    path_ = name;
    write(bytes);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  TemporaryFile(TemporaryFile&&) = delete;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile() { ::unlink(path_.c_str()); }

  void write(std::span<const std::byte> bytes) const {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  std::string path_;
};

} // namespace ptlens::test
