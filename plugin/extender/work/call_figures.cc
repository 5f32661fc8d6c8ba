#include "plugin/extender/work/call_figures.h"

namespace gangway::extender {

void CallFigures::CountResult(absl::string_view call, absl::string_view result) { ResultOf(call, result).Add(); }

void CallFigures::CountMessage(absl::string_view call, std::size_t bytes, absl::Duration took) {
  Message message = MessageOf(call);
  message.duration.Observe(absl::ToDoubleSeconds(took));
  message.bytes.Observe(static_cast<double>(bytes));
}

Counter CallFigures::ResultOf(absl::string_view call, absl::string_view result) {
  {
    const MutexLock lock(mu_);
    if (const auto of_call = results_.find(call); of_call != results_.end()) {
      if (const auto known = of_call->second.find(result); known != of_call->second.end()) return known->second;
    }
  }
  const Counter counter = metrics_.AddCounter(words_.results.name, words_.results.help,
                                              {{words_.call, std::string(call)}, {words_.result, std::string(result)}});
  const MutexLock lock(mu_);
  results_[call].emplace(result, counter);
  return counter;
}

CallFigures::Message CallFigures::MessageOf(absl::string_view call) {
  {
    const MutexLock lock(mu_);
    if (const auto known = messages_.find(call); known != messages_.end()) return known->second;
  }
  const MetricLabels labels = {{words_.call, std::string(call)}};
  const Message message = {
      metrics_.AddHistogram(words_.duration.name, words_.duration.help, words_.duration.bounds, labels),
      metrics_.AddHistogram(words_.bytes.name, words_.bytes.help, words_.bytes.bounds, labels)};
  const MutexLock lock(mu_);
  messages_.emplace(call, message);
  return message;
}

}  // namespace gangway::extender
