// The requests about a text in the editor, and the commands for editors that have no extension of
// ours: ptlens.open, ptlens.compare and ptlens.showFunction.
#include "base/cancellation.hpp"
#include "engine/cache/cache_location.hpp"
#include "server/annotations/annotated_file.hpp"
#include "server/annotations/code_lens.hpp"
#include "server/annotations/hover.hpp"
#include "server/annotations/line_annotations.hpp"
#include "server/methods/ask.hpp"
#include "server/rpc/connection.hpp"
#include "server/rpc/fields.hpp"

#include <filesystem>
#include <fstream>
#include <utility>

namespace ptlens::server {
namespace {

// file:///a%20b.
std::string uri_of(const std::string& path) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string uri = "file://";
  for (const char byte : path) {
    const auto value = static_cast<unsigned char>(byte);
    const bool plain = (value >= 'a' && value <= 'z') || (value >= 'A' && value <= 'Z') ||
                       (value >= '0' && value <= '9') ||
                       std::string_view("/-_.~").find(byte) != std::string_view::npos;
    if (plain) {
      uri += byte;
    } else {
      uri += {'%', digits[value >> 4U], digits[value & 15U]};
    }
  }
  return uri;
}

} // namespace

void Connection::add_editor_methods() {
  methods_["textDocument/codeLens"] = {.work = [this](Pending& pending, const Input& params) {
    wait_for_start(refreshes_lenses_, pending);
    return ask(
        params, [](const Input& input) { return read_place(input, false); },
        [this](const Place& place) -> Result<Json> {
          const auto file =
              annotate(session_.active(), session_.baseline(), place.file, documents_);
          return file ? code_lenses(*file) : Json::array();
        });
  }};
  methods_["textDocument/hover"] = {.work = [this](Pending& pending, const Input& params) {
    return ask(
        params, [](const Input& input) { return read_place(input, true); },
        [&](const Place& place) -> Result<Json> {
          const Cancellable scope(pending.progress());
          const auto file =
              annotate(session_.active(), session_.baseline(), place.file, documents_);
          return file ? hover(*file, place.line, {.links = integrated_}) : Json(nullptr);
        });
  }};
  methods_["textDocument/inlayHint"] = {.work = [this](Pending& pending, const Input& params) {
    wait_for_start(refreshes_hints_, pending);
    return ask(params, read_inlay_range, [this](const AnnotationsRequest& request) -> Result<Json> {
      const auto file = annotate(session_.active(), session_.baseline(), request.file, documents_);
      return file ? inlay_hints(*file, {.first = request.first, .last = request.last})
                  : Json::array();
    });
  }};
  methods_["ptlens/annotations"] = {.work = [this](Pending&, const Input& params) {
    return ask(params, read_annotations, [this](const AnnotationsRequest& request) -> Result<Json> {
      const auto file = annotate(session_.active(), session_.baseline(), request.file, documents_);
      if (!file) {
        return std::unexpected(file.error());
      }
      return line_annotations(*file, {.first = request.first, .last = request.last}, request.heat);
    });
  }};
  methods_["ptlens/presentLine"] = {.work = [this](Pending&, const Input& params) {
    return ask(
        params, read_present_line, [this](const PresentLineRequest& request) -> Result<Json> {
          const auto active = session_.active();
          const auto line =
              active == nullptr
                  ? std::optional(request.line)
                  : present_line(*active, request.recorded, request.file, request.line, documents_);
          return Json{{"line", line ? Json(*line) : Json(nullptr)}};
        });
  }};
  methods_["ptlens.open"] = {
      .work = [this](Pending& pending,
                     const Input& params) { return open_for_editor(params, pending.progress()); },
      .title = "Opening the recording",
      .changes_lenses = true};
  methods_["ptlens.compare"] = {.work =
                                    [this](Pending& pending, const Input& params) {
                                      return compare_for_editor(params, pending.progress());
                                    },
                                .changes_lenses = true};
  methods_["ptlens.showFunction"] = {
      .work = [this](Pending&, const Input& params) { return show_function(params); }};
}

Answer Connection::open_for_editor(const Input& params, Progress& progress) {
  return ask(params, read_open, [&](OpenRequest& request) {
    if (request.symfs.empty()) {
      request.symfs = symfs_;
    }
    return session_.open(request, nullptr, progress);
  });
}

Answer Connection::compare_for_editor(const Input& params, Progress& progress) {
  const auto active = session_.active();
  if (active == nullptr) {
    return std::unexpected(fault_of({.kind = Error::Kind::not_found,
                                     .message = "no recording is open",
                                     .remedy = "open one with ptlens.open first"}));
  }
  return ask(params, read_open, [&](OpenRequest& request) -> Result<Json> {
    request.activate = false;
    if (request.symfs.empty()) {
      request.symfs = symfs_;
    }
    auto opened = session_.open(request, nullptr, progress);
    if (!opened) {
      return opened;
    }
    const auto id = (*opened)["recording"]["id"].get<std::string>();
    if (auto done = session_.activate({.id = active->id, .baseline = id}); !done) {
      return done;
    }
    return opened;
  });
}

Answer Connection::show_function(const Input& params) {
  std::optional<Fault> bad;
  const Fields fields(params, "", bad);
  FunctionSelector function;
  fields.read_name("name", function.name);
  fields.read("binary", function.binary);
  fields.read_address("address", function.address);
  if (bad) {
    return std::unexpected(std::move(*bad));
  }
  const auto text = session_.report_text(function);
  if (!text) {
    return std::unexpected(fault_of(text.error()));
  }
  const std::string folder = engine::cache_folder();
  std::error_code failed;
  if (shows_documents_ && !folder.empty()) {
    std::filesystem::create_directories(folder, failed);
    const std::string path = folder + "/report.txt";
    if (std::ofstream stream(path, std::ios::trunc); stream << *text << std::flush) {
      tell("window/showDocument", {{"uri", uri_of(path)}, {"takeFocus", true}});
      return Json{{"path", path}};
    }
  }
  output_.send(server::notification("window/showMessage", {{"type", 3}, {"message", *text}}));
  return Json::object();
}

} // namespace ptlens::server
