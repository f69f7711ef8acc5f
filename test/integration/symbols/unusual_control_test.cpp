// Unusual control flow in code and tables: retpolines, replaced stacks, landing pads. Expected
// addresses come from nm and from labels in hand-written code.
#include "symbols/compiled_programs.hpp"
#include "symbols/machine_code/thunk.hpp"

#include <gtest/gtest.h>

#include <map>

namespace ptlens::symbols::test {
namespace {

std::map<std::string, std::uint64_t> addresses(const std::string& path) {
  std::map<std::string, std::uint64_t> found;
  for (const NmSymbol& symbol : nm(path)) {
    found[symbol.name] = symbol.address;
  }
  return found;
}

TEST(Thunks, AreRecognisedByNameAndByCode) {
  const TemporaryFolder folder;
  const std::string path = folder.compile(
      "thunks", R"(
int one(int value) { return value + 1; }
int (*volatile chosen)(int) = one;
int main(int count, char**) { return chosen(count) - 2; }
)",
      {"-O2", "-mindirect-branch=thunk", "-mfunction-return=thunk", "-fcf-protection=none"});
  const auto binary = open_binary(path);
  ASSERT_TRUE(binary);
  std::size_t thunks = 0;
  for (const auto& [name, address] : addresses(path)) {
    const auto index = binary->function_at(address);
    if (name.starts_with("__x86_")) {
      ASSERT_TRUE(index) << name;
      EXPECT_EQ(binary->functions()[*index].kind, Function::Kind::thunk) << name;
      EXPECT_TRUE(is_thunk_code(binary->code_at(address))) << name;
      ++thunks;
    } else if (index) {
      EXPECT_NE(binary->functions()[*index].kind, Function::Kind::thunk) << name;
    }
  }
  EXPECT_GE(thunks, 2U);
}

TEST(ReplacedStacks, AreFoundOnThePathToTheBranch) {
  const TemporaryFolder folder;
  const std::string path = folder.compile("stacks", R"cpp(
asm(R"asm(
  .text
  .globl by_register, by_memory, by_exchange, own_frame, restored_first, grown
  .type by_register, @function
by_register: push %rbp; mov %rsp, (%rdi); mov %rsi, %rsp; pop %rbp
end_by_register: ret
  .size by_register, .-by_register
  .type by_memory, @function
by_memory: mov 0xa0(%rdx), %rsp; pushq 0xa8(%rdx)
end_by_memory: ret
  .size by_memory, .-by_memory
  .type by_exchange, @function
by_exchange: xchg %rsp, (%rdi)
end_by_exchange: jmp *%rax
  .size by_exchange, .-by_exchange
  .type by_other_form, @function
by_other_form: .byte 0x48, 0x8b, 0xe0 # mov %rax, %rsp
end_by_other_form: jmp *%rcx
  .size by_other_form, .-by_other_form
  .type by_short_exchange, @function
by_short_exchange: xchg %rax, %rsp
end_by_short_exchange: ret
  .size by_short_exchange, .-by_short_exchange
  .type by_address, @function
by_address: lea 8(%rdx), %rsp
end_by_address: ret
  .size by_address, .-by_address
  .type by_pop, @function
by_pop: pop %rsp
end_by_pop: ret
  .size by_pop, .-by_pop
  .type others, @function
others: push %r12; mov 0x5c(%rsp), %eax; mov 0x94(%rdi), %r12; mov %rax, %r12; xchg %rax, %r12
  lea 8(%rdx), %r12; xchg %rcx, %r12; mov %rsp, (%rdi); pop %r12
end_others: ret
  .size others, .-others
  .type own_frame, @function
own_frame: push %rbp; mov %rsp, %rbp; sub %rax, %rsp; and $-16, %rsp; leave
end_own_frame: ret
  .size own_frame, .-own_frame
  .type restored_first, @function
restored_first: push %rbp; mov %rsp, %rbp; mov %rbx, %rsp; lea -0x28(%rbp), %rsp; pop %rbx
end_restored_first: jmp *%rax
  .size restored_first, .-restored_first
  .type pushed_from_memory, @function
pushed_from_memory: mov 0xa0(%rdx), %rsp; mov 0xa8(%rdx), %rcx; push %rcx
end_pushed_from_memory: ret
  .size pushed_from_memory, .-pushed_from_memory
  .type by_path, @function
by_path: mov %rdi, %rsp; test %rsi, %rsi; jz 1f; jmp 2f
not_by_path: ret
2: call own_frame
end_by_path: jmp *%rsi
1: nop
other_by_path: ret
  .size by_path, .-by_path
  .type other_path, @function
other_path: test %rdi, %rdi; jz 1f; mov %rdi, %rsp; jmp *%rsi
1: nop
end_other_path: ret
  .size other_path, .-other_path
  .type same_return, @function
same_return: leave; pop %rcx; lea 8(%r15), %rsp; push %rcx
end_same_return: ret
  .size same_return, .-same_return
  .type other_return, @function
other_return: pop %rcx; lea 8(%r15), %rsp; push %rdx
end_other_return: ret
  .size other_return, .-other_return
  .type grown, @function
grown: lea -0x40(%rsp), %rsp; add $0x40, %rsp
end_grown: ret
  .size grown, .-grown
  .type realigned, @function
realigned: mov %rsp, %r10; sub $8, %rsp; and $-16, %rsp; mov %r10, (%rsp); nop; mov (%rsp), %rsp
end_realigned: ret
  .size realigned, .-realigned
)asm");
int main() { return 0; }
)cpp",
                                          {"-O2"});
  const auto binary = open_binary(path);
  ASSERT_TRUE(binary);
  const auto at = addresses(path);
  for (const char* name :
       {"by_register", "by_memory", "by_exchange", "by_other_form", "by_short_exchange",
        "by_address", "by_pop", "pushed_from_memory", "by_path", "other_return"}) {
    EXPECT_TRUE(binary->replaces_stack(at.at(std::string("end_") + name))) << name;
  }
  for (const char* name : {"own_frame", "restored_first", "grown", "realigned", "others",
                           "other_path", "same_return"}) {
    EXPECT_FALSE(binary->replaces_stack(at.at(std::string("end_") + name))) << name;
  }
  EXPECT_FALSE(binary->replaces_stack(at.at("by_register"))); // not yet
  EXPECT_TRUE(binary->replaces_stack(at.at("other_by_path")));
  EXPECT_FALSE(binary->replaces_stack(at.at("not_by_path"))); // no path leads there
  EXPECT_FALSE(binary->replaces_stack(0));
}

// Hand-written assembly with its own call-site table: two calls with landing pads, one without.
TEST(LandingPads, AreThoseOfTheCallSiteTable) {
  const TemporaryFolder folder;
  const std::string path = folder.compile("pads", R"cpp(
extern "C" void __gxx_personality_v0();
asm(R"asm(
  .text
  .globl caller, after_first, after_second, after_third, first_pad, second_pad
  .type caller, @function
caller:
  .cfi_startproc
  .cfi_personality 0x9b, DW.ref.__gxx_personality_v0
  .cfi_lsda 0x1b, table
begin_first: call nothing
after_first:
begin_second: call nothing
after_second:
begin_third: call nothing
after_third: ret
first_pad: nop
second_pad: nop
  .cfi_endproc
  .size caller, .-caller
nothing: ret
  .section .gcc_except_table, "a"
table: .byte 0xff, 0xff, 0x01
  .uleb128 end_of_table - start_of_table
start_of_table:
  .uleb128 begin_first - caller
  .uleb128 after_first - begin_first
  .uleb128 first_pad - caller
  .uleb128 0
  .uleb128 begin_second - caller
  .uleb128 after_second - begin_second
  .uleb128 0
  .uleb128 0
  .uleb128 begin_third - caller
  .uleb128 after_third - begin_third
  .uleb128 second_pad - caller
  .uleb128 0
end_of_table:
  .hidden DW.ref.__gxx_personality_v0
  .weak DW.ref.__gxx_personality_v0
  .section .data.rel.local.DW.ref.__gxx_personality_v0, "awG", @progbits, DW.ref.__gxx_personality_v0, comdat
  .type DW.ref.__gxx_personality_v0, @object
  .size DW.ref.__gxx_personality_v0, 8
DW.ref.__gxx_personality_v0: .quad __gxx_personality_v0
)asm");
int main() { return 0; }
)cpp",
                                          {"-O2"});
  const auto binary = open_binary(path);
  ASSERT_TRUE(binary);
  const auto at = addresses(path);
  EXPECT_EQ(binary->landing_pad(at.at("after_first")), at.at("first_pad"));
  EXPECT_EQ(binary->landing_pad(at.at("after_second")), std::nullopt);
  EXPECT_EQ(binary->landing_pad(at.at("after_third")), at.at("second_pad"));
  EXPECT_EQ(binary->landing_pad(at.at("caller")), std::nullopt);
  EXPECT_EQ(binary->landing_pad(0), std::nullopt);
}

} // namespace
} // namespace ptlens::symbols::test
