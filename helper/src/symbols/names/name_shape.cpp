// A scanner over demangled names. Brackets nest, and a comma, "::" or space counts only outside
// them. Operators are the exception and are recognised first. Grammar: the output of libiberty's
// cp-demangle.c and rust-demangle.c, and Go's symbol names (cmd/internal/objabi, "PathToPrefix").
#include "symbols/names/name_shape.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace ptlens::symbols {

namespace {

using std::string_view_literals::operator""sv;

bool is_identifier(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_';
}

char closer_of(char open) {
  switch (open) {
  case '(':
    return ')';
  case '[':
    return ']';
  case '{':
    return '}';
  case '<':
    return '>';
  default:
    return '\0';
  }
}

// The longest operators come first.
constexpr std::array operators = {
    "<=>"sv, "->*"sv, "<<="sv, ">>="sv, "->"sv, "<<"sv, ">>"sv, "<="sv, ">="sv, "=="sv,
    "!="sv,  "&&"sv,  "||"sv,  "++"sv,  "--"sv, "+="sv, "-="sv, "*="sv, "/="sv, "%="sv,
    "^="sv,  "&="sv,  "|="sv,  "()"sv,  "[]"sv, "+"sv,  "-"sv,  "*"sv,  "/"sv,  "%"sv,
    "^"sv,   "&"sv,   "|"sv,   "~"sv,   "!"sv,  "="sv,  "<"sv,  ">"sv,  ","sv};

constexpr std::array thunks = {"non-virtual thunk to "sv, "virtual thunk to "sv,
                               "covariant return thunk to "sv};

constexpr std::array clone_suffixes = {".isra."sv, ".constprop."sv, ".part."sv,
                                       ".cold"sv,  ".lto_priv."sv,  ".llvm."sv};

// Returns the position after the qualifiers that may follow a parameter list.
std::size_t skip_qualifiers(std::string_view text, std::size_t at) {
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view word :
         {" const"sv, " volatile"sv, " &&"sv, " &"sv, " noexcept"sv}) {
      if (text.substr(at).starts_with(word)) {
        at += word.size();
        found = true;
        break;
      }
    }
  }
  return at;
}

std::string_view without_rust_hash(std::string_view name) {
  constexpr std::size_t length = 19; // "::h" and 16 hexadecimal digits
  if (name.size() > length && name.substr(name.size() - length).starts_with("::h") &&
      name.substr(name.size() - 16).find_first_not_of("0123456789abcdef") ==
          std::string_view::npos) {
    name.remove_suffix(length);
  }
  return name;
}

std::string_view without_clone_suffix(std::string_view name) {
  std::size_t end = std::min(name.find(" [clone "), name.size());
  for (const std::string_view suffix : clone_suffixes) {
    end = std::min(end, name.find(suffix));
  }
  return end == 0 ? name : name.substr(0, end);
}

constexpr std::string_view operator_keyword = "operator";

bool operator_begins(std::string_view text, std::size_t at) {
  return text.substr(at).starts_with(operator_keyword) && (at == 0 || !is_identifier(text[at - 1]));
}

// Returns the position after "operator<<" and the like, else `at`.
std::size_t symbolic_operator_end(std::string_view text, std::size_t at) {
  if (!operator_begins(text, at)) {
    return at;
  }
  const std::size_t end = at + operator_keyword.size();
  const std::string_view rest = text.substr(end);
  const auto* const symbol = std::ranges::find_if(
      operators, [rest](std::string_view candidate) { return rest.starts_with(candidate); });
  return symbol == operators.end() ? at : end + symbol->size();
}

class Scanner {
public:
  explicit Scanner(std::string_view text) : text_(text) {}

  NameShape run() {
    shape_.components.push_back(0);
    shape_.written.push_back(0);
    while (at_ < text_.size() && step()) {
    }
    if (shape_.parameters == 0) {
      shape_.parameters = text_.size();
    }
    return std::move(shape_);
  }

private:
  // Reads the next element. Returns false at the end of the name.
  bool step() {
    if (const std::size_t end = operator_end(text_, at_); end != at_) {
      copy_to(end);
      return true;
    }
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("::")) {
      copy_to(at_ + 2);
      shape_.components.push_back(shape_.plain.size());
      shape_.written.push_back(at_);
      return true;
    }
    switch (text_[at_]) {
    case '(':
      return parenthesis(rest);
    case '<':
      angle();
      return true;
    case '{':
      copy_to(group_end(text_, at_));
      return true;
    case '[': // an ABI tag
      at_ = group_end(text_, at_);
      return true;
    case ' ':
      if (!rest.starts_with(" <")) { // "operator< <int>"; otherwise a return type came before
        restart();
      }
      ++at_;
      if (shape_.plain.empty()) {
        shape_.written.back() = at_;
      }
      return true;
    default:
      copy_to(at_ + 1);
      return true;
    }
  }

  bool parenthesis(std::string_view rest) {
    if (constexpr std::string_view anonymous = "(anonymous namespace)";
        rest.starts_with(anonymous)) {
      copy_to(at_ + anonymous.size());
      return true;
    }
    const std::size_t end = group_end(text_, at_);
    const std::size_t after = skip_qualifiers(text_, end);
    const bool nested = text_.substr(after).starts_with("::");
    const bool goes_on = nested || shape_.plain.empty() || shape_.plain == "decltype";
    if (!goes_on) {
      shape_.parameters = at_;
    }
    at_ = nested ? after : end;
    return goes_on;
  }

  void angle() {
    const std::size_t end = group_end(text_, at_);
    if (shape_.plain.empty()) { // Rust's "<T as Trait>::method"
      copy_to(end);
      return;
    }
    if (shape_.plain.ends_with("::")) { // Rust's "f::<T>"
      shape_.plain.resize(shape_.plain.size() - 2);
      shape_.components.pop_back();
      shape_.written.pop_back();
    }
    at_ = end;
  }

  void restart() {
    shape_.plain.clear();
    shape_.components.assign(1, 0);
    shape_.written.assign(1, at_);
  }

  void copy_to(std::size_t end) {
    shape_.plain += text_.substr(at_, end - at_);
    at_ = end;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  NameShape shape_;
};

// Checks for Go's symbols, which are written as in the source: "path/package.(*Type[...]).Method".
// In C++, a dot only begins a clone's suffix or is among parameters.
bool is_go(std::string_view full) {
  const std::string_view name = without_clone_suffix(full);
  const std::string_view head = name.substr(0, name.find('['));
  if (head.find('.', 1) == std::string_view::npos ||
      head.find_first_of(" <>:@{,") != std::string_view::npos) {
    return false;
  }
  const std::size_t open = head.find('(');
  return open == std::string_view::npos ||
         (head.substr(0, open).ends_with('.') && head.substr(open).starts_with("(*"));
}

// Returns the shape of a Go name, without type arguments; "(*Type)" stays. Components begin after
// slashes, and after the dots that follow the last slash.
NameShape go_shape(std::string_view full) {
  NameShape shape;
  shape.components.push_back(0);
  shape.written.push_back(0);
  const std::string_view path = full.substr(0, std::min(full.find('['), full.find('(')));
  const std::size_t slash = path.rfind('/');
  const std::size_t package = slash == std::string_view::npos ? 0 : slash + 1;
  for (std::size_t at = 0; at < full.size();) {
    if (full[at] == '[') {
      at = group_end(full, at);
      continue;
    }
    shape.plain += full[at++];
    const char character = full[at - 1];
    if (at < full.size() && ((character == '/' && at <= package) ||
                             (character == '.' && at > package && full[at] != '.'))) {
      shape.components.push_back(shape.plain.size());
      shape.written.push_back(at);
    }
  }
  shape.parameters = full.size();
  return shape;
}

// Returns the position of `wanted` outside all brackets, npos where there is none.
std::size_t outside_brackets(std::string_view text, std::string_view wanted) {
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with(wanted)) {
      return at;
    }
    at = closer_of(text[at]) == '\0' ? at + 1 : group_end(text, at);
  }
  return std::string_view::npos;
}

} // namespace

std::string_view NameShape::last() const {
  return std::string_view(plain).substr(components.back());
}

std::size_t operator_end(std::string_view text, std::size_t at) {
  if (const std::size_t end = symbolic_operator_end(text, at); end != at) {
    return end;
  }
  if (!operator_begins(text, at)) {
    return at;
  }
  std::size_t end = at + operator_keyword.size();
  if (end == text.size() || (text[end] != ' ' && text[end] != '"')) {
    return at;
  }
  // A conversion, new, delete, co_await or a literal: the name ends at its parameters.
  while (end < text.size() && text[end] != '(' && text[end] != '>' && text[end] != ',') {
    end = text[end] == '<' || text[end] == '[' ? group_end(text, end) : end + 1;
  }
  return end;
}

std::size_t group_end(std::string_view text, std::size_t open) {
  std::string awaited;
  for (std::size_t at = open; at < text.size(); ++at) {
    const char character = text[at];
    if (const char closer = closer_of(character); closer != '\0') {
      awaited.push_back(closer);
    } else if (character == '>') {
      const bool arrow = at > 0 && text[at - 1] == '-';
      if (!arrow && awaited.back() == '>') {
        awaited.pop_back();
      }
    } else if (character == ')' || character == ']' || character == '}') {
      const std::size_t match = awaited.rfind(character);
      if (match != std::string::npos) {
        awaited.resize(match); // this also drops comparisons: each "<" without a ">"
      }
    } else if (character == 'o') {
      at = std::max(symbolic_operator_end(text, at), at + 1) - 1;
    }
    if (awaited.empty()) {
      return at + 1;
    }
  }
  return text.size();
}

NameShape shape_of(std::string_view full) {
  if (is_go(full)) {
    return go_shape(full);
  }
  const bool thunk = std::ranges::any_of(
      thunks, [full](std::string_view prefix) { return full.starts_with(prefix); });
  NameShape shape;
  if (!thunk) {
    shape = Scanner(without_rust_hash(without_clone_suffix(full))).run();
  }
  if (shape.plain.empty() || shape.components.back() >= shape.plain.size()) {
    shape.plain = full;
    shape.components.assign(1, 0);
    shape.written.assign(1, 0);
    shape.parameters = full.size();
  }
  return shape;
}

std::vector<NameShape> other_shapes(std::string_view full) {
  std::vector<NameShape> others;
  if (is_go(full)) {
    if (const std::size_t open = full.find(".(*"); open != std::string_view::npos) {
      const std::size_t end = group_end(full, open + 1);
      std::string written(full.substr(0, open + 1));
      written += full.substr(open + 3, end - open - 4);
      written += full.substr(end);
      others.push_back(go_shape(written));
    }
    return others;
  }
  if (!full.starts_with('<')) {
    return others;
  }
  const std::size_t end = group_end(full, 0);
  if (!full.substr(end).starts_with("::")) {
    return others;
  }
  const std::string_view inside = full.substr(1, end - 2);
  const std::size_t as = outside_brackets(inside, " as ");
  others.push_back(shape_of(std::string(inside.substr(0, as)).append(full.substr(end))));
  if (as != std::string_view::npos) {
    others.push_back(shape_of(std::string(inside.substr(as + 4)).append(full.substr(end))));
  }
  return others;
}

std::string without_parameters(std::string_view full) {
  return shape_of(full).plain;
}

std::string last_component(std::string_view full) {
  return std::string(shape_of(full).last());
}

} // namespace ptlens::symbols
