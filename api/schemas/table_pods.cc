#include <string>

#include "absl/strings/str_cat.h"
#include "api/schemas/table.h"
#include "api/schemas/table_rows.h"

namespace gangway::schemas {
namespace {

bool HasTrueCondition(Look pod, absl::string_view type) {
  for (const boost::json::value& value : pod["status"]["conditions"].list()) {
    const Look condition(&value);
    if (condition["type"].text() == type) return condition["status"].text() == "True";
  }
  return false;
}

bool IsSidecar(Look pod, absl::string_view init_container) {
  for (const boost::json::value& value : pod["spec"]["initContainers"].list()) {
    const Look container(&value);
    if (container["name"].text() == init_container) return container["restartPolicy"].text() == "Always";
  }
  return false;
}

// How a container that ended is named: its reason, else its signal or exit code.
std::string EndOf(Look terminated) {
  if (!terminated["reason"].text().empty()) return std::string(terminated["reason"].text());
  if (terminated["signal"].number() != 0) return absl::StrCat("Signal:", terminated["signal"].number());
  return absl::StrCat("ExitCode:", terminated["exitCode"].number());
}

// What one pod's row is made of.
struct PodSummary {
  std::int64_t ready = 0, total = 0, restarts = 0;
  absl::string_view last_restart;  // RFC 3339; later is greater
  std::string reason;

  void CountRestarts(Look container) {
    restarts += container["restartCount"].number();
    last_restart = std::max(last_restart, container["lastState"]["terminated"]["finishedAt"].text());
  }
};

// Goes through the init containers up to the first that is not done; true when there is such a one.
bool SummariseInit(Look pod, PodSummary& summary, PodSummary& sidecars) {
  const boost::json::array& statuses = pod["status"]["initContainerStatuses"].list();
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const Look container(&statuses[i]);
    const bool sidecar = IsSidecar(pod, container["name"].text());
    const Look terminated = container["state"]["terminated"], waiting = container["state"]["waiting"];
    summary.CountRestarts(container);
    if (sidecar) sidecars.CountRestarts(container);
    if (terminated.present() && terminated["exitCode"].number() == 0) continue;
    if (sidecar && container["started"].is_true()) {
      if (container["ready"].is_true()) ++summary.ready;
      continue;
    }
    if (terminated.present()) {
      summary.reason = absl::StrCat("Init:", EndOf(terminated));
    } else if (const absl::string_view why = waiting["reason"].text(); !why.empty() && why != "PodInitializing") {
      summary.reason = absl::StrCat("Init:", why);
    } else {
      summary.reason = absl::StrCat("Init:", i, "/", pod["spec"]["initContainers"].size());
    }
    return true;
  }
  return false;
}

void SummariseContainers(Look pod, PodSummary& summary) {
  bool running = false;
  const boost::json::array& statuses = pod["status"]["containerStatuses"].list();
  for (std::size_t i = statuses.size(); i-- > 0;) {
    const Look container(&statuses[i]);
    const Look state = container["state"];
    summary.CountRestarts(container);
    if (!state["waiting"]["reason"].text().empty()) {
      summary.reason = std::string(state["waiting"]["reason"].text());
    } else if (state["terminated"].present()) {
      summary.reason = EndOf(state["terminated"]);
    } else if (container["ready"].is_true() && state["running"].present()) {
      running = true;
      ++summary.ready;
    }
  }
  if (summary.reason == "Completed" && running)
    summary.reason = HasTrueCondition(pod, "Ready") ? "Running" : "NotReady";
}

PodSummary Summarise(Look pod) {
  PodSummary summary;
  summary.total = static_cast<std::int64_t>(pod["spec"]["containers"].size());
  const absl::string_view phase = pod["status"]["phase"].text();
  summary.reason = std::string(pod["status"]["reason"].text_or(phase));
  for (const boost::json::value& value : pod["status"]["conditions"].list()) {
    const Look condition(&value);
    if (condition["type"].text() == "PodScheduled" && condition["reason"].text() == "SchedulingGated") {
      summary.reason = "SchedulingGated";
    }
  }
  for (const boost::json::value& value : pod["spec"]["initContainers"].list()) {
    if (Look(&value)["restartPolicy"].text() == "Always") ++summary.total;
  }
  PodSummary sidecars;
  const bool initializing = SummariseInit(pod, summary, sidecars);
  if (!initializing || HasTrueCondition(pod, "Initialized")) {
    summary.restarts = sidecars.restarts;
    summary.last_restart = sidecars.last_restart;
    SummariseContainers(pod, summary);
  }
  if (pod["metadata"]["deletionTimestamp"].present()) {
    if (pod["status"]["reason"].text() == "NodeLost") {
      summary.reason = "Unknown";
    } else if (phase != "Succeeded" && phase != "Failed") {
      summary.reason = "Terminating";
    }
  }
  return summary;
}

std::string ReadinessGates(Look pod) {
  const boost::json::array& gates = pod["spec"]["readinessGates"].list();
  if (gates.empty()) return "<none>";
  std::size_t passed = 0;
  for (const boost::json::value& gate : gates) {
    if (HasTrueCondition(pod, Look(&gate)["conditionType"].text())) ++passed;
  }
  return absl::StrCat(passed, "/", gates.size());
}

}  // namespace

void PodCells(Look pod, absl::Time now, Cells& cells) {
  const PodSummary summary = Summarise(pod);
  std::string restarts = absl::StrCat(summary.restarts);
  if (summary.restarts != 0 && !summary.last_restart.empty()) {
    const boost::json::value at = TextCell(summary.last_restart);
    absl::StrAppend(&restarts, " (", Since(Look(&at), now), " ago)");
  }
  cells.push_back(TextCell(pod["metadata"]["name"].text()));
  cells.push_back(TextCell(absl::StrCat(summary.ready, "/", summary.total)));
  cells.push_back(TextCell(summary.reason));
  cells.push_back(TextCell(restarts));
  cells.push_back(TextCell(Since(pod["metadata"]["creationTimestamp"], now)));
  const absl::string_view ip = pod["status"]["podIPs"].at(0)["ip"].text_or(pod["status"]["podIP"].text());
  cells.push_back(TextCell(ip.empty() ? "<none>" : ip));
  cells.push_back(TextCell(pod["spec"]["nodeName"].text_or("<none>")));
  cells.push_back(TextCell(pod["status"]["nominatedNodeName"].text_or("<none>")));
  cells.push_back(TextCell(ReadinessGates(pod)));
}

}  // namespace gangway::schemas
