// Bytes of every kind, from a fixed seed: the server never crashes, hangs or stops answering.
#include "server/client.hpp"
#include "server/fake_host.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace ptlens::server {
namespace {

const std::vector<std::string>& seeds() {
  static const std::vector<std::string> texts{
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"trace":"verbose"}})",
      R"({"jsonrpc":"2.0","id":2,"method":"ptlens/open","params":{"path":"/r","workDoneToken":3}})",
      R"({"jsonrpc":"2.0","id":3,"method":"ptlens/report","params":{"id":"1","function":{"name":"work","address":"0x30"},"selection":{"time":[0,9],"tids":[8],"callers":[{"function":"main","not":true}]}}})",
      R"({"jsonrpc":"2.0","id":4,"method":"ptlens/flame","params":{"id":"1","function":{"name":"work"},"smallest":0.1}})",
      R"({"jsonrpc":"2.0","id":5,"method":"ptlens/calls","params":{"id":"1","function":{"name":"main"},"offset":0,"limit":10}})",
      R"({"jsonrpc":"2.0","id":6,"method":"ptlens/lines","params":{"id":"1","file":"a.cpp"}})",
      R"({"jsonrpc":"2.0","id":11,"method":"ptlens/lineTime","params":{"id":"1","file":"a.cpp"}})",
      R"({"jsonrpc":"2.0","id":7,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///s/a.cpp"},"position":{"line":2}}})",
      R"({"jsonrpc":"2.0","id":8,"method":"workspace/executeCommand","params":{"command":"ptlens.server.functions","arguments":[{"id":"1"}]}})",
      R"({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}})",
      R"({"jsonrpc":"2.0","method":"$/setTrace","params":{"value":"messages"}})",
  };
  return texts;
}

std::string mutated(std::string text, std::mt19937& random) {
  const auto below = [&random](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  const std::size_t changes = below(4);
  for (std::size_t change = 0; change < changes && !text.empty(); ++change) {
    const std::size_t at = below(text.size());
    switch (below(4)) {
    case 0:
      text[at] = static_cast<char>(below(256));
      break;
    case 1:
      text.erase(at, 1 + below(8));
      break;
    case 2:
      text.insert(at, text.substr(below(text.size()), below(30)));
      break;
    default:
      text[at] = R"({}[]",:0-9e.\)"[below(13)];
    }
  }
  return text;
}

// Reads in the background whatever the server says.
class Drain {
public:
  explicit Drain(Client& client)
      : thread_([&client] {
          while (client.receive_or_end()) {
          }
        }) {}
  ~Drain() { thread_.join(); }
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;

private:
  std::thread thread_;
};

TEST(Fuzz, MutatedMessagesInWholeFrames) {
  std::mt19937 random(20240607);
  for (int round = 0; round < 8; ++round) {
    Client client{fake_host(std::make_shared<FakeState>())};
    const Drain drain(client);
    client.send_bytes(framed(seeds()[0]));
    client.send_bytes(framed(seeds()[1]));
    for (int message = 0; message < 400; ++message) {
      const std::size_t which =
          std::uniform_int_distribution<std::size_t>(0, seeds().size() - 1)(random);
      client.send_bytes(framed(mutated(seeds()[which], random)));
    }
    client.close_output();
    EXPECT_EQ(client.status(), 1);
  }
}

TEST(Fuzz, MutatedStreams) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    std::string stream;
    for (const std::string& text : seeds()) {
      stream += framed(text);
    }
    for (int times = 0; times < 5; ++times) {
      stream = mutated(std::move(stream), random);
    }
    Client client{fake_host(std::make_shared<FakeState>())};
    const Drain drain(client);
    client.send_bytes(stream);
    client.close_output();
    const int status = client.status();
    EXPECT_TRUE(status == 0 || status == 1);
  }
}

TEST(Fuzz, Noise) {
  std::mt19937 random(99);
  Client client{fake_host(std::make_shared<FakeState>())};
  const Drain drain(client);
  std::string noise(200'000, '\0');
  for (char& byte : noise) {
    byte = static_cast<char>(std::uniform_int_distribution<int>(0, 255)(random));
  }
  client.send_bytes(noise);
  client.close_output();
  EXPECT_EQ(client.status(), 1);
}

} // namespace
} // namespace ptlens::server
