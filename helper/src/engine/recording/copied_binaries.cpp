// Copies measured binaries into a recording's folder.
#include "engine/recording/copied_binaries.hpp"

#include "base/copy_file.hpp"
#include "engine/recording/loaded_recording.hpp"
#include "symbols/elf/elf_file.hpp"
#include "symbols/elf/elf_image.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace ptlens::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_bytes = std::uint64_t{512} << 20U;
// Returns whether the file belongs to the system: packages are not rebuilt between measurements.
constexpr std::array<std::string_view, 7> system_folders = {
    "/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/", "/nix/store/", "/snap/"};

bool is_of_system(std::string_view path) {
  constexpr std::string_view local = "/usr/local/";
  return !path.starts_with(local) &&
         std::ranges::any_of(system_folders, [&](auto folder) { return path.starts_with(folder); });
}

bool has_debug_information(const std::string& path, std::uint64_t size) {
  const auto file = symbols::ElfFile::open(path);
  if (!file) {
    return false;
  }
  const auto sections = symbols::read_sections(file->elf(), size);
  return std::ranges::any_of(sections, [](const symbols::Section& section) {
    return section.name == ".debug_info" || section.name == ".zdebug_info";
  });
}

} // namespace

void BinaryCopies::add(const std::string& path) {
  std::error_code failed;
  if (is_of_system(path)) {
    return;
  }
  const std::uint64_t size = fs::file_size(path, failed);
  if (failed || bytes_ + size > most_bytes || !has_debug_information(path, size)) {
    return;
  }
  bytes_ += size;
  copy_file(path, recording_ + path);
}

void keep_binaries(const std::string& recording) {
  auto loaded = load(recording, {});
  if (!loaded || !loaded->manifest) {
    return;
  }
  std::map<std::string, std::vector<std::uint8_t>> ids;
  for (const perfdata::BuildIdEntry& entry : loaded->recording.build_ids()) {
    ids[entry.path] = entry.build_id;
  }
  std::set<std::string> seen;
  BinaryCopies copies(recording);
  for (const perfdata::Mapping& mapping : loaded->recording.mappings()) {
    const std::string& path = mapping.path;
    if (mapping.pid == -1 || !path.starts_with('/') || !seen.insert(path).second) {
      continue;
    }
    const auto& id = mapping.build_id.empty() ? ids[path] : mapping.build_id;
    const auto binary = loaded->store->find(path, id);
    if (binary && binary->path() == path) {
      copies.add(path);
    }
  }
}

} // namespace ptlens::engine
