// The command line of uftrace, and what its log says. The log is that of uftrace 0.13 on the order
// server.
#include "record/uftrace/patch_log.hpp"
#include "record/uftrace/uftrace_command.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

namespace ptlens::record {
namespace {

TEST(PatchLog, FunctionsAreHookedOrNot) {
  const PatchLog log = parse_patch_log("dynamic: dynamic patch type: order_server: 0 (none)\n"
                                       "dynamic: force patch normal func: _Z1fv (patch size: 7)\n"
                                       "dynamic: force patch normal func: _Z1gv (patch size: 5)\n"
                                       "dynamic: bad jump: main.cold:2a24 to 24d1\n"
                                       "dynamic:   >> FAIL: main\n"
                                       "dynamic: bad jump: _Z1gv:2a24 to 24d1\n"
                                       "dynamic:   >> SKIP: _Z1hv\n"
                                       "dynamic:   >> FAIL: main\n"
                                       "WARN: child terminated by signal: 15: Terminated\n");
  EXPECT_EQ(log.patched, (std::vector<std::string>{"_Z1fv"}));
  EXPECT_EQ(log.failed, (std::vector<std::string>{"main", "_Z1gv", "_Z1hv"}));
  EXPECT_EQ(log.message, "WARN: child terminated by signal: 15: Terminated");
}

TEST(PatchLog, OtherTextIsNoFunction) {
  const PatchLog log = parse_patch_log("dynamic: force patch normal func: \ndynamic:\n\n"
                                       "dynamic: bad jump: x\nERROR: no such program");
  EXPECT_TRUE(log.patched.empty());
  EXPECT_TRUE(log.failed.empty());
  EXPECT_EQ(log.message, "ERROR: no such program");
}

TEST(PatchLog, ColoursAreNoText) {
  EXPECT_EQ(last_plain_line("one\n\x1b[31mERROR: two\n\x1b[0m"), "ERROR: two");
  EXPECT_EQ(last_plain_line("\x1b[31"), "");
  EXPECT_EQ(last_plain_line(""), "");
}

TEST(UftraceCommand, PatternsMatchOnlyTheirName) {
  for (const std::string name : {"_ZN4shop5parseEiPPc", "f.part.0", "operator()[]{}+*?^$|\\"}) {
    const std::regex pattern(exact_pattern(name), std::regex::extended);
    EXPECT_TRUE(std::regex_search(name, pattern)) << name;
    EXPECT_FALSE(std::regex_search(name + "x", pattern)) << name;
    EXPECT_FALSE(std::regex_search("x" + name, pattern)) << name;
  }
  EXPECT_FALSE(std::regex_search("fXpart.0", std::regex(exact_pattern("f.part.0"))));
}

TEST(UftraceCommand, FiltersAndTheProgramFollowTheOptions) {
  Request request;
  request.program = {"./program", "--depth", "9"};
  request.shortest_ns = 1500;
  request.depth = 3;
  const auto command = uftrace_command(request, {.compiled_in = false, .unsafe = {"_Z1fv"}},
                                       {.uftrace = "/usr/bin/uftrace",
                                        .folder = "/r/uftrace.data",
                                        .log = "/r/log",
                                        .only = {"_Z1gv"}});
  const std::vector<std::string> tail(command.end() - 14, command.end());
  EXPECT_EQ(command.front(), "/usr/bin/uftrace");
  EXPECT_EQ(tail, (std::vector<std::string>{"-P", ".", "-U", "\\.cold", "-U", "^_Z1fv$", "-F",
                                            "^_Z1gv$", "--time-filter=1.500us", "--depth=3", "--",
                                            "./program", "--depth", "9"}));
  const auto compiled_in =
      uftrace_command(request, {.compiled_in = true, .unsafe = {}}, UftraceSetting{});
  EXPECT_EQ(std::ranges::find(compiled_in, "-P"), compiled_in.end());
}

} // namespace
} // namespace ptlens::record
