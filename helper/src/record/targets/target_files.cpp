#include "record/targets/target_files.hpp"

#include "record/machine/machine.hpp"
#include "record/processes/files.hpp"
#include "record/processes/process_maps.hpp"
#include "record/targets/loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace ptlens::record {
namespace {

namespace fs = std::filesystem;

using symbols::Binary;

bool names_file(const std::string& path, const std::string& name) {
  return path == name || (path.size() > name.size() && path.ends_with(name) &&
                          (name.front() == '/' || path[path.size() - name.size() - 1] == '/'));
}

std::string canonical_path(const fs::path& path) {
  std::error_code failed;
  const fs::path result = fs::canonical(path, failed);
  return failed ? path.string() : result.string();
}

} // namespace

Result<TargetFiles> TargetFiles::of(const Request& request) {
  TargetFiles result;
  if (request.attached()) {
    const std::int32_t pid = *request.attached();
    auto mapped = mapped_files(pid);
    if (!mapped) {
      return std::unexpected(mapped.error());
    }
    const std::string root = root_of(pid);
    result.folder_ = link_target(fmt::format("/proc/{}/cwd", pid));
    for (MappedFile& file : *mapped) {
      TargetFile target{.path = file.path, .open_path = root + file.path, .deleted = file.deleted};
      result.files_.push_back(std::move(target));
    }
    return result;
  }
  if (!request.program.empty()) {
    const fs::path folder = request.working_directory;
    std::string program = find_program(
        request.program.front().find('/') == std::string::npos
            ? request.program.front()
            : (folder / request.program.front()).string()); // an absolute path replaces the folder
    if (program.empty()) {
      return std::unexpected(Error{.kind = Error::Kind::not_found,
                                   .message = "the file is not an executable program",
                                   .file = request.program.front(),
                                   .remedy = "check the path and the execute permission"});
    }
    result.folder_ = request.working_directory;
    program = canonical_path(program);
    result.files_.push_back(TargetFile{.path = program, .open_path = program});
    for (const std::string& library :
         libraries_of(program, request.working_directory, request.environment)) {
      const std::string path = canonical_path(library);
      result.files_.push_back(TargetFile{.path = path, .open_path = path});
    }
  }
  return result;
}

Result<TargetFile> TargetFiles::named(const std::string& binary) const {
  const auto found = std::ranges::find_if(
      files_, [&binary](const TargetFile& file) { return names_file(file.path, binary); });
  if (found != files_.end()) {
    return *found;
  }
  for (const fs::path& candidate : {fs::path(binary), fs::path(folder_) / binary}) {
    const std::string path = canonical_path(candidate);
    const auto mapped = std::ranges::find(files_, path, &TargetFile::path);
    if (mapped != files_.end()) {
      return *mapped;
    }
    std::error_code failed;
    if (fs::is_regular_file(path, failed)) {
      return TargetFile{.path = path, .open_path = path};
    }
  }
  return std::unexpected(
      Error{.kind = Error::Kind::not_found,
            .message = "the process has not loaded this binary, and no such file exists",
            .file = binary,
            .remedy = "name the executable or a loaded library"});
}

Result<std::shared_ptr<const Binary>> TargetFiles::open(const TargetFile& file) {
  const auto known =
      std::ranges::find(opened_, file.path, [](const Opened& opened) { return opened.file.path; });
  if (known != opened_.end()) {
    return known->binary;
  }
  auto binary = Binary::open(file.open_path);
  if (binary) {
    opened_.push_back(Opened{.file = file, .binary = *binary});
  }
  return binary;
}

std::shared_ptr<const Binary> TargetFiles::opened(const std::string& path) const {
  const auto known =
      std::ranges::find(opened_, path, [](const Opened& opened) { return opened.file.path; });
  return known == opened_.end() ? nullptr : known->binary;
}

const TargetFile* TargetFiles::file_of(const Binary* binary) const {
  const auto found =
      std::ranges::find(opened_, binary, [](const Opened& opened) { return opened.binary.get(); });
  return found == opened_.end() ? nullptr : &found->file;
}

const ElfSymbols& TargetFiles::symbols_of(const TargetFile& file) {
  const auto known = symbols_.find(file.path);
  return known != symbols_.end()
             ? known->second
             : symbols_.emplace(file.path, read_elf_symbols(file.open_path)).first->second;
}

std::optional<Place> TargetFiles::resolve(std::string_view linkage_name) {
  const std::string name(linkage_name.substr(0, linkage_name.find('@'))); // "memcpy@GLIBC_2.14"
  for (const TargetFile& file : files_) {
    if (file.deleted) {
      continue;
    }
    // The symbol's name can be an alias of the name that the function has in the binary.
    const auto& defined = symbols_of(file).defined;
    const auto found = defined.find(name);
    if (found == defined.end()) {
      continue;
    }
    const auto binary = open(file);
    const auto index = binary ? (*binary)->function_entry(found->second) : std::nullopt;
    if (index) {
      return Place{.binary = *binary, .function = *index};
    }
  }
  return std::nullopt;
}

} // namespace ptlens::record
