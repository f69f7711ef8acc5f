// A value that is computed on first use, once for all threads.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace ptlens {

// A value that the first caller of get() computes. Other threads wait for it.
template <class T>
class Lazy {
public:
  explicit Lazy(std::function<T()> make) : make_(std::move(make)) {}

  const T& get() {
    std::call_once(once_, [this] { made_ = &value_.emplace(make_()); });
    return *made_;
  }

private:
  std::function<T()> make_;
  std::once_flag once_;
  std::optional<T> value_;
  const T* made_ = nullptr;
};

} // namespace ptlens
