// A client of the server in the same process, over two pipes.
#pragma once

#include "server/connection/serve.hpp"
#include "server/rpc/json_rpc.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <future>
#include <optional>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <utility>

namespace ptlens::server {

inline std::string framed(const std::string& body) {
  return "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

class Client {
public:
  explicit Client(Host host) {
    std::array<int, 2> to_server{};
    std::array<int, 2> from_server{};
    if (::pipe(to_server.data()) != 0 || ::pipe(from_server.data()) != 0) {
      throw std::runtime_error("no pipe");
    }
    output_ = to_server[1];
    input_ = from_server[0];
    server_ = std::thread(
        [host = std::move(host), read = to_server[0], write = from_server[1], this]() mutable {
          status_.set_value(serve(read, write, "9.9.9", std::move(host)));
          ::close(read);
          ::close(write);
        });
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() {
    close_output();
    while (receive_or_end()) {
    }
    close_input();
    server_.join();
  }

  void send_bytes(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(output_, bytes.data(), bytes.size());
      if (count <= 0) {
        return;
      }
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void send(const Json& message) { send_bytes(framed(message.dump())); }

  void request(const Json& id, const std::string& method, Json params = Json::object()) {
    send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
  }
  void notify(const std::string& method, Json params = Json::object()) {
    send({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
  }

  // The next message, or nothing at the end of the server's output. Fails when nothing comes.
  std::optional<Json> receive_or_end() {
    while (input_ >= 0) {
      const auto header_end = received_.find("\r\n\r\n");
      if (header_end != std::string::npos) {
        constexpr std::string_view field = "Content-Length: ";
        const std::size_t length = std::stoul(received_.substr(field.size()));
        if (received_.size() >= header_end + 4 + length) {
          Json message = Json::parse(received_.substr(header_end + 4, length));
          received_.erase(0, header_end + 4 + length);
          return message;
        }
      }
      pollfd event{.fd = input_, .events = POLLIN, .revents = 0};
      if (::poll(&event, 1, 60'000) <= 0) {
        ADD_FAILURE() << "the server is silent; received so far: " << received_;
        return std::nullopt;
      }
      std::array<char, 4096> bytes{};
      const ssize_t count = ::read(input_, bytes.data(), bytes.size());
      if (count <= 0) {
        return std::nullopt;
      }
      received_.append(bytes.data(), static_cast<std::size_t>(count));
    }
    return std::nullopt;
  }
  Json receive() {
    auto message = receive_or_end();
    if (!message) {
      throw std::runtime_error("no message came");
    }
    return *message;
  }

  // Sends a request and gives its response; other messages before it are dropped.
  Json call(const Json& id, const std::string& method, Json params = Json::object()) {
    request(id, method, std::move(params));
    return response(id);
  }
  Json response(const Json& id) {
    while (true) {
      Json message = receive();
      if (!message.contains("method") && message["id"] == id) {
        return message;
      }
    }
  }

  Json initialize(Json extra = Json::object()) {
    Json params = {{"processId", nullptr}, {"rootUri", nullptr}, {"capabilities", Json::object()}};
    params.update(extra);
    Json answer = call(0, "initialize", params);
    notify("initialized");
    return answer;
  }

  void close_output() {
    if (output_ >= 0) {
      ::close(std::exchange(output_, -1));
    }
  }
  void close_input() {
    if (input_ >= 0) {
      ::close(std::exchange(input_, -1));
    }
  }

  // The server's exit status, once it has ended.
  int status() {
    auto future = status_.get_future();
    if (future.wait_for(std::chrono::seconds(60)) != std::future_status::ready) {
      ADD_FAILURE() << "the server goes on";
      return -1;
    }
    return future.get();
  }

private:
  int output_ = -1;
  int input_ = -1;
  std::string received_;
  std::promise<int> status_;
  std::thread server_;
};

} // namespace ptlens::server
