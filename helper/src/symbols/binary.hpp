// One ELF file: its code bytes, its functions with hot and cold parts, and its line table.
// Functions come from .symtab, .dynsym, DWARF subprograms (which give the ranges of cold parts and
// the declared line) and the PLT sections; libdw reads them. All addresses here are ELF virtual
// addresses, as nm prints them.
#pragma once

#include "base/error.hpp"
#include "symbols/dwarf/source_line.hpp"
#include "symbols/elf/segment.hpp"
#include "symbols/functions/function.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptlens::symbols {

class Binary {
public:
  // Reads the ELF file at `path`. A separate debug file named by .gnu_debuglink or the build-id
  // under /usr/lib/debug is used when present. Errors: not_found, no_rights, bad_input (not ELF,
  // truncated).
  static Result<std::shared_ptr<const Binary>> open(const std::string& path);

  // The kernel: code from a core file such as the kcore of `perf record --kcore`, functions from a
  // copy of /proc/kallsyms. Errors: the same, and bad_input without functions in that code.
  static Result<std::shared_ptr<const Binary>> open_kernel(const std::string& kcore,
                                                           const std::string& kallsyms);

  Binary(const Binary&) = delete;
  Binary& operator=(const Binary&) = delete;
  Binary(Binary&&) = delete;
  Binary& operator=(Binary&&) = delete;
  ~Binary();

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] std::span<const std::uint8_t> build_id() const; // empty where there is none
  [[nodiscard]] bool is_64_bit() const;
  [[nodiscard]] bool has_debug_info() const;
  [[nodiscard]] const std::string& debug_file() const; // path() where it is in the binary itself
  [[nodiscard]] std::span<const Segment> code_segments() const;

  // Functions ordered by address; the index is stable for the life of the object.
  [[nodiscard]] std::span<const Function> functions() const;

  // Index of the function whose hot or cold part holds the address.
  [[nodiscard]] std::optional<std::uint32_t> function_at(std::uint64_t address) const;
  // Index of the function whose entry is exactly the address.
  [[nodiscard]] std::optional<std::uint32_t> function_entry(std::uint64_t address) const;

  [[nodiscard]] std::optional<SourceLine> line_at(std::uint64_t address) const;

  // Code bytes from the address to the end of its segment; empty where no segment holds it.
  [[nodiscard]] std::span<const std::byte> code_at(std::uint64_t address) const;

  [[nodiscard]] std::optional<std::uint64_t> address_of_file_offset(std::uint64_t offset) const;
  [[nodiscard]] std::optional<std::uint64_t> file_offset_of_address(std::uint64_t address) const;

  // Functions whose demangled name, name without parameters and template arguments, last component
  // ("ns::f(int)" is found by "ns::f(int)", "ns::f" and "f") or linkage name equals `name`; stubs
  // are left out. Best kind of match only, in that order.
  [[nodiscard]] std::vector<std::uint32_t> find(std::string_view name) const;
  // Up to `count` names nearest to `name` by edit distance, nearest first.
  [[nodiscard]] std::vector<std::string> nearest_names(std::string_view name,
                                                       std::size_t count) const;
  // Places where functions that answer to `name`, by the rules of find, were inlined, also into
  // other inlined code; ordered by entry, outer places first, some ten thousand at most. Reads all
  // DIEs of the file each time: slow.
  [[nodiscard]] std::vector<InlinedInstance> inlined(std::string_view name) const;
  // Last components of the names of functions that were inlined somewhere, without template
  // arguments; ascending, each once.
  [[nodiscard]] std::span<const std::string> inlined_names() const;
  // The code of the functions, all of their parts, by lines of the files that each is declared in;
  // ordered, without overlaps. Code that was inlined into one of them stands at the line of the
  // call in the function's own text that it came by. Walks the DIEs of the units that hold the
  // functions.
  [[nodiscard]] std::vector<CodeLine> own_lines(std::span<const std::uint32_t> functions) const;
  // Functions declared in a source file whose path ends in the same components as `file`, and whose
  // lines hold `line` (0: all of the file).
  [[nodiscard]] std::vector<std::uint32_t> find_at_line(std::string_view file,
                                                        std::uint32_t line) const;
  // True when some compilation unit was made from that source file.
  [[nodiscard]] bool has_source(std::string_view file) const;

  // Entry addresses of the functions that direct calls (and direct jumps out of the function: tail
  // calls) in function `index` go to, PLT stubs included, each once, ascending.
  [[nodiscard]] std::vector<std::uint64_t> direct_callees(std::uint32_t index) const;
  // Addresses of the instructions by which control leaves function `index`: every `ret`, and every
  // direct or indirect jump out of its ranges, ascending.
  [[nodiscard]] std::vector<std::uint64_t> exits(std::uint32_t index) const;
  // The same with what each instruction is, ascending. A jump through a table that leads back into
  // the function (a switch) is no exit.
  [[nodiscard]] std::vector<Exit> exit_points(std::uint32_t index) const;
  // Addresses of the first instructions of function `index`, its entry first: as many as run one
  // after the other each time that it is entered and at no other time, each with the stack pointer
  // that it was entered with.
  [[nodiscard]] std::vector<std::uint64_t> entry_instructions(std::uint32_t index) const;
  // Linkage name of what a plt_stub jumps to; nothing for other functions and for the stub that
  // enters the dynamic linker.
  [[nodiscard]] std::optional<std::string> stub_target(std::uint32_t index) const;
  // Where the exception tables send an exception that leaves the call with this return address;
  // nothing where it passes on to the caller.
  [[nodiscard]] std::optional<std::uint64_t> landing_pad(std::uint64_t return_address) const;
  // True when the function that holds the branch at `address` has, on a way to it that leads by
  // direct jumps alone, set the stack pointer to what it read from memory or got from its caller:
  // longjmp, and switches to another stack. Not where it put back the return address that it had
  // just taken from the stack.
  [[nodiscard]] bool replaces_stack(std::uint64_t address) const;
  // Address of the call instruction whose return address this is.
  [[nodiscard]] std::optional<std::uint64_t> call_before(std::uint64_t return_address) const;

private:
  struct Contents;
  explicit Binary(std::unique_ptr<Contents> contents);
  static std::shared_ptr<const Binary> made(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents_;
};

} // namespace ptlens::symbols
