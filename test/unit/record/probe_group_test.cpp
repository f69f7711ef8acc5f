// Expected values are from the kernel's uprobe tracer.
#include "record/probes/events/probe_group.hpp"

#include <gtest/gtest.h>

namespace ptlens::record::test {
namespace {

TEST(Tracefs, RecognisesOnlyItsOwnGroups) {
  const auto owner = parse_group("ptlens_12_3456_7");
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->pid, 12);
  EXPECT_EQ(owner->start_time, 3456U);
  for (const char* other : {"ptlens", "ptlens_", "ptlens_12", "ptlens_x_1_0", "ptlens_-1_1_0",
                            "ptlens_12_3456_7x", "ptlens_12_99999999999999999999", "uprobes"}) {
    EXPECT_FALSE(parse_group(other)) << other;
  }
  EXPECT_EQ(parse_definition("p:g/entry /proc/1/fd/3:0x0000000000001213 sp=%sp:u64"), "g/entry");
  EXPECT_FALSE(parse_definition("p:entry /bin/x:0x1"));
  EXPECT_FALSE(parse_definition(""));
}

TEST(Tracefs, FindsFieldsInAFormat) {
  constexpr std::string_view format =
      "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
      "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"
      "\tfield:u64 sp;\toffset:16;\tsize:8;\tsigned:0;\n";
  EXPECT_EQ(field_offset(format, "__probe_ip"), 8U);
  EXPECT_EQ(field_offset(format, "sp"), 16U);
  EXPECT_FALSE(field_offset(format, "ret"));
  EXPECT_FALSE(field_offset(format, "common_pid")); // not 8 bytes
}

} // namespace
} // namespace ptlens::record::test
