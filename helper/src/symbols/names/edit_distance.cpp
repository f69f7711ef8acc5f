// Algorithm: L. Boytsov, "Indexing methods for approximate dictionary searching" (2011), section
// 2.2.
#include "symbols/names/edit_distance.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace ptlens::symbols {

std::size_t edit_distance(std::string_view one, std::string_view other, std::size_t limit) {
  const std::size_t difference =
      one.size() > other.size() ? one.size() - other.size() : other.size() - one.size();
  if (difference >= limit) {
    return limit;
  }
  std::vector<std::size_t> before_last(other.size() + 1);
  std::vector<std::size_t> last(other.size() + 1);
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= one.size(); ++i) {
    row[0] = i;
    std::size_t smallest = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const std::size_t substituted = last[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substituted});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
      smallest = std::min(smallest, row[j]);
    }
    if (smallest >= limit && i > 1) {
      return limit;
    }
    before_last.swap(last);
    last.swap(row);
  }
  return std::min(last[other.size()], limit);
}

} // namespace ptlens::symbols
