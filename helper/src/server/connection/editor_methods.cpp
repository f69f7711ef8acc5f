// The requests about a text in an editor, and the commands for editors without the PT Lens
// extension: ptlens.open, ptlens.compare and ptlens.showFunction.
#include "base/cancellation.hpp"
#include "base/user_cache.hpp"
#include "server/annotations/annotated_file.hpp"
#include "server/annotations/newest_figures.hpp"
#include "server/connection/ask.hpp"
#include "server/connection/connection.hpp"
#include "server/requests/text_params.hpp"
#include "server/requests/uri.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <utility>

namespace ptlens::server {
namespace {

// Returns what `use` makes of the parameters.
template <class Params, class Use>
Answer ask_text(const Read<Params>& params, const Use& use) {
  if (!params) {
    return std::unexpected(fault_of(params.error()));
  }
  return use(*params);
}

} // namespace

Result<NewestFigures> Connection::annotated(const std::string& path) {
  return newest_figures(session_.shown(), session_.baseline(), path, documents_);
}

void Connection::add_editor_methods() {
  add("textDocument/codeLens", [this](Pending& pending, const Input& params) {
    wait_for_start(refreshes_lenses_, pending);
    return ask_text(read_document(params), [this](const TextPosition& at) -> Json {
      const auto file = annotated(at.file);
      return file ? code_lenses(*file, integrated_) : Json::array();
    });
  });
  add("textDocument/hover", [this](Pending& pending, const Input& params) {
    return ask_text(read_position(params), [&](const TextPosition& at) -> Json {
      const Cancellable scope(pending.progress());
      const auto file = annotated(at.file);
      return file ? hover(*file, at.line, {.links = integrated_}) : Json(nullptr);
    });
  });
  add("textDocument/inlayHint", [this](Pending& pending, const Input& params) {
    wait_for_start(refreshes_hints_, pending);
    return ask_text(read_range(params), [this](const TextRange& range) -> Json {
      const auto file = annotated(range.file);
      return file ? inlay_hints(*file, {.first = range.first, .last = range.last}) : Json::array();
    });
  });
  add("ptlens/annotations", [this](Pending&, const Input& params) {
    return ask<protocol::AnnotationsParams>(params, [this](const auto& request) -> Result<Json> {
      const auto file = annotated(request.file);
      if (!file) {
        return std::unexpected(file.error());
      }
      return line_annotations(*file, {.first = request.first, .last = request.last}, request.heat);
    });
  });
  add("ptlens/presentLine", [this](Pending&, const Input& params) {
    return ask<protocol::PresentLineParams>(params, [this](const auto& request) -> Result<Json> {
      const auto active = session_.active();
      const auto line = active == nullptr ? std::optional(request.line)
                                          : present_line(*active, request.recorded, request.file,
                                                         request.line, documents_);
      return to_json(protocol::PresentLineResult{.line = line});
    });
  });
  add("ptlens.open",
      [this](Pending& pending, const Input& params) {
        return open(params, nullptr, pending.progress());
      },
      {.title = "Opening the recording", .changes_lenses = true});
  add("ptlens.compare",
      [this](Pending& pending, const Input& params) { return compare(params, pending.progress()); },
      {.changes_lenses = true});
  add("ptlens.showFunction",
      [this](Pending&, const Input& params) { return show_function(params); });
}

Answer Connection::compare(const Input& params, Progress& progress) {
  const auto active = session_.active();
  if (active == nullptr) {
    return std::unexpected(fault_of(Error{.kind = Error::Kind::not_found,
                                          .message = "no recording is open",
                                          .remedy = "open one with ptlens.open first"}));
  }
  return ask<protocol::OpenParams>(params, [&](OpenRequest& request) -> Result<Json> {
    request.activate = false;
    use_default(request.symfs, symfs_);
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
  return ask<protocol::ShowFunctionParams>(params, [this](const auto& request) -> Result<Json> {
    const auto text = session_.report_text(
        {.name = request.name, .binary = request.binary, .address = request.address});
    if (!text) {
      return std::unexpected(text.error());
    }
    const std::string folder = cache_folder();
    std::error_code failed;
    if (shows_documents_ && !folder.empty()) {
      std::filesystem::create_directories(folder, failed);
      const std::string path = folder + "/report.txt";
      if (std::ofstream stream(path, std::ios::trunc); stream << *text << std::flush) {
        send_request("window/showDocument", {{"uri", uri_of(path)}, {"takeFocus", true}});
        return to_json(protocol::ShownReport{.path = path});
      }
    }
    constexpr int is_information = 3; // LSP's MessageType
    output_.send(
        server::notification("window/showMessage", {{"type", is_information}, {"message", *text}}));
    return to_json(protocol::ShownReport{});
  });
}

} // namespace ptlens::server
