// The rules of transfer, case by case.
#include "stacks/transfer/transfer_rules.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace ptlens::stacks {
namespace {

constexpr FunctionId own = 1_fn; // the function that control comes from
constexpr FunctionId other = 2_fn;

constexpr CodeLocation unknown{.function = other};
constexpr CodeLocation entry{.function = other, .known = true, .entry = true};
constexpr CodeLocation inside{.function = other, .known = true};
constexpr CodeLocation part{.function = other, .known = true, .entry = true, .part = true};
constexpr CodeLocation plt_stub{.function = other, .known = true, .entry = true, .is_stub = true};
constexpr CodeLocation thunk{
    .function = other, .known = true, .entry = true, .is_stub = true, .is_thunk = true};
constexpr CodeLocation setjmp_entry{
    .function = other, .known = true, .entry = true, .returns_twice = true};
constexpr CodeLocation own_entry{.function = own, .known = true, .entry = true};
constexpr CodeLocation own_inside{.function = own, .known = true};
constexpr CodeLocation own_part{.function = own, .known = true, .entry = true, .part = true};

struct Case {
  const char* name;
  CodeLocation to;
  bool begins_call;
  bool is_local_call;
  bool is_tail_call;
  bool is_indirect_tail_call;
  bool certainly_begins_call;
  bool is_certain_tail_call;
  bool is_stub_entry;
};

constexpr Case cases[] = {
    // name, to, call, local call, tail call, indirect, certain call, certain tail call, stub
    {"unknown code", unknown, true, false, true, false, false, false, false},
    {"entry", entry, true, false, true, true, true, true, false},
    {"inside another function", inside, false, false, false, false, false, false, false},
    {"part of another function", part, false, false, true, true, false, false, false},
    {"PLT stub", plt_stub, false, false, true, true, false, true, true},
    {"thunk", thunk, false, false, true, true, false, true, false},
    {"setjmp", setjmp_entry, true, false, true, true, false, true, false},
    {"own entry", own_entry, true, false, false, true, true, false, false},
    {"inside the function", own_inside, false, true, false, false, false, false, false},
    {"own part", own_part, false, true, false, false, false, false, false},
};

TEST(TransferRules, DecideByWhatIsAtTheTarget) {
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    EXPECT_EQ(begins_call(each.to), each.begins_call);
    EXPECT_EQ(is_local_call(own_inside, each.to), each.is_local_call);
    EXPECT_EQ(is_tail_call(each.to, own), each.is_tail_call);
    EXPECT_EQ(is_indirect_tail_call(each.to, own), each.is_indirect_tail_call);
    EXPECT_EQ(certainly_begins_call(each.to), each.certainly_begins_call);
    EXPECT_EQ(is_certain_tail_call(each.to, own), each.is_certain_tail_call);
    EXPECT_EQ(is_stub_entry(each.to), each.is_stub_entry);
  }
}

TEST(TransferRules, CallToTheNextInstructionReadsTheInstructionPointer) {
  EXPECT_TRUE(reads_instruction_pointer(0x105, 0x105));
  EXPECT_FALSE(reads_instruction_pointer(0x104, 0x105));
}

TEST(TransferRules, ReturnGoesToAKnownReturnAddress) {
  EXPECT_TRUE(returns_to(0x105, 0x105));
  EXPECT_FALSE(returns_to(0x105, 0x106));
  EXPECT_FALSE(returns_to(0, 0));
}

TEST(TransferRules, ResolverWithoutCodeIsStillAStub) {
  EXPECT_TRUE(is_still_in_stub(plt_stub, false));
  EXPECT_TRUE(is_still_in_stub(unknown, true));
  EXPECT_FALSE(is_still_in_stub(unknown, false));
  EXPECT_FALSE(is_still_in_stub(entry, true));
}

TEST(TransferRules, PartOfTheFunctionIsNoTailCallByThunk) {
  EXPECT_TRUE(is_tail_call_by_thunk(entry, own));
  EXPECT_TRUE(is_tail_call_by_thunk(own_entry, own));
  EXPECT_FALSE(is_tail_call_by_thunk(own_part, own));
  EXPECT_FALSE(is_tail_call_by_thunk(inside, own));
}

} // namespace
} // namespace ptlens::stacks
