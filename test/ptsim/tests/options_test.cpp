// The command line: what perf's means, and what is refused.
#include "command/options.hpp"
#include "harness.hpp"

#include <gtest/gtest.h>

namespace ptlens::ptsim {
namespace {

Result<Options> parse(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"ptsim", "record"});
  return parse_options(arguments);
}

TEST(EventTerms, DefaultsAreThoseOfPerf) {
  const auto options = parse({"--", "true"});
  ASSERT_TRUE(options);
  // The value that `perf record -e intel_pt//` writes: /quipper-hello-world/perf.data has
  // 0x300e601.
  EXPECT_EQ(options->event_config, 0x300e601U);
  EXPECT_TRUE(options->trace.mtc);
  EXPECT_FALSE(options->trace.cyc);
  EXPECT_TRUE(options->trace.return_compression);
}

TEST(EventTerms, TermsSetTheirBits) {
  const auto options =
      parse({"-e", "intel_pt/cyc,mtc_period=5,psb_period=0,noretcomp=1/u", "--", "true"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->event_config, 0x16e03U); // pt cyc mtc tsc noretcomp branch, 5 << 14
  EXPECT_EQ(options->trace.mtc_period, 5);
  EXPECT_EQ(options->trace.psb_period, 0);
  EXPECT_FALSE(options->trace.return_compression);
}

TEST(EventTerms, RefusesWhatCannotBeSimulated) {
  for (const char* event : {"intel_pt//k", "cycles:u", "intel_pt/ptw/u", "intel_pt/u",
                            "intel_pt/mtc_period=99/u", "intel_pt/nonsense/u"}) {
    Options options;
    EXPECT_FALSE(parse_event(event, options)) << event;
  }
}

TEST(CommandLine, TakesWhatTheHelperGives) {
  const auto options =
      parse({"-e", "intel_pt/cyc,noretcomp=1/u", "-m", "128,1024", "--switch-events", "-N",
             "--control", "fd:7,8", "-o", "x/perf.data", "-p", "42"});
  ASSERT_TRUE(options) << options.error().one_line();
  EXPECT_EQ(options->aux_bytes, 1024U * 4096U);
  EXPECT_TRUE(options->switch_events);
  EXPECT_EQ(options->control.commands, 7);
  EXPECT_EQ(options->control.acknowledgements, 8);
  EXPECT_EQ(options->pid, 42);
  EXPECT_EQ(options->truth, "x/perf.data.truth.jsonl");
  EXPECT_TRUE(options->branches.empty());
}

TEST(CommandLine, TheProgramsOwnOptionsStayIts) {
  const auto options = parse({"--per-thread", "--", "program", "-o", "elsewhere", "--", "-p"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->output, "perf.data");
  EXPECT_EQ(options->program, (std::vector<std::string>{"program", "-o", "elsewhere", "--", "-p"}));
}

TEST(CommandLine, SizesOfBuffers) {
  EXPECT_EQ(parse({"-m", ",2M", "--", "true"})->aux_bytes, 2U << 20);
  EXPECT_FALSE(parse({"-m", ",much", "--", "true"}));
}

TEST(CommandLine, WholeProcessors) {
  const auto all = parse({"-a", "--cpus", "3", "--", "true"});
  ASSERT_TRUE(all) << all.error().one_line();
  EXPECT_TRUE(all->system_wide);
  EXPECT_EQ(all->traced_cpus, (std::vector<std::uint32_t>{0, 1, 2}));
  const auto some = parse({"-C", "3,0-1", "--cpus", "4", "--beside", "11,12"});
  ASSERT_TRUE(some) << some.error().one_line();
  EXPECT_TRUE(some->system_wide);
  EXPECT_EQ(some->traced_cpus, (std::vector<std::uint32_t>{0, 1, 3}));
  EXPECT_EQ(some->beside, (std::vector<pid_t>{11, 12}));
  const auto process = parse({"-a", "-p", "7"});
  ASSERT_TRUE(process);
  EXPECT_FALSE(process->system_wide);
  EXPECT_EQ(process->warnings.size(), 1U);
  for (const char* list : {"2", "1-0", "0,", "x", ""}) {
    EXPECT_FALSE(parse({"-C", list, "--", "true"})) << list;
  }
}

TEST(CommandLine, IgnoresUnknownOptionsWithAWarning) {
  const auto options = parse({"--no-bpf-event", "--", "true"});
  ASSERT_TRUE(options);
  ASSERT_EQ(options->warnings.size(), 1U);
  EXPECT_NE(options->warnings[0].find("--no-bpf-event"), std::string::npos);
}

TEST(CommandLine, RefusesWithAReason) {
  const std::vector<std::vector<std::string>> refused{
      {"-z", "--", "true"},
      {"--clockid", "mono", "--", "true"},
      {"-a"},
      {"--beside", "1", "--", "true"},
      {"--snapshot=x", "-p", "1"},
      {"--filter", "filter main", "-p", "1"},
      {"--filter", "start f @ /bin/true", "-p", "1"},
      {"--fault", "nonsense", "-p", "1"},
      {"--fault", "ovf:every=0", "-p", "1"},
      {"--cpus", "0", "-p", "1"},
      {"-p", "1", "-t", "1"},
      {"true"},
      {},
      {"--control", "fifo:", "-p", "1"},
      {"--control", "fd:x", "-p", "1"}};
  for (const auto& arguments : refused) {
    const auto options = parse(arguments);
    ASSERT_FALSE(options);
    EXPECT_FALSE(options.error().one_line().empty());
  }
}

TEST(CommandLine, ProgramErrorsAreOneLine) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"-p", "999999999"},
        {"--", "/no/such/program"},
        {"-z", "--", "true"},
        {"--start-at", "no_such_function", "--", "true"}}) {
    std::vector<std::string> command{PTSIM, "record", "-o", "/dev/null/none"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const testing::Output output = testing::run(command);
    EXPECT_NE(output.status, 0);
    EXPECT_NE(output.err.find("ptsim: "), std::string::npos) << output.err;
  }
}

} // namespace
} // namespace ptlens::ptsim
