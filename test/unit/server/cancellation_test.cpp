// Long requests: progress, cancellation, finishing early, and every way in which a client can go
// away.
#include "server/client.hpp"
#include "server/fake_host.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <vector>

namespace ptlens::server {
namespace {

class LongRequest : public testing::Test {
protected:
  void SetUp() override { client.initialize(); }

  void start_recording() {
    client.request(
        1, "ptlens/record",
        {{"pid", 42}, {"function", {{"name", "f"}}}, {"output", "/out"}, {"workDoneToken", "t"}});
    wait_until(state->record_entered, true);
  }

  std::shared_ptr<FakeState> state = std::make_shared<FakeState>();
  Client client{fake_host(state)};
};

TEST_F(LongRequest, ProgressBeginsReportsAndEndsBeforeTheAnswer) {
  client.request(1, "ptlens/open", {{"path", "/r"}, {"workDoneToken", 7}});
  std::vector<std::string> kinds;
  while (true) {
    const Json message = client.receive();
    if (!message.contains("method")) {
      EXPECT_EQ(message["id"], 1);
      break;
    }
    EXPECT_EQ(message["method"], "$/progress");
    EXPECT_EQ(message["params"]["token"], 7);
    kinds.push_back(message["params"]["value"]["kind"]);
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"begin", "report", "report", "end"}));
}

TEST_F(LongRequest, TellsWhatIsKnownSoFarOfTheFunctionThatWasAskedAbout) {
  client.request(
      1, "ptlens/open",
      {{"path", "/r"}, {"workDoneToken", "t"}, {"function", {{"name", "f"}, {"binary", "/bin"}}}});
  std::vector<Json> told;
  while (true) {
    const Json message = client.receive();
    if (!message.contains("method")) {
      break;
    }
    if (message["method"] == "ptlens/partial") {
      told.push_back(message["params"]);
    }
  }
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0]["token"], "t");
  EXPECT_EQ(told[0]["report"]["function"]["name"], "f");
  EXPECT_EQ(told[0]["report"]["calls"]["complete"], 3);
  EXPECT_EQ(told[0]["report"]["latency"]["mean"], 2.5);
}

TEST_F(LongRequest, WithoutATokenThereIsNoProgress) {
  client.request(1, "ptlens/open", {{"path", "/r"}, {"function", {{"name", "f"}}}});
  EXPECT_EQ(client.receive()["id"], 1);
}

TEST_F(LongRequest, ABadTokenIsRefused) {
  const Json answer =
      client.call(1, "ptlens/open", {{"path", "/r"}, {"workDoneToken", Json::object()}});
  EXPECT_EQ(answer["error"]["data"]["path"], "workDoneToken");
}

TEST_F(LongRequest, CancellationIsAnsweredAtOnceAndLeavesNothingOpen) {
  state->hold_open = true; // the worker does not look at its progress
  client.request(1, "ptlens/open", {{"path", "/r"}, {"workDoneToken", "t"}});
  wait_until(state->open_entered, true);
  client.notify("$/cancelRequest", {{"id", 1}});
  EXPECT_EQ(client.response(1)["error"]["code"], -32800);
  EXPECT_EQ(state->opened, 0);
  state->hold_open = false;
  while (state->opened == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // What the worker opened after all is closed again: the next id shows that it was there.
  const Json next = client.call(2, "ptlens/open", {{"path", "/r2"}});
  EXPECT_EQ(next["result"]["recording"]["path"], "/r2");
  client.call(3, "ptlens/close", {{"id", next["result"]["recording"]["id"]}});
  Json lenses;
  for (int attempt = 0; attempt < 1000; ++attempt) {
    lenses = client.call(10 + attempt, "textDocument/codeLens",
                         {{"textDocument", {{"uri", "file:///s/a.cpp"}}}})["result"];
    if (lenses.empty()) {
      break;
    }
  }
  EXPECT_TRUE(lenses.empty());
}

TEST_F(LongRequest, CancelledByItsProgress) {
  client.request(1, "ptlens/open", {{"path", "/waits"}, {"workDoneToken", 5}});
  wait_until(state->open_entered, true);
  client.notify("window/workDoneProgress/cancel", {{"token", 5}});
  EXPECT_EQ(client.response(1)["error"]["code"], -32800);
}

TEST_F(LongRequest, ACancelledRecordingIsAnsweredOnceItIsCleanedUp) {
  state->hold_cleanup = true;
  start_recording();
  client.notify("$/cancelRequest", {{"id", 1}});
  EXPECT_TRUE(client.call(2, "ptlens/doctor").contains("result")); // the server is free meanwhile
  EXPECT_FALSE(state->record_cancelled);
  state->hold_cleanup = false;
  const Json answer = client.response(1);
  EXPECT_EQ(answer["error"]["code"], -32800);
  EXPECT_EQ(answer["error"]["data"]["kind"], "cancelled");
  EXPECT_TRUE(state->record_cancelled);
}

TEST_F(LongRequest, FinishKeepsTheRecording) {
  start_recording();
  EXPECT_EQ(client.call(2, "ptlens/finish", {{"token", "other"}})["result"]["found"], false);
  client.request(3, "ptlens/finish", {{"token", "t"}});
  Json recorded;
  bool found = false;
  while (recorded.is_null() || !found) {
    Json message = client.receive();
    if (message.contains("id") && message["id"] == 1) {
      recorded = std::move(message);
    } else if (message.contains("id") && message["id"] == 3) {
      found = message["result"]["found"];
    }
  }
  EXPECT_EQ(recorded["result"]["recording"]["path"], "/out");
  EXPECT_EQ(state->last_request.function, "f");
  EXPECT_EQ(state->last_request.pid, 42);
}

TEST_F(LongRequest, AnIdInUseIsRefused) {
  start_recording();
  client.request(1, "ptlens/doctor");
  EXPECT_EQ(client.response(1)["error"]["code"], -32600);
}

TEST_F(LongRequest, AnIdMayBeUsedAgainAfterItsAnswer) {
  EXPECT_TRUE(client.call(1, "ptlens/doctor").contains("result"));
  EXPECT_TRUE(client.call(1, "ptlens/doctor").contains("result"));
}

TEST_F(LongRequest, CancellingWhatIsNotThereDoesNothing) {
  client.notify("$/cancelRequest", {{"id", 99}});
  client.notify("$/cancelRequest");
  client.notify("$/cancelRequest", {{"id", Json::object()}});
  client.notify("window/workDoneProgress/cancel", {{"token", nullptr}});
  EXPECT_TRUE(client.call(1, "ptlens/doctor").contains("result"));
}

TEST_F(LongRequest, EndOfInputFinalisesTheRecording) {
  start_recording();
  client.close_output();
  EXPECT_EQ(client.status(), 1);
  EXPECT_TRUE(state->record_finished);
  EXPECT_FALSE(state->record_cancelled);
  EXPECT_EQ(state->opened, 0); // nobody is left to look at it
}

TEST_F(LongRequest, ShutdownFinalisesTheRecording) {
  start_recording();
  client.request(2, "shutdown");
  client.notify("exit");
  EXPECT_EQ(client.status(), 0);
  EXPECT_TRUE(state->record_finished);
}

TEST_F(LongRequest, EndOfInputCancelsWhatIsOpening) {
  client.request(1, "ptlens/open", {{"path", "/waits"}});
  wait_until(state->open_entered, true);
  client.close_output();
  EXPECT_EQ(client.status(), 1);
}

TEST_F(LongRequest, ASignalFinalisesTheRecording) {
  start_recording();
  ::kill(::getpid(), SIGTERM);
  EXPECT_EQ(client.status(), 1);
  EXPECT_TRUE(state->record_finished);
}

TEST_F(LongRequest, AClientThatDoesNotReadAnyMoreEndsTheServer) {
  start_recording();
  client.close_input();
  EXPECT_EQ(client.status(), 1);
  EXPECT_TRUE(state->record_finished);
}

TEST(ClientProcess, ItsDeathEndsTheServer) {
  const auto state = std::make_shared<FakeState>();
  Client client{fake_host(state)};
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  ASSERT_GT(child, 0);
  client.initialize({{"processId", child}});
  client.request(1, "ptlens/record", {{"pid", 42}, {"output", "/out"}});
  wait_until(state->record_entered, true);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(client.status(), 1);
  EXPECT_TRUE(state->record_finished);
}

TEST(ClientProcess, OneThatIsGoneAlreadyIsNotWatched) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  Client client{fake_host(std::make_shared<FakeState>())};
  client.initialize({{"processId", child}});
  EXPECT_TRUE(client.call(1, "ptlens/doctor").contains("result"));
}

} // namespace
} // namespace ptlens::server
