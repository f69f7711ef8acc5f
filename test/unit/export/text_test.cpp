// The pages of the terminal: what they must say, in which order.
#include "export/example.hpp"
#include "export/text/table.hpp"
#include "export/text/text.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ptlens::exporting {
namespace {

TEST(Table, ColumnsAlignByCodePoints) {
  Table table({"n", text_column("name"), "t"});
  table.add({"1.23 µs", "a", "1"});
  table.add({"1 ns", "long", "22"});
  EXPECT_EQ(table.text(1), "       n  name   t\n"
                           " 1.23 µs  a      1\n"
                           "    1 ns  long  22\n");
}

TEST(ReportText, SaysLossFirstThenFigures) {
  const std::string text = report_text(example(), example_report());
  const std::string expected = R"(ns::work<int, char>
  0xffffffffff600000 in /bin/app, /s/a.cpp:3
  measured with intel_pt over 10.0 µs on 2 threads

! 500 ns of 10.0 µs of trace lost in 2 gaps; calls across them are incomplete
! 1 decode error: the trace contradicts the code
! perf dropped 3 records
! cannot read the code of /lib/ld.so (build-id abcd): no such file
  --symfs FOLDER names the folder that has the recorded binaries

! 1 call incomplete, not in the figures: start or end is missing, or trace was lost
! 1 call unwound, not in the figures: ended by an exception, longjmp or thread exit

Calls     2 complete, 1 incomplete, 1 unwound
Latency   mean 2.00 µs, stddev 1.00 µs, total 4.00 µs, CPU 40 %
)";
  // 42 ns is less than a twentieth of 1 µs, so no figure here carries it.
  EXPECT_EQ(text.substr(0, expected.size()), expected);
  EXPECT_NE(text.find("On-CPU    mean 1.90 µs, total 3.80 µs\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Off-CPU   mean 100 ns, total 200 ns (200 ns blocked, 0 ns preempted), "
                      "1 switch-out in 1 call\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Self      mean 1.95 µs, total 3.90 µs\n"), std::string::npos) << text;
  const auto histogram = text.find("Histogram");
  const auto callers = text.find("\nCallers\n");
  const auto children = text.find("\nChildren\n");
  const auto threads = text.find("\nThreads\n");
  const auto notes = text.find("\nNotes\n  - costs nothing here\n");
  EXPECT_LT(histogram, callers);
  EXPECT_LT(callers, children);
  EXPECT_LT(children, threads);
  EXPECT_LT(threads, notes);
  EXPECT_NE(notes, std::string::npos);
}

TEST(ReportText, BarsAreInProportion) {
  const std::string text = report_text(example(), example_report());
  EXPECT_NE(text.find("2.05 µs  4.10 µs      4  " + std::string(40, '#') + "\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find(" 512 ns  1.02 µs      1  " + std::string(10, 'o') + "\n"), std::string::npos)
      << text;
}

TEST(ReportText, ResolutionStandsBesideFiguresThatItBlurs) {
  measure::Report report = example_report();
  report.latency.within.mean = 500;
  const std::string text = report_text(example(), report);
  EXPECT_NE(text.find("mean 2.00 µs ± 500 ns"), std::string::npos) << text;
}

TEST(ReportText, OfProbesShowsBoundsAndTheSlowdown) {
  measure::Measurement measurement = example();
  measurement.recording.backend = "uprobe";
  measurement.recording.slowdown = 1.04;
  measure::Report report = example_report();
  report.latency.mean = 20'000;
  report.latency.within.mean = 20'000;
  report.latency.p99 = 500'000;
  report.latency.within.p99 = 40'000;
  report.latency.corrected = true;
  report.self_known = false;
  const std::string text = report_text(measurement, report);
  const auto has = [&text](std::string_view part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has("  measured with probes: the program ran 1.04× slower\n")) << text;
  EXPECT_TRUE(has("mean < 40.0 µs (below what probes resolve), ")) << text;
  EXPECT_TRUE(has("500 µs ± 40.0 µs")) << text;
  EXPECT_TRUE(has("Self      unknown: some callees were not measured\n")) << text;
  EXPECT_FALSE(has("Raw ")) << text;
  const std::string with_raw =
      report_text(measurement, report, {}, std::optional(example_report().latency));
  EXPECT_NE(with_raw.find("Raw       mean 2.00 µs, p50 1.00 µs, "), std::string::npos) << with_raw;
}

TEST(ReportText, WithoutTimingNoLatencyIsShown) {
  measure::Measurement measurement = example();
  measurement.recording.uncertainty_ns.reset();
  const std::string text = report_text(measurement, example_report());
  EXPECT_NE(text.find("! no timing in this recording"), std::string::npos);
  EXPECT_EQ(text.find("mean"), std::string::npos) << text;
}

TEST(ReportText, LongNotesAreFolded) {
  measure::Measurement measurement = example();
  measurement.recording.notes = {
      make_note("long", "{} {}  c", std::string(60, 'a'), std::string(60, 'b')),
      make_note("longest", "{}", std::string(120, 'd'))};
  const std::string text = report_text(measurement, example_report());
  EXPECT_NE(text.find("Notes\n  - " + std::string(60, 'a') + "\n    " + std::string(60, 'b') +
                      " c\n  - " + std::string(120, 'd') + "\n"),
            std::string::npos)
      << text;
}

TEST(ReportText, GapsOfUnknownLengthAreSaidWithoutOne) {
  measure::Measurement measurement = example();
  measurement.recording.lost_ns = 0;
  const std::string text = report_text(measurement, example_report());
  EXPECT_NE(text.find("\n! trace lost in 2 gaps; "), std::string::npos) << text;
}

TEST(ReportText, UnknownOffCpuIsNotZero) {
  measure::Measurement measurement = example();
  measurement.recording.off_cpu_known = false;
  const std::string text = report_text(measurement, example_report());
  EXPECT_NE(text.find("Off-CPU   unknown: no context switches were recorded"), std::string::npos);
}

TEST(ReportText, NamesCannotWriteToTheTerminal) {
  measure::Measurement measurement = example();
  measurement.functions[1_fn].name = "evil\x1b[2J";
  measurement.threads[1].comm = "\x1b]0;t";
  const std::string text = report_text(measurement, example_report());
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(FunctionsText, OneLineAFunction) {
  measure::Measurement measurement = example();
  measurement.recording = {};
  measurement.recording.uncertainty_ns = 42;
  measurement.recording.off_cpu_known = true;
  const std::vector<measure::FunctionRow> rows{{.function = 0_fn,
                                                .complete = 1000,
                                                .incomplete = 2,
                                                .unwound = 0,
                                                .mean = 1500,
                                                .inclusive = 1'500'000,
                                                .self = 700,
                                                .off_cpu = 0},
                                               {.function = 1_fn,
                                                .complete = 0,
                                                .incomplete = 1,
                                                .unwound = 0,
                                                .mean = 0,
                                                .inclusive = 5,
                                                .self = 5,
                                                .off_cpu = 5}};
  EXPECT_EQ(functions_text(measurement, rows),
            "calls     mean  inclusive    self  off-CPU  incomplete  unwound  function             "
            "binary\n"
            "1,000  1.50 µs    1.50 ms  700 ns     0 ns           2           main                 "
            "app\n"
            "    0        -       5 ns    5 ns     5 ns           1           ns::work<int, char>  "
            "app\n");
}

TEST(LinesText, FunctionsAndLines) {
  measure::FileLines lines;
  lines.file = "/s/a.cpp";
  lines.functions = {{.function = 1_fn, .report = example_report()}};
  lines.lines = {{.line = 12,
                  .latency = example_report().latency,
                  .off_cpu = example_report().off_cpu,
                  .incomplete = 1,
                  .unwound = 0,
                  .callees = {{.function = 1_fn, .calls = 2, .mean = 2000},
                              {.function = 2_fn, .calls = 1, .mean = 1}}}};
  const std::string text = lines_text(example(), lines);
  EXPECT_NE(text.find("     3      2  2.00 µs  1.00 µs  3.00 µs   100 ns           1  "
                      "ns::work<int, char>\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("    12      2  2.00 µs  3.00 µs  4.00 µs   100 ns           1  "
                      "ns::work<int, char>, odd;na?me\n"),
            std::string::npos)
      << text;
}

TEST(DoctorText, SaysWhatToDo) {
  const record::Diagnosis diagnosis{.backend = "uprobe",
                                    .findings = {{.id = "perf",
                                                  .title = "perf",
                                                  .state = record::Finding::State::fine,
                                                  .detail = "version 6.1",
                                                  .why = "records",
                                                  .remedy = ""},
                                                 {.id = "intel_pt",
                                                  .title = "Intel Processor Trace",
                                                  .state = record::Finding::State::missing,
                                                  .detail = "not in this CPU",
                                                  .why = "the most exact",
                                                  .remedy = "use another machine"},
                                                 {.id = "tracefs",
                                                  .title = "tracefs",
                                                  .state = record::Finding::State::missing,
                                                  .detail = "not mounted",
                                                  .why = "probes",
                                                  .remedy = "mount it",
                                                  .temporary = "mount it",
                                                  .permanent = "edit fstab"}}};
  EXPECT_EQ(doctor_text(diagnosis), "This machine measures with: uprobe\n\n"
                                    "ok       perf: version 6.1\n"
                                    "missing  Intel Processor Trace: not in this CPU\n"
                                    "         why: the most exact\n"
                                    "         do:  use another machine\n"
                                    "missing  tracefs: not mounted\n"
                                    "         why: probes\n"
                                    "         now: mount it\n"
                                    "         permanently: edit fstab\n");
  EXPECT_EQ(doctor_text({.backend = "none", .findings = {}}),
            "This machine cannot measure yet.\n\n");
}

} // namespace
} // namespace ptlens::exporting
