#include "sandbox/apiserver/admission_talk.h"

#include <memory>

#include "absl/strings/str_cat.h"

namespace gangway::sandbox {

const AdmissionTalk::Question& AdmissionTalk::Ask(WebhookCall call, absl::string_view rest, std::string uid) {
  std::unique_ptr<Question>& question = questions_[absl::StrCat(call.server, call.path, "?", call.query, "\n", rest)];
  if (question == nullptr) {
    question = std::make_unique<Question>();
    question->uid = std::move(uid);
    call.body = absl::StrCat(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":")",
                             question->uid, R"(",)", rest, "}}");
    question->call = std::move(call);
    open_.push_back(question.get());
  }
  return *question;
}

}  // namespace gangway::sandbox
