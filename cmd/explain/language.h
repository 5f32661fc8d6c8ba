// In which language a person is told.
#pragma once

#include "absl/strings/string_view.h"
#include "plugin/phrases/words.h"

namespace gangway::cmd {

// What the environment says, as kubectl reads it: the first of LC_ALL, LC_MESSAGES and LANG that is not empty. Chinese
// for zh, zh_CN and zh_SG in UTF-8, which is what is printed; English for everything else.
Language LanguageOf(absl::string_view lc_all, absl::string_view lc_messages, absl::string_view lang);

}  // namespace gangway::cmd
