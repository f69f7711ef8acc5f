// One lock guards all lists: files are opened by the hundred, not by the million.
#include "symbols/elf/opened_files.hpp"

#include <mutex>

namespace ptlens::symbols {
namespace {

struct Registry {
  std::mutex mutex;
  std::set<OpenedFiles*> lists;
};

// It is never destroyed: an IdleThread may still read files when the process ends.
Registry& registry() {
  static Registry* const all = new Registry; // NOLINT(cppcoreguidelines-owning-memory)
  return *all;
}

} // namespace

OpenedFiles::OpenedFiles() {
  const std::lock_guard lock(registry().mutex);
  registry().lists.insert(this);
}

OpenedFiles::~OpenedFiles() {
  const std::lock_guard lock(registry().mutex);
  registry().lists.erase(this);
}

std::set<std::string> OpenedFiles::paths() const {
  const std::lock_guard lock(registry().mutex);
  return paths_;
}

void OpenedFiles::add(const std::string& path) {
  const std::lock_guard lock(registry().mutex);
  for (OpenedFiles* const list : registry().lists) {
    list->paths_.insert(path);
  }
}

} // namespace ptlens::symbols
