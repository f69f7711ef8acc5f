// Functions of a kernel whose /proc/kallsyms is written by hand.
#include "base/checksum.hpp"
#include "record/waits/kernel_functions.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

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
  return KernelFunctions::read(kallsyms);
}

std::string name_at(const KernelFunctions& functions, std::uint64_t address) {
  const auto function = functions.at(address);
  return function ? std::string(function->name) : "";
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
  const std::string text = functions().text(running, modules);
  const auto kept = KernelFunctions::parse(text, running, modules);
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
  for (std::size_t size = 0; size < text.size(); size += 7) {
    EXPECT_FALSE(KernelFunctions::parse(text.substr(0, size), running, modules)) << size;
  }
  for (std::size_t at = text.find('\n') + 1; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(KernelFunctions::parse(changed, running, modules)) << at;
  }
}

TEST(KernelFunctions, AreNotReadBehindTheEnd) {
  // Correct but for the number of ranges, or for the place of a name.
  const std::string text = functions().text(running, modules);
  const std::size_t begin = text.find('\n') + 1;
  for (const std::size_t at : {begin, begin + 7, begin + 8 + 16, begin + 8 + 19, begin + 8 + 21}) {
    std::string contents = text.substr(begin);
    contents[at - begin] = '\x7f';
    nlohmann::json header = nlohmann::json::parse(text.substr(0, begin));
    header["checksum"] = checksum(contents);
    EXPECT_FALSE(KernelFunctions::parse(header.dump() + "\n" + contents, running, modules)) << at;
  }
}

} // namespace
} // namespace ptlens::record::test
