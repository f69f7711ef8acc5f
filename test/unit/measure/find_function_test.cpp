// Finding one function by name, and the errors where the name matches none or several.
#include "measure/names/find_function.hpp"
#include "measure/recordings.hpp"
#include "measure/selection/selection.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

namespace ptlens::measure {
namespace {

class FindFunction : public testing::Test {
protected:
  FindFunction() : m_(test::empty_recording(100)) {
    add("ns::C::f(int)", "/bin/app", 0x1000);          // 0
    add("ns::C::f(char)", "/bin/app", 0x1100);         // 1
    add("g", "/bin/app", 0x1200);                      // 2
    add("other::g(int)", "/bin/app", 0x1300);          // 3
    add("helper", "/usr/lib/libone.so", 0x2000);       // 4
    add("helper", "/usr/lib/libtwo.so", 0x2000);       // 5
    add("void only<int>(int)", "/bin/app", 0x1400);    // 6
    add("malloc@plt", "/bin/app", 0x1500);             // 7
    add("helper", "/opt/old/usr/lib/libtwo.so", 0x30); // 8
  }

  void add(const std::string& name, const std::string& binary, std::uint64_t address) {
    test::add_function(m_, name, binary, address);
  }

  stacks::FunctionId found(const std::string& name, const std::string& binary = {}) {
    const Result<stacks::FunctionId> result = find_function(m_, name, binary);
    EXPECT_TRUE(result) << result.error().one_line();
    return result.value_or(stacks::FunctionId::none);
  }

  Error error(const std::string& name, const std::string& binary = {}) {
    const Result<stacks::FunctionId> result = find_function(m_, name, binary);
    EXPECT_FALSE(result) << name;
    return result ? Error{} : result.error();
  }

  test::Recording m_;
};

TEST_F(FindFunction, UsesTheBestKindOfMatch) {
  EXPECT_EQ(found("ns::C::f(int)"), 0_fn);
  EXPECT_EQ(found("g"), 2_fn); // not other::g(int), which only ends in it
  EXPECT_EQ(found("other::g"), 3_fn);
  EXPECT_EQ(found("other::g(int)"), 3_fn);
  EXPECT_EQ(found("only"), 6_fn);
}

TEST_F(FindFunction, ListsSeveralMatchesWithBinaryAndAddress) {
  for (const char* name : {"ns::C::f", "C::f", "f"}) {
    const Error several = error(name);
    EXPECT_EQ(several.kind, Error::Kind::ambiguous);
    EXPECT_NE(several.message.find("ns::C::f(int) (/bin/app:0x1000)"), std::string::npos);
    EXPECT_NE(several.message.find("ns::C::f(char) (/bin/app:0x1100)"), std::string::npos);
    EXPECT_NE(several.remedy.find("--function 'ns::C::f(int)'"), std::string::npos);
  }
  for (int i = 0; i < 20; ++i) {
    add("many(int)", "/bin/app", 0x9000 + static_cast<std::uint64_t>(i));
  }
  const Error many = error("many");
  EXPECT_NE(many.message.find("20 functions"), std::string::npos);
  EXPECT_NE(many.message.find("0x9009)"), std::string::npos);
  EXPECT_EQ(many.message.find("0x900a)"), std::string::npos);
}

TEST_F(FindFunction, AcceptsAddresses) {
  EXPECT_EQ(found("f@0x1100"), 1_fn);
  EXPECT_EQ(found("0x1100"), 1_fn);
  EXPECT_EQ(found("0X1100"), 1_fn);
  EXPECT_EQ(found("malloc@plt"), 7_fn);
  EXPECT_EQ(error("g@0x1100").kind, Error::Kind::not_found);
  EXPECT_NE(error("g@0x1100").remedy.find("/bin/app:0x1200"), std::string::npos);
  EXPECT_EQ(error("0x77").kind, Error::Kind::not_found);
  EXPECT_EQ(error("0x11112222333344445").kind, Error::Kind::not_found); // more than 64 bits
  EXPECT_EQ(error("f@0x").kind, Error::Kind::not_found);
}

TEST_F(FindFunction, KnowsAliasesAndVersions) {
  // As in libc: nm -D lists cfree, free and __libc_free at one address, each with a version.
  add("cfree", "/lib/libc.so", 0x3000);
  m_.functions.back().linkage_names = {"cfree", "cfree@GLIBC_2.2.5", "free@@GLIBC_2.2.5",
                                       "__libc_free@@GLIBC_2.2.5"};
  add("wait", "/lib/libc.so", 0x3100);
  m_.functions.back().linkage_names = {"wait@V1"};
  add("wait", "/lib/libc.so", 0x3200);
  m_.functions.back().linkage_names = {"wait", "wait@@V2"};
  const std::uint32_t free = static_cast<std::uint32_t>(m_.functions.size()) - 3;
  for (const char* name : {"free", "cfree", "__libc_free", "free@@GLIBC_2.2.5", "free@GLIBC_2.2.5",
                           "free@plt", "cfree@0x3000", "free@0x3000"}) {
    EXPECT_EQ(found(name), stacks::FunctionId{free}) << name;
  }
  EXPECT_EQ(error("free@@GLIBC_2.0").kind, Error::Kind::not_found);
  EXPECT_EQ(found("wait"), stacks::FunctionId{free + 2}); // the version that new programs get
  EXPECT_EQ(found("wait@@V2"), stacks::FunctionId{free + 2});
  EXPECT_EQ(found("wait@V1"), stacks::FunctionId{free + 1});
}

TEST_F(FindFunction, ListsNamesThatCanBeGivenBack) {
  const std::uint32_t first = static_cast<std::uint32_t>(m_.functions.size());
  const auto add_linked = [this](const std::string& name, const std::string& linkage_name,
                                 std::uint64_t address) {
    add(name, "/bin/app", address);
    m_.functions.back().linkage_names = {linkage_name};
  };
  add_linked("legacy::least", "_ZN6legacy5least17hb77f7ec125e5fda4E", 0x4000);
  add_linked("legacy::least", "_ZN6legacy5least17hecc3093d590b69d9E", 0x4100);
  add_linked("a::most::<u8>", "_RINvC1a4mosthE", 0x4200); // of two versions of a crate
  add_linked("a::most::<u8>", "_RINvCs1_1a4mosthE", 0x4300);
  add_linked("tick(int)", "_ZL4ticki", 0x4400); // static, in two files
  add_linked("tick(int)", "_ZL4ticki", 0x4500);
  const auto expect = [&](const char* asked, const std::vector<std::string>& listed,
                          std::uint32_t at) {
    const Error several = error(asked);
    for (const std::string& name : listed) {
      EXPECT_NE(several.message.find(name + " (/bin/app:"), std::string::npos) << several.message;
      EXPECT_EQ(found(name), stacks::FunctionId{at++}) << name;
    }
  };
  expect("least", {"legacy::least::hb77f7ec125e5fda4", "legacy::least::hecc3093d590b69d9"}, first);
  expect("most", {"_RINvC1a4mosthE", "_RINvCs1_1a4mosthE"}, first + 2);
  expect("tick", {"tick@0x4400", "tick@0x4500"}, first + 4);
  EXPECT_EQ(error("least::h0000000000000000").kind, Error::Kind::not_found);
}

TEST_F(FindFunction, MatchesOnlyTheBinary) {
  EXPECT_EQ(found("helper", "libone.so"), 4_fn);
  EXPECT_EQ(found("helper", "/usr/lib/libone.so"), 4_fn);
  EXPECT_EQ(found("helper", "/usr/lib/libtwo.so"), 5_fn); // exactly, not the one under /opt/old
  EXPECT_EQ(found("helper", "old/usr/lib/libtwo.so"), 8_fn);
  EXPECT_EQ(error("helper", "one.so").kind, Error::Kind::not_found);
  EXPECT_EQ(error("helper", "libtwo.so").kind, Error::Kind::ambiguous);
  const Error elsewhere = error("g", "libone.so");
  EXPECT_EQ(elsewhere.kind, Error::Kind::not_found);
  EXPECT_NE(elsewhere.remedy.find("/bin/app:0x1200"), std::string::npos);
  add("same", "/lib/a.so", 0x40);
  add("same", "/lib/b.so", 0x40);
  EXPECT_NE(error("same").remedy.find("/lib/a.so"), std::string::npos);
}

TEST_F(FindFunction, SuggestsTheNearestNames) {
  const Error missing = error("helpr");
  EXPECT_EQ(missing.kind, Error::Kind::not_found);
  EXPECT_EQ(missing.file, "perf.data");
  EXPECT_NE(missing.message.find("\"helpr\""), std::string::npos);
  EXPECT_NE(missing.remedy.find("nearest names: helper, "), std::string::npos);
  EXPECT_EQ(missing.remedy.find("malloc"), std::string::npos);
  EXPECT_EQ(error("").kind, Error::Kind::not_found);
  EXPECT_LT(error(std::string(1'000'000, 'f')).one_line().size(), 1000U);
  m_.functions.clear();
  EXPECT_FALSE(error("helper").remedy.empty());
}

TEST_F(FindFunction, ChecksTheNamesInASelection) {
  Selection selection;
  EXPECT_TRUE(check_selection(m_, selection));
  selection.ancestors = {
      {.function = "f", .latency = {}}}; // several: each of them may be the ancestor
  selection.tids = {1};
  EXPECT_TRUE(check_selection(m_, selection));
  selection.tids = {1, 2};
  EXPECT_NE(check_selection(m_, selection).error().one_line().find("no thread 2"),
            std::string::npos);
  selection.callers = {{.function = "helpr", .file = {}}};
  EXPECT_NE(check_selection(m_, selection).error().remedy.find("helper"), std::string::npos);
}

} // namespace
} // namespace ptlens::measure
