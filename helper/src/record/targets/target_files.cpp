#include "record/targets/target_files.hpp"

#include "record/machine/machine.hpp"
#include "record/processes/files.hpp"
#include "record/processes/process_files.hpp"
#include "record/targets/link_order.hpp"
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

// Leaves the executable in front.
void sort_by_link_order(std::int32_t pid, std::vector<TargetFile>& files) {
  const std::vector<std::string> order = link_order(pid);
  if (files.empty() || order.empty()) {
    return;
  }
  std::ranges::stable_sort(files.begin() + 1, files.end(), {}, [&order](const TargetFile& file) {
    return std::ranges::find(order, file.path) - order.begin();
  });
}

} // namespace

Result<TargetFiles> TargetFiles::of(const Request& request) {
  TargetFiles result;
  if (request.attached()) {
    const std::int32_t pid = *request.attached();
    auto mapped = process_files(pid);
    if (!mapped) {
      return std::unexpected(mapped.error());
    }
    result.folder_ = link_target(fmt::format("/proc/{}/cwd", pid));
    for (ProcessFile& file : *mapped) {
      result.files_.push_back(
          {.path = std::move(file.path), .open_path = std::move(file.open_path)});
    }
    sort_by_link_order(pid, result.files_);
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
  const auto found = std::ranges::find_if(files_, [&binary](const TargetFile& file) {
    return names_file(file.path, binary) || file.open_path == binary;
  });
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
  return open(file, true);
}

Result<std::shared_ptr<const Binary>> TargetFiles::open(const TargetFile& file,
                                                        bool with_debug_info) {
  const auto known = std::ranges::find_if(opened_, [&](const Opened& opened) {
    return opened.file.path == file.path && (opened.has_debug_info || !with_debug_info);
  });
  if (known != opened_.end()) {
    return known->binary;
  }
  if (file.open_path.empty()) {
    return std::unexpected(
        Error{.kind = Error::Kind::no_rights,
              .message = "the file was removed or replaced after the process started, and only "
                         "root can read the old one",
              .file = file.path,
              .remedy = "restart the process, or run the same command with sudo"});
  }
  auto binary = with_debug_info ? Binary::open(file.open_path)
                                : Binary::open_without_debug_info(file.open_path);
  if (binary) {
    opened_.push_back({.file = file, .binary = *binary, .has_debug_info = with_debug_info});
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
  // What a file does not export is bound by no linker, but its own stubs lead to it: those of a
  // static program, and those that the linker fills with the address of a resolver (IRELATIVE).
  for (const auto find : {&Binary::exported, &Binary::defined}) {
    for (const TargetFile& file : files_) {
      const auto binary = open(file, false);
      if (!binary) {
        continue;
      }
      if (const auto index = ((**binary).*find)(linkage_name)) {
        return Place{.binary = *binary, .function = *index};
      }
    }
  }
  return std::nullopt;
}

} // namespace ptlens::record
