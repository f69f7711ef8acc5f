// One client's conversation: lifecycle, requests, notifications, cancellation. Bytes and threads
// are below it (framing, output, workers), answers behind it (session, annotations).
#pragma once

#include "server/annotations/documents.hpp"
#include "server/host.hpp"
#include "server/open_recordings.hpp"
#include "server/rpc/json_rpc.hpp"
#include "server/rpc/output.hpp"
#include "server/rpc/pending.hpp"
#include "server/rpc/workers.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace ptlens::server {

class Connection {
public:
  Connection(Host host, Output& output, std::string version);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  Connection(Connection&&) = delete;
  Connection& operator=(Connection&&) = delete;
  ~Connection();

  // One message, or what was wrong with the frame of one. From one thread only.
  void receive(const std::string& body);
  void bad_frame(const std::string& what);

  // The client has sent `exit`.
  [[nodiscard]] bool ended() const { return ended_; }
  // 0 after `shutdown`, else 1.
  [[nodiscard]] int status() const { return stage_ == Stage::shut_down ? 0 : 1; }
  // The client's process, once it has named it.
  [[nodiscard]] std::optional<std::int32_t> client() const { return client_; }

  // Ends what runs and waits for it: a recording is finalised, all else is cancelled.
  void stop();

private:
  enum class Stage { new_client, ready, shut_down };
  enum class Trace { off, messages, verbose };
  using Work = std::function<Answer(Pending&, const Input&)>;

  // A request that a worker does.
  struct Method {
    Work work;
    const char* title = nullptr; // of its progress; nullptr: it shows none
    bool records = false;        // makes a recording
    bool changes_lenses = false; // what is open is another afterwards
  };

  void add_methods();
  void add_editor_methods();
  void request(Incoming& incoming);
  void notification(const Incoming& incoming);
  void answer(const Json& id, Answer answer);
  [[nodiscard]] Answer initialize(const Input& params);
  void start(const std::string& name, const Method& method, const Json& id, Input params);
  void do_work(const std::string& name, const Method& method, Pending& pending,
               const Input& params);
  void forget(const Pending& pending);
  void refresh_lenses();
  void set_trace(const Input& params, const char* field);
  void trace(const std::string& message, const std::string& details = {});
  [[nodiscard]] std::shared_ptr<Pending> pending_by_token(const Input& params) const;

  void open_at_start();
  // A client that cannot be told to ask again gets its answer once the recording of the start is
  // open.
  void wait_for_start(bool refreshes, Pending& pending) const;
  // Sends a request whose answer does not matter.
  void tell(const char* method, Json params);

  [[nodiscard]] Answer open_for_editor(const Input& params, Progress& progress);
  [[nodiscard]] Answer compare_for_editor(const Input& params, Progress& progress);
  [[nodiscard]] Answer show_function(const Input& params);
  [[nodiscard]] Answer doctor(const Input& params);
  [[nodiscard]] Answer function_at(const Input& params);

  const Host host_;
  Output& output_;
  const std::string version_;
  Session session_;
  Documents documents_;
  std::map<std::string, Method> methods_;
  Stage stage_ = Stage::new_client;
  bool ended_ = false;
  std::optional<std::int32_t> client_;
  std::string symfs_; // defaults that the client gave
  std::string perf_;
  std::string recording_; // to open at the start, and what to compare it with
  std::string baseline_;
  std::shared_future<void> opened_at_start_;
  bool integrated_ = false; // the client is our own extension: it draws lines by itself
  bool refreshes_lenses_ = false;
  bool refreshes_hints_ = false;
  bool shows_documents_ = false;
  std::atomic<Trace> trace_ = Trace::off;
  std::atomic<std::uint64_t> last_own_id_ = 0;
  mutable std::mutex mutex_;                                // guards pending_
  std::map<std::string, std::shared_ptr<Pending>> pending_; // by dumped id
  Workers workers_; // last: its threads use all of the above
};

} // namespace ptlens::server
