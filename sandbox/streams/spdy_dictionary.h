// The words that both sides of SPDY/3.1 know when they compress headers (draft 3.1, 2.6.10.1).
#pragma once

#include <string>

namespace gangway::sandbox {

const std::string& SpdyDictionary();  // 1,423 bytes

}  // namespace gangway::sandbox
