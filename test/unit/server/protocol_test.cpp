// Messages and their parameters: what is refused, with which code, and where the fault is.
#include "server/requests/requests.hpp"
#include "server/requests/text_params.hpp"
#include "server/requests/uri.hpp"
#include "server/rpc/json_rpc.hpp"
#include "server/rpc/progress_value.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>

namespace ptlens::server {
namespace {

int refusal(const std::string& text) {
  const auto message = read_message(text);
  return message ? 0 : message.error().fault.code;
}

TEST(Message, Kinds) {
  const auto request = read_message(R"({"jsonrpc":"2.0","id":7,"method":"m","params":{"a":1}})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->kind, Incoming::Kind::request);
  EXPECT_EQ(request->id, 7);
  EXPECT_EQ(request->params["a"], 1);
  EXPECT_EQ(read_message(R"({"jsonrpc":"2.0","method":"m"})")->kind, Incoming::Kind::notification);
  EXPECT_EQ(read_message(R"({"jsonrpc":"2.0","id":1,"result":null})")->kind,
            Incoming::Kind::response);
  EXPECT_EQ(read_message(R"({"jsonrpc":"2.0","id":"x","method":"m"})")->id, "x");
}

TEST(Message, WhatIsNotJson) {
  for (const char* text :
       {"", "{", "{\"a\":}", "\xff", "{\"jsonrpc\":\"2.0\",\"id\":1e999}", "{} {}", "nul"}) {
    EXPECT_EQ(refusal(text), code::parse_error) << text;
  }
}

TEST(Message, WhatIsNoMessage) {
  for (const char* text :
       {"[]", "1", "null", "{}", R"({"jsonrpc":"1.0","id":1,"method":"m"})",
        R"({"jsonrpc":"2.0","id":1})", R"({"jsonrpc":"2.0","id":1,"method":3})",
        R"({"jsonrpc":"2.0","id":1.5,"method":"m"})", R"({"jsonrpc":"2.0","id":null,"method":"m"})",
        R"({"jsonrpc":"2.0","id":{},"method":"m"})",
        R"({"jsonrpc":"2.0","id":1,"method":"m","params":5})",
        R"([{"jsonrpc":"2.0","id":1,"method":"m"}])"}) {
    EXPECT_EQ(refusal(text), code::invalid_request) << text;
  }
}

TEST(Message, RefusalCarriesTheIdWhereThereIsOne) {
  EXPECT_EQ(read_message(R"({"jsonrpc":"2.0","id":5,"method":3})").error().id, 5);
}

TEST(Message, DepthIsBounded) {
  const auto nested = [](int depth) {
    return R"({"jsonrpc":"2.0","id":1,"method":"m","params":)" + std::string(depth, '[') +
           std::string(depth, ']') + "}";
  };
  EXPECT_EQ(refusal(nested(63)), 0);
  EXPECT_EQ(refusal(nested(64)), code::parse_error);
  EXPECT_EQ(refusal(nested(1'000'000)), code::parse_error);
  EXPECT_EQ(refusal(R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(100, '[') + R"(\""})"),
            0);
}

TEST(FaultOfError, EveryKindHasItsCode) {
  using enum Error::Kind;
  EXPECT_EQ(fault_of(Error{.kind = bad_input, .message = "m"}).code, -32010);
  EXPECT_EQ(fault_of(Error{.kind = not_found, .message = "m"}).code, -32011);
  EXPECT_EQ(fault_of(Error{.kind = no_rights, .message = "m"}).code, -32012);
  EXPECT_EQ(fault_of(Error{.kind = unsupported, .message = "m"}).code, -32013);
  EXPECT_EQ(fault_of(Error{.kind = gone, .message = "m"}).code, -32014);
  EXPECT_EQ(fault_of(Error{.kind = failed, .message = "m"}).code, -32015);
  EXPECT_EQ(fault_of(Error{.kind = cancelled, .message = "m"}).code, -32800);
  const Fault ambiguous_name = fault_of(
      Error{.kind = ambiguous, .message = "m", .candidates = {{"f(int)", "/bin/app", 0x1000}}});
  EXPECT_EQ(ambiguous_name.code, -32016);
  EXPECT_EQ(ambiguous_name.data["kind"], "ambiguous");
  EXPECT_EQ(ambiguous_name.data["candidates"].dump(),
            R"json([{"name":"f(int)","binary":"/bin/app","address":"0x1000"}])json");
  const Fault fault =
      fault_of(Error{.kind = gone, .message = "m", .file = "/f", .offset = 8, .remedy = "r"});
  EXPECT_EQ(fault.data.dump(), R"({"kind":"gone","file":"/f","offset":8,"remedy":"r"})");
}

template <class Parameters>
auto request_of(const char* params) {
  auto read = protocol::read_parameters<Parameters>(Input::parse(params));
  using Request = decltype(to_request(std::move(*read)));
  return read ? to_request(std::move(*read)) : Request(std::unexpected(read.error()));
}

std::string bad_path(const char* method, const char* params) {
  const auto path = [](const auto& read) { return read ? std::string("none") : read.error().path; };
  const std::string name = method;
  return name == "report"       ? path(request_of<protocol::ReportParams>(params))
         : name == "record"     ? path(request_of<protocol::RecordParams>(params))
         : name == "flame"      ? path(request_of<protocol::FlameParams>(params))
         : name == "calls"      ? path(request_of<protocol::CallsParams>(params))
         : name == "functionAt" ? path(request_of<protocol::FunctionAtParams>(params))
         : name == "hover"      ? path(read_position(Input::parse(params)))
                                : path(request_of<protocol::OpenParams>(params));
}

TEST(Parameters, ThePathOfTheBadField) {
  EXPECT_EQ(bad_path("open", "[]"), "");
  EXPECT_EQ(bad_path("open", "{}"), "path");
  EXPECT_EQ(bad_path("open", R"({"path":""})"), "path");
  EXPECT_EQ(bad_path("open", R"({"path":"a\u0000b"})"), "path");
  EXPECT_EQ(bad_path("open", R"({"path":"a","symfs":1})"), "symfs");
  EXPECT_EQ(bad_path("open", R"({"path":"a","kallsyms":[]})"), "kallsyms");
  EXPECT_EQ(bad_path("open", R"({"path":"a","kcore":0})"), "kcore");
  EXPECT_EQ(bad_path("open", R"({"path":"a","pid":0})"), "pid");
  EXPECT_EQ(bad_path("open", R"({"path":"a","pid":2147483648})"), "pid");
  EXPECT_EQ(bad_path("report", R"({"id":"1"})"), "function");
  EXPECT_EQ(bad_path("report", R"({"id":1,"function":{"name":"f"}})"), "id");
  EXPECT_EQ(bad_path("report", R"({"id":"1","function":[]})"), "function");
  EXPECT_EQ(bad_path("report", R"({"id":"1","function":{"name":"f","address":"12"}})"),
            "function.address");
  EXPECT_EQ(bad_path("report", R"({"id":"1","function":{"name":"f","address":"0x"}})"),
            "function.address");
  EXPECT_EQ(
      bad_path("report", R"({"id":"1","function":{"name":"f","address":"0x10000000000000000"}})"),
      "function.address");
  EXPECT_EQ(bad_path("calls", R"({"id":"1","function":{"name":"f"},"limit":0})"), "limit");
  EXPECT_EQ(bad_path("calls", R"({"id":"1","function":{"name":"f"},"limit":100001})"), "limit");
  EXPECT_EQ(bad_path("calls", R"({"id":"1","function":{"name":"f"},"offset":-1})"), "offset");
  EXPECT_EQ(
      bad_path("calls", R"({"id":"1","function":{"name":"f"},"offset":18446744073709551615})"),
      "offset");
  EXPECT_EQ(bad_path("flame", R"({"id":"1","time_kind":"cpu"})"), "time_kind");
  EXPECT_EQ(bad_path("flame", R"({"id":"1","smallest":2})"), "smallest");
  EXPECT_EQ(bad_path("functionAt", R"({"file":"/a","line":0})"), "line");
  EXPECT_EQ(bad_path("functionAt", R"({"file":"/a"})"), "line");
  EXPECT_EQ(bad_path("hover", R"({"textDocument":{"uri":"file:///a"}})"), "position.line");
  EXPECT_EQ(bad_path("record", R"({"duration":1})"), "pid");
  EXPECT_EQ(bad_path("record", R"({"pid":1,"program":"/p"})"), "pid");
  EXPECT_EQ(bad_path("record", R"({"pid":-1})"), "pid");
  EXPECT_EQ(bad_path("record", R"({"pid":4294967297})"), "pid");
  EXPECT_EQ(bad_path("record", R"({"pid":1,"duration":-1})"), "duration");
  EXPECT_EQ(bad_path("record", R"({"pid":1,"backend":"ebpf"})"), "backend");
  EXPECT_EQ(bad_path("record", R"({"program":"/p","arguments":[1]})"), "arguments");
  EXPECT_EQ(bad_path("record", R"({"program":"/p","environment":{"A=B":"c"}})"), "environment");
  EXPECT_EQ(bad_path("record", R"({"program":"/p","environment":{"A":"b\u0000"}})"), "environment");
}

TEST(Parameters, UnknownOnesAreRefusedWithTheNearestName) {
  const auto message = [](const char* params) {
    const auto read = request_of<protocol::RecordParams>(params);
    return read ? std::string("none") : read.error().message;
  };
  EXPECT_EQ(message(R"({"pid":1,"startTime":2})"),
            "startTime is not a known parameter; did you mean start_time?");
  EXPECT_EQ(message(R"({"pid":1,"fliter":true})"),
            "fliter is not a known parameter; did you mean filter?");
  EXPECT_EQ(message(R"({"pid":1,"zebra":true})"), "zebra is not a known parameter");
  EXPECT_EQ(message(R"({"pid":1,"function":{"name":"f","adress":"0x1"}})"),
            "function.adress is not a known parameter; did you mean address?");
  EXPECT_EQ(message(R"({"pid":1,"workDoneToken":3})"), "none");
}

TEST(Parameters, DefaultsAreThoseOfTheSchema) {
  const auto calls = request_of<protocol::CallsParams>(R"({"id":"1","function":{"name":"f"}})");
  ASSERT_TRUE(calls);
  EXPECT_EQ(calls->page.offset, 0U);
  EXPECT_EQ(calls->page.limit, 10'000U);
  const auto open = request_of<protocol::OpenParams>(R"({"path":"/r"})");
  ASSERT_TRUE(open);
  EXPECT_TRUE(open->activate);
  EXPECT_EQ(request_of<protocol::RecordParams>(R"({"pid":1})")->request.backend, "auto");
}

TEST(Parameters, NullIsAbsent) {
  EXPECT_EQ(
      bad_path("report", R"({"id":"1","function":{"name":"f"},"inlined":null,"selection":null})"),
      "none");
}

TEST(Parameters, ARecordRequest) {
  const auto read = request_of<protocol::RecordParams>(
      R"({"program":"/p","arguments":["-a","b c"],"cwd":"/w","environment":{"X":"1=2"},
          "function":{"name":"f","binary":"/p","address":"0xFF"},"duration":0.5,
          "backend":"uprobe","perf":"/perf","output":"/o","symfs":"/s"})");
  ASSERT_TRUE(read);
  const record::Request& request = read->request;
  EXPECT_EQ(request.program, (std::vector<std::string>{"/p", "-a", "b c"}));
  EXPECT_EQ(request.working_directory, "/w");
  EXPECT_EQ(request.environment, (std::vector<std::string>{"X=1=2"}));
  EXPECT_EQ(request.function, "f");
  EXPECT_EQ(request.address, 255U);
  EXPECT_EQ(request.duration_s, 0.5);
  EXPECT_EQ(request.backend, "uprobe");
  EXPECT_EQ(request.output, "/o");
  EXPECT_EQ(read->symfs, "/s");
  EXPECT_FALSE(request.pid);
}

TEST(Parameters, ARecordRequestOfSeveralFunctions) {
  const auto read = request_of<protocol::RecordParams>(
      R"({"pid":1,"functions":[{"name":"f","binary":"/p"},{"name":"g","address":"0x10"}]})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->request.function, "f");
  EXPECT_EQ(read->request.binary, "/p");
  ASSERT_EQ(read->request.more_functions.size(), 1U);
  EXPECT_EQ(read->request.more_functions[0].name, "g");
  EXPECT_EQ(read->request.more_functions[0].address, 16U);
  const auto both = request_of<protocol::RecordParams>(
      R"({"pid":1,"function":{"name":"f"},"functions":[{"name":"g","all":true}]})");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->request.function_names(), "f, g");
  EXPECT_FALSE(both->request.all);
  EXPECT_TRUE(both->request.more_functions[0].all);
  EXPECT_EQ(bad_path("record", R"({"pid":1,"functions":[{"name":"f"},{}]})"), "functions[1].name");
  EXPECT_EQ(bad_path("record", R"({"pid":1,"functions":[null]})"), "functions[0].name");
  EXPECT_EQ(bad_path("record", R"({"pid":1,"functions":{"name":"f"}})"), "functions");
  std::string many = R"({"name":"f"})";
  for (int count = 1; count < 64; ++count) {
    many += R"(,{"name":"f"})";
  }
  EXPECT_EQ(bad_path("record", (R"({"pid":1,"functions":[)" + many + "]}").c_str()), "functions");
}

TEST(Parameters, AnOpenRequest) {
  const auto read = request_of<protocol::OpenParams>(
      R"({"path":"/r","symfs":"/s","kallsyms":"/k","kcore":"/c","pid":7})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->path, "/r");
  EXPECT_EQ(read->symfs, "/s");
  EXPECT_EQ(read->kallsyms, "/k");
  EXPECT_EQ(read->kcore, "/c");
  EXPECT_EQ(read->pid, 7);
  EXPECT_FALSE(request_of<protocol::OpenParams>(R"({"path":"/r"})")->pid);
}

TEST(Parameters, ASelection) {
  const auto read = request_of<protocol::ReportParams>(
      R"({"id":"1","function":{"name":"f"},"selection":{
          "time":[0.5,1e30],"latency":[null,20],"tids":[3],"not_tids":[4,5],
          "callers":[{"function":"c","file":"a.cpp","line":7},{"function":"d","not":true}],
          "ancestors":[{"function":"g","low":5}],"calls":[{"function":"h","least":0,"most":2}],
          "waited":[{"reason":"preempted","least":9}],"states":["unwound","complete"],
          "complement":true}})");
  ASSERT_TRUE(read);
  measure::Selection expected;
  expected.time = {.low = 1, .high = UINT64_MAX};
  expected.latency = {.low = 0, .high = 19}; // whole ns below 20
  expected.tids = {3};
  expected.not_tids = {4, 5};
  expected.callers = {{.function = "c", .file = "a.cpp", .line = 7},
                      {.function = "d", .file = "", .line = 0, .negated = true}};
  expected.ancestors = {{.function = "g", .latency = {.low = 5}}};
  expected.calls = {{.function = "h", .count = {.low = 0, .high = 2}}};
  expected.waited = {{.reason = waits::Reason::preempted, .least = 9}};
  expected.states = {stacks::CallState::complete, stacks::CallState::unwound};
  expected.complement = true;
  EXPECT_EQ(read->selection, expected);
}

TEST(Parameters, ASelectionThatIsWrong) {
  const auto path_of = [](const std::string& selection) {
    return bad_path(
        "report", (R"({"id":"1","function":{"name":"f"},"selection":)" + selection + "}").c_str());
  };
  EXPECT_EQ(path_of(R"({"latency":[5]})"), "selection.latency");
  EXPECT_EQ(path_of(R"({"latency":[-1,1]})"), "selection.latency");
  EXPECT_EQ(path_of(R"({"time":[2,1]})"), "selection.time");
  EXPECT_EQ(path_of(R"({"ancestors":[{}]})"), "selection.ancestors[0].function");
  EXPECT_EQ(path_of(R"({"latency":[5,5]})"), "selection.latency");
  EXPECT_EQ(path_of(R"({"latency":[6,5]})"), "selection.latency");
  EXPECT_EQ(path_of(R"({"time":["0",null]})"), "selection.time");
  EXPECT_EQ(path_of(R"({"tids":[1.5]})"), "selection.tids");
  EXPECT_EQ(path_of(R"({"tids":[4294967296]})"), "selection.tids");
  EXPECT_EQ(path_of(R"({"tids":7})"), "selection.tids");
  EXPECT_EQ(path_of(R"({"callers":[{"function":"f","line":7}]})"), "selection.callers[0].line");
  EXPECT_EQ(path_of(R"({"ancestors":[{"function":"f"},{"function":"f","low":9,"high":9}]})"),
            "selection.ancestors[1].high");
  EXPECT_EQ(path_of(R"({"calls":[{"function":"f","least":3,"most":2}]})"),
            "selection.calls[0].least");
  EXPECT_EQ(path_of(R"({"waited":[{"reason":"bored"}]})"), "selection.waited[0].reason");
  EXPECT_EQ(path_of(R"({"states":["done"]})"), "selection.states");
  EXPECT_EQ(path_of(R"({"state":["complete"]})"), "selection.state");
}

TEST(Uri, Paths) {
  EXPECT_EQ(path_of_uri("file:///a%20b/%C2%B5.cpp"), "/a b/\xc2\xb5.cpp");
  EXPECT_EQ(path_of_uri("vscode-remote://127.0.0.1:8080/s/a.cpp"), "/s/a.cpp");
  EXPECT_EQ(path_of_uri("/plain/path"), "/plain/path");
  EXPECT_EQ(path_of_uri("file:///a%"), "/a%");
  EXPECT_EQ(path_of_uri("file:///a%zz%00"), "/a%zz%00");
  EXPECT_EQ(path_of_uri("untitled://x"), "");
}

TEST(ProgressValue, RateAndEstimate) {
  using namespace std::chrono_literals;
  ProgressValue value(false);
  const ProgressValue::Time start{};
  EXPECT_EQ(
      value.next({.stage = "decoding", .done = 0, .total = 4096, .unit = "bytes"}, start)->dump(),
      R"({"kind":"report","message":"decoding · 0 B of 4.00 KiB","percentage":0})");
  EXPECT_FALSE(
      value.next({.stage = "decoding", .done = 9, .total = 4096, .unit = "bytes"}, start + 99ms));
  EXPECT_EQ(
      value.next({.stage = "decoding", .done = 1024, .total = 4096, .unit = "bytes"}, start + 1s)
          ->dump(),
      R"({"kind":"report","message":"decoding · 1.00 KiB of 4.00 KiB · 1.00 KiB/s · 3 s left",)"
      R"("percentage":25})");
}

TEST(ProgressValue, RecordingComesFirstAndThePercentageNeverFalls) {
  using namespace std::chrono_literals;
  ProgressValue value(true);
  const ProgressValue::Time start{};
  const auto percentage = [&](ProgressReport report, std::chrono::milliseconds at) {
    return value.next(report, start + at)->at("percentage").get<int>();
  };
  EXPECT_EQ(percentage({.stage = "recording", .done = 1000, .total = 2000, .unit = "ms"}, 0ms), 35);
  EXPECT_EQ(percentage({.stage = "recording", .done = 3000, .total = 2000, .unit = "ms"}, 200ms),
            70);
  EXPECT_EQ(percentage({.stage = "decoding", .done = 0, .total = 10, .unit = ""}, 210ms), 70);
  EXPECT_EQ(percentage({.stage = "decoding", .done = 10, .total = 10, .unit = ""}, 400ms), 100);
  EXPECT_EQ(percentage({.stage = "decoding", .done = 1, .total = 10, .unit = ""}, 600ms), 100);
}

TEST(ProgressValue, SaysHowFarDecodingIsBehind) {
  ProgressValue value(true);
  EXPECT_EQ(value
                .next({.stage = "recording",
                       .done = 1500,
                       .total = 0,
                       .unit = "ms",
                       .behind = std::uint64_t{12} << 20U},
                      {})
                ->dump(),
            R"({"kind":"report","message":"recording · 1.50 s · decoding is 12.0 MiB behind"})");
}

TEST(ProgressValue, WithoutATotalThereIsNoPercentage) {
  ProgressValue value(true);
  EXPECT_EQ(value.next({.stage = "recording", .done = 1500, .total = 0, .unit = "ms"}, {})->dump(),
            R"({"kind":"report","message":"recording · 1.50 s"})");
}

} // namespace
} // namespace ptlens::server
