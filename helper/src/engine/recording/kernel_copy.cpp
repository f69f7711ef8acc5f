// The checks are those of perf: the build-id in the recording's header, and the address of the
// symbol that is part of the name of the kernel's mapping (tools/perf/util/synthetic-events.c,
// perf_event__synthesize_kernel_mmap).
#include "engine/recording/kernel_copy.hpp"

#include "symbols/elf/build_id.hpp"
#include "symbols/elf/kernel_identity.hpp"
#include "symbols/elf/opened_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

namespace ptlens::engine {
namespace {

constexpr std::string_view kernel_name = "[kernel.kallsyms]";

struct Files {
  std::filesystem::path names;
  std::filesystem::path code;
};

Result<std::optional<Files>> find(const std::filesystem::path& data, const OpenOptions& options) {
  Files files{.names = options.kallsyms, .code = options.kcore};
  std::error_code ignored;
  if (files.names.empty() && !files.code.empty()) {
    files.names = files.code.parent_path() / "kallsyms";
  } else if (files.names.empty()) {
    files.names = data.parent_path() / "kcore_dir" / "kallsyms";
    symbols::OpenedFiles::add(files.names.string());
    if (!std::filesystem::exists(files.names, ignored)) {
      return std::nullopt;
    }
  }
  if (files.code.empty()) {
    files.code = files.names.parent_path() / "kcore";
  }
  for (const std::filesystem::path& file : {files.names, files.code}) {
    if (!std::filesystem::exists(file, ignored)) {
      return std::unexpected(Error{
          .kind = Error::Kind::not_found,
          .message = "No such file or directory",
          .file = file.string(),
          .offset = std::nullopt,
          .remedy = "give a copy of /proc/kallsyms with --kallsyms, and the kernel's code, which "
                    "'perf record --kcore' writes, beside it or with --kcore"});
    }
  }
  return files;
}

// Returns the mapping "[kernel.kallsyms]_text", which is at the address of that symbol.
const perfdata::Mapping* kernel_mapping(const perfdata::Recording& recording) {
  const auto mappings = recording.mappings();
  const auto found = std::ranges::find_if(mappings, [](const perfdata::Mapping& mapping) {
    return mapping.path.starts_with(kernel_name) && mapping.path.size() > kernel_name.size();
  });
  return found == mappings.end() ? nullptr : &*found;
}

Error another(const std::filesystem::path& file, std::string message) {
  return {.kind = Error::Kind::bad_input,
          .message = std::move(message),
          .file = file.string(),
          .offset = std::nullopt,
          .remedy = "give files that were copied on the recorded machine before it was restarted"};
}

} // namespace

Result<KernelCopy> open_kernel(const perfdata::Recording& recording, const std::string& data,
                               const OpenOptions& options) {
  const auto files = find(data, options);
  if (!files) {
    return std::unexpected(files.error());
  }
  const auto& found = files.value();
  if (!found) {
    return KernelCopy{};
  }
  const auto& [names, code] = *found;
  const perfdata::Mapping* const mapping = kernel_mapping(recording);
  const std::string reference = mapping == nullptr ? "" : mapping->path.substr(kernel_name.size());
  auto identity = symbols::identify_kernel(code.string(), names.string(), reference);
  if (!identity) {
    return std::unexpected(identity.error());
  }
  const std::uint64_t found_at = identity->reference.value_or(0);
  const bool placed = mapping != nullptr && mapping->file_offset != 0 && found_at != 0;
  if (placed && found_at != mapping->file_offset) {
    return std::unexpected(another(
        names, fmt::format("the file belongs to another kernel, or to another boot of the recorded "
                           "one: {} is at {:#x}, and at {:#x} in the recording",
                           reference, found_at, mapping->file_offset)));
  }
  const auto ids = recording.build_ids();
  const auto recorded = std::ranges::find(ids, kernel_name, &perfdata::BuildIdEntry::path);
  const bool comparable = recorded != ids.end() && !identity->build_id.empty();
  if (comparable && recorded->build_id != identity->build_id) {
    return std::unexpected(
        another(code, fmt::format("the file belongs to another kernel: its build-id is {}, not {}",
                                  symbols::build_id_text(identity->build_id),
                                  symbols::build_id_text(recorded->build_id))));
  }
  auto binary = symbols::Binary::open_kernel(code.string(), names.string());
  if (!binary) {
    return std::unexpected(binary.error());
  }
  KernelCopy copy{.code = std::move(*binary), .note = {}};
  if (!comparable) {
    copy.note =
        make_note("kernel_not_compared",
                  "the kernel's code could not be compared with the recorded kernel: {} has "
                  "no build-id{}",
                  recorded == ids.end() ? "the recording" : code.string(),
                  placed ? "; the addresses of its symbols match" : "");
  }
  return copy;
}

} // namespace ptlens::engine
