// The base of abstract classes: an object is destroyed through a pointer to its interface, and
// never copied or moved.
#pragma once

namespace ptlens {

class Interface {
public:
  Interface() = default;
  Interface(const Interface&) = delete;
  Interface& operator=(const Interface&) = delete;
  Interface(Interface&&) = delete;
  Interface& operator=(Interface&&) = delete;
  virtual ~Interface() = default;
};

} // namespace ptlens
