// Machine code to be walked by tests of made-up recordings: what header libraries leave in a
// program, with hot and cold parts, exceptions, tail calls and calls through linkage stubs. It is
// rarely changed, so that a seed means the same from day to day.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::json;

int depth_of(const Json& value) {
  int deepest = 0;
  for (const Json& child : value) {
    deepest = std::max(deepest, child.is_structured() ? depth_of(child) : 0);
  }
  return deepest + 1;
}

std::map<std::string, std::vector<double>> collect(const Json& value) {
  std::map<std::string, std::vector<double>> numbers;
  for (const auto& [key, child] : value.items()) {
    if (child.is_number()) {
      numbers[key].push_back(child.get<double>());
    } else if (child.is_object()) {
      for (auto& [name, more] : collect(child)) {
        auto& all = numbers[name];
        all.insert(all.end(), more.begin(), more.end());
      }
    }
  }
  for (auto& [name, all] : numbers) {
    std::stable_sort(all.begin(), all.end());
  }
  return numbers;
}

} // namespace

int main(int argc, char** argv) {
  CLI::App app{"a program"};
  std::vector<std::string> texts;
  std::map<std::string, int> levels;
  app.add_option("--text", texts, "JSON");
  app.add_option("--level", levels, "name and number");
  try {
    app.parse(argc, argv);
    for (const std::string& text : texts) {
      const Json value = Json::parse(text);
      std::cout << value.dump(2) << depth_of(value) << collect(value).size() << '\n';
    }
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const Json::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return static_cast<int>(levels.size());
}
