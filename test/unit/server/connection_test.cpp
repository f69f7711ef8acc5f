// Whole conversations with the server over pipes: lifecycle, answers, errors.
#include "server/client.hpp"
#include "server/fake_host.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace ptlens::server {
namespace {

class Conversation : public testing::Test {
protected:
  std::shared_ptr<FakeState> state = std::make_shared<FakeState>();
  Client client{fake_host(state)};

  std::string open(const std::string& path = "/r/one") {
    return client.call("open", "ptlens/open", {{"path", path}})["result"]["recording"]["id"];
  }
};

TEST_F(Conversation, Initialize) {
  const Json answer = client.initialize();
  EXPECT_EQ(answer["result"]["protocolVersion"], 1);
  EXPECT_EQ(answer["result"]["serverInfo"].dump(), R"({"name":"ptlens","version":"9.9.9"})");
  EXPECT_EQ(answer["result"]["capabilities"]["hoverProvider"], true);
  EXPECT_EQ(answer["result"]["capabilities"]["codeLensProvider"]["resolveProvider"], false);
}

TEST_F(Conversation, BeforeInitializeNothingIsAnswered) {
  EXPECT_EQ(client.call(1, "ptlens/doctor")["error"]["code"], -32002);
  client.notify("$/cancelRequest", {{"id", 1}});
  EXPECT_TRUE(client.initialize().contains("result"));
  EXPECT_EQ(client.call(2, "initialize")["error"]["code"], -32600);
}

TEST_F(Conversation, ShutdownThenExitIsAGoodEnd) {
  client.initialize();
  const Json answer = client.call(1, "shutdown");
  EXPECT_TRUE(answer.contains("result"));
  EXPECT_TRUE(answer["result"].is_null());
  EXPECT_EQ(client.call(2, "ptlens/doctor")["error"]["code"], -32600);
  client.notify("exit");
  EXPECT_EQ(client.status(), 0);
}

TEST_F(Conversation, ExitWithoutShutdownIsNot) {
  client.initialize();
  client.notify("exit");
  EXPECT_EQ(client.status(), 1);
}

TEST_F(Conversation, EndOfInputEnds) {
  client.initialize();
  client.close_output();
  EXPECT_EQ(client.status(), 1);
}

TEST_F(Conversation, ABadInitializeMayBeRepeated) {
  const Json answer = client.call(1, "initialize", {{"initializationOptions", {{"symfs", 7}}}});
  EXPECT_EQ(answer["error"]["code"], -32602);
  EXPECT_EQ(answer["error"]["data"]["path"], "initializationOptions.symfs");
  EXPECT_TRUE(client.initialize().contains("result"));
}

TEST_F(Conversation, WhatIsNoMessageIsSaidAndTheTalkGoesOn) {
  client.initialize();
  client.send_bytes(framed("{"));
  Json refusal = client.receive();
  EXPECT_EQ(refusal["error"]["code"], -32700);
  EXPECT_TRUE(refusal["id"].is_null());
  client.send_bytes("Content-Length: x\r\n\r\n");
  EXPECT_EQ(client.receive()["error"]["code"], -32700);
  client.send_bytes(framed("[]"));
  EXPECT_EQ(client.receive()["error"]["code"], -32600);
  EXPECT_EQ(client.call(1, "no/such")["error"]["code"], -32601);
  EXPECT_EQ(client.call("a", "ptlens/doctor")["result"]["backend"], "none");
}

TEST_F(Conversation, ByteByByte) {
  const std::string text =
      framed(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null}})") +
      framed(R"({"jsonrpc":"2.0","id":2,"method":"ptlens/open","params":{"path":"/µ"}})") +
      framed(R"({"jsonrpc":"2.0","id":3,"method":"shutdown"})") +
      framed(R"({"jsonrpc":"2.0","method":"exit"})");
  for (const char byte : text) {
    client.send_bytes(std::string_view(&byte, 1));
  }
  EXPECT_EQ(client.status(), 0);
}

TEST_F(Conversation, AskedAboutAnOpenRecording) {
  client.initialize();
  const Json opened = client.call(1, "ptlens/open", {{"path", "/r/two"}, {"symfs", "/sys"}});
  const Json recording = opened["result"]["recording"];
  EXPECT_EQ(recording.begin().key(), "id");
  EXPECT_EQ(recording["path"], "/r/two");
  EXPECT_EQ(state->last_symfs, "/sys");
  const Json id = recording["id"];

  const Json functions = client.call(2, "ptlens/functions", {{"id", id}})["result"];
  EXPECT_EQ(functions["recording"]["id"], id);
  EXPECT_EQ(functions["functions"].size(), 3U);

  // Complete calls of work: 1,000 ns on thread 7 and 3,000 ns on thread 8; one more is unwound.
  const Json report =
      client.call(3, "ptlens/report", {{"id", id}, {"function", {{"name", "work"}}}})["result"];
  EXPECT_EQ(report["calls"].dump(), R"({"complete":2,"incomplete":0,"unwound":1})");
  EXPECT_EQ(report["latency"]["mean"], 2000.0);
  EXPECT_EQ(report["latency"]["total"], 4000);
  const Json one_thread = client.call(
      4, "ptlens/report",
      {{"id", id}, {"function", {{"name", "work"}}}, {"selection", {{"tids", {8}}}}})["result"];
  EXPECT_EQ(one_thread["latency"]["mean"], 3000.0);
  const Json by_address = client.call(
      5, "ptlens/report",
      {{"id", id},
       {"function",
        {{"name", "x"}, {"binary", "/bin/app"}, {"address", "0xffffffffff600000"}}}})["result"];
  EXPECT_EQ(by_address["function"]["name"], "ns::work<int, char>");

  const Json lines = client.call(6, "ptlens/lines", {{"id", id}, {"file", "/s/a.cpp"}})["result"];
  EXPECT_EQ(lines["file"], "/s/a.cpp");
  EXPECT_EQ(lines["lines"][0]["line"], 12);
  EXPECT_EQ(lines["lines"][0]["calls"], 1); // the other call made from it is unwound

  const Json flame = client.call(7, "ptlens/flame", {{"id", id}, {"smallest", 0}})["result"];
  EXPECT_EQ(flame["nodes"]["parent"][0], -1);
  EXPECT_EQ(flame["nodes"]["inclusive"][0], 12'000); // 9,000 of main, 3,000 of the root on thread 8
  // What the calls of work in main call takes 100 of 3,000 ns: more than 2 % of these, less than of
  // all 12,000 ns, and less than of the 9,000 ns of main.
  const auto times = [&](const Json& focus) {
    const Json params = {{"id", id}, {"smallest", 0.02}, {"focus", focus}};
    return client.call(30, "ptlens/flame", params)["result"]["nodes"]["inclusive"].dump();
  };
  const Json main = {{"name", "main"}, {"binary", "/bin/app"}};
  const Json work = {
      {"name", "ns::work<int, char>"}, {"binary", "/bin/app"}, {"address", "0xffffffffff600000"}};
  const Json other = {{"name", "ns::work<int, char>"}, {"binary", "/bin/other"}};
  EXPECT_EQ(times(Json::array()), "[12000,9000,3000,3000]");
  EXPECT_EQ(times(Json::array({main})), "[12000,9000,3000,3000]");
  EXPECT_EQ(times(Json::array({main, work})), "[12000,9000,3000,100,3000]");
  EXPECT_EQ(times(Json::array({main, other})), "[12000,9000,3000,3000]");
  EXPECT_EQ(times(Json::array({work})), "[12000,9000,3000,3000]");
  const Json from = client.call(8, "ptlens/flame",
                                {{"id", id},
                                 {"smallest", 0},
                                 {"function", {{"name", "work"}}},
                                 {"time_kind", "off"}})["result"];
  EXPECT_EQ(from["time"], "off");
  EXPECT_EQ(from["nodes"]["inclusive"][0], 200); // blocked; the unwound call does not count
  const Json of_all_states = client.call(20, "ptlens/flame",
                                         {{"id", id},
                                          {"smallest", 0},
                                          {"function", {{"name", "work"}}},
                                          {"selection", {{"states", {"complete", "unwound"}}}},
                                          {"time_kind", "off"}})["result"];
  EXPECT_EQ(of_all_states["nodes"]["inclusive"][0], 250); // 50 preempted in the unwound call

  const Json page = client.call(
      9, "ptlens/calls",
      {{"id", id}, {"function", {{"name", "work"}}}, {"offset", 1}, {"limit", 1}})["result"];
  EXPECT_EQ(page["total"], 3);
  EXPECT_EQ(page["columns"]["start"].dump(), "[1500]");
  const Json beyond = client.call(
      10, "ptlens/calls", {{"id", id}, {"function", {{"name", "work"}}}, {"offset", 99}})["result"];
  EXPECT_EQ(beyond["columns"]["start"].size(), 0U);

  // Slowest first, of all functions: main's call took 9,000 ns.
  const Json slowest =
      client.call(21, "ptlens/calls",
                  {{"id", id}, {"order", "latency"}, {"descending", true}, {"limit", 2}})["result"];
  EXPECT_EQ(slowest["total"], 5);
  EXPECT_EQ(slowest["columns"]["latency"].dump(), "[9000,3000]");
  EXPECT_EQ(slowest["functions"][slowest["columns"]["function"][0].get<std::size_t>()]["name"],
            "main");

  const Json explained = client.call(22, "ptlens/explain",
                                     {{"id", id},
                                      {"function", {{"name", "work"}}},
                                      {"selection", {{"latency", {2000, nullptr}}}},
                                      {"typical", "others"}})["result"];
  EXPECT_EQ(explained["explain"]["slow"]["mean"], 3000.0);
  EXPECT_EQ(explained["explain"]["typical"]["mean"], 1000.0);
  EXPECT_EQ(explained["command"].dump(),
            R"(["ptlens","explain","/r/two","--symfs","/sys","--function","work","--latency",)"
            R"("2us,","--typical","others"])");

  const Json distribution = client.call(23, "ptlens/distribution",
                                        {{"id", id},
                                         {"function", {{"name", "work"}}},
                                         {"selection", {{"tids", {7}}}},
                                         {"bins", 2},
                                         {"columns", 3}})["result"];
  EXPECT_EQ(distribution["total"]["calls"], 2);
  EXPECT_EQ(distribution["total"]["time"], 4000);
  EXPECT_EQ(distribution["selected"]["time"], 1000);
  EXPECT_EQ(distribution["selected"]["blocked"], 200);
  EXPECT_EQ(distribution["bins"].size(), 2U);
  EXPECT_EQ(distribution["bins"][0]["selected"]["on_cpu"], 800);
  EXPECT_EQ(distribution["grid"]["calls"].size(), 6U);
  EXPECT_EQ(distribution["slowest"]["selected"].dump(), "[false,true]");
  EXPECT_EQ(distribution["command"].dump(),
            R"(["ptlens","calls","/r/two","--symfs","/sys","--function","work","--tid","7"])");

  EXPECT_EQ(client.call(11, "ptlens/close", {{"id", id}})["result"].dump(), "{}");
  const Json gone = client.call(12, "ptlens/functions", {{"id", id}})["error"];
  EXPECT_EQ(gone["code"], -32011);
  EXPECT_EQ(gone["data"]["kind"], "not_found");
}

TEST_F(Conversation, ErrorsOfTheWorkCarryTheirData) {
  client.initialize();
  const Json error = client.call(1, "ptlens/open", {{"path", "/missing"}})["error"];
  EXPECT_EQ(error.dump(),
            R"({"code":-32010,"message":"not a recording","data":{"kind":"bad_input",)"
            R"("file":"/missing/perf.data","offset":16,"remedy":"record again"}})");
  EXPECT_EQ(client.call(2, "ptlens/open", {{"path", "/throws"}})["error"]["code"], -32603);
  const std::string id = open();
  const Json unknown =
      client.call(3, "ptlens/report", {{"id", id}, {"function", {{"name", "wrok"}}}})["error"];
  EXPECT_EQ(unknown["code"], -32011);
  EXPECT_NE(unknown["data"]["remedy"].get<std::string>().find("work"), std::string::npos);
  const Json thread = client.call(
      4, "ptlens/report",
      {{"id", id}, {"function", {{"name", "work"}}}, {"selection", {{"tids", {999}}}}})["error"];
  EXPECT_EQ(thread["code"], -32011);
}

TEST_F(Conversation, TheMachineAndItsProcesses) {
  client.initialize({{"initializationOptions", {{"perf", "/my/perf"}}}});
  EXPECT_EQ(client.call(1, "ptlens/doctor")["result"]["findings"][0]["detail"], "/my/perf");
  const Json processes =
      client.call(2, "ptlens/processes", {{"source", "/s/a.cpp"}})["result"]["processes"];
  EXPECT_EQ(processes[0]["has_source"], true);
  EXPECT_EQ(processes[0]["command"], "app \xef\xbf\xbd");
  const Json found = client.call(3, "ptlens/functionAt",
                                 {{"file", "/s/a.cpp"}, {"line", 5}, {"name", "f"}})["result"];
  EXPECT_EQ(found.dump(), R"({"candidates":[{"name":"f","binary":"/bin/app",)"
                          R"("address":"0xffffffffff600000","file":"/s/a.cpp","line":5,)"
                          R"("spelling":"f","linkage_name":"_Z1fv","build_id":"abcd"}],)"
                          R"("message":"","inlined":null})");
  EXPECT_EQ(
      client.call(4, "ptlens/functionAt", {{"file", "/s/a.cpp"}, {"line", 1}})["result"]["message"],
      "nothing there");
  EXPECT_EQ(client.call(5, "ptlens/functionAt",
                        {{"file", "/s/a.cpp"}, {"line", 1}, {"pid", 1}})["error"]["code"],
            -32014);
}

TEST_F(Conversation, CodeLensAndHoverOfTheActiveRecording) {
  client.initialize(
      {{"capabilities", {{"workspace", {{"codeLens", {{"refreshSupport", true}}}}}}}});
  const Json document = {{"textDocument", {{"uri", "file:///s/a.cpp"}}}};
  EXPECT_EQ(client.call(1, "textDocument/codeLens", document)["result"].dump(), "[]");
  const std::string id = open();
  EXPECT_EQ(client.receive()["method"], "workspace/codeLens/refresh");

  const Json lenses = client.call(2, "textDocument/codeLens", document)["result"];
  ASSERT_EQ(lenses.size(), 2U);
  // By line: work at line 3, main at line 10. 200 of 4,000 ns off-CPU are 5 %, 500 of 10,000 ns
  // of the trace too.
  EXPECT_EQ(lenses[0]["range"]["start"]["line"], 2);
  EXPECT_EQ(lenses[0]["command"]["title"],
            "1.00 µs typical · max 3.00 µs · 2 calls · 5 % off-CPU · ⚠ 5 % lost");
  EXPECT_EQ(lenses[0]["command"]["command"], "ptlens.showFunction");
  EXPECT_EQ(lenses[0]["command"]["arguments"].dump(),
            R"([{"id":")" + id +
                R"(","name":"ns::work<int, char>","binary":"/bin/app",)"
                R"("address":"0xffffffffff600000"}])");
  EXPECT_EQ(lenses[1]["command"]["title"], "no complete call · 1 incomplete · ⚠ 5 % lost");

  const auto hover_at = [&](int line) {
    Json place = document;
    place["position"] = {{"line", line}, {"character", 0}};
    return client.call("h" + std::to_string(line), "textDocument/hover", place)["result"];
  };
  const std::string function = hover_at(2)["contents"]["value"];
  EXPECT_NE(function.find("`ns::work<int, char>`"), std::string::npos) << function;
  EXPECT_NE(function.find("2 calls · 4.00 µs · 5 % off-CPU · 1 unwound"), std::string::npos)
      << function;
  EXPECT_NE(function.find("| 1.00 µs ± 50 ns | – | – | – | 3.00 µs | 2.00 µs |"), std::string::npos)
      << function;
  EXPECT_NE(function.find("2 calls: too few to say what is typical."), std::string::npos);
  EXPECT_NE(function.find(", ± 42 ns · 500 ns of 10.0 µs lost · 3 records dropped · the code of 1 "
                          "binary is missing"),
            std::string::npos)
      << function;
  const std::string line = hover_at(11)["contents"]["value"];
  EXPECT_NE(line.find("Calls from this line: 1.00 µs × 1 "), std::string::npos) << line;
  EXPECT_TRUE(hover_at(100).is_null());
  EXPECT_EQ(client
                .call(3, "textDocument/codeLens",
                      {{"textDocument", {{"uri", "file:///s/other.cpp"}}}})["result"]
                .dump(),
            "[]");

  client.request(4, "ptlens/close", {{"id", id}});
  EXPECT_EQ(client.receive()["id"], 4);
  EXPECT_EQ(client.receive()["method"], "workspace/codeLens/refresh");
  EXPECT_EQ(client.call(5, "textDocument/codeLens", document)["result"].dump(), "[]");
}

TEST_F(Conversation, OneOfSeveralIsActive) {
  client.initialize();
  int last = 0;
  const auto open_it = [&](const char* path, bool activate) {
    const Json answer =
        client.call(++last, "ptlens/open", {{"path", path}, {"activate", activate}});
    return answer["result"]["recording"]["id"].get<std::string>();
  };
  const auto shown = [&] {
    const Json lenses = client.call(++last, "textDocument/codeLens",
                                    {{"textDocument", {{"uri", "file:///s/a.cpp"}}}})["result"];
    return lenses.empty() ? "none" : lenses[0]["command"]["arguments"][0]["id"].get<std::string>();
  };
  const auto activate = [&](const Json& params) {
    return client.call(++last, "ptlens/activate", params);
  };
  const std::string first = open_it("/r/first", true);
  const std::string second = open_it("/r/second", true);
  const std::string quiet = open_it("/r/quiet", false);
  EXPECT_EQ(shown(), second);
  EXPECT_EQ(activate({{"id", first}, {"baseline", quiet}})["result"].dump(), "{}");
  EXPECT_EQ(shown(), first);
  EXPECT_EQ(activate({{"id", "99"}})["error"]["code"], -32011);
  EXPECT_EQ(activate({{"id", second}, {"baseline", "99"}})["error"]["code"], -32011);
  EXPECT_EQ(shown(), first) << "a refused request changes nothing";
  client.call(++last, "ptlens/close", {{"id", first}});
  EXPECT_EQ(shown(), second) << "the one that was active before";
  client.call(++last, "ptlens/close", {{"id", second}});
  EXPECT_EQ(shown(), "none") << "the third was never active";
  EXPECT_EQ(activate({{"id", quiet}})["result"].dump(), "{}");
  EXPECT_EQ(shown(), quiet);
  EXPECT_EQ(activate(Json::object())["result"].dump(), "{}");
  EXPECT_EQ(shown(), "none");
  EXPECT_TRUE(client.call(++last, "ptlens/functions", {{"id", quiet}}).contains("result"))
      << "it is still open";
}

TEST_F(Conversation, WhatIsKeptOfARecording) {
  client.initialize();
  const Json status = client.call(1, "ptlens/cache", {{"path", "/r/one"}, {"pid", 7}})["result"];
  EXPECT_EQ(status.dump(),
            R"({"path":"/r/one.calls","cached":true,"reason":"","bytes":20,"calls":1,)"
            R"("recording_bytes":500,"removed":[]})");
  EXPECT_EQ(state->forgotten, 0);
  const Json removed =
      client.call(2, "ptlens/cache", {{"path", "/r/one"}, {"remove", true}})["result"];
  EXPECT_EQ(removed["cached"], false);
  EXPECT_EQ(removed["removed"].dump(), R"(["/r/one.calls"])");
  EXPECT_EQ(client.call(3, "ptlens/cache", {{"path", "/missing"}})["error"]["code"], -32011);
  EXPECT_EQ(client.call(4, "ptlens/cache", Json::object())["error"]["code"], -32602);
}

TEST_F(Conversation, BundlesARecordingByItsIdOrItsPath) {
  client.initialize();
  const Json opened = client.call(1, "ptlens/open", {{"path", "/r/one"}, {"symfs", "/s"}});
  const Json id = opened["result"]["recording"]["id"];
  const Json made = client.call(2, "ptlens/bundle", {{"id", id}, {"output", "/b"}})["result"];
  EXPECT_EQ(made.dump(), R"({"path":"/b","bytes":10,"files":0,"missing":[]})");
  EXPECT_EQ(state->last_bundled, "/r/one /s /b");
  const int open_before = state->opened;
  EXPECT_TRUE(
      client.call(3, "ptlens/bundle", {{"path", "/r/two"}, {"symfs", "/t"}, {"output", "/c"}})
          .contains("result"));
  EXPECT_EQ(state->last_bundled, "/r/two /t /c");
  EXPECT_EQ(state->opened, open_before) << "it need not be opened for it";
  const auto refused = [&](int number, const Json& params) {
    return client.call(number, "ptlens/bundle", params)["error"]["code"];
  };
  EXPECT_EQ(refused(4, {{"output", "/c"}}), -32602);
  EXPECT_EQ(refused(5, {{"id", id}, {"path", "/r/two"}, {"output", "/c"}}), -32602);
  EXPECT_EQ(refused(6, {{"path", "/r/two"}}), -32602);
  EXPECT_EQ(refused(7, {{"id", "none"}, {"output", "/c"}}), -32011);
}

TEST_F(Conversation, CommandsAreTheMethods) {
  client.initialize();
  const Json answer = client.call(
      1, "workspace/executeCommand",
      {{"command", "ptlens.server.open"}, {"arguments", Json::array({{{"path", "/r/three"}}})}});
  EXPECT_EQ(answer["result"]["recording"]["path"], "/r/three");
  EXPECT_EQ(client.call(2, "workspace/executeCommand",
                        {{"command", "other"}, {"arguments", Json::array()}})["error"]["code"],
            -32601);
  EXPECT_EQ(client.call(3, "workspace/executeCommand",
                        {{"command", "ptlens.server.open"},
                         {"arguments", Json::array({5})}})["error"]["code"],
            -32602);
}

TEST_F(Conversation, Trace) {
  client.initialize();
  client.notify("$/setTrace", {{"value", "verbose"}});
  client.request(1, "ptlens/doctor");
  const Json received = client.receive();
  EXPECT_EQ(received["method"], "$/logTrace");
  EXPECT_EQ(received["params"]["message"], "received request 'ptlens/doctor' 1");
  EXPECT_TRUE(received["params"].contains("verbose"));
  EXPECT_EQ(client.receive()["id"], 1);
  EXPECT_EQ(client.receive()["method"], "$/logTrace");
  client.notify("$/setTrace", {{"value", "off"}});
  EXPECT_TRUE(client.call(2, "ptlens/doctor").contains("result"));
}

} // namespace
} // namespace ptlens::server
