// The conditions of the jumps are those that the Intel SDM gives for each Jcc.
#include "record/probes/plan/probe_plan.hpp"

#include <gtest/gtest.h>

#include <span>
#include <vector>

namespace ptlens::record::test {
namespace {

std::vector<std::byte> bytes(std::initializer_list<unsigned> values) {
  std::vector<std::byte> result;
  for (const unsigned value : values) {
    result.push_back(static_cast<std::byte>(value));
  }
  return result;
}

TEST(Instructions, TheKernelRefusesSomePrefixes) {
  EXPECT_FALSE(is_refused(bytes({0xc3})));                   // ret
  EXPECT_FALSE(is_refused(bytes({0xf3, 0xc3})));             // rep ret
  EXPECT_FALSE(is_refused(bytes({0xf2, 0xc3})));             // bnd ret
  EXPECT_FALSE(is_refused(bytes({0xf3, 0x0f, 0x1e, 0xfa}))); // endbr64
  EXPECT_TRUE(is_refused(bytes({0x3e, 0xff, 0xe0})));        // notrack jmp *%rax
  EXPECT_TRUE(is_refused(bytes({0xf0, 0xff, 0x00})));        // lock incl (%rax)
  EXPECT_TRUE(is_refused(bytes({0x66, 0x2e, 0x0f, 0x1f})));  // cs nopw
  EXPECT_FALSE(is_refused({}));
}

TEST(Instructions, OnlyConditionalJumpsOnFlagsHaveACondition) {
  EXPECT_EQ(taken_condition(bytes({0x74, 0x05})), "flags & 0x40");             // je
  EXPECT_EQ(taken_condition(bytes({0x0f, 0x84, 0, 0, 0, 0})), "flags & 0x40"); // je
  EXPECT_EQ(taken_condition(bytes({0x3e, 0x75, 0x05})), "!(flags & 0x40)");    // jne, hinted
  EXPECT_FALSE(taken_condition(bytes({0xe3, 0x05})));                          // jrcxz
  EXPECT_FALSE(taken_condition(bytes({0xeb, 0x05})));                          // jmp
  EXPECT_FALSE(taken_condition(bytes({0x0f})));
  EXPECT_FALSE(taken_condition({}));
}

TEST(Instructions, SomeAreEmulatedByTheKernel) {
  const auto emulated = [](std::vector<unsigned char> code) {
    return is_emulated(std::as_bytes(std::span(code)));
  };
  EXPECT_TRUE(emulated({0x55}));                    // push %rbp
  EXPECT_TRUE(emulated({0x41, 0x57}));              // push %r15
  EXPECT_TRUE(emulated({0xeb, 0x02}));              // jmp
  EXPECT_TRUE(emulated({0x0f, 0x84, 0, 0}));        // je
  EXPECT_TRUE(emulated({0x90}));                    // nop
  EXPECT_FALSE(emulated({0xc3}));                   // ret
  EXPECT_FALSE(emulated({0x48, 0x83, 0xec, 0x08})); // sub $8,%rsp
  EXPECT_FALSE(emulated({0xf3, 0x0f, 0x1e, 0xfa})); // endbr64
  EXPECT_FALSE(emulated({}));
}

} // namespace
} // namespace ptlens::record::test
