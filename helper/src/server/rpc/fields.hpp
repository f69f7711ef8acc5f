// Reads the fields of a message and remembers the path of the first one that is not what it must
// be.
#pragma once

#include "server/rpc/json_rpc.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ptlens::server {

enum class Presence { optional, required };

class Fields {
public:
  // An absent value (null) has no fields. `fault` outlives this object and its children.
  Fields(const Input& value, std::string path, std::optional<Fault>& fault);

  // Each leaves `out` as it is where the field is absent or null.
  void read(const char* name, std::string& out, Presence presence = Presence::optional) const;
  void read(const char* name, bool& out) const;
  void read(const char* name, std::vector<std::string>& out) const;
  // An object of strings.
  void read(const char* name, std::map<std::string, std::string>& out) const;
  void read_number(const char* name, double& out, double low, double high) const;
  // The same for a field that must be whole.
  void read_integer(const char* name, std::int64_t& out, std::int64_t low, std::int64_t high,
                    Presence presence = Presence::optional) const;
  // "0x…".
  void read_address(const char* name, std::optional<std::uint64_t>& out) const;
  // [low, high] with low <= high, both non-negative.
  void read_interval(const char* name, std::optional<std::pair<double, double>>& out) const;
  // An object of strings, as "NAME=VALUE".
  void read_environment(const char* name, std::vector<std::string>& out) const;
  // One of the words.
  void read_word(const char* name, std::string& out, const std::vector<std::string>& words) const;
  // A string that is not empty.
  void read_name(const char* name, std::string& out) const;

  [[nodiscard]] bool has(const char* name) const;
  [[nodiscard]] Fields child(const char* name) const;
  // A string or an integer; null where absent.
  [[nodiscard]] Json token(const char* name) const;

  void refuse(const char* name, const std::string& what) const;

private:
  [[nodiscard]] const Input* find(const char* name) const;
  const Input* find(const char* name, Presence presence) const;
  // Null where it is absent, or no object, which is refused.
  [[nodiscard]] const Input* find_object(const char* name) const;

  const Input& value_;
  std::string path_;
  std::optional<Fault>& fault_;
};

} // namespace ptlens::server
