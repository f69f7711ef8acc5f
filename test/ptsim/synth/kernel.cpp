// The code is assembled by hand: nop, call, call *%rax, je, ret, sysretq and iretq (Intel SDM vol.
// 2).
#include "synth/kernel.hpp"

#include "synth/seat.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>

namespace ptlens::ptsim::synth {
namespace {

constexpr std::size_t first_entry = 64; // bytes behind _text
constexpr std::size_t alignment = 16;
constexpr std::size_t nops = 3;
constexpr std::size_t core_page = 4096;
constexpr std::uint64_t work_cycles = 12;
constexpr std::size_t syscall_entry = 0;
constexpr std::size_t interrupt_entry = 8;

} // namespace

struct Kernel::Plan {
  std::string_view name;
  struct Op {
    Step step = Step::work;
    std::size_t target = 0;
  };
  std::vector<Op> ops;
  bool by_iret = false; // how it leaves, if it does
};

const std::vector<Kernel::Plan>& Kernel::plans() const {
  using enum Step;
  static const std::vector<Plan> all = {
      {"entry_SYSCALL_64", {{work}, {call, 1}, {work}, {leave}}},
      {"do_syscall_64", {{skip}, {call_any, 2}, {skip}, {work}, {ret}}},
      {"sys_read", {{work}, {call, 5}, {ret}}},
      {"sys_write", {{skip}, {call, 6}, {call, 6}, {ret}}},
      {"sys_futex", {{skip}, {skip}, {ret}}},
      {"vfs_read", {{skip}, {call, 7}, {work}, {ret}}},
      {"vfs_write", {{work}, {skip}, {ret}}},
      {"copy_to_user", {{skip}, {work}, {skip}, {ret}}},
      {"asm_sysvec_apic_timer_interrupt", {{work}, {call, 9}, {leave}}, true},
      {"sysvec_apic_timer_interrupt", {{skip}, {call, 10}, {ret}}},
      {"hrtimer_interrupt", {{skip}, {work}, {skip}, {ret}}},
  };
  return all;
}

Kernel::Kernel(FunctionId first_function) : first_function_(first_function) {
  assemble();
}

void Kernel::assemble() {
  struct Fix {
    std::size_t at = 0; // of a 32-bit displacement
    std::size_t target = 0;
  };
  std::vector<Fix> fixes;
  const auto put = [this](std::initializer_list<std::uint8_t> bytes) {
    code_.insert(code_.end(), bytes);
  };
  const auto put_nops = [this] { code_.insert(code_.end(), nops, 0x90); };
  code_.assign(first_entry, 0xcc);
  for (const Plan& plan : plans()) {
    code_.resize((code_.size() + alignment - 1) / alignment * alignment, 0xcc);
    functions_.push_back({plan.name, base + code_.size()});
    std::vector<Placed>& placed = steps_.emplace_back();
    for (const Plan::Op& op : plan.ops) {
      Placed step{.step = op.step, .begin = base + code_.size(), .behind = 0, .target = op.target};
      switch (op.step) {
      case Step::work:
        put_nops();
        break;
      case Step::call:
        put({0xe8, 0, 0, 0, 0});
        fixes.push_back({code_.size() - 4, op.target});
        break;
      case Step::call_any:
        put({0xff, 0xd0});
        break;
      case Step::skip: // over the nops behind it
        put({0x74, static_cast<std::uint8_t>(nops)});
        break;
      case Step::ret:
        put({0xc3});
        break;
      case Step::leave:
        if (plan.by_iret) {
          put({0x48, 0xcf});
        } else {
          put({0x48, 0x0f, 0x07});
        }
        break;
      }
      step.behind = base + code_.size();
      placed.push_back(step);
      if (op.step == Step::skip) {
        put_nops();
      }
    }
  }
  code_.resize((code_.size() + core_page - 1) / core_page * core_page, 0xcc);
  for (const Fix& fix : fixes) {
    const auto from = static_cast<std::int64_t>(base + fix.at + 4);
    const auto offset =
        static_cast<std::int32_t>(static_cast<std::int64_t>(functions_[fix.target].entry) - from);
    std::memcpy(&code_[fix.at], &offset, sizeof offset);
  }
}

Result<void> Kernel::write(const std::string& folder) const {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_CORE;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof header;
  header.e_ehsize = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  Elf64_Nhdr note{};
  note.n_namesz = sizeof ELF_NOTE_GNU;
  note.n_descsz = build_id.size();
  note.n_type = NT_GNU_BUILD_ID;
  Elf64_Phdr notes{};
  notes.p_type = PT_NOTE;
  notes.p_offset = sizeof header + 2 * sizeof notes;
  notes.p_filesz = sizeof note + note.n_namesz + note.n_descsz;
  Elf64_Phdr segment{};
  segment.p_type = PT_LOAD;
  segment.p_flags = PF_R | PF_W | PF_X;
  segment.p_offset = core_page;
  segment.p_vaddr = base;
  segment.p_filesz = code_.size();
  segment.p_memsz = code_.size();
  segment.p_align = core_page;
  std::string core(core_page, '\0');
  std::memcpy(core.data(), &header, sizeof header);
  std::memcpy(core.data() + sizeof header, &segment, sizeof segment);
  std::memcpy(core.data() + sizeof header + sizeof segment, &notes, sizeof notes);
  std::size_t at = notes.p_offset;
  const auto append = [&](const void* bytes, std::size_t size) {
    std::memcpy(core.data() + at, bytes, size);
    at += size;
  };
  append(&note, sizeof note);
  append(ELF_NOTE_GNU, sizeof ELF_NOTE_GNU);
  append(build_id.data(), build_id.size());
  core.append(code_.begin(), code_.end());
  std::string names = fmt::format("{:016x} T _text\n{:016x} T _stext\n", base, base);
  for (const Function& function : functions_) {
    names += fmt::format("{:016x} {} {}\n", function.entry,
                         function.name.starts_with("vfs_") ? 't' : 'T', function.name);
  }
  names += fmt::format("{:016x} T _etext\n", base + code_.size());
  for (const auto& [name, text] : {std::pair{"kcore", &core}, std::pair{"kallsyms", &names}}) {
    const std::string path = folder + "/" + name;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    if (!(file << *text)) {
      return std::unexpected(Error{.message = std::strerror(errno), .file = path});
    }
  }
  const std::ofstream modules(folder + "/modules", std::ios::trunc);
  return {};
}

void Kernel::system_call(const Walk& walk, std::uint64_t from, std::uint64_t back) const {
  const std::uint64_t entry = functions_[syscall_entry].entry;
  walk.seat->unit->indirect_jump(entry);
  if (walk.log != nullptr) {
    walk.log->line(from, entry, "syscall");
  }
  enter(walk, syscall_entry, from, back);
}

void Kernel::interrupt(const Walk& walk, std::uint64_t ip) const {
  const std::uint64_t entry = functions_[interrupt_entry].entry;
  walk.seat->unit->interrupt_to(ip, entry);
  if (walk.log != nullptr) {
    walk.log->line(ip, entry, "interrupt");
  }
  enter(walk, interrupt_entry, ip, ip);
}

void Kernel::enter(const Walk& walk, std::size_t function, std::uint64_t caller,
                   std::uint64_t back) const {
  Frame frame;
  frame.kind = Frame::Kind::call;
  frame.function = first_function_ + static_cast<FunctionId>(function);
  frame.caller = caller;
  frame.return_address = back;
  walk.stack->open(frame, walk.seat->clock->units());
  run(walk, function, back);
  walk.stack->returned(walk.seat->clock->units());
}

void Kernel::run(const Walk& walk, std::size_t function, std::uint64_t back) const {
  TraceUnit& unit = *walk.seat->unit;
  const auto log = [&](std::uint64_t from, std::uint64_t to, std::string_view kind) {
    if (walk.log != nullptr) {
      walk.log->line(from, to, kind);
    }
  };
  for (const Placed& step : steps_[function]) {
    unit.run(work_cycles);
    switch (step.step) {
    case Step::work:
      break;
    case Step::call:
    case Step::call_any: {
      const bool any = step.step == Step::call_any;
      const std::size_t callee = step.target + (any ? walk.random->below(3) : 0);
      const std::uint64_t entry = functions_[callee].entry;
      if (any) {
        unit.indirect_call(step.behind, entry);
      } else {
        unit.call(step.behind, entry);
      }
      log(step.begin, entry, "call");
      enter(walk, callee, step.begin, step.behind);
      break;
    }
    case Step::skip: {
      const bool taken = walk.random->chance(0.5);
      const std::uint64_t to = step.behind + (taken ? nops : 0);
      unit.conditional(taken, to);
      if (taken) {
        log(step.begin, to, "cond");
      }
      break;
    }
    case Step::ret:
      unit.ret(back);
      log(step.begin, back, "return");
      break;
    case Step::leave:
      unit.indirect_jump(back);
      log(step.begin, back, "syscall");
      break;
    }
  }
}

} // namespace ptlens::ptsim::synth
