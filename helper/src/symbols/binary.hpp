// One ELF file: its code bytes, its functions with hot and cold parts, and its line table.
// Functions come from .symtab, .dynsym, DWARF subprograms (which give the ranges of cold parts and
// the line of the declaration) and the PLT sections. All addresses here are ELF virtual addresses,
// as nm prints them.
#pragma once

#include "base/error.hpp"
#include "symbols/dwarf/source_line.hpp"
#include "symbols/elf/file_identity.hpp"
#include "symbols/elf/segment.hpp"
#include "symbols/functions/function.hpp"
#include "symbols/golang/go_runtime.hpp"

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
  // Reads the ELF file at `path`. Uses a separate debug file where one is found by .gnu_debuglink
  // or by the build-id under /usr/lib/debug. Errors: not_found, no_rights, bad_input (not ELF,
  // truncated).
  static Result<std::shared_ptr<const Binary>> open(const std::string& path);

  // Does the same, but leaves out debug information, which takes most of the time to read:
  // functions come from symbols and the unwind table alone.
  static Result<std::shared_ptr<const Binary>> open_without_debug_info(const std::string& path);

  // Reads the kernel: its code from a core file such as the kcore of `perf record --kcore`, its
  // functions from a copy of /proc/kallsyms. Errors: those of open, and bad_input where that code
  // has no functions.
  static Result<std::shared_ptr<const Binary>> open_kernel(const std::string& kcore,
                                                           const std::string& kallsyms);

  // Reads all tables of the file now, which are otherwise read when they are first needed.
  void read_all() const;

  Binary(const Binary&) = delete;
  Binary& operator=(const Binary&) = delete;
  Binary(Binary&&) = delete;
  Binary& operator=(Binary&&) = delete;
  ~Binary();

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] const FileIdentity& identity() const;           // of the file that was opened
  [[nodiscard]] std::span<const std::uint8_t> build_id() const; // empty where there is none
  [[nodiscard]] bool is_64_bit() const;
  [[nodiscard]] bool has_debug_info() const;
  // Returns the path of the file with the debug information; path() where that is the binary.
  [[nodiscard]] const std::string& debug_file() const;
  [[nodiscard]] std::span<const Segment> code_segments() const;

  // Returns the functions ordered by address. Indices are stable for the life of the object.
  [[nodiscard]] std::span<const Function> functions() const;

  // Returns the index of the function whose hot or cold part contains the address.
  [[nodiscard]] std::optional<std::uint32_t> function_at(std::uint64_t address) const;
  // Returns the index of the function whose entry is exactly the address.
  [[nodiscard]] std::optional<std::uint32_t> function_entry(std::uint64_t address) const;

  [[nodiscard]] std::optional<SourceLine> line_at(std::uint64_t address) const;

  // Returns the code bytes from the address to the end of its segment; empty where no segment
  // contains it.
  [[nodiscard]] std::span<const std::byte> code_at(std::uint64_t address) const;

  [[nodiscard]] std::optional<std::uint64_t> address_of_file_offset(std::uint64_t offset) const;
  [[nodiscard]] std::optional<std::uint64_t> file_offset_of_address(std::uint64_t address) const;

  // Returns the functions with the best kind of match to `name`. The kinds are, best first: the
  // demangled name, the name without parameters and template arguments, the last component, the
  // linkage name. "ns::f(int)" is found by "ns::f(int)", "ns::f" and "f". PLT stubs are not found.
  [[nodiscard]] std::vector<std::uint32_t> find(std::string_view name) const;
  // Returns the linkage names of the function: its own and its aliases, with their versions.
  [[nodiscard]] std::vector<std::string> linkage_names(std::uint32_t index) const;
  // Returns the function to which the dynamic linker binds other files by this linkage name without
  // a version; of several versions, the one that new programs get.
  [[nodiscard]] std::optional<std::uint32_t> exported(std::string_view linkage_name) const;
  // Returns the first function with this linkage name, exported or not, PLT stubs excepted.
  [[nodiscard]] std::optional<std::uint32_t> defined(std::string_view linkage_name) const;
  // Returns up to `count` names with the smallest edit distance to `name`, nearest first.
  [[nodiscard]] std::vector<std::string> nearest_names(std::string_view name,
                                                       std::size_t count) const;
  // Returns the inlined instances of the functions that match `name` by the rules of find,
  // including instances in other inlined code; ordered by entry, outer instances first, at most
  // 65,536. Slow: each call reads all DIEs of the file.
  [[nodiscard]] std::vector<InlinedInstance> inlined(std::string_view name) const;
  // Returns the last components of the names of functions that were inlined somewhere, without
  // template arguments, in ascending order and without repeats.
  [[nodiscard]] std::span<const std::string> inlined_names() const;
  // Returns the code of the functions, all of their parts, by lines of the file that declares each
  // function; ordered, without overlaps. Inlined code belongs to the line of the call, in the
  // function's own source, that it replaced. Walks the DIEs of the units that contain the
  // functions.
  [[nodiscard]] std::vector<CodeLine> own_lines(std::span<const std::uint32_t> functions) const;
  // Returns the functions that are declared in a source file whose path ends in the same components
  // as `file` and whose lines include `line` (0: any line).
  [[nodiscard]] std::vector<std::uint32_t> find_at_line(std::string_view file,
                                                        std::uint32_t line) const;
  // Checks whether some compilation unit was made from that source file.
  [[nodiscard]] bool has_source(std::string_view file) const;

  // Returns the entry addresses of the functions that function `index` calls directly or jumps to
  // directly (tail calls), PLT stubs included, in ascending order and without repeats.
  [[nodiscard]] std::vector<std::uint64_t> direct_callees(std::uint32_t index) const;
  // Returns whether function `index` also calls, or jumps out to, code that direct_callees() does
  // not list: through a register or memory, or to an address without a function.
  [[nodiscard]] bool calls_elsewhere(std::uint32_t index) const;
  // Returns the addresses of the instructions by which control leaves function `index`, ascending:
  // every `ret`, and every direct or indirect jump out of its ranges.
  [[nodiscard]] std::vector<std::uint64_t> exits(std::uint32_t index) const;
  // Returns the same instructions with their kinds, ascending. A jump through a table that leads
  // back into the function (a switch) is not an exit.
  [[nodiscard]] std::vector<Exit> exit_points(std::uint32_t index) const;
  // Returns the addresses of the first instructions of function `index`, its entry first: the
  // instructions that run one after the other on every entry and at no other time, each with the
  // stack pointer that the function was entered with.
  [[nodiscard]] std::vector<std::uint64_t> entry_instructions(std::uint32_t index) const;
  // Returns the linkage name of the function that a plt_stub jumps to; nothing for other functions
  // and for the stub that enters the dynamic linker.
  [[nodiscard]] std::optional<std::string> stub_target(std::uint32_t index) const;
  // Returns the address to which the exception tables send an exception out of the call with this
  // return address; nothing where the exception passes to the caller.
  [[nodiscard]] std::optional<std::uint64_t> landing_pad(std::uint64_t return_address) const;
  // Checks whether the function with the branch at `address` has replaced the stack pointer on a
  // path of direct jumps to that branch, by a value from memory or from its caller: longjmp, and
  // switches to another stack. False where it put back the return address that it had just taken
  // from the stack.
  [[nodiscard]] bool replaces_stack(std::uint64_t address) const;
  // Checks for a program or library written in Go.
  [[nodiscard]] bool has_go_runtime() const;
  // Returns nothing where it has no Go runtime, or no symbols.
  [[nodiscard]] const std::optional<GoRuntime>& go_runtime() const;
  // Returns the addresses of the instructions in function `index` that call functions whose linkage
  // names begin with `prefix`, in order of their ends.
  [[nodiscard]] std::vector<std::uint64_t> calls_to(std::uint32_t index,
                                                    std::string_view prefix) const;
  // Returns the address of the call instruction with this return address.
  [[nodiscard]] std::optional<std::uint64_t> call_before(std::uint64_t return_address) const;

private:
  struct Contents;
  explicit Binary(std::unique_ptr<Contents> contents);
  static std::shared_ptr<const Binary> make(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents_;
};

} // namespace ptlens::symbols
