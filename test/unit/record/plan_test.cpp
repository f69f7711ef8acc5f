// Where probes are set: against the instructions that objdump lists, and against the conditions
// that the Intel SDM gives for each Jcc.
#include "record/probe_plan.hpp"
#include "record_test_support.hpp"

#include <algorithm>
#include <sstream>

namespace ptlens::record::test {
namespace {

std::vector<std::byte> bytes(std::initializer_list<unsigned> values) {
  std::vector<std::byte> result;
  for (const unsigned value : values) {
    result.push_back(static_cast<std::byte>(value));
  }
  return result;
}

TEST(Instructions, PrefixesThatTheKernelRefuses) {
  EXPECT_FALSE(is_refused(bytes({0xc3})));                   // ret
  EXPECT_FALSE(is_refused(bytes({0xf3, 0xc3})));             // rep ret
  EXPECT_FALSE(is_refused(bytes({0xf2, 0xc3})));             // bnd ret
  EXPECT_FALSE(is_refused(bytes({0xf3, 0x0f, 0x1e, 0xfa}))); // endbr64
  EXPECT_TRUE(is_refused(bytes({0x3e, 0xff, 0xe0})));        // notrack jmp *%rax
  EXPECT_TRUE(is_refused(bytes({0xf0, 0xff, 0x00})));        // lock incl (%rax)
  EXPECT_TRUE(is_refused(bytes({0x66, 0x2e, 0x0f, 0x1f})));  // cs nopw
  EXPECT_FALSE(is_refused({}));
}

TEST(Instructions, OtherJumpsHaveNoConditionOnFlags) {
  EXPECT_EQ(taken_condition(bytes({0x74, 0x05})), "flags & 0x40");             // je
  EXPECT_EQ(taken_condition(bytes({0x0f, 0x84, 0, 0, 0, 0})), "flags & 0x40"); // je
  EXPECT_EQ(taken_condition(bytes({0x3e, 0x75, 0x05})), "!(flags & 0x40)");    // jne, hinted
  EXPECT_FALSE(taken_condition(bytes({0xe3, 0x05})));                          // jrcxz
  EXPECT_FALSE(taken_condition(bytes({0xeb, 0x05})));                          // jmp
  EXPECT_FALSE(taken_condition(bytes({0x0f})));
  EXPECT_FALSE(taken_condition({}));
}

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
      if (probe.place->linkage_name == function && probe.entry == entry &&
          probe.tail_call == tail_call) {
        list.push_back(probe.address);
      }
    }
    return list;
  }
  [[nodiscard]] bool noted(std::string_view words) const {
    return std::ranges::any_of(plan.notes, [words](const std::string& note) {
      return note.find(words) != std::string::npos;
    });
  }
};

Planned make_plan(const TemporaryFolder& folder, const std::string& source,
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
  const TemporaryFolder folder;
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
  EXPECT_TRUE(planned.plan.probes[0].entry);
  EXPECT_TRUE(planned.plan.probes[0].target);
  EXPECT_EQ(planned.plan.probes[0].place->linkage_name, "work");
  for (const PlannedProbe& probe : planned.plan.probes) {
    EXPECT_EQ(probe.file_offset, planned.binary->file_offset_of_address(probe.address));
    EXPECT_EQ(probe.target, probe.place->linkage_name == "work");
  }
  EXPECT_TRUE(planned.noted("usleep"));
  for (const PlannedProbe& probe : target_only(planned.plan).probes) {
    EXPECT_TRUE(probe.target);
  }
}

TEST(Plan, SaysWhatItLeavesOutBeyondTheLimit) {
  const TemporaryFolder folder;
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
    entries += static_cast<std::size_t>(probe.entry);
  }
  EXPECT_EQ(entries, 3U); // the target and two
  EXPECT_TRUE(planned.noted("calls more functions than are probed at once (2)"));
}

} // namespace
} // namespace ptlens::record::test
