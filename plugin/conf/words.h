// The words that Volcano's scheduler configuration may hold, and what each means here. What a plugin or an argument is
// followed in stands in scheduler_conf.cc.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "plugin/conf/scheduler_conf.h"

namespace gangway::conf {

struct Word {
  const char* name;
  Note::Kind kind;
  const char* text;  // "": it is followed, and there is nothing to say
};

absl::Span<const Word> Actions();
absl::Span<const Word> Plugins();
// What Volcano takes for granted when a plugin is not listed, and what is so here.
absl::Span<const Word> PluginsThatAreMissed();

struct Switch {
  const char* name;
  bool fallback;  // what an absent one means to Volcano
  Note::Kind kind;
  const char* text;              // when it is not what an absent one means
  const char* plugin = nullptr;  // of this one alone
};
absl::Span<const Switch> Switches();
// What it means to that plugin. nullptr: there is none of that name.
const Switch* FindSwitch(absl::string_view plugin, absl::string_view name);

enum class Type { kInteger, kNumber, kBool, kText, kDuration, kAnything };
struct Argument {
  const char* plugin;
  const char* name;
  Type type;
  Note::Kind kind;
  const char* text;                   // "": it is followed
  const char* silent_when = nullptr;  // the value, as JSON, that asks for what is so here
};
absl::Span<const Argument> Arguments();
// Whether its arguments are looked at; of the others the note about the plugin says it all.
bool HasArguments(absl::string_view plugin);

template <class W>
const W* FindWord(absl::Span<const W> words, absl::string_view name) {
  for (const W& word : words) {
    if (name == word.name) return &word;
  }
  return nullptr;
}

template <class W>
std::vector<std::string> NamesOf(absl::Span<const W> words) {
  std::vector<std::string> names;
  for (const W& word : words) names.emplace_back(word.name);
  return names;
}

}  // namespace gangway::conf
