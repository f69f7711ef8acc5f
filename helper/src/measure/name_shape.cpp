// A scanner over demangled names. Brackets nest, so that a comma, "::" or space counts only outside
// them; operators are the exception, and are recognised first. Grammar: the output of libiberty's
// cp-demangle.c and rust-demangle.c.
#include "measure/names.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace ptlens::measure {

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

// Longest first.
constexpr std::array operators = {
    "<=>"sv, "->*"sv, "<<="sv, ">>="sv, "->"sv, "<<"sv, ">>"sv, "<="sv, ">="sv, "=="sv,
    "!="sv,  "&&"sv,  "||"sv,  "++"sv,  "--"sv, "+="sv, "-="sv, "*="sv, "/="sv, "%="sv,
    "^="sv,  "&="sv,  "|="sv,  "()"sv,  "[]"sv, "+"sv,  "-"sv,  "*"sv,  "/"sv,  "%"sv,
    "^"sv,   "&"sv,   "|"sv,   "~"sv,   "!"sv,  "="sv,  "<"sv,  ">"sv,  ","sv};

constexpr std::array thunks = {"non-virtual thunk to "sv, "virtual thunk to "sv,
                               "covariant return thunk to "sv};

constexpr std::array clone_suffixes = {".isra."sv, ".constprop."sv, ".part."sv,
                                       ".cold"sv,  ".lto_priv."sv,  ".llvm."sv};

// One past the qualifiers that may follow a parameter list.
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

// One past "operator<<" and the like, else `at`.
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
    while (at_ < text_.size() && step()) {
    }
    return std::move(shape_);
  }

private:
  // False when the name has ended.
  bool step() {
    if (const std::size_t end = operator_end(text_, at_); end != at_) {
      copy_to(end);
      return true;
    }
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("::")) {
      copy_to(at_ + 2);
      shape_.components.push_back(shape_.plain.size());
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
      if (!rest.starts_with(" <")) { // "operator< <int>"; else a return type stood before
        restart();
      }
      ++at_;
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
    at_ = nested ? after : end;
    return nested || shape_.plain.empty() || shape_.plain == "decltype";
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
    }
    at_ = end;
  }

  void restart() {
    shape_.plain.clear();
    shape_.components.assign(1, 0);
  }

  void copy_to(std::size_t end) {
    shape_.plain += text_.substr(at_, end - at_);
    at_ = end;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  NameShape shape_;
};

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
  // A conversion, new, delete, co_await or a literal: as far as its parameters.
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
        awaited.resize(match); // with it go comparisons, "<" that no ">" answers
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
  const bool thunk = std::ranges::any_of(
      thunks, [full](std::string_view prefix) { return full.starts_with(prefix); });
  NameShape shape;
  if (!thunk) {
    shape = Scanner(without_rust_hash(without_clone_suffix(full))).run();
  }
  if (shape.plain.empty() || shape.components.back() >= shape.plain.size()) {
    shape.plain = full;
    shape.components.assign(1, 0);
  }
  return shape;
}

} // namespace ptlens::measure
