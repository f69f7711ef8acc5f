// One list of trails, guarded by one lock: files are opened by the hundred, not by the million.
#include "symbols/elf/file_trail.hpp"

#include <mutex>

namespace ptlens::symbols {
namespace {

struct Trails {
  std::mutex mutex;
  std::set<FileTrail*> laid;
};

Trails& trails() {
  static Trails all;
  return all;
}

} // namespace

FileTrail::FileTrail() {
  const std::lock_guard lock(trails().mutex);
  trails().laid.insert(this);
}

FileTrail::~FileTrail() {
  const std::lock_guard lock(trails().mutex);
  trails().laid.erase(this);
}

std::set<std::string> FileTrail::paths() const {
  const std::lock_guard lock(trails().mutex);
  return paths_;
}

void FileTrail::note(const std::string& path) {
  const std::lock_guard lock(trails().mutex);
  for (FileTrail* const trail : trails().laid) {
    trail->paths_.insert(path);
  }
}

} // namespace ptlens::symbols
