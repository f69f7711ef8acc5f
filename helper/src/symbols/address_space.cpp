// Replays the side-band records of each process in order of time. At equal times, forks come first,
// then exec, then mappings: the order in which the kernel sends them.
#include "symbols/address_space.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace ptlens::symbols {

namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t first_kernel_address = std::uint64_t{1} << 63U;
// Linux allows a process 65,530 mappings of all kinds. A recording with more code mappings than
// this limit is damaged or hostile; further mappings are ignored.
constexpr std::size_t most_mappings = 8192;
// The limit for all versions of all processes together. Beyond it, a change applies to the last
// version of a process and no new version begins.
constexpr std::size_t most_entries = 2'000'000;

struct Event {
  enum class Kind : std::uint8_t { fork, exec, map };
  std::uint64_t time_ns = 0;
  Kind kind = Kind::map;
  std::size_t record = 0; // index in the recording's list of that kind
};

std::vector<Event> events_in_order(const perfdata::Recording& recording) {
  std::vector<Event> events;
  const auto forks = recording.thread_starts();
  for (std::size_t at = 0; at < forks.size(); ++at) {
    // Threads share their process's mappings. perf invents forks at time 0 for processes that run
    // already; their own mappings follow.
    if (forks[at].pid != forks[at].parent_pid && forks[at].time_ns != 0) {
      events.push_back({forks[at].time_ns, Event::Kind::fork, at});
    }
  }
  const auto names = recording.thread_names();
  for (std::size_t at = 0; at < names.size(); ++at) {
    if (names[at].exec) {
      events.push_back({names[at].time_ns, Event::Kind::exec, at});
    }
  }
  const auto mappings = recording.mappings();
  for (std::size_t at = 0; at < mappings.size(); ++at) {
    events.push_back({mappings[at].time_ns, Event::Kind::map, at});
  }
  std::ranges::stable_sort(events, [](const Event& one, const Event& other) {
    return std::tie(one.time_ns, one.kind) < std::tie(other.time_ns, other.kind);
  });
  return events;
}

// Returns the ELF address of the file offset. A mapping begins at a page boundary, but its segment
// may not: the segment that begins in the mapping's first page decides, else the nearest one that
// contains the offset.
std::optional<std::uint64_t> mapped_address(const Binary& binary, std::uint64_t file_offset) {
  const Segment* holding = nullptr;
  for (const Segment& segment : binary.code_segments()) {
    const std::uint64_t first_page = segment.file_offset & ~(page - 1);
    if (first_page == (file_offset & ~(page - 1))) {
      holding = &segment;
      break;
    }
    if (file_offset >= first_page && file_offset - segment.file_offset < segment.file_size) {
      holding = &segment;
    }
  }
  if (holding != nullptr) {
    return holding->address + (file_offset - holding->file_offset);
  }
  return binary.address_of_file_offset(file_offset);
}

// Removes [start, end) from the mapped code.
void unmap(std::vector<MappedCode>& code, std::uint64_t start, std::uint64_t end) {
  auto first = std::ranges::upper_bound(code, start, {}, &MappedCode::end);
  auto last = first;
  std::vector<MappedCode> remaining;
  for (; last != code.end() && last->start < end; ++last) {
    if (last->start < start) {
      MappedCode left = *last;
      left.end = start;
      remaining.push_back(std::move(left));
    }
    if (last->end > end) {
      MappedCode right = std::move(*last);
      right.file_offset += end - right.start;
      right.start = end;
      remaining.push_back(std::move(right));
    }
  }
  const auto at = code.erase(first, last);
  code.insert(at, std::make_move_iterator(remaining.begin()),
              std::make_move_iterator(remaining.end()));
}

bool overlaps(const std::vector<MappedCode>& code, std::uint64_t start, std::uint64_t end) {
  const auto first = std::ranges::upper_bound(code, start, {}, &MappedCode::end);
  return first != code.end() && first->start < end;
}

bool is_file(const std::string& path) {
  return path == "[vdso]" || (path.starts_with('/') && !path.starts_with("//"));
}

// Returns the kernel's mappings by start, without overlaps. A core file has code at its run-time
// address: there is no bias.
std::vector<MappedCode> kernel_code(const std::shared_ptr<const Binary>& kernel) {
  std::vector<MappedCode> code;
  std::uint64_t after = first_kernel_address;
  for (const Segment& segment : kernel->code_segments()) {
    if (segment.address < after || segment.file_size == 0) {
      continue;
    }
    MappedCode mapped;
    mapped.start = segment.address;
    mapped.end = segment.address + segment.file_size;
    mapped.file_offset = segment.file_offset;
    mapped.path = "[kernel.kallsyms]";
    mapped.binary = kernel;
    after = mapped.end;
    code.push_back(std::move(mapped));
  }
  return code;
}

class Replay {
public:
  using Versions = std::map<std::int32_t, std::vector<AddressSpaceVersion>>;

  Replay(const perfdata::Recording& recording, BinaryFinder& binaries)
      : recording_(recording), binaries_(binaries) {
    for (const perfdata::BuildIdEntry& entry : recording.build_ids()) {
      build_ids_.emplace(entry.path, entry.build_id);
    }
    if (const auto& trace = recording.intel_pt()) {
      const std::uint32_t type = trace->pmu_type;
      kernel_traced_ =
          std::ranges::any_of(recording.attributes(), [type](const perfdata::Attribute& attribute) {
            return attribute.type == type && !attribute.exclude_kernel;
          });
    }
  }

  Versions run() {
    for (const Event& event : events_in_order(recording_)) {
      switch (event.kind) {
      case Event::Kind::fork:
        fork(recording_.thread_starts()[event.record]);
        break;
      case Event::Kind::exec: {
        const perfdata::ThreadName& name = recording_.thread_names()[event.record];
        if (versions_.contains(name.pid)) {
          change(name.pid, name.time_ns).clear();
        }
        break;
      }
      case Event::Kind::map:
        map(recording_.mappings()[event.record]);
        break;
      }
    }
    return std::move(versions_);
  }

private:
  // Returns the mappings of the process from `time_ns` on, for changes.
  std::vector<MappedCode>& change(std::int32_t pid, std::uint64_t time_ns) {
    std::vector<AddressSpaceVersion>& versions = versions_[pid];
    if (versions.empty() || (versions.back().from_ns != time_ns && entries_ < most_entries)) {
      AddressSpaceVersion next{.from_ns = time_ns, .serial = ++last_serial_};
      if (!versions.empty()) {
        next.code = versions.back().code;
        entries_ += next.code.size() + 1;
      }
      versions.push_back(std::move(next));
    }
    return versions.back().code;
  }

  void fork(const perfdata::ThreadStart& start) {
    const auto parent = versions_.find(start.parent_pid);
    if (parent == versions_.end()) {
      return;
    }
    std::vector<MappedCode> copy = parent->second.back().code;
    entries_ += copy.size();
    if (entries_ < most_entries) {
      change(start.pid, start.time_ns) = std::move(copy);
    }
  }

  void map(const perfdata::Mapping& mapping) {
    const std::uint64_t start = mapping.start;
    const std::uint64_t end = start + mapping.length;
    if (end <= start) {
      return;
    }
    const bool kernel = mapping.from_kernel || mapping.pid < 0;
    const std::int32_t pid = kernel ? -1 : mapping.pid;
    MappedCode code{.start = start,
                    .end = end,
                    .file_offset = mapping.file_offset,
                    .bias = start - mapping.file_offset,
                    .path = mapping.path,
                    .build_id = build_id_of(mapping)};
    if (!kernel && is_file(mapping.path)) {
      code.binary = binaries_.find(code.path, code.build_id);
    } else if (kernel && kernel_traced_) {
      note_missing_kernel_code(code);
    }
    if (code.binary) {
      const std::optional<std::uint64_t> address = mapped_address(*code.binary, code.file_offset);
      if (address) {
        code.bias = start - *address;
      } else {
        code.binary = nullptr; // the file at this path has no such part: it is a different one
      }
    }
    insert(pid, mapping.time_ns, std::move(code));
  }

  void insert(std::int32_t pid, std::uint64_t time_ns, MappedCode code) {
    const auto known = versions_.find(pid);
    const bool fresh = known == versions_.end();
    if (!fresh && known->second.back().code.size() >= most_mappings) {
      return;
    }
    // Memory of a just-in-time compiler at a free address: the answer is "no code" before and
    // after.
    const bool changes_nothing =
        !fresh && !code.binary && !overlaps(known->second.back().code, code.start, code.end);
    std::vector<MappedCode>& all =
        changes_nothing ? known->second.back().code : change(pid, time_ns);
    unmap(all, code.start, code.end);
    const auto position = std::ranges::upper_bound(all, code.start, {}, &MappedCode::start);
    all.insert(position, std::move(code));
  }

  // Adds the kernel to missing(), with the reason, where the recording traced it.
  void note_missing_kernel_code(const MappedCode& code) {
    constexpr std::string_view kernel_image = "[kernel.kallsyms]";
    const bool image = code.path.starts_with(kernel_image);
    const std::string path = image ? std::string(kernel_image) : code.path;
    if (const auto entry = build_ids_.find(path); entry != build_ids_.end()) {
      binaries_.find(path, entry->second);
    }
  }

  std::vector<std::uint8_t> build_id_of(const perfdata::Mapping& mapping) const {
    if (!mapping.build_id.empty()) {
      return mapping.build_id;
    }
    const auto found = build_ids_.find(mapping.path);
    return found == build_ids_.end() ? std::vector<std::uint8_t>{} : found->second;
  }

  const perfdata::Recording& recording_;
  BinaryFinder& binaries_;
  std::unordered_map<std::string, std::vector<std::uint8_t>> build_ids_; // by path
  Versions versions_;
  bool kernel_traced_ = false;
  std::uint64_t last_serial_ = 0;
  std::size_t entries_ = 0;
};

} // namespace

const MappedCode* AddressSpaceVersion::find(std::uint64_t address) const {
  const auto found = std::ranges::upper_bound(code, address, {}, &MappedCode::end);
  return found != code.end() && found->start <= address ? &*found : nullptr;
}

AddressSpaces::AddressSpaces(const perfdata::Recording& recording, BinaryFinder& binaries,
                             const std::shared_ptr<const Binary>& kernel)
    : versions_(Replay(recording, binaries).run()) {
  for (auto& [pid, versions] : versions_) {
    for (std::size_t next = 1; next < versions.size(); ++next) {
      versions[next - 1].until_ns = versions[next].from_ns;
    }
  }
  if (kernel == nullptr) {
    return;
  }
  const std::vector<MappedCode> code = kernel_code(kernel);
  empty_.code = code;
  for (auto& [pid, versions] : versions_) {
    for (AddressSpaceVersion& version : versions) {
      std::erase_if(version.code,
                    [](const MappedCode& each) { return each.end > first_kernel_address; });
      version.code.insert(version.code.end(), code.begin(), code.end());
    }
  }
}

const AddressSpaceVersion& AddressSpaces::at(std::int32_t pid, std::uint64_t time_ns) const {
  const auto process = versions_.find(pid);
  if (process == versions_.end() || process->second.empty()) {
    return empty_;
  }
  const std::vector<AddressSpaceVersion>& versions = process->second;
  const auto after = std::ranges::upper_bound(versions, time_ns, {}, &AddressSpaceVersion::from_ns);
  return after == versions.begin() ? versions.front() : *std::prev(after);
}

std::uint64_t AddressSpaces::agrees_before(const AddressSpaces& other, std::int32_t pid) const {
  const auto same_code = [](const MappedCode& one, const MappedCode& two) {
    return one.start == two.start && one.end == two.end && one.bias == two.bias &&
           one.binary == two.binary && one.path == two.path;
  };
  const auto same = [&](const AddressSpaceVersion& one, const AddressSpaceVersion& two) {
    return one.from_ns == two.from_ns && one.serial == two.serial &&
           std::ranges::equal(one.code, two.code, same_code);
  };
  const auto found = versions_.find(pid);
  const auto others = other.versions_.find(pid);
  if (found == versions_.end() || others == other.versions_.end()) {
    return found == versions_.end() && others == other.versions_.end() ? UINT64_MAX : 0;
  }
  const auto [own, theirs] = std::ranges::mismatch(found->second, others->second, same);
  if (own == found->second.begin()) {
    return 0; // the first version also answers for the time before it
  }
  std::uint64_t before = UINT64_MAX;
  before = own == found->second.end() ? before : std::min(before, own->from_ns);
  return theirs == others->second.end() ? before : std::min(before, theirs->from_ns);
}

std::vector<const MappedCode*> AddressSpaces::binaries() const {
  std::set<std::pair<const Binary*, std::string_view>> seen;
  std::vector<const MappedCode*> found;
  for (const auto& [pid, versions] : versions_) {
    for (const AddressSpaceVersion& version : versions) {
      for (const MappedCode& code : version.code) {
        if (code.binary && seen.emplace(code.binary.get(), code.path).second) {
          found.push_back(&code);
        }
      }
    }
  }
  return found;
}

} // namespace ptlens::symbols
