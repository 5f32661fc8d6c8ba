// What a server answered, told so that two servers that behave alike tell the same: what chance and the clock make
// becomes a word, numbered by the order in which it appears in the case.
//
//   <uid 1>, <rv 1>       of an object; a list's version, which counts everybody's writes, is <version>
//   <time>, <micro time>  of now; times that a case wrote itself stay
//   <age>, <days>         since now, since a time that a case wrote
//   a-<name>              what generateName made, wherever it stands
//   <ns>, <large>         the case's own words
//   <an OpenAPI document> what is larger than everything else together
//
// Entries of managedFields are in order of their managers: the server sorts them by times of whole seconds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "boost/json.hpp"
#include "kube/client/client.h"

namespace gangway::testutil {

// Of one case; the order of calls is that of its steps.
class Normalizer {
 public:
  // Texts that stand for others: the namespace, and what else the case calls by a name.
  explicit Normalizer(std::vector<std::pair<std::string, std::string>> words) : words_(std::move(words)) {}

  // {"code":, "type":, "body":, and where there are any "warnings":, "retry-after":}; members in order of their names.
  boost::json::object Of(const kube::Response& response);
  // {"ADDED": the object}
  boost::json::object Of(const kube::Frame& frame);

 private:
  boost::json::value Walk(const boost::json::value& value, const std::string& key, bool of_list);
  boost::json::value WalkObject(const boost::json::object& object, const std::string& key, bool of_list);
  std::string Text(std::string text);
  // "<what N>": the same for the same text.
  std::string Numbered(const std::string& what, const std::string& text);

  std::vector<std::pair<std::string, std::string>> words_;
  std::map<std::string, std::map<std::string, std::string>> numbered_;
  std::map<std::string, std::string> generated_;
};

}  // namespace gangway::testutil
