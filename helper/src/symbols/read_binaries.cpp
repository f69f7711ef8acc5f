// The identity of a file is its inode, size and time of change, as for the tables of one Binary.
#include "symbols/read_binaries.hpp"

#include "symbols/elf/opened_files.hpp"

#include <algorithm>
#include <utility>

namespace ptlens::symbols {

bool ReadBinaries::read(const std::string& path) {
  Entry entry;
  {
    const OpenedFiles trail;
    const auto binary = Binary::open(path);
    if (!binary) {
      return false;
    }
    (*binary)->read_all();
    entry.binary = *binary;
    for (const std::string& seen : trail.paths()) {
      entry.seen.push_back({seen, identity_of(seen)});
    }
  }
  const std::lock_guard lock(mutex_);
  entries_.insert_or_assign(path, std::move(entry));
  return true;
}

std::shared_ptr<const Binary> ReadBinaries::find(const std::string& path) const {
  Entry entry;
  {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(path);
    if (known == entries_.end()) {
      return nullptr;
    }
    entry = known->second;
  }
  const auto own = std::ranges::find(entry.seen, path, &SeenFile::path);
  const bool opened_before_change =
      own != entry.seen.end() && own->identity == entry.binary->identity();
  const bool unchanged = std::ranges::all_of(
      entry.seen, [](const SeenFile& file) { return identity_of(file.path) == file.identity; });
  if (!opened_before_change || !unchanged) {
    return nullptr;
  }
  for (const SeenFile& file : entry.seen) {
    OpenedFiles::add(file.path);
  }
  return entry.binary;
}

} // namespace ptlens::symbols
