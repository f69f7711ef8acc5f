// Functions of a kernel whose /proc/kallsyms is written by hand.
#include "record/waits/kernel_functions.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace ptlens::record::test {
namespace {

constexpr const char* kallsyms = "0000000000000000 A fixed_percpu_data\n"
                                 "ffffffff81000000 T _text\n"
                                 "ffffffff81000000 t an_alias\n"
                                 "ffffffff81000300 t futex_wait\n"
                                 "ffffffff81000200 T schedule\n"
                                 "ffffffff82000000 D some_data\n"
                                 "ffffffffc0100000 t read_page\t[xfs]\n"
                                 "ffffffffc0100080 t write_page\t[xfs]\n"
                                 "ffffffffc0200000 t bpf_prog_6deef7357e7b4530\t[bpf]\n"
                                 "broken\n"
                                 "ffffffffc0300000 t the_last\t[xfs]\n";
constexpr const char* modules = "xfs 1000 1 - Live 0xffffffffc0100000\n";
const BootedKernel running{.boot_id = "ce8d25ce-346f", .release = "6.18.1"};

KernelFunctions functions() {
  std::istringstream text(kallsyms);
  return KernelFunctions::read(text);
}

std::string name_at(const KernelFunctions& functions, std::uint64_t address) {
  const auto* const function = functions.at(address);
  return function == nullptr ? "" : function->name;
}

TEST(KernelFunctions, ContainTheirAddresses) {
  const KernelFunctions all = functions();
  EXPECT_EQ(name_at(all, 0xffffffff80ffffff), "");
  EXPECT_EQ(name_at(all, 0xffffffff81000200), "schedule");
  EXPECT_EQ(name_at(all, 0xffffffff810002ff), "schedule");
  EXPECT_EQ(name_at(all, 0xffffffff81000300), "futex_wait");
  EXPECT_EQ(name_at(all, 0xffffffffc010007f), "read_page");
  EXPECT_EQ(name_at(all, 0xffffffffc0200001), "bpf_prog_6deef7357e7b4530");
  EXPECT_EQ(name_at(all, 0xffffffffc0300010), "the_last");
}

TEST(KernelFunctions, AreKeptWhereTheirCodeStays) {
  const auto kept = KernelFunctions::parse(functions().text(running, modules), running, modules);
  ASSERT_TRUE(kept);
  EXPECT_EQ(name_at(*kept, 0xffffffff81000210), "schedule");
  EXPECT_EQ(name_at(*kept, 0xffffffffc0100010), "read_page");
  // Other BPF programs can take the place of this one, and begin right behind the function before.
  EXPECT_EQ(name_at(*kept, 0xffffffffc0100080), "");
  EXPECT_EQ(name_at(*kept, 0xffffffffc0200001), "");
  EXPECT_EQ(name_at(*kept, 0xffffffffc0300010), "");
}

TEST(KernelFunctions, OfAnotherBootKernelOrListOfModulesAreNotUsed) {
  const std::string text = functions().text(running, modules);
  EXPECT_FALSE(KernelFunctions::parse(text, {.boot_id = "other", .release = "6.18.1"}, modules));
  EXPECT_FALSE(
      KernelFunctions::parse(text, {.boot_id = "ce8d25ce-346f", .release = "6.18.2"}, modules));
  EXPECT_FALSE(KernelFunctions::parse(text, running, ""));
  EXPECT_FALSE(KernelFunctions::parse(functions().text({}, modules), {}, modules));
}

TEST(KernelFunctions, OfABrokenFileAreNotUsed) {
  const std::string text = functions().text(running, modules);
  EXPECT_FALSE(KernelFunctions::parse("", running, modules));
  EXPECT_FALSE(KernelFunctions::parse(std::string(3000, '['), running, modules));
  for (std::size_t size = 0; size + 2 < text.size(); size += 7) {
    EXPECT_FALSE(KernelFunctions::parse(text.substr(0, size), running, modules)) << size;
  }
  for (const char* wrong : {"[[1]]", "[[1,2,3]]", "[[-1,2,\"f\"]]", "[7]", "[{}]"}) {
    std::string changed = text;
    const std::size_t begin = changed.find("[[");
    changed.replace(begin, changed.find("]]") + 2 - begin, wrong);
    EXPECT_FALSE(KernelFunctions::parse(changed, running, modules)) << wrong;
  }
}

} // namespace
} // namespace ptlens::record::test
