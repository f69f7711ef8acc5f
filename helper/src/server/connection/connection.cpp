// The conversation with one client.
#include "server/connection/connection.hpp"

#include "protocol/fields.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <string_view>
#include <utility>
#include <vector>

namespace ptlens::server {

namespace {

constexpr int protocol_version = 1;
constexpr int incremental = 2; // TextDocumentSyncKind
constexpr std::size_t most_threads = 16;
constexpr std::size_t most_waiting = 1000;
constexpr std::size_t longest_trace = 2000;

constexpr std::array<std::string_view, 3> own_commands = {"ptlens.open", "ptlens.compare",
                                                          "ptlens.showFunction"};

Fault fault(int code, std::string message) {
  return {.code = code, .message = std::move(message)};
}

std::string key_of(const Json& id) {
  return exporting::dump(id);
}

// Returns the method of a request. workspace/executeCommand of ptlens.server.NAME is ptlens/NAME
// with the command's first argument as its parameters; own_commands are methods themselves.
std::string method_of(Incoming& incoming) {
  constexpr std::string_view prefix = "ptlens.server.";
  if (incoming.method != "workspace/executeCommand" || !incoming.params.is_object()) {
    return incoming.method;
  }
  const auto command = incoming.params.find("command");
  if (command == incoming.params.end() || !command->is_string()) {
    return incoming.method;
  }
  std::string method = command->get<std::string>();
  if (method.starts_with(prefix)) {
    method = "ptlens/" + method.substr(prefix.size());
  } else if (std::ranges::find(own_commands, method) == own_commands.end()) {
    return incoming.method;
  }
  Input params = Input::object();
  const auto arguments = incoming.params.find("arguments");
  if (arguments != incoming.params.end() && arguments->is_array() && !arguments->empty()) {
    params = std::move(arguments->front());
  }
  if (params.is_string()) { // typed by a user
    params = {{method == "ptlens.showFunction" ? "name" : "path", std::move(params)}};
  }
  const auto token = incoming.params.find("workDoneToken");
  if (token != incoming.params.end() && params.is_object()) {
    params["workDoneToken"] = std::move(*token);
  }
  incoming.params = std::move(params);
  return method;
}

// Returns the id of the recording in an answer; empty where the answer has none.
std::string id_of_opened(const Json& answer) {
  return answer.is_object() ? answer.value(Json::json_pointer("/recording/id"), std::string())
                            : std::string();
}

Json token_json(const protocol::ProgressToken& token) {
  return std::visit([](const auto& value) { return Json(value); }, token);
}

} // namespace

void Connection::add(const char* name, Work work) {
  add(name, std::move(work), Traits{});
}

void Connection::add(const char* name, Work work, Traits traits) {
  methods_[name] = {.work = std::move(work), .traits = traits};
}

Connection::Connection(Host host, Output& output, std::string version)
    : host_(std::move(host)), output_(output), version_(std::move(version)), session_(host_),
      workers_(most_threads, most_waiting) {
  add_methods();
}

Connection::~Connection() {
  stop();
}

void Connection::stop() {
  session_.stop();
  std::vector<std::shared_ptr<Pending>> waiting;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, pending] : pending_) {
      waiting.push_back(pending);
    }
  }
  for (const auto& pending : waiting) {
    if (!pending->records()) {
      pending->cancel();
    }
  }
  workers_.finish();
}

void Connection::bad_frame(const std::string& what) {
  output_.send(fault_message(nullptr, fault(code::parse_error, what)));
}

void Connection::receive(const std::string& body) {
  auto incoming = read_message(body);
  if (!incoming) {
    output_.send(fault_message(incoming.error().id, incoming.error().fault));
    return;
  }
  switch (incoming->kind) {
  case Incoming::Kind::request:
    trace(fmt::format("received request '{}' {}", incoming->method, key_of(incoming->id)), body);
    request(*incoming);
    break;
  case Incoming::Kind::notification:
    trace(fmt::format("received notification '{}'", incoming->method), body);
    notification(*incoming);
    break;
  case Incoming::Kind::response:
    break;
  }
}

void Connection::answer(const Json& id, Answer answer) {
  output_.send(answer ? result_message(id, std::move(*answer)) : fault_message(id, answer.error()));
}

void Connection::request(Incoming& incoming) {
  const Json& id = incoming.id;
  {
    const std::lock_guard lock(mutex_);
    const auto same = pending_.find(key_of(id));
    if (same != pending_.end() && !same->second->answered()) {
      answer(id, std::unexpected(fault(code::invalid_request, "this id is in use")));
      return;
    }
  }
  if (stage_ == Stage::shut_down) {
    answer(id, std::unexpected(fault(code::invalid_request, "the helper is shut down")));
  } else if (incoming.method == "initialize") {
    answer(id, stage_ == Stage::new_client
                   ? initialize(incoming.params)
                   : std::unexpected(fault(code::invalid_request, "initialized already")));
  } else if (stage_ == Stage::new_client) {
    answer(id, std::unexpected(fault(code::not_initialized, "send `initialize` first")));
  } else if (incoming.method == "shutdown") {
    stage_ = Stage::shut_down;
    session_.stop();
    answer(id, Json(nullptr));
  } else if (incoming.method == "ptlens/snapshot") {
    answer(id, act_on(incoming.params, [](Progress& progress) { progress.snapshot(); }));
  } else if (incoming.method == "ptlens/finish") {
    answer(id, act_on(incoming.params, [](Progress& progress) { progress.finish(); }));
  } else if (const auto method = methods_.find(method_of(incoming)); method != methods_.end()) {
    start(method->first, method->second, id, std::move(incoming.params));
  } else {
    answer(id, std::unexpected(
                   fault(code::method_not_found, fmt::format("no method '{}'", incoming.method))));
  }
}

void Connection::notification(const Incoming& incoming) {
  if (incoming.method == "exit") {
    ended_ = true;
  } else if (stage_ == Stage::new_client) {
    return;
  } else if (incoming.method == "initialized") {
    open_at_start();
  } else if (incoming.method == "textDocument/didOpen") {
    documents_.open(incoming.params);
  } else if (incoming.method == "textDocument/didChange") {
    documents_.change(incoming.params);
  } else if (incoming.method == "textDocument/didClose") {
    documents_.close(incoming.params);
  } else if (incoming.method == "$/cancelRequest") {
    std::shared_ptr<Pending> pending;
    if (incoming.params.is_object() && incoming.params.contains("id")) {
      const std::lock_guard lock(mutex_);
      const auto at = pending_.find(key_of(token_of(incoming.params["id"])));
      pending = at == pending_.end() ? nullptr : at->second;
    }
    if (pending) {
      pending->cancel();
    }
  } else if (incoming.method == "window/workDoneProgress/cancel") {
    if (!incoming.params.is_object() || !incoming.params.contains("token")) {
      return;
    }
    if (const auto pending = pending_by_token(token_of(incoming.params["token"]))) {
      pending->cancel();
    }
  } else if (incoming.method == "$/setTrace") {
    set_trace(incoming.params, "value");
  }
}

std::shared_ptr<Pending> Connection::pending_by_token(const Json& token) const {
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::find_if(pending_, [&token](const auto& entry) {
    return !token.is_null() && entry.second->token() == token;
  });
  return at == pending_.end() ? nullptr : at->second;
}

Answer Connection::act_on(const Input& params, const std::function<void(Progress&)>& act) const {
  const auto request = protocol::read_parameters<protocol::FinishParams>(params);
  if (!request) {
    return std::unexpected(fault_of(request.error()));
  }
  const auto pending = pending_by_token(token_json(request->token));
  if (pending) {
    act(pending->progress());
  }
  return to_json(protocol::FinishResult{.found = pending != nullptr});
}

Answer Connection::initialize(const Input& params) {
  std::optional<protocol::BadField> bad;
  const protocol::Fields fields(params, "", bad);
  const std::int64_t client = fields.integer("processId", 0, INT32_MAX).value_or(0);
  protocol::InitializationOptions options;
  read(fields.child("initializationOptions"), options);
  const protocol::Fields capabilities = fields.child("capabilities");
  const protocol::Fields workspace = capabilities.child("workspace");
  const auto has = [](const protocol::Fields& capability, const char* name) {
    return capability.flag(name).value_or(false);
  };
  refreshes_lenses_ = has(workspace.child("codeLens"), "refreshSupport");
  refreshes_hints_ = has(workspace.child("inlayHint"), "refreshSupport");
  shows_documents_ = has(capabilities.child("window").child("showDocument"), "support");
  if (bad) {
    return std::unexpected(fault_of(*bad));
  }
  symfs_ = std::move(options.symfs);
  perf_ = std::move(options.perf);
  recording_ = std::move(options.recording);
  baseline_ = std::move(options.baseline);
  integrated_ = options.integrated;
  set_trace(params, "trace");
  if (client > 0) {
    client_ = static_cast<std::int32_t>(client);
  }
  stage_ = Stage::ready;
  Json commands = Json::array();
  for (const auto& [name, method] : methods_) {
    if (name.starts_with("ptlens/")) {
      commands.push_back("ptlens.server." + name.substr(name.find('/') + 1));
    }
  }
  if (!integrated_) { // the extension has commands with these names
    for (const std::string_view command : own_commands) {
      commands.push_back(command);
    }
  }
  return Json{{"protocolVersion", protocol_version},
              {"serverInfo", {{"name", "ptlens"}, {"version", version_}}},
              {"capabilities",
               {{"textDocumentSync", {{"openClose", true}, {"change", incremental}}},
                {"codeLensProvider", {{"resolveProvider", false}}},
                {"hoverProvider", true},
                {"inlayHintProvider", !integrated_},
                {"executeCommandProvider", {{"commands", std::move(commands)}}}}}};
}

void Connection::start(const std::string& name, const Method& method, const Json& id,
                       Input params) {
  Pending::Options options;
  if (method.traits.title != nullptr) {
    std::optional<protocol::BadField> bad;
    const auto token = protocol::Fields(params, "", bad).token("workDoneToken");
    if (bad) {
      answer(id, std::unexpected(fault_of(*bad)));
      return;
    }
    options.token = token ? token_json(*token) : Json(nullptr);
    options.title = method.traits.title;
    options.records = method.traits.records;
    options.cleans_up = method.traits.records;
  }
  auto pending = std::make_shared<Pending>(output_, id, std::move(options));
  {
    const std::lock_guard lock(mutex_);
    pending_[key_of(id)] = pending;
  }
  auto task = [this, name, &method, pending, params = std::move(params)] {
    do_work(name, method, *pending, params);
    forget(*pending);
  };
  if (!workers_.run(std::move(task))) {
    forget(*pending);
    answer(id,
           std::unexpected(fault(code::failed, "too many requests are waiting; try again later")));
  }
}

void Connection::forget(const Pending& pending) {
  const std::lock_guard lock(mutex_);
  const auto at = pending_.find(key_of(pending.id()));
  if (at != pending_.end() && at->second.get() == &pending) {
    pending_.erase(at);
  }
}

void Connection::do_work(const std::string& name, const Method& method, Pending& pending,
                         const Input& params) {
  const auto began = std::chrono::steady_clock::now();
  Answer outcome = std::unexpected(cancelled_fault());
  if (!pending.progress().cancelled()) {
    pending.begin();
    try {
      outcome = method.work(pending, params);
    } catch (const std::exception& exception) {
      outcome = std::unexpected(fault(code::internal_error, exception.what()));
    }
  }
  const bool changes_lenses = method.traits.changes_lenses && outcome;
  const std::string opened =
      changes_lenses && method.traits.title != nullptr ? id_of_opened(*outcome) : std::string();
  const bool sent = pending.answer(std::move(outcome));
  trace(fmt::format("answered '{}' {} after {} ms", name, key_of(pending.id()),
                    std::chrono::duration_cast<std::chrono::milliseconds>(
                        std::chrono::steady_clock::now() - began)
                        .count()));
  if (!changes_lenses) {
    return;
  }
  if (!sent && !opened.empty()) { // the client does not know its id
    [[maybe_unused]] const auto closed = session_.close(opened);
    return;
  }
  refresh_lenses();
}

void Connection::send_request(const char* method, Json params) {
  Json message = request_message(fmt::format("ptlens-{}", ++last_own_id_), method);
  if (!params.is_null()) {
    message["params"] = std::move(params);
  }
  output_.send(message);
}

void Connection::refresh_lenses() {
  if (refreshes_lenses_) {
    send_request("workspace/codeLens/refresh", nullptr);
  }
  if (refreshes_hints_ && !integrated_) {
    send_request("workspace/inlayHint/refresh", nullptr);
  }
}

// Opens the recording that the initializationOptions name.
void Connection::open_at_start() {
  if (recording_.empty()) {
    return;
  }
  const auto complain = [this](const Fault& fault) {
    constexpr int is_error = 1;
    output_.send(server::notification(
        "window/showMessage", {{"type", is_error}, {"message", "PT Lens: " + fault.message}}));
  };
  auto done = std::make_shared<std::promise<void>>();
  opened_at_start_ = done->get_future();
  static_cast<void>(workers_.run([this, complain, done] {
    Progress progress;
    auto opened = open({{"path", recording_}}, nullptr, progress);
    if (opened && !baseline_.empty()) {
      opened = compare({{"path", baseline_}}, progress);
    }
    if (!opened) {
      complain(opened.error());
    }
    done->set_value();
    refresh_lenses();
  }));
}

void Connection::wait_for_start(bool refreshes, Pending& pending) const {
  constexpr auto pause = std::chrono::milliseconds(20);
  while (!refreshes && opened_at_start_.valid() && !pending.progress().cancelled() &&
         opened_at_start_.wait_for(pause) == std::future_status::timeout) {
  }
}

void Connection::set_trace(const Input& params, const char* field) {
  if (params.is_object() && params.contains(field)) {
    const Input& value = params[field];
    trace_ = value == "verbose"    ? Trace::verbose
             : value == "messages" ? Trace::messages
                                   : Trace::off;
  }
}

void Connection::trace(const std::string& message, const std::string& details) {
  const Trace level = trace_;
  if (level == Trace::off) {
    return;
  }
  Json params = {{"message", message}};
  if (level == Trace::verbose && !details.empty()) {
    params["verbose"] = details.substr(0, longest_trace);
  }
  output_.send(server::notification("$/logTrace", std::move(params)));
}

} // namespace ptlens::server
