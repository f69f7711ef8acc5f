// The conversation with one client: lifecycle, requests, notifications and cancellation. framing,
// output and workers handle bytes and threads; the session and annotations make the answers.
#pragma once

#include "server/annotations/documents.hpp"
#include "server/annotations/newest_figures.hpp"
#include "server/host/host.hpp"
#include "server/recordings/open_recordings.hpp"
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

  // Handles one message, or an error in the frame of one. Call both from one thread only.
  void receive(const std::string& body);
  void bad_frame(const std::string& what);

  // Returns whether the client has sent `exit`.
  [[nodiscard]] bool ended() const { return ended_; }
  // Returns the exit status: 0 after `shutdown`, else 1.
  [[nodiscard]] int status() const { return stage_ == Stage::shut_down ? 0 : 1; }
  // Returns the client's process id, once the client has sent it.
  [[nodiscard]] std::optional<std::int32_t> client() const { return client_; }

  // Finalises a running recording, cancels all other work, and waits until both have ended.
  void stop();

private:
  enum class Stage { new_client, ready, shut_down };
  enum class Trace { off, messages, verbose };
  using Work = std::function<Answer(Pending&, const Input&)>;

  struct Traits {
    const char* title = nullptr; // of its progress; nullptr: it reports no progress
    bool records = false;        // makes a recording
    bool changes_lenses = false; // lenses and line texts may differ afterwards
  };
  // A request that a worker does.
  struct Method {
    Work work;
    Traits traits;
  };

  void add(const char* name, Work work);
  void add(const char* name, Work work, Traits traits);
  void add_methods();
  void add_machine_methods();
  void add_recording_methods();
  void add_query_methods();
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
  [[nodiscard]] std::shared_ptr<Pending> pending_by_token(const Json& token) const;
  // Finds the request of a FinishParams, and calls `act` with its progress.
  [[nodiscard]] Answer act_on(const Input& params, const std::function<void(Progress&)>& act) const;

  void open_at_start();
  // Delays the answer to a client that cannot refresh (`refreshes` is false) until the recording of
  // the start is open.
  void wait_for_start(bool refreshes, Pending& pending) const;
  // Sends a request and ignores its answer.
  void send_request(const char* method, Json params);

  // Replaces an empty value by the client's default.
  static void use_default(std::string& value, const std::string& otherwise);
  [[nodiscard]] Answer open(const Input& params, const Session::PartialListener& partial,
                            Progress& progress);
  [[nodiscard]] Answer compare(const Input& params, Progress& progress);
  [[nodiscard]] Answer show_function(const Input& params);
  [[nodiscard]] Result<Json> function_at(const protocol::FunctionAtParams& request);
  [[nodiscard]] Result<NewestFigures> annotated(const std::string& path);

  const Host host_;
  Output& output_;
  const std::string version_;
  Session session_;
  Documents documents_;
  std::map<std::string, Method> methods_;
  Stage stage_ = Stage::new_client;
  bool ended_ = false;
  std::optional<std::int32_t> client_;
  std::string symfs_; // defaults from the client
  std::string perf_;
  std::string recording_; // opened at the start
  std::string baseline_;  // compared with `recording_`
  std::shared_future<void> opened_at_start_;
  bool integrated_ = false; // the client is the PT Lens extension, which draws line texts itself
  bool refreshes_lenses_ = false;
  bool refreshes_hints_ = false;
  bool shows_documents_ = false;
  std::atomic<Trace> trace_ = Trace::off;
  std::atomic<std::uint64_t> last_own_id_ = 0;
  mutable std::mutex mutex_;                                // guards pending_
  std::map<std::string, std::shared_ptr<Pending>> pending_; // by dumped id
  Workers workers_; // the last member, because its threads use all others
};

} // namespace ptlens::server
