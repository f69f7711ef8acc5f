// Only the files of the time of the call are copied. A file that the process maps later, and that
// has another path here, is copied by the call after the recording, if the process still runs.
#include "record/targets/private_files.hpp"

#include "base/copy_file.hpp"
#include "record/processes/process_files.hpp"
#include "symbols/elf/elf_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace ptlens::record {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30U;

std::string joined(const std::vector<std::string>& paths) {
  constexpr std::size_t most_listed = 5;
  std::string text;
  for (std::size_t at = 0; at < paths.size() && at < most_listed; ++at) {
    text += (at == 0 ? "" : ", ") + paths[at];
  }
  return paths.size() > most_listed ? text + fmt::format(" and {} more", paths.size() - most_listed)
                                    : text;
}

} // namespace

void copy_private_files(const Request& request, const std::string& folder, Manifest& manifest) {
  if (!request.attached()) {
    return;
  }
  const auto files = process_files(*request.attached());
  if (!files) {
    return; // the recording itself reports that
  }
  std::uint64_t bytes = 0;
  std::vector<std::string> omitted;
  for (const ProcessFile& file : *files) {
    std::error_code failed;
    const std::string copy = folder + file.path;
    if (!file.elsewhere() || fs::exists(copy, failed)) {
      continue;
    }
    if (file.open_path.empty()) {
      omitted.push_back(file.path);
      continue;
    }
    if (!symbols::ElfFile::open(file.open_path)) {
      continue; // memory that a file system shows as a file
    }
    const std::uint64_t size = fs::file_size(file.open_path, failed);
    if (failed || bytes + size > most_bytes || !copy_file(file.open_path, copy)) {
      omitted.push_back(file.path);
      continue;
    }
    bytes += size;
    manifest.private_files.push_back(file.path);
  }
  constexpr const char* code = "private_files_not_copied";
  if (!omitted.empty() &&
      std::ranges::find(manifest.notes, code, &Note::code) == manifest.notes.end()) {
    manifest.notes.push_back(
        make_note(code,
                  "their code may be missing in this recording, because these files "
                  "exist only for the process and could not be copied: {}",
                  joined(omitted)));
  }
}

} // namespace ptlens::record
