// Names of one address are ranked as in perf (symbol_table.hpp). Parts of one function are joined
// by DWARF ranges first, by GCC's naming second.
#include "symbols/functions/function_builder.hpp"

#include "symbols/machine_code/disassembler.hpp"
#include "symbols/machine_code/thunk.hpp"
#include "symbols/names/demangle.hpp"
#include "symbols/names/name_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace ptlens::symbols {

namespace {

bool names_resolver(std::string_view name) {
  return name.starts_with("_dl_runtime_resolve");
}

// Checks for the lazy-binding trampoline. It saves the vector registers and ends in a jump through
// r11 to the function that the dynamic linker found (glibc sysdeps/x86_64/dl-trampoline.h).
bool has_resolver_code(const ElfImage& image, const AddressRange& range) {
  const Disassembler disassembler(image.is_64_bit());
  const std::span<const std::byte> code = image.code_at(range.low);
  const std::uint64_t size = std::min<std::uint64_t>(range.high - range.low, code.size());
  constexpr std::uint64_t longest = 4096;
  if (size > longest) {
    return false;
  }
  bool saves = false;
  std::uint64_t at = 0;
  while (at < size) {
    const std::span<const std::byte> rest = code.subspan(at, size - at);
    const std::optional<Instruction> instruction = disassembler.decode(rest, range.low + at);
    if (!instruction) {
      return false;
    }
    saves = saves || disassembler.saves_vector_state(rest);
    if (instruction->kind == Instruction::Kind::jump) {
      return saves && instruction->through_register == Disassembler::register_r11();
    }
    at += instruction->length;
  }
  return false;
}

} // namespace

void FunctionBuilder::add_stubs(std::span<const PltStub> stubs) {
  for (const PltStub& stub : stubs) {
    const AddressRange range{.low = stub.address, .high = stub.address + stub.size};
    const std::string target = stub.target.empty() ? "" : without_parameters(demangle(stub.target));
    functions_.try_emplace(
        stub.address, Function{.name = stub.target.empty() ? ".plt" : target + "@plt",
                               .linkage_name = stub.target.empty() ? ".plt" : stub.target + "@plt",
                               .address = stub.address,
                               .ranges = {range},
                               .kind = Function::Kind::plt_stub});
    covered_.add(range);
  }
}

void FunctionBuilder::add_symbols(std::span<const Symbol> symbols,
                                  std::span<const AddressRange> unwind_ranges) {
  std::vector<const Symbol*> sorted;
  for (const Symbol& symbol : symbols) {
    const Section* section = image_.code_section(symbol.address);
    if (section != nullptr && is_plt_section(*section)) {
      continue;
    }
    if (!owner_of_cold_part(symbol.name).empty()) {
      if (symbol.size > 0) { // compilers leave empty symbols, and give all others a size
        cold_parts_.push_back(symbol);
      }
    } else {
      sorted.push_back(&symbol);
    }
  }
  std::ranges::sort(sorted, [](const Symbol* one, const Symbol* other) {
    return one->address != other->address ? one->address < other->address
                                          : names_better(*one, *other);
  });
  std::vector<std::uint64_t> cold_starts;
  std::ranges::transform(cold_parts_, std::back_inserter(cold_starts), &Symbol::address);
  std::ranges::sort(cold_starts);
  for (const Symbol* symbol : sorted) {
    if (symbol->size > 0) {
      covered_.add({.low = symbol->address, .high = symbol->address + symbol->size});
    }
  }
  for (std::size_t at = 0; at < sorted.size();) {
    const Symbol& best = *sorted[at];
    std::size_t after = at;
    while (after < sorted.size() && sorted[after]->address == best.address) {
      ++after;
    }
    std::uint64_t end = best.address + best.size;
    if (best.size == 0) {
      if (covered_.contains(best.address)) { // a label inside a function
        at = after;
        continue;
      }
      const auto frame =
          std::ranges::lower_bound(unwind_ranges, best.address, {}, &AddressRange::low);
      const bool framed = frame != unwind_ranges.end() && frame->low == best.address;
      const std::uint64_t next = after < sorted.size() ? sorted[after]->address : UINT64_MAX;
      const auto cold = std::ranges::upper_bound(cold_starts, best.address);
      end = std::min({framed ? frame->high : best.section_end, next,
                      cold != cold_starts.end() ? *cold : UINT64_MAX});
    }
    const bool old_version = best.version.starts_with('@') && !best.version.starts_with("@@");
    Function function{.name = demangle(best.name),
                      .linkage_name = old_version ? best.name + best.version : best.name,
                      .address = best.address,
                      .ranges = {{.low = best.address, .high = end}},
                      .kind = best.indirect ? Function::Kind::indirect : Function::Kind::code};
    for (; at < after; ++at) {
      names_.push_back({.linkage_name = sorted[at]->name + sorted[at]->version,
                        .entry = best.address,
                        .source_file = sorted[at]->source_file,
                        .binding = sorted[at]->binding,
                        .exported = sorted[at]->exported});
      if (names_resolver(sorted[at]->name)) {
        function.kind = Function::Kind::resolver;
      }
    }
    covered_.add(function.ranges.front());
    functions_.try_emplace(best.address, std::move(function));
  }
  by_name_.reserve(names_.size());
  for (std::size_t at = 0; at < names_.size(); ++at) {
    by_name_.emplace(names_[at].linkage_name, at);
  }
}

void FunctionBuilder::add_subprograms(const DebugInfo& debug_info) {
  std::uint64_t budget = 16 * (debug_info.lines.row_count() + 1);
  for (const Subprogram& subprogram : debug_info.subprograms) {
    auto known = functions_.find(subprogram.entry);
    if (known == functions_.end()) {
      // A cold symbol with a subprogram of its own is a function that the hot part calls: LLVM's
      // hot/cold splitting.
      if (covered_.contains(subprogram.entry) || subprogram.linkage_name.empty()) {
        continue;
      }
      known = functions_
                  .emplace(subprogram.entry, Function{.name = demangle(subprogram.linkage_name),
                                                      .linkage_name = subprogram.linkage_name,
                                                      .address = subprogram.entry})
                  .first;
    }
    Function& function = known->second;
    if (function.kind == Function::Kind::plt_stub) {
      continue;
    }
    for (const AddressRange& range : subprogram.ranges) {
      const bool has_entry = range.contains(function.address);
      if (function.ranges.empty() || (!has_entry && !covered_.contains(range.low))) {
        function.ranges.push_back(range);
        covered_.add(range);
      }
    }
    if (!function.file.empty()) {
      continue;
    }
    function.file = subprogram.file;
    function.line = subprogram.line;
    if (function.file.empty() && !subprogram.artificial) {
      if (const std::optional<SourceLine> first = debug_info.lines.at(function.address)) {
        function.file = first->file;
        function.line = first->line;
      }
    }
    if (!function.file.empty()) {
      function.end_line =
          std::max(function.line,
                   debug_info.lines.last_line(function.ranges.front(), function.file, budget));
    }
  }
}

const FunctionBuilder::NamedEntry* FunctionBuilder::owner_of(std::uint32_t source_file,
                                                             std::string_view owner) const {
  const NamedEntry* elsewhere = nullptr;
  const auto [first, last] = by_name_.equal_range(owner);
  for (auto at = first; at != last; ++at) {
    const NamedEntry& candidate = names_[at->second];
    if (candidate.binding != Symbol::Binding::local || candidate.source_file == 0) {
      elsewhere = &candidate;
    } else if (candidate.source_file == source_file) {
      return &candidate;
    }
  }
  return elsewhere;
}

// Adds a cold part whose function is in no table: a name is better than an unknown address.
void FunctionBuilder::add_orphan(const Symbol& part) {
  const std::uint64_t end = part.address + part.size;
  functions_.try_emplace(part.address, Function{.name = demangle(part.name),
                                                .linkage_name = part.name,
                                                .address = part.address,
                                                .ranges = {{.low = part.address, .high = end}}});
  covered_.add({.low = part.address, .high = end});
}

void FunctionBuilder::join_cold_parts() {
  for (const Symbol& part : cold_parts_) {
    if (covered_.contains(part.address)) { // DWARF has already assigned it to its function
      continue;
    }
    const NamedEntry* owner = owner_of(part.source_file, owner_of_cold_part(part.name));
    const auto function = owner == nullptr ? functions_.end() : functions_.find(owner->entry);
    if (function == functions_.end()) {
      add_orphan(part);
      continue;
    }
    const std::uint64_t end = part.address + part.size;
    function->second.ranges.push_back({.low = part.address, .high = end});
    covered_.add({.low = part.address, .high = end});
  }
}

void FunctionBuilder::add_unwind_ranges(std::span<const AddressRange> ranges) {
  for (const AddressRange& range : ranges) {
    const Section* section = image_.code_section(range.low);
    if (covered_.contains(range.low) || section == nullptr || is_plt_section(*section)) {
      continue;
    }
    const std::uint64_t end =
        std::min(range.high, covered_.next_start(range.low).value_or(range.high));
    const std::string name = fmt::format("sub_{:x}", range.low);
    functions_.try_emplace(range.low, Function{.name = name,
                                               .linkage_name = name,
                                               .address = range.low,
                                               .ranges = {{.low = range.low, .high = end}}});
    covered_.add({.low = range.low, .high = end});
  }
}

void FunctionBuilder::mark_resolvers() {
  const std::size_t slash = image_.path().rfind('/');
  const std::string_view file = std::string_view(image_.path()).substr(slash + 1);
  if (!file.starts_with("ld-") && !file.starts_with("ld.so")) {
    return;
  }
  for (auto& [entry, function] : functions_) {
    if (function.kind == Function::Kind::code && function.linkage_name.starts_with("sub_") &&
        has_resolver_code(image_, function.ranges.front())) {
      function.kind = Function::Kind::resolver;
      function.name = fmt::format("_dl_runtime_resolve [{}]", function.linkage_name);
    }
  }
}

void FunctionBuilder::mark_thunks() {
  for (auto& [entry, function] : functions_) {
    if (function.kind == Function::Kind::code &&
        (names_thunk(function.linkage_name) || is_thunk_code(image_.code_at(entry)))) {
      function.kind = Function::Kind::thunk;
    }
  }
}

void FunctionBuilder::relate_copies() {
  struct Copy {
    std::uint64_t entry = 0;
    std::uint32_t source_file = 0;
    CopyName name;
  };
  std::vector<Copy> copies;
  for (const NamedEntry& name : names_) {
    if (const CopyName copy = copy_of(name.linkage_name); !copy.original.empty()) {
      copies.push_back({.entry = name.entry, .source_file = name.source_file, .name = copy});
    }
  }
  for (const Symbol& part : cold_parts_) { // parts by LLVM that DWARF describes as functions
    if (functions_.contains(part.address)) {
      copies.push_back(
          {.entry = part.address, .source_file = part.source_file, .name = copy_of(part.name)});
    }
  }
  // Whole copies come first: where the original does not exist, the first copy represents it.
  std::ranges::stable_sort(copies, {}, [](const Copy& copy) { return copy.name.part; });
  std::map<std::pair<std::string_view, std::uint32_t>, std::uint64_t> originals;
  for (const Copy& copy : copies) {
    const auto function = functions_.find(copy.entry);
    if (function == functions_.end()) {
      continue;
    }
    const auto [original, added] =
        originals.try_emplace({copy.name.original, copy.source_file}, copy.entry);
    if (added) {
      if (const NamedEntry* owner = owner_of(copy.source_file, copy.name.original)) {
        original->second = owner->entry;
      }
    }
    function->second.original = original->second;
    function->second.part = copy.name.part;
  }
}

} // namespace ptlens::symbols
