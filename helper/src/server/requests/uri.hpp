// URIs of files.
#pragma once

#include <string>

namespace ptlens::server {

// Returns the URI of a path, for example file:///a%20b.
[[nodiscard]] std::string uri_of(const std::string& path);

// Returns the path in a URI such as file:///a%20b; schemes other than file may have a path too.
[[nodiscard]] std::string path_of_uri(const std::string& uri);

} // namespace ptlens::server
