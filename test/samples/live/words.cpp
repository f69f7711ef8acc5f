// Counts the words of a text in four ways that differ in cost by what they call: two call library
// functions for each word, two look at each character.
//
//   --rounds N   each way is taken once in a round (40)
#include "program.hpp"

#include <map>
#include <sstream>
#include <string_view>

namespace {

// Text of words from 1 to 9 letters, by a linear congruential generator.
std::string make_text(std::size_t size) {
  std::string text;
  std::uint64_t state = 1;
  while (text.size() < size) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const std::size_t length = 1 + (state >> 60) % 9;
    for (std::size_t letter = 0; letter < length; ++letter) {
      text += static_cast<char>('a' + (state >> (8 + 5 * letter)) % 26);
    }
    text += ' ';
  }
  return text;
}

} // namespace

// Reads word by word from a stream.
OWN_FUNCTION std::size_t count_by_stream(const std::string& text) {
  std::istringstream stream(text);
  std::string word;
  std::size_t words = 0;
  while (stream >> word) {
    ++words;
  }
  return words;
}

// Puts each word into a map by its first two letters.
OWN_FUNCTION std::size_t count_by_map(const std::string& text) {
  std::map<std::string, std::size_t> counts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(' '); end != std::string::npos; end = text.find(' ', begin)) {
    ++counts[text.substr(begin, std::min<std::size_t>(end - begin, 2))];
    begin = end + 1;
  }
  std::size_t words = 0;
  for (const auto& [word, count] : counts) {
    words += count;
  }
  return words;
}

// Follows a machine of two states.
OWN_FUNCTION std::size_t count_by_state(const std::string& text) {
  std::size_t words = 0;
  bool inside = false;
  for (const char character : text) {
    if (character == ' ') {
      inside = false;
    } else if (!inside) {
      inside = true;
      ++words;
    }
  }
  return words;
}

// Counts the spaces; the text has one after each word.
OWN_FUNCTION std::size_t count_by_spaces(const std::string& text) {
  std::size_t words = 0;
  for (const char character : text) {
    words += character == ' ' ? 1 : 0;
  }
  return words;
}

int main(int count, char** words) {
  double rounds = 40;
  truth::Program program(count, words, {{"--rounds", &rounds}});
  const std::string text = make_text(40'000);
  struct Way {
    const char* name;
    std::size_t (*count)(const std::string&);
    truth::Latencies latencies;
  };
  std::vector<Way> ways{{"count_by_stream", count_by_stream, {}},
                        {"count_by_map", count_by_map, {}},
                        {"count_by_state", count_by_state, {}},
                        {"count_by_spaces", count_by_spaces, {}}};
  std::size_t found = 0;
  program.start();
  for (double round = 0; round < rounds && !program.ends(truth::ticks()); ++round) {
    std::size_t others = 0;
    for (Way& way : ways) {
      const std::uint64_t begin = truth::ticks();
      found = way.count(text);
      way.latencies.add(truth::ticks() - begin);
      if (others != 0 && others != found) {
        std::fputs("words: the counts differ\n", stderr);
        return 1;
      }
      others = found;
    }
  }
  std::vector<std::pair<const char*, const truth::Latencies*>> functions;
  for (const Way& way : ways) {
    functions.emplace_back(way.name, &way.latencies);
  }
  return program.finish(functions);
}
