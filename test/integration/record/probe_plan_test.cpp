// Compares the planned probes with the instructions that objdump lists.
#include "record/probes/plan/probe_plan.hpp"
#include "record_test_support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace ptlens::record::test {
namespace {

std::optional<Place> unknown(std::string_view) {
  return std::nullopt;
}

// Addresses of the instructions of a function that begin with `mnemonic` and end with `operand`, by
// objdump: "  1213:\tjmp    1250 <tail>".
std::vector<std::uint64_t> instructions(const std::string& program, const std::string& function,
                                        std::string_view mnemonic, std::string_view operand) {
  const auto text = run(
      {find_program("objdump"), "-d", "--no-show-raw-insn", "--disassemble=" + function, program},
      std::chrono::minutes(1));
  std::vector<std::uint64_t> found;
  std::istringstream lines(text.value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t tab = line.find(":\t");
    if (tab == std::string::npos) {
      continue;
    }
    std::string instruction = line.substr(tab + 2);
    instruction.erase(instruction.find_last_not_of(' ') + 1);
    if (instruction.starts_with(mnemonic) && instruction.ends_with(operand)) {
      found.push_back(std::stoull(line.substr(0, tab), nullptr, 16));
    }
  }
  return found;
}

struct Planned {
  std::string program;
  std::shared_ptr<const symbols::Binary> binary;
  ProbePlan plan;

  [[nodiscard]] std::vector<std::uint64_t> addresses(std::string_view function, bool entry,
                                                     bool tail_call) const {
    std::vector<std::uint64_t> list;
    for (const PlannedProbe& probe : plan.probes) {
      if (probe.place->linkage_name == function &&
          probe.kind == (entry ? Probe::Kind::entry : Probe::Kind::exit) &&
          probe.tail_call == tail_call) {
        list.push_back(probe.address);
      }
    }
    return list;
  }
  [[nodiscard]] bool noted(std::string_view code) const {
    return std::ranges::any_of(plan.notes, [code](const Note& note) { return note.code == code; });
  }
};

Planned make_plan(const ProgramFolder& folder, const std::string& source,
                  const std::string& function, const PlanLimits& limits = {}) {
  Planned planned;
  planned.program = folder.compile("program", source, {"-O2"});
  planned.binary = symbols::Binary::open(planned.program).value();
  const auto found = planned.binary->find(function);
  EXPECT_EQ(found.size(), 1U);
  const Place target{.binary = planned.binary, .function = found.at(0)};
  planned.plan = plan_probes(target, unknown, limits).value();
  return planned;
}

TEST(Plan, ProbesEveryReturnAndJumpOfTheTargetAndItsCallees) {
  const ProgramFolder folder;
  const Planned planned = make_plan(folder, R"(
    #include <unistd.h>
    #define F extern "C" __attribute__((noipa))
    F int last(int x) { return x * 3; }
    F int tail(int x) { return last(x + 1); }
    F int child(int x) { return x > 3 ? x * x : -x; }
    F int never(int x) { return x; }
    F int work(int x) {
      int sum = child(x);
      usleep(1);
      if (sum > 10) return tail(sum);
      return sum + child(sum);
    }
    int main(int count, char**) { return count > 5 ? never(count) : work(count); }
  )",
                                    "work");
  using List = std::vector<std::uint64_t>;
  EXPECT_EQ(planned.addresses("work", false, false),
            instructions(planned.program, "work", "ret", ""));
  EXPECT_EQ(planned.addresses("work", false, true),
            instructions(planned.program, "work", "jmp ", "<tail>"));
  EXPECT_FALSE(planned.addresses("work", false, false).empty());
  EXPECT_EQ(planned.addresses("work", false, true).size(), 1U);
  EXPECT_EQ(planned.addresses("tail", false, true).size(), 1U);
  EXPECT_EQ(planned.addresses("last", false, false),
            instructions(planned.program, "last", "ret", ""));
  EXPECT_EQ(planned.addresses("child", false, false),
            instructions(planned.program, "child", "ret", ""));
  EXPECT_EQ(planned.addresses("never", true, false), List{});
  ASSERT_FALSE(planned.plan.probes.empty());
  EXPECT_EQ(planned.plan.probes[0].kind, Probe::Kind::entry);
  EXPECT_TRUE(planned.plan.probes[0].target);
  EXPECT_EQ(planned.plan.probes[0].place->linkage_name, "work");
  for (const PlannedProbe& probe : planned.plan.probes) {
    EXPECT_EQ(probe.file_offset, planned.binary->file_offset_of_address(probe.address));
    EXPECT_EQ(probe.target, probe.place->linkage_name == "work");
  }
  EXPECT_TRUE(planned.noted("callees_not_loaded"));
  for (const PlannedProbe& probe : target_only(planned.plan).probes) {
    EXPECT_TRUE(probe.target);
  }
  // A call of work can end in tail, which ends in last. No call of work ends in child.
  for (const PlannedProbe& probe : planned.plan.probes) {
    const std::string& name = probe.place->linkage_name;
    EXPECT_EQ(probe.needed, name == "tail" || name == "last") << name;
  }
  std::set<std::string> without;
  for (const PlannedProbe& probe : without_callees(planned.plan).probes) {
    without.insert(probe.place->linkage_name);
  }
  EXPECT_EQ(without, (std::set<std::string>{"work", "tail", "last"}));
}

// Functions, and the offset in bytes of the entry probe. It is counted by hand: endbr64 has 4
// bytes, a mov or test of 64-bit registers 3.
struct EntryCase {
  const char* name;
  const char* code;
  std::uint64_t offset;
};
constexpr EntryCase entry_cases[] = {
    {"first", "push %rbx; pop %rbx; ret", 0},
    {"behind_endbr", "endbr64; push %rbx; pop %rbx; ret", 4},
    {"behind_moves", "endbr64; mov %rdi, %rax; test %rax, %rax; je 1f; inc %rax; 1: ret", 10},
    {"before_a_call", "mov %rdi, %rax; call first; ret", 3},
    {"loops_to_it", "endbr64; 1: push %rbx; pop %rbx; dec %edi; jne 1b; ret", 0},
    {"moves_the_stack", "sub $8, %rsp; call first; add $8, %rsp; ret", 0},
    {"leaves_by_it", "mov %rdi, %rax; jmp first", 0},
    {"repeats", "rep stosb; push %rbx; pop %rbx; ret", 0},
    {"asks_the_kernel", "mov $39, %eax; syscall; push %rbx; pop %rbx; ret", 0},
    {"has_a_table",
     "mov %rdi, %rax; mov %rdi, %rax; mov %rdi, %rax; push %rbx; pop %rbx; "
     "notrack jmp *%rax; ret",
     0},
    {"has_a_table_behind", "endbr64; push %rbx; pop %rbx; notrack jmp *%rax; ret", 4},
    {"reads_the_clock", "endbr64; rdtsc; mov %rax, %rdi; ret", 0},
    {"has_only_steps", "endbr64; mov %rdi, %rax; rdtsc; ret", 0},
};

TEST(Plan, PrefersEmulatedInstructionsThatEveryCallExecutes) {
  std::string source;
  for (const EntryCase& entry : entry_cases) {
    source +=
        fmt::format("asm(\".globl {0}\\n.type {0}, @function\\n{0}: {1}\\n.size {0}, .-{0}\");\n",
                    entry.name, entry.code);
  }
  source += "int main() {}\n";
  const ProgramFolder folder;
  for (const EntryCase& entry : entry_cases) {
    const Planned planned = make_plan(folder, source, entry.name);
    const Place place = planned.plan.probes.front().place;
    EXPECT_EQ(planned.addresses(entry.name, true, false),
              std::vector{place->address + entry.offset})
        << entry.name;
  }
}

TEST(Plan, NotesTheCalleesBeyondTheLimit) {
  const ProgramFolder folder;
  const Planned planned = make_plan(folder, R"(
    #define F extern "C" __attribute__((noipa))
    F int a(int x) { return x + 1; }
    F int b(int x) { return x + 2; }
    F int c(int x) { return x + 3; }
    F int work(int x) { return a(x) + b(x) + c(x); }
    int main(int count, char**) { return work(count); }
  )",
                                    "work", {.callees = 2, .probes = 100});
  std::size_t entries = 0;
  for (const PlannedProbe& probe : planned.plan.probes) {
    entries += static_cast<std::size_t>(probe.kind == Probe::Kind::entry);
  }
  EXPECT_EQ(entries, 3U); // the target and two
  EXPECT_TRUE(planned.noted("too_many_callees"));
}

} // namespace
} // namespace ptlens::record::test
