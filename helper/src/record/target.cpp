// Which function of which file a request means.
#include "record/target.hpp"

#include "record/loader.hpp"
#include "record/machine.hpp"
#include "record/proc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <system_error>

namespace ptlens::record {
namespace {

namespace fs = std::filesystem;

using symbols::Binary;
using symbols::Function;

constexpr std::size_t listed_names = 5;

bool names_file(const std::string& path, const std::string& name) {
  return path == name || (path.size() > name.size() && path.ends_with(name) &&
                          (name.front() == '/' || path[path.size() - name.size() - 1] == '/'));
}

std::string canonical_path(const fs::path& path) {
  std::error_code failed;
  const fs::path result = fs::canonical(path, failed);
  return failed ? path.string() : result.string();
}

std::optional<std::uint64_t> address_in(const Request& request) {
  if (request.address) {
    return request.address;
  }
  const std::string& text = request.function;
  if (!text.starts_with("0x")) {
    return std::nullopt;
  }
  std::uint64_t address = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + 2, end, address, 16);
  return error == std::errc{} && rest == end ? std::optional(address) : std::nullopt;
}

// Aliases of one entry are one function.
std::vector<std::uint32_t> distinct(const Binary& binary, std::vector<std::uint32_t> found) {
  const auto address = [&binary](std::uint32_t index) { return binary.functions()[index].address; };
  std::ranges::stable_sort(found, {}, address);
  const auto rest = std::ranges::unique(found, {}, address);
  found.erase(rest.begin(), rest.end());
  return found;
}

Error ambiguous(const Binary& binary, const Request& request,
                const std::vector<std::uint32_t>& found) {
  std::string list;
  for (std::size_t index = 0; index < std::min(found.size(), listed_names); ++index) {
    const Function& function = binary.functions()[found[index]];
    list += fmt::format("{}{} at {:#x}", index == 0 ? "" : ", ", function.name, function.address);
  }
  if (found.size() > listed_names) {
    list += fmt::format(" and {} more", found.size() - listed_names);
  }
  return Error{
      .kind = Error::Kind::bad_input,
      .message = fmt::format("{} functions are named {}: {}", found.size(), request.function, list),
      .file = binary.path(),
      .remedy = "give the full name, or the address as the function"};
}

Error replaced(const TargetFile& file) {
  return Error{.kind = Error::Kind::bad_input,
               .message = "was replaced after the process had started",
               .file = file.path,
               .remedy = "restart the process"};
}

} // namespace

Result<TargetFiles> TargetFiles::of(const Request& request) {
  TargetFiles result;
  if (request.pid || request.tid) {
    const std::int32_t pid = request.pid ? *request.pid : *request.tid;
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
            : (folder / request.program.front()).string()); // an absolute path stays what it is
    if (program.empty()) {
      return std::unexpected(Error{.kind = Error::Kind::not_found,
                                   .message = "is no program that can be started",
                                   .file = request.program.front(),
                                   .remedy = "check the path and that it is executable"});
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
  return std::unexpected(Error{.kind = Error::Kind::not_found,
                               .message = "is neither mapped by the process nor a file",
                               .file = binary,
                               .remedy = "name the executable or a library that it has loaded"});
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

const TargetFile* TargetFiles::file_of(const Binary* binary) const {
  const auto found =
      std::ranges::find(opened_, binary, [](const Opened& opened) { return opened.binary.get(); });
  return found == opened_.end() ? nullptr : &found->file;
}

std::optional<Place> TargetFiles::resolve(std::string_view linkage_name) {
  for (const TargetFile& file : files_) {
    if (file.deleted) {
      continue;
    }
    const auto binary = open(file);
    if (!binary) {
      continue;
    }
    for (const std::uint32_t index : (*binary)->find(linkage_name)) {
      const Function& function = (*binary)->functions()[index];
      const std::string_view name = function.linkage_name;
      if (name.substr(0, name.find('@')) == linkage_name) { // "memcpy@@GLIBC_2.14"
        return Place{.binary = *binary, .function = index};
      }
    }
  }
  return std::nullopt;
}

Result<Place> find_target(const Request& request, TargetFiles& files) {
  std::vector<TargetFile> candidates = files.files();
  if (!request.binary.empty()) {
    auto named = files.named(request.binary);
    if (!named) {
      return std::unexpected(named.error());
    }
    candidates = {*named};
  }
  if (candidates.empty()) {
    return std::unexpected(Error{.kind = Error::Kind::bad_input,
                                 .message = "no binary is named that holds the function",
                                 .remedy = "add --binary"});
  }
  const auto address = address_in(request);
  std::optional<Error> first_failure;
  std::shared_ptr<const Binary> first;
  for (const TargetFile& file : candidates) {
    const auto binary = files.open(file);
    if (!binary) {
      first_failure = first_failure.value_or(binary.error());
      continue;
    }
    first = first ? first : *binary;
    std::vector<std::uint32_t> found;
    if (address) {
      const auto index = (*binary)->function_entry(*address);
      found = index ? std::vector<std::uint32_t>{*index} : std::vector<std::uint32_t>{};
    } else {
      found = distinct(**binary, (*binary)->find(request.function));
    }
    if (found.empty() && address) {
      break; // an address means the first candidate
    }
    if (found.empty()) {
      continue;
    }
    if (file.deleted) {
      return std::unexpected(replaced(file));
    }
    if (found.size() > 1) {
      return std::unexpected(ambiguous(**binary, request, found));
    }
    return Place{.binary = *binary, .function = found.front()};
  }
  if (!first) {
    return std::unexpected(*first_failure);
  }
  if (address) {
    return std::unexpected(Error{.kind = Error::Kind::not_found,
                                 .message = fmt::format("no function begins at {:#x}", *address),
                                 .file = first->path(),
                                 .remedy = "give the address of its first instruction as nm "
                                           "prints it"});
  }
  const std::vector<std::string> nearest = first->nearest_names(request.function, listed_names);
  return std::unexpected(
      Error{.kind = Error::Kind::not_found,
            .message = fmt::format("holds no function named {}", request.function),
            .file = first->path(),
            .remedy = nearest.empty()
                          ? "build it with symbols (do not strip it)"
                          : fmt::format("the nearest names are {}", fmt::join(nearest, ", "))});
}

} // namespace ptlens::record
