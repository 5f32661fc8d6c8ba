#include "sandbox/rbac/service_account_token.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "api/json.h"
#include "api/json_value.h"
#include "base/check.h"
#include "sandbox/apiserver/draft/draft.h"
#include "sandbox/rbac/user.h"

namespace gangway::sandbox::rbac {
namespace {

namespace json = boost::json;

constexpr absl::string_view kHeader = R"({"alg":"HS256","typ":"JWT"})";

std::string Base64(absl::string_view text) {
  std::string out = absl::WebSafeBase64Escape(text);
  while (!out.empty() && out.back() == '=') out.pop_back();
  return out;
}

std::string Signature(absl::string_view text, absl::string_view secret) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> sum;
  unsigned int size = 0;
  GW_CHECK(HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                reinterpret_cast<const unsigned char*>(text.data()), text.size(), sum.data(), &size) != nullptr);
  return Base64({reinterpret_cast<const char*>(sum.data()), size});
}

json::object Ref(absl::string_view name, absl::string_view uid) {
  return {{"name", JsonView(name)}, {"uid", JsonView(uid)}};
}

}  // namespace

std::string SignToken(const TokenClaims& claims, absl::string_view secret) {
  json::array audiences;
  for (const std::string& each : claims.audiences) audiences.emplace_back(each);
  json::object kubernetes{{"namespace", claims.ns}};
  if (!claims.bound_kind.empty())
    kubernetes[claims.bound_kind == "Pod" ? "pod" : "secret"] = Ref(claims.bound_name, claims.bound_uid);
  kubernetes["serviceaccount"] = Ref(claims.name, claims.uid);
  const std::string payload = api::ToJson(json::object{{"aud", std::move(audiences)},
                                                       {"exp", absl::ToUnixSeconds(claims.expires)},
                                                       {"iat", absl::ToUnixSeconds(claims.issued)},
                                                       {"iss", JsonView(kTokenIssuer)},
                                                       {"jti", claims.id},
                                                       {"kubernetes.io", std::move(kubernetes)},
                                                       {"nbf", absl::ToUnixSeconds(claims.issued)},
                                                       {"sub", ServiceAccountUser(claims.ns, claims.name)}});
  const std::string text = absl::StrCat(Base64(kHeader), ".", Base64(payload));
  return absl::StrCat(text, ".", Signature(text, secret));
}

absl::StatusOr<TokenClaims> ReadToken(absl::string_view token, absl::string_view secret) {
  const absl::Status none = absl::InvalidArgumentError("the token is none of this API server's");
  const std::size_t dot = token.rfind('.');
  if (dot == absl::string_view::npos) return none;
  const std::string signature = Signature(token.substr(0, dot), secret);
  const absl::string_view given = token.substr(dot + 1);
  if (given.size() != signature.size() || CRYPTO_memcmp(given.data(), signature.data(), given.size()) != 0) return none;
  // From here on it is what SignToken wrote.
  const std::vector<absl::string_view> parts = absl::StrSplit(token, '.');
  std::string payload;
  if (parts.size() != 3 || !absl::WebSafeBase64Unescape(parts[1], &payload)) return none;
  absl::StatusOr<Draft> read = Draft::Parse(payload);
  if (!read.ok()) return none;
  const json::object& object = read->object();
  const json::object* const kubernetes = FindObject(object, "kubernetes.io");
  if (kubernetes == nullptr) return none;
  TokenClaims claims;
  claims.ns = std::string(FindText(*kubernetes, "namespace"));
  claims.name = std::string(TextAt(*kubernetes, "serviceaccount.name"));
  claims.uid = std::string(TextAt(*kubernetes, "serviceaccount.uid"));
  for (const auto& [member, kind] : {std::pair("pod", "Pod"), std::pair("secret", "Secret")}) {
    const json::object* const bound = FindObject(*kubernetes, member);
    if (bound == nullptr) continue;
    claims.bound_kind = kind;
    claims.bound_name = std::string(FindText(*bound, "name"));
    claims.bound_uid = std::string(FindText(*bound, "uid"));
  }
  claims.audiences = TextsIn(object, "aud");
  claims.issued = absl::FromUnixSeconds(IntAt(object, "iat", 0));
  claims.expires = absl::FromUnixSeconds(IntAt(object, "exp", 0));
  claims.id = std::string(FindText(object, "jti"));
  return claims;
}

}  // namespace gangway::sandbox::rbac
