// Each field's way from a PaddleJob to its Job, for those who read the two side by side.
#pragma once

#include <string>
#include <vector>

#include "api/paddle/paddle_job.h"
#include "translator/convert/annotations.h"
#include "translator/convert/translate.h"

namespace gangway::convert {

// In the order of the input's fields, then what is ours. `done` is the finished translation of the job.
std::vector<Step> StepsOf(const api::paddle::PaddleJob& job, const Annotations& annotations,
                          const TranslateOptions& options, const Translation& done);

// The way of the metadata, which is that of either dialect: name, labels, annotations.
std::vector<Step> StepsOfMetadata(const api::ObjectMeta& metadata, const Translation& done);

// What keeps pods from looking for names too early; for both dialects.
Step StepOfWaitDns();

}  // namespace gangway::convert
