// Which function is at a source line.
#include "server/host/functions_at.hpp"

#include "record/processes/process_files.hpp"
#include "symbols/binary.hpp"
#include "symbols/elf/build_id.hpp"
#include "symbols/names/name_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <ranges>
#include <set>
#include <utility>

namespace ptlens::server {

namespace {

namespace fs = std::filesystem;
using BinaryPointer = std::shared_ptr<const symbols::Binary>;

constexpr std::size_t most_kept = 32;

// The opened binaries, so that a second question about a program does not read its DWARF again.
class BinaryCache {
public:
  Result<BinaryPointer> open(const std::string& path) {
    std::error_code error;
    const Version version{.written = fs::last_write_time(path, error),
                          .size = fs::file_size(path, error)};
    const std::lock_guard lock(mutex_);
    const auto at = kept_.find(path);
    if (!error && at != kept_.end() && at->second.first == version) {
      return at->second.second;
    }
    auto binary = symbols::Binary::open(path);
    if (binary && !error) {
      if (kept_.size() >= most_kept) {
        kept_.clear();
      }
      kept_[path] = {version, *binary};
    }
    return binary;
  }

private:
  struct Version {
    fs::file_time_type written;
    std::uintmax_t size = 0;
    bool operator==(const Version&) const = default;
  };
  std::mutex mutex_;
  std::map<std::string, std::pair<Version, BinaryPointer>> kept_;
};

BinaryCache& binary_cache() {
  static BinaryCache cache;
  return cache;
}

// Returns the files to search, each once, in order.
Result<std::vector<record::ProcessFile>>
binaries_to_search(const protocol::FunctionAtParams& request) {
  if (request.pid) {
    return record::process_files(*request.pid);
  }
  if (!request.program.empty()) {
    return std::vector{record::ProcessFile{.path = request.program, .open_path = request.program}};
  }
  std::vector<record::ProcessFile> files;
  std::set<std::string> seen;
  for (const record::Process& process : record::processes(request.file)) {
    if (!process.has_source) {
      continue;
    }
    // A process may end meanwhile; the search goes on with the others.
    for (record::ProcessFile& file :
         record::process_files(process.pid).value_or(std::vector<record::ProcessFile>{})) {
      if (seen.insert(file.open_path).second) {
        files.push_back(std::move(file));
      }
    }
  }
  return files;
}

struct Group {
  std::vector<FunctionOfBinary> both;    // at the line, and with the name
  std::vector<FunctionOfBinary> by_name; // in binaries built from the file
  std::vector<FunctionOfBinary> by_name_elsewhere;
  std::vector<FunctionOfBinary> declared; // on the line where the language server found the symbol
  std::vector<FunctionOfBinary> at_line;  // innermost first
  std::vector<FunctionOfBinary> by_symbol;
  std::optional<InlinedAt> inlined;
};

bool measurable(const symbols::Function& function) {
  return function.kind == symbols::Function::Kind::code ||
         function.kind == symbols::Function::Kind::indirect;
}

FunctionOfBinary info_of(const symbols::Binary& binary, std::uint32_t index) {
  const symbols::Function& function = binary.functions()[index];
  FunctionOfBinary info;
  info.name = function.name;
  info.binary = binary.path();
  info.address = function.address;
  info.file = function.file;
  info.line = function.line;
  info.end_line = function.end_line;
  info.linkage_name = function.linkage_name;
  info.build_id = symbols::build_id_text(binary.build_id());
  return info;
}

// Adds the places where the function was inlined, when no code of it exists on its own.
void search_inlined(const symbols::Binary& binary, const std::string& name, Group& group) {
  if (name.empty() ||
      !std::ranges::binary_search(binary.inlined_names(), symbols::last_component(name))) {
    return;
  }
  for (const symbols::InlinedInstance& place : binary.inlined(name)) {
    InlinedAt& found = group.inlined ? *group.inlined : group.inlined.emplace();
    found.name = place.name;
    ++found.places;
    if (place.function && measurable(binary.functions()[*place.function])) {
      FunctionOfBinary holder = info_of(binary, *place.function);
      const bool known = std::ranges::any_of(found.holders, [&](const FunctionOfBinary& other) {
        return other.address == holder.address && other.binary == holder.binary;
      });
      if (!known) {
        found.holders.push_back(std::move(holder));
      }
    }
  }
}

void search(const symbols::Binary& binary, const protocol::FunctionAtParams& request,
            Group& group) {
  const auto find = [&](const std::string& name) {
    return name.empty() ? std::vector<std::uint32_t>{} : binary.find(name);
  };
  const std::vector<std::uint32_t> at_line =
      binary.find_at_line(request.file, static_cast<std::uint32_t>(request.line));
  const std::vector<std::uint32_t> named = find(request.name);
  const bool made_from_file = binary.has_source(request.file);
  for (const std::uint32_t index : at_line) {
    if (measurable(binary.functions()[index])) {
      const bool both = std::ranges::find(named, index) != named.end();
      (both ? group.both : group.at_line).push_back(info_of(binary, index));
    }
  }
  for (const std::uint32_t index : named) {
    if (measurable(binary.functions()[index])) {
      (made_from_file ? group.by_name : group.by_name_elsewhere).push_back(info_of(binary, index));
    }
  }
  if (request.symbol_line) {
    const auto line = static_cast<std::uint32_t>(*request.symbol_line);
    for (const std::uint32_t index : binary.find_at_line(request.file, line)) {
      const symbols::Function& function = binary.functions()[index];
      if (measurable(function) && function.line == line) {
        group.declared.push_back(info_of(binary, index));
      }
    }
  }
  const std::vector<std::uint32_t> of_symbol = find(request.symbol);
  for (const std::uint32_t index : of_symbol) {
    const symbols::Function& function = binary.functions()[index];
    if (measurable(function) && (function.file.empty() || made_from_file)) {
      group.by_symbol.push_back(info_of(binary, index));
    }
  }
  if (made_from_file && named.empty()) {
    search_inlined(binary, request.name, group);
  }
  if (made_from_file && request.name.empty() && of_symbol.empty() && at_line.empty()) {
    search_inlined(binary, request.symbol, group);
  }
}

// Names each binary by its path in the file system of its process, as recordings do.
void name_by_their_processes(const std::vector<record::ProcessFile>& files, Group& group) {
  const auto rename = [&files](auto& functions) {
    for (stacks::FunctionInfo& function : functions) {
      const auto file = std::ranges::find(files, function.binary, &record::ProcessFile::open_path);
      function.binary = file == files.end() ? function.binary : file->path;
    }
  };
  for (auto* functions : {&group.both, &group.by_name, &group.by_name_elsewhere, &group.declared,
                          &group.at_line, &group.by_symbol}) {
    rename(*functions);
  }
  if (group.inlined) {
    rename(group.inlined->holders);
  }
}

std::string searched_in(const protocol::FunctionAtParams& request) {
  if (request.pid) {
    return fmt::format("process {}", *request.pid);
  }
  return request.program.empty() ? "the processes of this machine" : request.program;
}

std::string reason_for_none(const protocol::FunctionAtParams& request, bool some_source) {
  const std::string name = fs::path(request.file).filename();
  if (!some_source) {
    return fmt::format(
        "no binary of {} was built from {} with debug information; build the program "
        "with -g and start it",
        searched_in(request), name);
  }
  return fmt::format("no function of {} is at {}:{}; the compiler may have inlined or removed it: "
                     "put the cursor in another function, or build with less optimisation",
                     searched_in(request), name, request.line);
}

} // namespace

Result<FunctionsAt> functions_at(const protocol::FunctionAtParams& request) {
  const auto files = binaries_to_search(request);
  if (!files) {
    return std::unexpected(files.error());
  }
  Group group;
  bool some_source = false;
  for (const record::ProcessFile& file : *files) {
    if (file.open_path.empty()) {
      continue;
    }
    auto binary = binary_cache().open(file.open_path);
    if (!binary) {
      if (!request.program.empty()) {
        return std::unexpected(std::move(binary.error()));
      }
      continue; // an unreadable library does not hide the others
    }
    some_source = some_source || (*binary)->has_source(request.file);
    search(**binary, request, group);
  }
  name_by_their_processes(*files, group);
  const auto line = [](const FunctionOfBinary& function) { return function.line; };
  std::ranges::stable_sort(group.at_line, std::greater(), line);
  for (auto* candidates : {&group.both, &group.by_name, &group.by_name_elsewhere}) {
    if (!candidates->empty()) {
      return FunctionsAt{.candidates = std::move(*candidates), .message = {}};
    }
  }
  for (auto* candidates : {&group.declared, &group.at_line, &group.by_symbol}) {
    if (!candidates->empty()) {
      return FunctionsAt{
          .candidates = std::move(*candidates), .message = {}, .inlined = std::move(group.inlined)};
    }
  }
  std::string reason = group.inlined ? fmt::format("{} was inlined everywhere, at {} {}",
                                                   group.inlined->name, group.inlined->places,
                                                   group.inlined->places == 1 ? "place" : "places")
                                     : reason_for_none(request, some_source);
  return FunctionsAt{
      .candidates = {}, .message = std::move(reason), .inlined = std::move(group.inlined)};
}

} // namespace ptlens::server
