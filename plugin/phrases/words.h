// What is said to people, in no language yet: phrases, each in all languages that there are, and what stands in their
// places. Who shows it says in which language.
//
// A text of ours can be put into Words only as a Phrase, and a phrase without its Chinese does not compile; names,
// numbers and what others wrote are the same in every language.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace gangway {

enum class Language : std::uint8_t { kEnglish, kChinese };

// Never defined: who sees one of these names in a compiler's error knows what is wrong with the phrase.
void ThePhraseHasNoChineseText();
void TheTextsOfThePhraseHaveDifferentPlaces();

// "$0" to "$9" are places. Lives as long as the program.
class Phrase {
 public:
  consteval Phrase(const char* english, const char* chinese) : texts_{english, chinese} {
    if (HasLetters(english) && !HasChinese(chinese)) ThePhraseHasNoChineseText();
    if (PlacesOf(english) != PlacesOf(chinese)) TheTextsOfThePhraseHaveDifferentPlaces();
  }
  absl::string_view In(Language language) const { return texts_[static_cast<std::size_t>(language)]; }

 private:
  static constexpr bool HasLetters(const char* text) {
    for (; *text != '\0'; ++text) {
      if ((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z')) return true;
    }
    return false;
  }
  static constexpr bool HasChinese(const char* text) {
    for (; *text != '\0'; ++text) {
      if (static_cast<unsigned char>(*text) >= 0x80) return true;
    }
    return false;
  }
  // Bit n: $n stands in it.
  static constexpr unsigned PlacesOf(const char* text) {
    unsigned places = 0;
    for (; *text != '\0'; ++text) {
      if (text[0] == '$' && text[1] >= '0' && text[1] <= '9') places |= 1U << (text[1] - '0');
    }
    return places;
  }

  std::array<const char*, 2> texts_;
};

// A phrase that is another one for one of something, where the language tells them apart.
class CountedPhrase {
 public:
  consteval CountedPhrase(const char* one, const char* several, const char* chinese)
      : one_(one, chinese), several_(several, chinese) {}
  const Phrase& operator()(std::int64_t count) const { return count == 1 ? one_ : several_; }

 private:
  Phrase one_, several_;
};

class Words {
 public:
  Words() = default;
  // With what stands in the places from $0 on: words, numbers or names.
  template <class... Parts>
  Words(const Phrase& phrase, Parts&&... parts) : phrase_(&phrase) {  // NOLINT(google-explicit-constructor): it is one
    parts_.reserve(sizeof...(parts));
    (parts_.push_back(Part(std::forward<Parts>(parts))), ...);
  }
  Words(Phrase&&) = delete;

  // The same in every language.
  static Words Name(absl::string_view name);
  // Those that are not empty, with the phrase between each two.
  static Words Joined(std::vector<Words> parts, const Phrase& between);
  // Says this and then more.
  Words& Add(Words more);

  bool empty() const { return phrase_ == nullptr && name_.empty() && parts_.empty(); }
  std::string In(Language language) const;
  std::string English() const { return In(Language::kEnglish); }

  friend bool operator==(const Words&, const Words&) = default;

 private:
  template <class T>
  static Words Part(T&& part) {
    using Bare = std::remove_cvref_t<T>;
    static_assert(!std::is_array_v<Bare> && !std::is_pointer_v<Bare>, "a text of ours is a Phrase");
    if constexpr (std::is_convertible_v<T, Words>) {
      return std::forward<T>(part);
    } else if constexpr (std::is_integral_v<Bare>) {
      return Name(absl::StrCat(part));
    } else {
      return Name(part);
    }
  }
  void AppendTo(std::string& out, Language language) const;

  const Phrase* phrase_ = nullptr;  // what has places for the parts, or stands between them
  bool joined_ = false;
  std::string name_;
  std::vector<Words> parts_;
};

}  // namespace gangway
