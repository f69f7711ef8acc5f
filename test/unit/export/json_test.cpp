// The JSON of every answer, against fields written by hand.
#include "export/calls.hpp"
#include "export/example.hpp"
#include "export/folded.hpp"
#include "export/json/calls_json.hpp"
#include "export/json/flame_json.hpp"
#include "export/json/functions_json.hpp"
#include "export/json/lines_json.hpp"
#include "export/json/machine_json.hpp"
#include "export/json/recording_json.hpp"
#include "export/json/report_json.hpp"
#include "stacks/calls/call_table.hpp"
#include "support/ids.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace ptlens::exporting {
namespace {

std::vector<std::string> keys(const Json& json) {
  std::vector<std::string> names;
  for (const auto& item : json.items()) {
    names.push_back(item.key());
  }
  return names;
}

using Names = std::vector<std::string>;

// With the lists that were written as text.
Json whole(const Json& json) {
  return Json::parse(dump(json));
}

TEST(RecordingJson, HasEveryField) {
  const Json json = recording_json(example());
  EXPECT_EQ(keys(json), (Names{"path", "backend", "trace_ns", "lost_ns", "gaps", "decode_errors",
                               "trace_bytes", "threads", "resolution_ns", "lost_records",
                               "slowdown", "off_cpu_known", "notes", "missing", "thread_list"}));
  EXPECT_EQ(json["threads"], 2);
  EXPECT_EQ(json["resolution_ns"], 42);
  EXPECT_EQ(json["off_cpu_known"], true);
  EXPECT_EQ(dump(json["missing"]),
            R"([{"path":"/lib/ld.so","build_id":"abcd","reason":"no such file"}])");
  EXPECT_EQ(dump(json["thread_list"][0]), R"({"pid":7,"tid":7,"comm":"main","instructions":99,)"
                                          R"("trace_ns":10000,"lost_ns":500,"gaps":2})");
}

TEST(RecordingJson, NoTimingIsNullAndNotZero) {
  measure::Measurement measurement = example();
  measurement.recording.uncertainty_ns.reset();
  EXPECT_TRUE(recording_json(measurement)["resolution_ns"].is_null());
}

TEST(RecordingJson, ThreadThatEndsBeforeItBeginsHasNoTime) {
  measure::Measurement measurement = example();
  measurement.threads[0].last_ns = 0;
  EXPECT_EQ(recording_json(measurement)["thread_list"][0]["trace_ns"], 0);
}

TEST(ReportJson, HasTheFieldsOfTheContract) {
  const Json json = whole(report_json(example(), example_report()));
  EXPECT_EQ(keys(json), (Names{"recording", "function", "calls", "latency", "on_cpu", "off_cpu",
                               "outside_user_code", "self", "cpu_percent", "histogram", "callers",
                               "children", "threads"}));
  EXPECT_EQ(dump(json["function"]),
            R"({"name":"ns::work<int, char>","binary":"/bin/app","address":"0xffffffffff600000",)"
            R"("file":"/s/a.cpp","line":3})");
  EXPECT_EQ(dump(json["calls"]), R"({"complete":2,"incomplete":1,"unwound":1})");
  EXPECT_EQ(dump(json["latency"]),
            R"({"mean":2000.0,"stddev":1000.0,"min":1000,"max":3000,"p50":1000,"p90":3000,)"
            R"("p99":3000,"p999":3000,"total":4000,"resolution":42})");
  EXPECT_EQ(dump(json["on_cpu"]), R"({"mean":1900.0,"total":3800})");
  EXPECT_EQ(dump(json["off_cpu"]),
            R"({"mean":100.0,"total":200,"calls":1,"switches":1,"blocked":200,"preempted":0})");
  EXPECT_EQ(dump(json["self"]), R"({"mean":1950.0,"total":3900})");
  EXPECT_EQ(dump(json["histogram"][0]), R"({"low":512,"high":1024,"calls":1,"off_cpu_calls":1})");
  EXPECT_EQ(keys(json["callers"][0]),
            (Names{"name", "binary", "address", "call_site", "file", "line", "calls", "latency",
                   "off_cpu", "cpu_percent"}));
  EXPECT_EQ(json["callers"][0]["call_site"], "0x1010");
  EXPECT_EQ(json["callers"][0]["line"], 12);
  EXPECT_EQ(json["children"][0]["file"], "");
  EXPECT_EQ(keys(json["threads"][0]), (Names{"tid", "comm", "calls", "incomplete", "unwound",
                                             "lost_ns", "gaps", "latency", "off_cpu"}));
  EXPECT_EQ(json["threads"][0]["tid"], 8);
}

TEST(ReportJson, UnknownCallerIsSaid) {
  const Json json = whole(report_json(example(), example_report()))["callers"][1];
  EXPECT_EQ(json["name"], "[unknown]");
  EXPECT_TRUE(json["address"].is_null());
  EXPECT_TRUE(json["call_site"].is_null());
}

// 30 µs ± 40 µs is below 70 µs: both are 35 µs. p99 is resolved.
TEST(ReportJson, OfProbesSaysHowWellEachFigureIsKnown) {
  measure::Measurement measurement = example();
  measurement.recording.backend = "uprobe";
  measurement.recording.slowdown = 1.25;
  measure::Report report = example_report();
  report.latency = {.calls = 2,
                    .mean = 35'000,
                    .min = 35'000,
                    .max = 900'000,
                    .p50 = 35'000,
                    .p90 = 900'000,
                    .p99 = 900'000,
                    .p999 = 900'000,
                    .total = 70'000,
                    .within = {.mean = 35'000,
                               .total = 70'000,
                               .min = 35'000,
                               .max = 40'000,
                               .p50 = 35'000,
                               .p90 = 40'000,
                               .p99 = 40'000,
                               .p999 = 40'000},
                    .corrected = true};
  report.self_known = false;
  report.on_cpu_within = 100;
  report.on_cpu_total_within = 200;
  measure::LatencyStats raw = example_report().latency;
  raw.mean = 123;
  const Json json = whole(report_json(measurement, report, raw));
  EXPECT_EQ(json["recording"]["slowdown"], 1.25);
  EXPECT_EQ(json["latency"]["uncertainty"].dump(),
            R"({"mean":35000.0,"min":35000.0,"max":40000.0,"p50":35000.0,"p90":40000.0,)"
            R"("p99":40000.0,"p999":40000.0,"total":70000.0})");
  EXPECT_EQ(json["latency"]["below_resolution"].dump(),
            R"({"mean":70000.0,"min":70000.0,"p50":70000.0,"total":140000.0})");
  EXPECT_EQ(json["on_cpu"].dump(),
            R"({"mean":1900.0,"total":3800,"uncertainty":{"mean":100.0,"total":200.0}})");
  EXPECT_EQ(json["self"].dump(),
            R"({"mean":null,"total":null,"unknown":"some callees were not measured"})");
  EXPECT_EQ(json["raw"]["latency"]["mean"], 123.0);
  const Json traced = whole(report_json(example(), example_report()));
  EXPECT_FALSE(traced["latency"].contains("uncertainty"));
  EXPECT_EQ(traced["recording"]["slowdown"], 1);
  EXPECT_FALSE(traced.contains("raw"));
}

TEST(FunctionsJson, OneRowAFunction) {
  const std::vector<measure::FunctionRow> rows{{.function = 0_fn,
                                                .complete = 1,
                                                .incomplete = 2,
                                                .unwound = 3,
                                                .mean = 4.5,
                                                .inclusive = 6,
                                                .self = 7,
                                                .off_cpu = 8}};
  const Json json = functions_json(example(), rows);
  EXPECT_EQ(keys(json), (Names{"recording", "functions"}));
  EXPECT_EQ(dump(json["functions"]),
            R"([{"name":"main","binary":"/bin/app","address":"0x1000","file":"/s/a.cpp",)"
            R"("line":10,"complete":1,"incomplete":2,"unwound":3,"mean":4.5,"inclusive":6,)"
            R"("self":7,"off_cpu":8}])");
}

TEST(LinesJson, FunctionsAndLines) {
  measure::FileLines lines;
  lines.file = "/s/a.cpp";
  lines.functions = {{.function = 1_fn, .report = example_report()}};
  lines.lines = {{.line = 12,
                  .latency = example_report().latency,
                  .off_cpu = example_report().off_cpu,
                  .incomplete = 1,
                  .unwound = 0,
                  .callees = {{.function = 1_fn, .calls = 2, .mean = 2000}}}};
  const Json json = lines_json(example(), lines);
  EXPECT_EQ(keys(json), (Names{"recording", "file", "functions", "lines"}));
  EXPECT_EQ(keys(json["functions"][0]),
            (Names{"name", "binary", "address", "file", "line", "end_line", "calls", "latency",
                   "off_cpu", "cpu_percent"}));
  EXPECT_EQ(json["functions"][0]["end_line"], 8);
  EXPECT_EQ(
      dump(json["lines"]),
      R"([{"line":12,"calls":2,"mean":2000.0,"p99":3000,"total":4000,"incomplete":1,"unwound":0,)"
      R"("off_cpu":{"mean":100.0,"total":200,"calls":1,"switches":1,"blocked":200,)"
      R"("preempted":0},"callees":[{"name":"ns::work<int, char>","binary":"/bin/app",)"
      R"("address":"0xffffffffff600000","calls":2,"mean":2000.0}],)"
      R"("uncertainty":{"mean":42.0,"p99":42.0,"total":0.0}}])");
}

measure::FlameTree example_tree() {
  return {.parent = {0, 0, 1, 2},
          .function = {stacks::FunctionId::none, 2_fn, 1_fn, 2_fn},
          .inclusive = {100, 100, 60, 10},
          .self = {0, 40, 50, 10},
          .calls = {0, 1, 2, 3},
          .uncertainty = {0, 4, 5, 6},
          .merged = {0, 0, 0, 0},
          .merged_nodes = {0, 0, 0, 0}};
}

TEST(FlameJson, ColumnsAndOnlyTheFunctionsThatOccur) {
  const Json json = flame_json(example(), example_tree(), measure::FlameTime::off_cpu);
  EXPECT_EQ(json["time"], "off");
  EXPECT_EQ(json["functions"].size(), 2U);
  EXPECT_EQ(json["functions"][0]["address"], "0x30");
  EXPECT_EQ(dump(json["nodes"]),
            R"({"parent":[-1,0,1,2],"function":[-1,0,1,0],"inclusive":[100,100,60,10],)"
            R"("self":[0,40,50,10],"calls":[0,1,2,3]})");
  measure::Measurement probed = example();
  probed.recording.backend = "uprobe";
  const Json of_probes = flame_json(probed, example_tree(), measure::FlameTime::wall);
  EXPECT_EQ(of_probes["nodes"]["uncertainty"].dump(), "[0,4,5,6]");
}

TEST(FlameJson, SaysWhatWasMergedIntoSelfTime) {
  const Json pruned =
      flame_json(example(), measure::pruned(example_tree(), 0.2), measure::FlameTime::wall);
  EXPECT_EQ(dump(pruned["nodes"]),
            R"({"parent":[-1,0,1],"function":[-1,0,1],"inclusive":[100,100,60],"self":[0,40,60],)"
            R"("calls":[0,1,2],"smaller":[0,0,10],"smaller_nodes":[0,0,1]})");
  measure::FlameTree uncounted = example_tree();
  uncounted.merged = {0, 30, 0, 0};
  uncounted.merged_nodes[1] = measure::FlameTree::not_counted;
  const Json nodes =
      flame_json(example(), measure::pruned(uncounted, 0.7), measure::FlameTime::wall)["nodes"];
  EXPECT_EQ(nodes["self"].dump(), "[0,100]");
  EXPECT_EQ(nodes["smaller"].dump(), "[0,90]");
  EXPECT_EQ(nodes["smaller_nodes"].dump(), "[0,-1]");
}

TEST(Folded, StacksWithSelfTimeAndSafeNames) {
  std::ostringstream out;
  write_folded(out, example(), example_tree());
  EXPECT_EQ(out.str(), "odd:na me 40\n"
                       "odd:na me;ns::work<int, char> 50\n"
                       "odd:na me;ns::work<int, char>;odd:na me 10\n");
}

// The calls with these indices, in this order.
measure::CallSubset some_calls(const measure::Measurement& made,
                               const std::vector<std::uint32_t>& calls) {
  cache::CallRows rows = cache::read_all_calls(*made.cache);
  const auto pick = [&](auto& column) {
    const auto all = column;
    column.clear();
    for (const std::uint32_t call : calls) {
      column.push_back(all[call]);
    }
  };
  stacks::each_column(rows.calls, pick);
  pick(rows.caller);
  pick(rows.order);
  return measure::CallSubset(std::move(rows));
}

TEST(CallsJson, Columns) {
  const measure::Measurement made = example();
  const Json json = calls_json(made, {.total = 9, .calls = some_calls(made, {1, 2, 4})}, 6, false);
  EXPECT_EQ(json["total"], 9);
  EXPECT_EQ(json["offset"], 6);
  EXPECT_EQ(
      dump(json["columns"]),
      R"({"tid":[7,7,8],"start":[1500,1600,1200],"latency":[1000,100,3000],"resolution":[20,30,50],)"
      R"("off_cpu":[200,0,0],"self":[900,100,3000],"caller":[0,1,-1],)"
      R"("call_site":["0x1010","0x2020",null],"state":["complete","complete","complete"],)"
      R"("tail_call":[false,true,false],"blocked":[200,0,0],"preempted":[0,0,0]})");
  EXPECT_EQ(json["functions"].size(), 2U);
  const Json of_all = calls_json(made, {.total = 9, .calls = some_calls(made, {1, 2})}, 0, true);
  EXPECT_EQ(of_all["columns"]["function"].size(), 2U);
  for (const Json& function : of_all["columns"]["function"]) {
    EXPECT_TRUE(of_all["functions"].at(function.get<std::size_t>()).contains("name"));
  }
}

TEST(Calls, JsonLines) {
  std::ostringstream out;
  const measure::Measurement made = example();
  write_calls_json_lines(out, made, some_calls(made, {4, 3}), false);
  EXPECT_EQ(
      out.str(),
      R"({"tid":8,"start":1200,"latency":3000,"resolution":50,"off_cpu":0,"self":3000,"caller":null,)"
      R"("call_site":null,"state":"complete","tail_call":false,"blocked":0,"preempted":0})"
      "\n"
      R"({"tid":7,"start":4000,"latency":2000,"resolution":40,"off_cpu":50,"self":2000,"caller":"main",)"
      R"("call_site":"0x1010","state":"unwound","tail_call":false,"blocked":0,"preempted":50})"
      "\n");
  out.str("");
  write_calls_json_lines(out, made, some_calls(made, {2}), true);
  const Json line = Json::parse(out.str());
  EXPECT_EQ(line["function"], "odd;na\nme");
  EXPECT_EQ(line["binary"], "[unknown]");
  EXPECT_EQ(line["address"], "0x30");
}

TEST(Calls, CsvQuotesWhatNeedsIt) {
  std::ostringstream out;
  const measure::Measurement made = example();
  write_calls_csv_header(out, made, false);
  write_calls_csv(out, made, some_calls(made, {2, 0}), false);
  EXPECT_EQ(out.str(), "tid,start,latency,off_cpu,self,caller,call_site,state,tail_call,resolution,"
                       "blocked,preempted\r\n"
                       "7,1600,100,0,100,\"ns::work<int, char>\",0x2020,complete,true,30,0,0\r\n"
                       "7,1000,9000,0,6000,,,incomplete,false,10,0,0\r\n");
}

TEST(DoctorJson, FindingsAndProcesses) {
  const record::Diagnosis diagnosis{.backend = "uprobe",
                                    .findings = {{.id = "perf",
                                                  .title = "perf",
                                                  .state = record::Finding::State::limited,
                                                  .detail = "6.1",
                                                  .why = "w",
                                                  .remedy = "r",
                                                  .temporary = "t",
                                                  .permanent = "p"}}};
  EXPECT_EQ(dump(doctor_json(diagnosis)),
            R"({"backend":"uprobe","findings":[{"id":"perf","title":"perf","state":"limited",)"
            R"("detail":"6.1","why":"w","remedy":"r","temporary":"t","permanent":"p"}]})");
  const std::vector<record::Process> processes{{.pid = 5,
                                                .start_time = 6,
                                                .user = "u",
                                                .name = "n",
                                                .command = "n -x",
                                                .executable = "/n",
                                                .age_s = 1.5,
                                                .cpu_percent = 50,
                                                .threads = 3,
                                                .container = true,
                                                .may_attach = true,
                                                .has_source = false}};
  EXPECT_EQ(dump(processes_json(processes)),
            R"({"processes":[{"pid":5,"start_time":6,"user":"u","name":"n","command":"n -x",)"
            R"("executable":"/n","age_s":1.5,"cpu_percent":50.0,"threads":3,"container":true,)"
            R"("may_attach":true,"has_source":false,"rebuilt":false}]})");
}

TEST(Dump, BytesThatAreNotUtf8AreReplaced) {
  EXPECT_EQ(dump(Json("a\xff")), "\"a\xef\xbf\xbd\"");
}

TEST(FlameJson, DeepStacksAreFlat) {
  measure::FlameTree tree;
  const std::uint32_t depth = 100'000;
  for (std::uint32_t node = 0; node < depth; ++node) {
    tree.parent.push_back(node == 0 ? 0 : node - 1);
    tree.function.push_back(node == 0 ? stacks::FunctionId::none : 0_fn);
    tree.inclusive.push_back(1);
    tree.self.push_back(node + 1 == depth ? 1 : 0);
    tree.calls.push_back(1);
  }
  const Json json = Json::parse(dump(flame_json(example(), tree, measure::FlameTime::wall)));
  EXPECT_EQ(json["nodes"]["parent"].size(), depth);
  EXPECT_EQ(json["nodes"]["parent"].back(), depth - 2);
}

} // namespace
} // namespace ptlens::exporting
