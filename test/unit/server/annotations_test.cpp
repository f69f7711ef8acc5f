// What an editor shows in a text: where lines are after edits, which figures are stale, and how
// they differ from a baseline. The measured text is written by hand: main at line 10 calls work, at
// line 3, from line 12.
#include "server/client.hpp"
#include "server/fake_host.hpp"
#include "support/ids.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

namespace ptlens::server {
namespace {

const Json document = {{"uri", "file:///s/a.cpp"}};

std::string measured_text() {
  std::string text;
  for (int line = 1; line <= 20; ++line) {
    text += fmt::format("line {}\n", line);
  }
  return text;
}

class Annotations : public testing::Test {
protected:
  static Host host() {
    Host host = fake_host(std::make_shared<FakeState>());
    host.sources = [](const OpenRequest&, const measure::Measurement&) {
      source::MeasuredSources sources;
      sources.files["/s/a.cpp"] = source::text_lines(measured_text());
      return sources;
    };
    return host;
  }

  void show(const std::string& text) {
    client.notify("textDocument/didOpen",
                  {{"textDocument", {{"uri", "file:///s/a.cpp"}, {"text", text}}}});
  }
  void insert(int line, int character, const std::string& text, int end_line, int end_character) {
    client.notify("textDocument/didChange",
                  {{"textDocument", document},
                   {"contentChanges",
                    Json::array({{{"range",
                                   {{"start", {{"line", line}, {"character", character}}},
                                    {"end", {{"line", end_line}, {"character", end_character}}}}},
                                  {"text", text}}})}});
  }
  Json annotations(Json extra = Json::object()) {
    Json params = {{"file", "/s/a.cpp"}};
    params.update(extra);
    return client.call(fmt::format("a{}", ++asked), "ptlens/annotations", params)["result"];
  }
  std::vector<std::pair<int, std::string>> lenses() {
    std::vector<std::pair<int, std::string>> found;
    const Json answer = client.call(fmt::format("l{}", ++asked), "textDocument/codeLens",
                                    {{"textDocument", document}})["result"];
    for (const Json& lens : answer) {
      found.emplace_back(lens["range"]["start"]["line"], lens["command"]["title"]);
    }
    return found;
  }
  std::string hover(int line) {
    const Json answer = client.call(
        fmt::format("h{}", ++asked), "textDocument/hover",
        {{"textDocument", document}, {"position", {{"line", line}, {"character", 0}}}})["result"];
    return answer.is_null() ? "" : answer["contents"]["value"].get<std::string>();
  }

  Annotations() : client(host()) {}
  explicit Annotations(Host host) : client(std::move(host)) {}

  Client client;
  int asked = 0;
};

TEST_F(Annotations, AreCurrentWhileTheTextIsTheMeasuredOne) {
  client.initialize();
  client.call("o", "ptlens/open", {{"path", "/r/one"}});
  show(measured_text());
  const Json answer = annotations({{"heat", true}});
  EXPECT_EQ(answer["staleness"], "current");
  ASSERT_EQ(answer["lines"].size(), 1U);
  EXPECT_EQ(answer["lines"][0]["line"], 12);
  EXPECT_EQ(answer["lines"][0]["function_line"], 10);
  EXPECT_EQ(answer["lines"][0]["calls"], 1);
  EXPECT_EQ(answer["lines"][0]["mean"], 1000);
  EXPECT_EQ(answer["lines"][0]["off_cpu"], 200);
  EXPECT_EQ(answer["lines"][0]["staleness"], "current");
  EXPECT_EQ(answer["lines"][0]["text"],
            "1.00 µs  × 1 · 1 unwound (work) · work → odd;na?me (tail call)");
  EXPECT_EQ(answer["heat"].dump(), R"({"line":[12],"total":[1000]})");
  EXPECT_TRUE(annotations({{"first", 1}, {"last", 11}})["lines"].empty());
  EXPECT_EQ(annotations({{"first", 12}, {"last", 12}})["lines"].size(), 1U);
}

class LineTimes : public Annotations {
protected:
  LineTimes() : Annotations(timing_host()) {}

  static Host timing_host() {
    Host host = Annotations::host();
    host.line_times =
        [](const OpenRequest& request, const std::vector<stacks::FunctionInfo>& functions,
           const Progress& progress) -> Result<std::shared_ptr<const line_time::LineTimes>> {
      ++asked_for;
      if (request.path == "/r/probes") {
        return nullptr;
      }
      EXPECT_FALSE(functions.empty());
      for (const stacks::FunctionInfo& function : functions) {
        EXPECT_EQ(function.file, "/s/a.cpp");
      }
      progress.report({"decoding", 1, 2, "bytes"});
      line_time::LineTimes times;
      times.lines = {{.line = 0, .executions = 5},
                     {.line = 11, .executions = 100, .at_least = 1'990'000, .at_most = 2'010'000},
                     {.line = 12,
                      .executions = 3,
                      .at_least = 10,
                      .at_most = 4'000,
                      .shared_with = {0, 13},
                      .shared_with_others = true},
                     {.line = 13, .executions = 3, .at_most = 3'990, .shared_with = {12}}};
      return std::make_shared<const line_time::LineTimes>(std::move(times));
    };
    return host;
  }
  Json measured(const std::string& id) {
    return client.call(fmt::format("t{}", ++asked), "ptlens/lineTime",
                       {{"id", id}, {"file", "/s/a.cpp"}})["result"];
  }
  std::string open(const std::string& path) {
    return client.call(fmt::format("o{}", ++asked), "ptlens/open",
                       {{"path", path}})["result"]["recording"]["id"];
  }

  static inline int asked_for = 0;
};

TEST_F(LineTimes, AppearAtTheirLinesAfterARequest) {
  asked_for = 0;
  client.initialize();
  const std::string id = open("/r/one");
  show(measured_text());
  EXPECT_EQ(annotations()["lines"].size(), 1U);
  const Json answer = measured(id);
  EXPECT_EQ(answer["file"], "/s/a.cpp");
  EXPECT_EQ(answer["line_time"]["lines"].size(), 4U);
  EXPECT_EQ(answer["line_time"]["lines"][1]["time"], 2'000'000);
  EXPECT_EQ(answer["line_time"]["lines"][1]["resolution"], 10'000);
  EXPECT_TRUE(answer["line_time"]["lines"][2]["time"].is_null());
  measured(id);
  EXPECT_EQ(asked_for, 1);
  const Json lines = annotations({{"heat", true}})["lines"];
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0]["line"], 11);
  EXPECT_EQ(lines[0]["calls"], 0);
  EXPECT_EQ(lines[0]["line_time"]["executions"], 100);
  EXPECT_EQ(lines[0]["line_time"]["shared_with"], "");
  EXPECT_EQ(lines[1]["calls"], 1); // one row for calls and time
  EXPECT_EQ(lines[1]["line_time"]["shared_with"], "13");
  EXPECT_EQ(annotations({{"heat", true}})["heat"]["line"].dump(), "[12]"); // lines with calls only
  EXPECT_TRUE(hover(10).contains("Executions of the line: 100. Its own instructions took "
                                 "2.00 ms ± 10.0 µs in all"))
      << hover(10);
  EXPECT_TRUE(hover(11).contains("Calls from this line: 1.00 µs × 1")) << hover(11);
  EXPECT_TRUE(hover(11).contains("took 10 ns to 4.00 µs in all: the trace does not "
                                 "separate their time from that of lines 13."))
      << hover(11);
  const Json hints = client.call("i", "textDocument/inlayHint",
                                 {{"textDocument", document},
                                  {"range",
                                   {{"start", {{"line", 0}, {"character", 0}}},
                                    {"end", {{"line", 30}, {"character", 0}}}}}})["result"];
  ASSERT_EQ(hints.size(), 3U);
  EXPECT_EQ(hints[0]["label"], "line 20.0 µs × 100");
  EXPECT_TRUE(hints[1]["label"].get<std::string>().ends_with(
      " · line × 3 · ≤ 4.00 µs shared with lines 13"))
      << hints[1];
}

TEST_F(LineTimes, MoveWithTheirLinesAndTheLinesTheyShareTimeWith) {
  client.initialize();
  const std::string id = open("/r/one");
  show(measured_text());
  measured(id);
  insert(0, 0, "// a new line\n", 0, 0);
  const Json lines = annotations()["lines"];
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1]["line"], 13);
  EXPECT_EQ(lines[1]["line_time"]["shared_with"], "14");
}

TEST_F(LineTimes, AreMissingInRecordingsWithoutTrace) {
  client.initialize();
  EXPECT_TRUE(measured(open("/r/probes"))["line_time"].is_null());
  show(measured_text());
  EXPECT_EQ(annotations()["lines"].size(), 1U);
}

TEST_F(Annotations, MoveWithTheirLinesAndSayThatTheTextWasEdited) {
  client.initialize();
  client.call("o", "ptlens/open", {{"path", "/r/one"}});
  show(measured_text());
  insert(0, 0, "// one\n// two\n", 0, 0);
  const Json edited = annotations();
  EXPECT_EQ(edited["staleness"], "edited");
  EXPECT_EQ(edited["lines"][0]["line"], 14);
  EXPECT_EQ(edited["lines"][0]["staleness"], "edited_elsewhere");
  EXPECT_TRUE(edited["lines"][0]["text"].get<std::string>().starts_with("✎ 1.00 µs  × 1"));
  EXPECT_EQ(lenses()[0].first, 4);
  EXPECT_TRUE(lenses()[0].second.starts_with("(before your edit) 1.00 µs")) << lenses()[0].second;
  EXPECT_NE(hover(13).find("before your edit"), std::string::npos) << hover(13);

  insert(0, 0, "", 2, 0); // undone
  EXPECT_EQ(annotations()["staleness"], "current");
  EXPECT_EQ(annotations()["lines"][0]["line"], 12);

  insert(4, 5, "five", 4, 6); // inside work, lines 3 to 8
  EXPECT_TRUE(lenses()[0].second.starts_with("(changed since it was measured) 1.00 µs"));
  EXPECT_TRUE(lenses()[1].second.starts_with("(before your edit) "));
  EXPECT_NE(hover(2).find("not what the measured program was built from"), std::string::npos);
  EXPECT_EQ(annotations()["lines"][0]["staleness"], "edited_elsewhere");

  insert(10, 0, "", 12, 0); // the line with the call
  EXPECT_TRUE(annotations()["lines"].empty());
}

TEST_F(Annotations, AreOfTheFileAgainOnceTheDocumentIsClosed) {
  client.initialize();
  client.call("o", "ptlens/open", {{"path", "/r/one"}});
  show("something else\n");
  EXPECT_EQ(annotations()["staleness"], "edited");
  EXPECT_TRUE(lenses().empty());
  client.notify("textDocument/didClose", {{"textDocument", document}});
  EXPECT_EQ(annotations()["staleness"], "unknown"); // no such file here
  EXPECT_EQ(lenses().size(), 2U);
}

TEST_F(Annotations, FollowEditsInUtf16) {
  client.initialize();
  client.call("o", "ptlens/open", {{"path", "/r/one"}});
  show(measured_text());
  insert(11, 0, "/* µ😀 */ ", 11, 0); // 10 units
  const Json hints = client.call("i", "textDocument/inlayHint",
                                 {{"textDocument", document},
                                  {"range",
                                   {{"start", {{"line", 0}, {"character", 0}}},
                                    {"end", {{"line", 40}, {"character", 0}}}}}})["result"];
  ASSERT_EQ(hints.size(), 1U);
  EXPECT_EQ(hints[0]["position"].dump(), R"({"line":11,"character":17})");
  EXPECT_TRUE(hints[0]["label"].get<std::string>().starts_with("✎ 1.00 µs × 1 · 1 unwound"))
      << hints[0];
  insert(11, 5, "", 11, 10); // the emoji is units 4 and 5: half of it goes with its other half
  EXPECT_EQ(annotations()["staleness"], "edited");
}

TEST_F(Annotations, IgnoreInvalidNotifications) {
  client.initialize();
  client.call("o", "ptlens/open", {{"path", "/r/one"}});
  show(measured_text());
  for (const Json& bad :
       {Json(nullptr), Json::object(), Json{{"textDocument", 1}},
        Json{{"textDocument", document}, {"contentChanges", 3}},
        Json{{"textDocument", document}, {"contentChanges", Json::array({1, {{"text", 2}}})}},
        Json{{"textDocument", document},
             {"contentChanges", Json::array({{{"text", "x"}, {"range", {{"start", 1}}}}})}}}) {
    client.notify("textDocument/didChange", bad);
    client.notify("textDocument/didOpen", bad);
  }
  insert(1'000'000, 7, "", 2'000'000, 9); // beyond the end: nothing is there
  EXPECT_EQ(annotations()["staleness"], "current");
}

TEST_F(Annotations, CompareWithTheBaseline) {
  client.initialize();
  const auto open = [&](const char* id) {
    return client.call(id, "ptlens/open", {{"path", "/r/one"}})["result"]["recording"]["id"];
  };
  const Json base = open("b");
  const Json now = open("n");
  client.call("c", "ptlens/activate", {{"id", now}, {"baseline", base}});
  // The same recording has two calls: too few to compare.
  EXPECT_TRUE(lenses()[0].second.starts_with("too few calls to compare · 1.00 µs"))
      << lenses()[0].second;
  EXPECT_EQ(annotations()["lines"][0]["difference"]["mean"], "cannot_tell");
  EXPECT_NE(hover(2).find("Too few calls to detect a change"), std::string::npos);
  client.call("d", "ptlens/activate", {{"id", now}});
  EXPECT_TRUE(lenses()[0].second.starts_with("1.00 µs"));
}

TEST_F(Annotations, ServeEditorsWithoutOurExtension) {
  const Json answer = client.initialize({{"initializationOptions", {{"recording", "/r/one"}}},
                                         {"capabilities",
                                          {{"workspace",
                                            {{"codeLens", {{"refreshSupport", true}}},
                                             {"inlayHint", {{"refreshSupport", true}}}}}}}});
  EXPECT_EQ(answer["result"]["capabilities"]["inlayHintProvider"], true);
  EXPECT_EQ(client.receive()["method"], "workspace/codeLens/refresh");
  EXPECT_EQ(client.receive()["method"], "workspace/inlayHint/refresh");
  EXPECT_EQ(lenses().size(), 2U);
  const Json shown = client.call("s", "workspace/executeCommand",
                                 {{"command", "ptlens.compare"}, {"arguments", {"/r/two"}}});
  EXPECT_EQ(shown["result"]["recording"]["path"], "/r/two");
  EXPECT_TRUE(lenses()[0].second.starts_with("too few calls to compare"));
  client.request("f", "workspace/executeCommand",
                 {{"command", "ptlens.showFunction"}, {"arguments", {"work"}}});
  Json message = client.receive();
  while (message["method"] != "window/showMessage") {
    message = client.receive();
  }
  EXPECT_NE(message["params"]["message"].get<std::string>().find("ns::work<int, char>"),
            std::string::npos);
}

// Neovim 0.11 does this: it has no request that refreshes lenses.
TEST(AnnotationsOfTheStart, AreAnsweredOnceTheRecordingIsOpen) {
  const auto state = std::make_shared<FakeState>();
  state->hold_open = true;
  Client client{fake_host(state)};
  client.initialize(
      {{"initializationOptions", {{"recording", "/r/one"}}},
       {"capabilities", {{"workspace", {{"inlayHint", {{"refreshSupport", true}}}}}}}});
  wait_until(state->open_entered, true);
  client.request("l", "textDocument/codeLens", {{"textDocument", document}});
  const Json place = {{"line", 0}, {"character", 0}};
  const Json hints =
      client.call("i", "textDocument/inlayHint",
                  {{"textDocument", document}, {"range", {{"start", place}, {"end", place}}}});
  EXPECT_TRUE(hints["result"].empty()) << "the client is asked to refresh";
  state->hold_open = false;
  Json answer = client.receive();
  while (answer.contains("method")) {
    answer = client.receive();
  }
  EXPECT_EQ(answer["id"], "l");
  EXPECT_EQ(answer["result"].size(), 2U);
}

// The example without the calls of main and without main's source: line 12 is then in a function
// that has no figures.
TEST(AnnotationsOfTheOldBinary, AreMarkedInFunctionsWithoutFiguresToo) {
  const std::string folder = testing::TempDir() + "ptlens-old-binary";
  std::filesystem::create_directories(folder);
  const std::string binary = folder + "/app";
  std::ofstream(binary) << "not what was measured";
  Host host = fake_host(std::make_shared<FakeState>());
  host.open = [&](const OpenRequest& request, const measure::Watch&,
                  const Progress&) -> Result<std::shared_ptr<const measure::Measurement>> {
    auto measurement = exporting::example();
    measurement.recording.path = request.path;
    measurement.functions[0_fn].binary = binary; // main, which makes the call
    measurement.functions[0_fn].file.clear();
    return std::make_shared<const measure::Measurement>(std::move(measurement));
  };
  host.sources = [&](const OpenRequest&, const measure::Measurement&) {
    source::MeasuredSources sources;
    sources.binaries[binary] = {.build_id = "ab", .size = 2, .changed_ns = 1};
    return sources;
  };
  Client client{std::move(host)};
  client.initialize();
  client.call("o", "ptlens/open", {{"path", "/r/one"}});
  const Json answer = client.call("a", "ptlens/annotations", {{"file", "/s/a.cpp"}})["result"];
  ASSERT_EQ(answer["lines"].size(), 1U);
  EXPECT_EQ(answer["lines"][0]["line"], 12);
  EXPECT_EQ(answer["lines"][0]["function_line"], 0);
  EXPECT_EQ(answer["lines"][0]["staleness"], "rebuilt");
  EXPECT_TRUE(answer["lines"][0]["text"].get<std::string>().ends_with(" · old binary"));
  EXPECT_EQ(answer["binaries"].dump(), fmt::format(R"(["/bin/app","{}"])", binary));
  std::filesystem::remove_all(folder);
}

TEST_F(Annotations, SayWhyTheRecordingOfTheStartCannotBeOpened) {
  client.initialize({{"initializationOptions", {{"recording", "/missing"}}}});
  const Json message = client.receive();
  EXPECT_EQ(message["method"], "window/showMessage");
  EXPECT_EQ(message["params"]["message"], "PT Lens: not a recording");
}

TEST_F(Annotations, LeaveInlayHintsAndCommandsToOurExtension) {
  const Json answer = client.initialize({{"initializationOptions", {{"integrated", true}}}});
  EXPECT_EQ(answer["result"]["capabilities"]["inlayHintProvider"], false);
  for (const Json& command :
       answer["result"]["capabilities"]["executeCommandProvider"]["commands"]) {
    EXPECT_TRUE(command.get<std::string>().starts_with("ptlens.server.")) << command;
  }
  client.call("o", "ptlens/open", {{"path", "/r/one"}});
  EXPECT_NE(hover(2).find("](command:ptlens.showFunction?%5B%7B%22"), std::string::npos)
      << hover(2);
  EXPECT_NE(hover(11).find("[Go Deeper](command:ptlens.goDeeper?%5B%7B%22"), std::string::npos)
      << hover(11);
}

} // namespace
} // namespace ptlens::server
