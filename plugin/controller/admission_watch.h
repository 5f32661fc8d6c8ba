// Tells AdmissionFacts of every queue and namespace, for the webhook of a process, whether it leads or not. Writes
// nothing.
#pragma once

#include <memory>

#include "kube/runtime/component.h"
#include "plugin/controller/admission_facts.h"

namespace gangway::controller {

class AdmissionWatch final : public kube::Component {
 public:
  AdmissionWatch(kube::Informers& informers, std::shared_ptr<AdmissionFacts> facts);

 private:
  void Wake() override { facts_->SetComplete(); }

  const std::shared_ptr<AdmissionFacts> facts_;
};

}  // namespace gangway::controller
