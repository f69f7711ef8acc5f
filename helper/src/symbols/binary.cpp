// The tables behind Binary. Each is built on first use and never changes afterwards, so threads may
// share a Binary.
#include "symbols/binary.hpp"

#include "base/lazy.hpp"
#include "symbols/dwarf/debug_file.hpp"
#include "symbols/dwarf/kept_debug_info.hpp"
#include "symbols/dwarf/source_path.hpp"
#include "symbols/elf/elf_image.hpp"
#include "symbols/elf/kallsyms.hpp"
#include "symbols/elf/landing_pads.hpp"
#include "symbols/elf/unwind_table.hpp"
#include "symbols/functions/function_code.hpp"
#include "symbols/functions/function_search.hpp"
#include "symbols/functions/function_table.hpp"
#include "symbols/functions/inlined_instances.hpp"
#include "symbols/functions/own_lines.hpp"
#include "symbols/golang/read_go_runtime.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace ptlens::symbols {

namespace {

DebugFile locate_debug_file(const ElfImage& image) {
  const Result<ElfFile> file = ElfFile::open(image.path(), image.identity());
  return file ? find_debug_file(*file, image)
              : DebugFile{.path = image.path(), .identity = image.identity()};
}

FunctionSources read_function_sources(const ElfImage& image, const DebugFile& debug_file) {
  FunctionSources sources;
  const Result<ElfFile> file = ElfFile::open(image.path(), image.identity());
  if (!file) {
    return sources;
  }
  sources.symbols = read_function_symbols(file->elf(), image.identity().size, image);
  if (debug_file.path != image.path()) {
    if (const Result<ElfFile> other = ElfFile::open(debug_file.path, debug_file.identity)) {
      std::vector<Symbol> more =
          read_function_symbols(other->elf(), debug_file.identity.size, image);
      std::ranges::move(more, std::back_inserter(sources.symbols));
    }
  }
  sources.stubs = read_plt_stubs(file->elf(), image, sources.symbols);
  sources.unwind_ranges = read_unwind_ranges(file->elf(), image);
  return sources;
}

std::vector<FrameDescription> read_descriptions(const ElfImage& image) {
  const Result<ElfFile> file = ElfFile::open(image.path(), image.identity());
  return file ? read_frame_descriptions(file->elf(), image) : std::vector<FrameDescription>();
}

Result<ElfImage> open_image(const std::string& path) {
  const Result<ElfFile> file = ElfFile::open(path);
  return file ? ElfImage::read(path, *file) : std::unexpected(file.error());
}

std::optional<GoRuntime> find_go_runtime(const ElfImage& image, const DebugFile& debug_file) {
  if (!has_go_runtime(image)) {
    return std::nullopt;
  }
  const Result<ElfFile> file = ElfFile::open(image.path(), image.identity());
  return file ? read_go_runtime(image,
                                read_function_symbols(file->elf(), image.identity().size, image),
                                debug_file)
              : std::nullopt;
}

} // namespace

struct Binary::Contents {
  // `kernel_symbols`: the symbols of a kernel, whose file has no tables of its own.
  explicit Contents(ElfImage opened, bool debug_info_wanted = true,
                    std::vector<Symbol> kernel_symbols = {})
      : kernel(std::move(kernel_symbols)), image(std::move(opened)),
        debug_file([this, debug_info_wanted] {
          DebugFile file = locate_debug_file(image);
          file.has_dwarf = file.has_dwarf && debug_info_wanted;
          return file;
        }),
        unit_names([this] { return read_unit_names(debug_file.get()); }),
        debug_info([this] { return known_debug_info(debug_file.get(), image); }), table([this] {
          if (!kernel.empty()) {
            return FunctionTable(image, {.symbols = kernel, .stubs = {}, .unwind_ranges = {}}, {});
          }
          return FunctionTable(image, read_function_sources(image, debug_file.get()),
                               debug_info.get());
        }),
        frame_descriptions([this] { return read_descriptions(image); }),
        go_runtime([this] { return find_go_runtime(image, debug_file.get()); }) {}

  // Returns the call instructions of a function, decoded on first use.
  std::span<const CallInstruction> calls_of(std::uint32_t index) {
    const std::scoped_lock lock(calls_mutex);
    const auto [at, added] = calls.try_emplace(index);
    if (added) {
      at->second = call_instructions(image, table.get(), index);
    }
    return at->second; // elements of an unordered_map do not move
  }

  // Returns the instructions behind a replacement of the stack in a function, computed on first
  // use.
  std::span<const std::uint64_t> after_replacement_in(std::uint32_t index) {
    const std::scoped_lock lock(calls_mutex);
    const auto [at, added] = after_replacement.try_emplace(index);
    if (added) {
      at->second = after_stack_replacement(image, table.get(), index);
    }
    return at->second;
  }

  std::vector<Symbol> kernel;
  ElfImage image;
  Lazy<DebugFile> debug_file;
  Lazy<std::vector<std::string>> unit_names;
  Lazy<DebugInfo> debug_info;
  Lazy<FunctionTable> table;
  Lazy<std::vector<FrameDescription>> frame_descriptions;
  Lazy<std::optional<GoRuntime>> go_runtime;

  std::mutex calls_mutex;
  std::unordered_map<std::uint32_t, std::vector<CallInstruction>> calls; // by function
  std::unordered_map<std::uint32_t, std::vector<std::uint64_t>> after_replacement;
};

Binary::Binary(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
Binary::~Binary() = default;

std::shared_ptr<const Binary> Binary::make(std::unique_ptr<Contents> contents) {
  struct Openable : Binary { // std::make_shared needs an accessible constructor
    explicit Openable(std::unique_ptr<Contents> contents) : Binary(std::move(contents)) {}
  };
  return std::make_shared<const Openable>(std::move(contents));
}

Result<std::shared_ptr<const Binary>> Binary::open(const std::string& path) {
  Result<ElfImage> image = open_image(path);
  if (!image) {
    return std::unexpected(std::move(image).error());
  }
  return make(std::make_unique<Contents>(std::move(*image)));
}

Result<std::shared_ptr<const Binary>> Binary::open_without_debug_info(const std::string& path) {
  Result<ElfImage> image = open_image(path);
  if (!image) {
    return std::unexpected(std::move(image).error());
  }
  return make(std::make_unique<Contents>(std::move(*image), false));
}

Result<std::shared_ptr<const Binary>> Binary::open_kernel(const std::string& kcore,
                                                          const std::string& kallsyms) {
  const Result<ElfFile> file = ElfFile::open(kcore);
  if (!file) {
    return std::unexpected(file.error());
  }
  Result<ElfImage> image = ElfImage::read(kcore, *file, true);
  if (!image) {
    return std::unexpected(std::move(image).error());
  }
  auto symbols = read_kallsyms(kallsyms, *image);
  if (!symbols) {
    return std::unexpected(std::move(symbols).error());
  }
  return make(std::make_unique<Contents>(std::move(*image), true, std::move(*symbols)));
}

void Binary::read_all() const {
  contents_->table.get();
  contents_->frame_descriptions.get();
  contents_->go_runtime.get();
  for (const Segment& segment : code_segments()) {
    static_cast<void>(code_at(segment.address));
  }
}

const std::string& Binary::path() const {
  return contents_->image.path();
}

const FileIdentity& Binary::identity() const {
  return contents_->image.identity();
}

std::span<const std::uint8_t> Binary::build_id() const {
  return contents_->image.build_id();
}

bool Binary::is_64_bit() const {
  return contents_->image.is_64_bit();
}

bool Binary::has_debug_info() const {
  return contents_->debug_file.get().has_dwarf;
}

const std::string& Binary::debug_file() const {
  return contents_->debug_file.get().path;
}

std::span<const Segment> Binary::code_segments() const {
  return contents_->image.code_segments();
}

std::span<const Function> Binary::functions() const {
  return contents_->table.get().functions();
}

std::optional<std::uint32_t> Binary::function_at(std::uint64_t address) const {
  return contents_->table.get().at(address);
}

std::optional<std::uint32_t> Binary::function_entry(std::uint64_t address) const {
  return contents_->table.get().entry(address);
}

std::optional<SourceLine> Binary::line_at(std::uint64_t address) const {
  return contents_->debug_info.get().lines.at(address);
}

std::span<const std::byte> Binary::code_at(std::uint64_t address) const {
  return contents_->image.code_at(address);
}

std::optional<std::uint64_t> Binary::address_of_file_offset(std::uint64_t offset) const {
  for (const bool code :
       {true, false}) { // adjacent segments may share a page; code takes precedence
    for (const LoadSegment& segment : contents_->image.load_segments()) {
      if (segment.executable == code && offset >= segment.file_offset &&
          offset - segment.file_offset < segment.file_size) {
        return segment.address + (offset - segment.file_offset);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Binary::file_offset_of_address(std::uint64_t address) const {
  for (const LoadSegment& segment : contents_->image.load_segments()) {
    if (address >= segment.address && address - segment.address < segment.file_size) {
      return segment.file_offset + (address - segment.address);
    }
  }
  return std::nullopt;
}

std::vector<std::uint32_t> Binary::find(std::string_view name) const {
  return find_by_name(contents_->table.get(), name);
}

std::vector<std::string> Binary::linkage_names(std::uint32_t index) const {
  return linkage_names_of(contents_->table.get(), index);
}

std::optional<std::uint32_t> Binary::exported(std::string_view linkage_name) const {
  return find_exported(contents_->table.get(), linkage_name);
}

std::optional<std::uint32_t> Binary::defined(std::string_view linkage_name) const {
  return find_defined(contents_->table.get(), linkage_name);
}

std::vector<std::string> Binary::nearest_names(std::string_view name, std::size_t count) const {
  return names_near(contents_->table.get(), name, count);
}

std::vector<InlinedInstance> Binary::inlined(std::string_view name) const {
  return find_inlined(contents_->debug_file.get(), contents_->image, contents_->table.get(), name);
}

std::vector<CodeLine> Binary::own_lines(std::span<const std::uint32_t> functions) const {
  return find_own_lines(contents_->debug_file.get(), contents_->image, contents_->table.get(),
                        contents_->debug_info.get().lines, functions);
}

std::span<const std::string> Binary::inlined_names() const {
  return contents_->debug_info.get().inlined_names;
}

std::vector<std::uint32_t> Binary::find_at_line(std::string_view file, std::uint32_t line) const {
  std::vector<std::uint32_t> found;
  const std::span<const Function> all = functions();
  for (std::uint32_t index = 0; index < all.size(); ++index) {
    const Function& function = all[index];
    if (!function.file.empty() &&
        (line == 0 || (function.line <= line && line <= function.end_line)) &&
        same_source(function.file, file)) {
      found.push_back(index);
    }
  }
  return found;
}

bool Binary::has_source(std::string_view file) const {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  if (name.empty()) {
    return false;
  }
  const auto same = [file](const std::string& other) { return same_source(other, file); };
  if (std::ranges::any_of(contents_->unit_names.get(), same)) {
    return true;
  }
  return may_name_source(contents_->debug_file.get(), name) &&
         std::ranges::any_of(contents_->debug_info.get().lines.files(), same);
}

std::vector<std::uint64_t> Binary::direct_callees(std::uint32_t index) const {
  return symbols::direct_callees(contents_->image, contents_->table.get(), index);
}

std::vector<std::uint64_t> Binary::exits(std::uint32_t index) const {
  std::vector<std::uint64_t> addresses;
  for (const Exit& exit : exit_points(index)) {
    addresses.push_back(exit.address);
  }
  return addresses;
}

bool Binary::calls_elsewhere(std::uint32_t index) const {
  return symbols::calls_elsewhere(contents_->image, contents_->table.get(), index);
}

std::vector<Exit> Binary::exit_points(std::uint32_t index) const {
  return symbols::exit_points(contents_->image, contents_->table.get(), index);
}

std::vector<std::uint64_t> Binary::entry_instructions(std::uint32_t index) const {
  return symbols::entry_instructions(contents_->image, contents_->table.get(), index);
}

std::optional<std::string> Binary::stub_target(std::uint32_t index) const {
  return contents_->table.get().stub_target(index);
}

std::optional<std::uint64_t> Binary::landing_pad(std::uint64_t return_address) const {
  return symbols::landing_pad(contents_->image, contents_->frame_descriptions.get(),
                              return_address);
}

bool Binary::replaces_stack(std::uint64_t address) const {
  const std::optional<std::uint32_t> index = contents_->table.get().at(address);
  return index && std::ranges::binary_search(contents_->after_replacement_in(*index), address);
}

bool Binary::has_go_runtime() const {
  return symbols::has_go_runtime(contents_->image);
}

const std::optional<GoRuntime>& Binary::go_runtime() const {
  return contents_->go_runtime.get();
}

std::vector<std::uint64_t> Binary::calls_to(std::uint32_t index, std::string_view prefix) const {
  const FunctionTable& table = contents_->table.get();
  std::vector<std::uint64_t> addresses;
  for (const CallInstruction& call : contents_->calls_of(index)) {
    const auto callee = call.target ? table.entry(*call.target) : std::nullopt;
    if (callee && table.functions()[*callee].linkage_name.starts_with(prefix)) {
      addresses.push_back(call.address);
    }
  }
  return addresses;
}

std::optional<std::uint64_t> Binary::call_before(std::uint64_t return_address) const {
  const FunctionTable& table = contents_->table.get();
  const std::optional<std::uint32_t> index =
      return_address == 0 ? std::nullopt : table.at(return_address - 1);
  if (index) {
    const std::span<const CallInstruction> calls = contents_->calls_of(*index);
    const auto found =
        std::ranges::lower_bound(calls, return_address, {}, &CallInstruction::return_address);
    if (found != calls.end() && found->return_address == return_address) {
      return found->address;
    }
  }
  return call_out_of_line(contents_->image, table, return_address);
}

} // namespace ptlens::symbols
