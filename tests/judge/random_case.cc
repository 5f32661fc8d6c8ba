#include "tests/judge/random_case.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"

namespace gangway::testutil {
namespace {

using boost::json::array;
using boost::json::object;

constexpr const char* kHostname = "kubernetes.io/hostname";
constexpr const char* kZone = "topology.kubernetes.io/zone";

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : seed_(seed), random_(seed) {}

  object Make() {
    // What a case is about. One that is about everything at once would be refused everywhere by the first filter.
    for (bool* theme : {&taints_, &selectors_, &ports_, &resources_, &affinity_, &spread_, &volumes_})
      *theme = Chance(28);
    if (spread_) {  // over the nodes that may be had
      selectors_ = Chance(50);
      taints_ = Chance(50);
      ports_ = resources_ = volumes_ = Chance(10);
    } else if (drivers_ = Chance(30); drivers_) {  // how much they take is seen where little else stands in the way
      volumes_ = true;
      for (bool* theme : {&taints_, &selectors_, &ports_, &resources_, &affinity_}) *theme = Chance(8);
    }
    // Claims and spreads count them otherwise than pods that are there, and who stays away from them does so for
    // Kubernetes on the one node alone, whatever the topology.
    nominated_ = !volumes_ && !spread_ && seed_ % 10 < 3;
    resources_ = resources_ || nominated_;  // they are about room
    object made;
    const int nodes = affinity_ || spread_ ? 2 + Below(7) : 1 + Below(Chance(30) ? 8 : 4);
    array list;
    for (int i = 0; i < nodes; ++i) {
      nodes_.push_back(absl::StrCat("n", i));
      list.push_back(Node(nodes_.back()));
    }
    made["nodes"] = std::move(list);
    made["namespaces"] = Namespaces();
    if (volumes_) AddStorage(made);
    array pods;
    const int count = affinity_ || spread_ || drivers_ ? 2 + Below(12) : Below(Chance(30) ? 14 : 5);
    for (int i = 0; i < count; ++i) pods.push_back(PlacedPod(absl::StrCat("p", i)));
    made["pod"] = Pod("ns", "x", true);
    if (nominated_) {
      made["pod"].as_object()["spec"].as_object()["priority"] = Chance(50) ? 0 : 10;
      for (int i = 1 + Below(3); i > 0; --i) pods.push_back(NominatedPod(absl::StrCat("q", i)));
    }
    made["pods"] = std::move(pods);
    if (volumes_ && !claims_.empty()) made["claims"] = std::move(claims_);
    return made;
  }

 private:
  using Words = std::initializer_list<const char*>;

  int Below(int bound) { return static_cast<int>(random_.Below(static_cast<std::uint64_t>(bound))); }
  bool Chance(int percent) { return Below(100) < percent; }
  std::string Pick(Words words) { return words.begin()[Below(static_cast<int>(words.size()))]; }
  // Some of them, in order; at least `least`.
  std::vector<std::string> Some(Words words, std::size_t least = 1) {
    std::vector<std::string> some;
    for (const char* word : words) {
      if (Chance(45)) some.emplace_back(word);
    }
    while (some.size() < least) {
      std::string word = Pick(words);
      if (std::find(some.begin(), some.end(), word) == some.end()) some.push_back(std::move(word));
    }
    return some;
  }
  static array List(const std::vector<std::string>& words) { return array(words.begin(), words.end()); }

  // ---- nodes

  object Node(const std::string& name) {
    object labels{{"kubernetes.io/os", "linux"}};
    if (!Chance(5)) labels[kHostname] = !nominated_ && Chance(4) ? "n0" : name;
    if (!Chance(12)) labels[kZone] = Pick({"a", "b", "c"});
    if (Chance(30)) labels["topology.kubernetes.io/region"] = Pick({"r", "s"});
    if (Chance(60)) labels["disktype"] = Pick({"ssd", "hdd", ""});
    if (Chance(50)) labels["gpus"] = Pick({"0", "1", "4", "16", "x", "04", "9223372036854775807"});
    if (Chance(40)) labels["rack"] = Pick({"1", "2"});
    object spec;
    if (Chance(taints_ ? 25 : 4)) spec["unschedulable"] = true;
    array taints;
    std::set<std::pair<std::string, std::string>> seen;
    for (int i = taints_ ? Below(3) : Chance(5); i > 0; --i) {
      object taint{{"key", TaintKey()}, {"effect", Pick({"NoSchedule", "NoExecute", "PreferNoSchedule"})}};
      if (Chance(60)) taint["value"] = TaintValue();
      if (seen.emplace(taint["key"].as_string().c_str(), taint["effect"].as_string().c_str()).second)
        taints.push_back(std::move(taint));
    }
    if (spec.contains("unschedulable") && Chance(50) &&
        seen.emplace("node.kubernetes.io/unschedulable", "NoSchedule").second) {
      taints.push_back(object{{"key", "node.kubernetes.io/unschedulable"}, {"effect", "NoSchedule"}});
    }
    if (!taints.empty()) spec["taints"] = std::move(taints);
    object amounts{{"cpu", Pick({"1", "2", "4", "3500m", "8"})},
                   {"memory", Pick({"1Gi", "2Gi", "4G", "8Gi"})},
                   {"pods", Pick({"2", "5", "110", "110"})}};
    if (Chance(60)) amounts["ephemeral-storage"] = Pick({"1Gi", "10Gi"});
    if (Chance(40)) amounts["example.com/gpu"] = Pick({"0", "1", "2", "4"});
    if (Chance(30)) amounts["hugepages-2Mi"] = Pick({"4Mi", "64Mi"});
    if (Chance(4)) amounts.erase("cpu");
    object status{{Chance(95) ? "allocatable" : "capacity", std::move(amounts)}};
    return object{{"metadata", object{{"name", name}, {"labels", std::move(labels)}}},
                  {"spec", std::move(spec)},
                  {"status", std::move(status)}};
  }
  std::string TaintKey() { return Pick({"dedicated", "gpu", "node.kubernetes.io/not-ready"}); }
  std::string TaintValue() { return Pick({"", "x", "y"}); }

  array Namespaces() {
    array list;
    for (const char* name : {"ns", "other", "third"}) {
      object labels;
      if (Chance(60)) labels["team"] = Pick({"red", "blue"});
      if (Chance(30)) labels["env"] = "prod";
      list.push_back(object{{"metadata", object{{"name", name}, {"labels", std::move(labels)}}}});
    }
    return list;
  }

  // ---- pods

  object PlacedPod(const std::string& name) {
    const std::string ns = Pick({"ns", "ns", "ns", "other", "third"});
    object pod = Pod(ns, name, false);
    object& spec = pod["spec"].as_object();
    if (Chance(93)) spec["nodeName"] = Chance(5) ? std::string("gone") : FirstRather();
    // On a node that is not there a claim is in use for us, who cannot know that it is not; Kubernetes' scheduler
    // forgets such pods.
    if (spec.contains("nodeName") && spec["nodeName"] == "gone") spec.erase("volumes");
    object status;
    if (Chance(spread_ ? 20 : 8)) {
      pod["metadata"].as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
      status["phase"] = Pick({"Running", "Running", "Pending", "Succeeded", "Failed"});
    } else {
      status["phase"] =
          Pick({"Running", "Running", "Running", "Running", "Pending", "Pending", "Succeeded", "Failed", "Unknown"});
    }
    if (resources_ && Chance(40)) AddResize(spec, status);
    pod["status"] = std::move(status);
    return pod;
  }

  // It is to be on a node, and is not there yet.
  object NominatedPod(const std::string& name) {
    object pod = Pod(Pick({"ns", "ns", "other"}), name, false);
    object& spec = pod["spec"].as_object();
    spec["priority"] = Chance(50) ? 0 : Chance(50) ? 10 : -10;
    spec.erase("affinity");  // whom it keeps off Kubernetes forgets where nobody who is there keeps off others
    pod["status"] =
        object{{"phase", "Pending"}, {"nominatedNodeName", Chance(5) ? std::string("gone") : FirstRather()}};
    return pod;
  }

  // Where pods stand unevenly, it shows whether they are to be spread.
  std::string FirstRather() {
    const int nodes = static_cast<int>(nodes_.size());
    return nodes_[static_cast<std::size_t>(std::min(Below(nodes), Below(nodes)))];
  }

  object Pod(const std::string& ns, const std::string& name, bool asked) {
    object metadata{{"namespace", ns}, {"name", name}, {"uid", absl::StrCat("u-", name)}, {"labels", PodLabels()}};
    object spec;
    name_ = name;
    ns_ = ns;
    asked_ = asked;
    host_network_ = ports_ && Chance(20);
    if (host_network_) spec["hostNetwork"] = true;
    port_keys_.clear();
    array containers;
    for (int i = 0, count = 1 + Below(2); i < count; ++i) containers.push_back(Container(absl::StrCat("c", i), false));
    spec["containers"] = std::move(containers);
    if (Chance(resources_ ? 50 : 10)) {
      array init;
      for (int i = 0, count = 1 + Below(3); i < count; ++i) init.push_back(Container(absl::StrCat("i", i), true));
      spec["initContainers"] = std::move(init);
    }
    if (resources_ && Chance(25)) spec["overhead"] = object{{"cpu", Pick({"250m", "1"})}, {"memory", "64Mi"}};
    if (resources_ && Chance(25)) spec["resources"] = PodResources();
    if (taints_ || Chance(5)) AddTolerations(spec);
    if (selectors_ && Chance(60)) spec["nodeSelector"] = NodeSelector();
    object affinity;
    if (selectors_ && Chance(70)) affinity["nodeAffinity"] = NodeAffinity();
    if (affinity_ && Chance(asked ? 50 : 35)) affinity["podAffinity"] = PodAffinity();
    if (affinity_ && Chance(asked ? 50 : 60)) affinity["podAntiAffinity"] = PodAffinity();
    if (!affinity.empty()) spec["affinity"] = std::move(affinity);
    if (spread_ && Chance(asked ? 90 : 10)) spec["topologySpreadConstraints"] = Spread();
    if (volumes_ && Chance(asked ? 90 : drivers_ ? 80 : 50)) spec["volumes"] = Volumes(asked);
    return object{{"metadata", std::move(metadata)}, {"spec", std::move(spec)}};
  }

  object PodLabels() {
    object labels;
    if (!Chance(10)) labels["app"] = Pick({"a", "a", "b"});
    if (Chance(60)) labels["tier"] = Pick({"x", "y"});
    if (Chance(60)) labels["version"] = Pick({"1", "2"});
    return labels;
  }

  // ---- what is taken

  object Container(const std::string& name, bool init) {
    object container{{"name", name}, {"image", "i"}};
    if (init && Chance(45)) container["restartPolicy"] = "Always";
    if (Chance(resources_ ? 90 : 30)) container["resources"] = Resources();
    if (ports_ && Chance(init ? 25 : 70)) AddPorts(container);
    return container;
  }

  object Resources() {
    object requests, limits;
    const auto add = [&](const char* name, const std::string& amount) {
      switch (Below(4)) {
        case 0:
          limits[name] = amount;  // is the request, too
          break;
        case 1:
          limits[name] = amount;
          [[fallthrough]];
        default:
          requests[name] = amount;
      }
    };
    if (Chance(75))
      add("cpu",
          Chance(6) ? Pick({"0.0005", "100u", "1e-3", "1.0001"}) : Pick({"100m", "500m", "1", "1500m", "0", "2"}));
    if (Chance(60))
      add("memory", Chance(6) ? Pick({"0.5", "1500m", "1e9"}) : Pick({"256Mi", "1Gi", "500M", "0", "1073741825"}));
    if (Chance(20)) add("ephemeral-storage", Pick({"512Mi", "2Gi"}));
    if (Chance(15)) limits["example.com/gpu"] = Pick({"1", "2", "0"});
    if (Chance(8) && (requests.contains("cpu") || requests.contains("memory")))
      limits["hugepages-2Mi"] = Pick({"2Mi", "4Mi"});
    object resources;
    if (!requests.empty()) resources["requests"] = std::move(requests);
    if (!limits.empty()) resources["limits"] = std::move(limits);
    return resources;
  }

  object PodResources() {
    object resources;
    if (Chance(70)) {
      object& requests = resources["requests"].emplace_object();
      if (Chance(80)) requests["cpu"] = Pick({"4", "6", "3"});
      if (Chance(50)) requests["memory"] = Pick({"3Gi", "6Gi"});
    }
    if (Chance(50)) {
      object& limits = resources["limits"].emplace_object();
      if (Chance(80)) limits["cpu"] = Pick({"6", "8"});
      if (Chance(50)) limits["memory"] = "6Gi";
    }
    return resources;
  }

  // A pod that was resized in place: what its containers have may be more than its spec says by now.
  void AddResize(const object& spec, object& status) {
    for (const auto& [list, statuses] :
         {std::pair("containers", "containerStatuses"), std::pair("initContainers", "initContainerStatuses")}) {
      if (!spec.contains(list)) continue;
      array told;
      for (const auto& container : spec.at(list).as_array()) {
        if (Chance(30)) continue;
        object each{{"name", container.at("name")}};
        if (Chance(85))
          each["resources"] =
              object{{"requests", object{{"cpu", Pick({"100m", "1", "3"})}, {"memory", Pick({"128Mi", "2Gi"})}}}};
        if (Chance(60)) each["allocatedResources"] = object{{"cpu", Pick({"100m", "1", "2500m"})}, {"memory", "256Mi"}};
        told.push_back(std::move(each));
      }
      status[statuses] = std::move(told);
    }
    if (spec.contains("resources") && Chance(60)) {
      status["resources"] = object{{"requests", object{{"cpu", Pick({"3", "7"})}}}};
      if (Chance(50)) status["allocatedResources"] = object{{"cpu", Pick({"2", "5"})}};
    }
    if (Chance(40))
      status["conditions"] =
          array{object{{"type", "PodResizePending"}, {"status", "True"}, {"reason", Pick({"Infeasible", "Deferred"})}}};
  }

  void AddPorts(object& container) {
    array ports;
    for (int i = 0, count = 1 + Below(2); i < count; ++i) {
      const std::string number = Pick({"8080", "8081"});
      object port{{"containerPort", std::stoi(number)}};
      const std::string protocol = Chance(50) ? "" : Pick({"TCP", "UDP", "SCTP"});
      const std::string ip = Chance(50) ? "" : Pick({"0.0.0.0", "127.0.0.1", "10.0.0.1", "::1", "::"});
      if (!protocol.empty()) port["protocol"] = protocol;
      if (!ip.empty()) port["hostIP"] = ip;
      if (!host_network_ && Chance(85)) port["hostPort"] = std::stoi(number);
      if (host_network_ && Chance(50)) port["hostPort"] = std::stoi(number);
      if (port_keys_.insert(absl::StrCat(number, protocol.empty() ? "TCP" : protocol, ip)).second)
        ports.push_back(std::move(port));
    }
    container["ports"] = std::move(ports);
  }

  // ---- what is asked of nodes

  void AddTolerations(object& spec) {
    array tolerations;
    for (int i = Below(4); i > 0; --i) {
      object toleration;
      if (!Chance(15)) toleration["key"] = Chance(15) ? "node.kubernetes.io/unschedulable" : TaintKey();
      if (!toleration.contains("key") || Chance(40)) {
        toleration["operator"] = "Exists";
      } else {
        if (Chance(40)) toleration["operator"] = "Equal";
        if (Chance(70)) toleration["value"] = TaintValue();
      }
      if (Chance(65)) toleration["effect"] = Pick({"NoSchedule", "NoExecute", "PreferNoSchedule"});
      if (toleration.contains("effect") && toleration["effect"] == "NoExecute" && Chance(50))
        toleration["tolerationSeconds"] = Below(2) * 300;
      tolerations.push_back(std::move(toleration));
    }
    if (!tolerations.empty()) spec["tolerations"] = std::move(tolerations);
  }

  object NodeSelector() {
    switch (Below(4)) {
      case 0:
        return {{"disktype", Pick({"ssd", "hdd", ""})}};
      case 1:
        return {{kZone, Pick({"a", "b"})}, {"disktype", "ssd"}};
      case 2:
        return {{kHostname, Pick({"n0", "n1", "n9"})}};
      default:
        return {{kZone, Pick({"a", "b", "d"})}};
    }
  }

  object NodeRequirement() {
    switch (Below(6)) {
      case 0:
        return {{"key", kZone}, {"operator", Pick({"In", "NotIn"})}, {"values", List(Some({"a", "b", "c"}))}};
      case 1:
        return {{"key", "disktype"}, {"operator", Pick({"In", "NotIn"})}, {"values", List(Some({"ssd", "hdd", ""}))}};
      case 2:
        return {{"key", Pick({"rack", "disktype", "gpus"})}, {"operator", Pick({"Exists", "DoesNotExist"})}};
      case 3:
      case 4:
        return {{"key", "gpus"},
                {"operator", Pick({"Gt", "Lt"})},
                {"values", array{Pick({"0", "1", "3", "16", "x", "9223372036854775807", "9223372036854775808"})}}};
      default:
        return {{"key", kHostname}, {"operator", Pick({"In", "NotIn"})}, {"values", List(Some({"n0", "n1", "n2"}))}};
    }
  }
  object NodeTerm() {
    object term;
    array expressions, fields;
    for (int i = Below(3); i > 0; --i) expressions.push_back(NodeRequirement());
    if (Chance(25))
      fields.push_back(object{
          {"key", "metadata.name"}, {"operator", Pick({"In", "NotIn"})}, {"values", array{Pick({"n0", "n1", "n2"})}}});
    if (!expressions.empty()) term["matchExpressions"] = std::move(expressions);
    if (!fields.empty()) term["matchFields"] = std::move(fields);
    return term;
  }
  object NodeAffinity() {
    object affinity;
    if (Chance(85)) {
      array terms;
      for (int i = 0, count = 1 + Below(2); i < count; ++i) terms.push_back(NodeTerm());
      affinity["requiredDuringSchedulingIgnoredDuringExecution"] = object{{"nodeSelectorTerms", std::move(terms)}};
    }
    if (Chance(25)) {
      affinity["preferredDuringSchedulingIgnoredDuringExecution"] =
          array{object{{"weight", 1 + Below(100)}, {"preference", NodeTerm()}}};
    }
    return affinity;
  }

  // ---- what is asked of other pods

  object PodSelector() {
    object selector;
    if (Chance(60))
      selector["matchLabels"] = Chance(75) ? object{{"app", Pick({"a", "b"})}} : object{{"app", "a"}, {"tier", "x"}};
    if (Chance(35)) {
      array expressions;
      if (Chance(60)) {
        expressions.push_back(
            object{{"key", "tier"}, {"operator", Pick({"In", "NotIn"})}, {"values", List(Some({"x", "y"}))}});
      } else {
        expressions.push_back(object{{"key", Pick({"tier", "app"})}, {"operator", Pick({"Exists", "DoesNotExist"})}});
      }
      selector["matchExpressions"] = std::move(expressions);
    }
    return selector;
  }
  std::string TopologyKey() {
    if (nominated_) return kHostname;
    return Pick({kHostname, kHostname, kHostname, kZone, kZone, kZone, kZone, "rack"});
  }

  object AffinityTerm() {
    object term{{"topologyKey", TopologyKey()}};
    if (!Chance(6)) term["labelSelector"] = PodSelector();
    if (Chance(25)) term["namespaces"] = List(Some({"ns", "other", "third"}));
    if (Chance(25)) {
      object selector;
      if (Chance(70))
        selector["matchLabels"] =
            Chance(70) ? object{{"team", Pick({"red", "blue"})}} : object{{"kubernetes.io/metadata.name", "other"}};
      // For the pod itself Kubernetes 1.36 takes one that holds without labels for one of every namespace:
      // kubernetes/kubernetes#141526.
      const std::string op = asked_ ? "Exists" : Pick({"Exists", "DoesNotExist"});
      if (Chance(25)) selector["matchExpressions"] = array{object{{"key", "env"}, {"operator", op}}};
      term["namespaceSelector"] = std::move(selector);
    }
    if (term.contains("labelSelector") && Chance(25))
      term[Pick({"matchLabelKeys", "mismatchLabelKeys"})] = array{"version"};
    return term;
  }
  object PodAffinity() {
    object affinity;
    if (Chance(90)) {
      array terms;
      for (int i = 0, count = Chance(25) ? 2 : 1; i < count; ++i) terms.push_back(AffinityTerm());
      affinity["requiredDuringSchedulingIgnoredDuringExecution"] = std::move(terms);
    }
    if (Chance(20)) {
      affinity["preferredDuringSchedulingIgnoredDuringExecution"] =
          array{object{{"weight", 1 + Below(100)}, {"podAffinityTerm", AffinityTerm()}}};
    }
    return affinity;
  }

  array Spread() {
    array list;
    std::set<std::string> seen;
    for (int i = 0, count = 1 + Below(2); i < count; ++i) {
      object each{{"maxSkew", Chance(75) ? 1 : 2},
                  {"topologyKey", TopologyKey()},
                  {"whenUnsatisfiable", Chance(85) ? "DoNotSchedule" : "ScheduleAnyway"}};
      if (!seen.insert(
                   absl::StrCat(each["topologyKey"].as_string().c_str(), each["whenUnsatisfiable"].as_string().c_str()))
               .second)
        continue;
      if (!Chance(5)) each["labelSelector"] = PodSelector();
      if (each["whenUnsatisfiable"] == "DoNotSchedule" && Chance(25)) each["minDomains"] = 1 + Below(4);
      if (Chance(35)) each["nodeAffinityPolicy"] = Pick({"Honor", "Ignore"});
      if (Chance(50)) each["nodeTaintsPolicy"] = Pick({"Honor", "Ignore"});
      if (each.contains("labelSelector") && Chance(25)) each["matchLabelKeys"] = array{"version"};
      list.push_back(std::move(each));
    }
    return list;
  }

  // ---- volumes

  static constexpr int kVolumes = 6;

  void AddStorage(object& made) {
    made["classes"] = array{
        object{{"metadata", object{{"name", "now"}}},
               {"provisioner", "csi.example.com"},
               {"volumeBindingMode", "Immediate"}},
        object{{"metadata", object{{"name", "wait"}}},
               {"provisioner", "csi.example.com"},
               {"volumeBindingMode", "WaitForFirstConsumer"}},
        object{{"metadata", object{{"name", "old"}}},
               {"provisioner", "kubernetes.io/aws-ebs"},
               {"volumeBindingMode", "WaitForFirstConsumer"}},
        object{{"metadata", object{{"name", "static"}}},
               {"provisioner", "kubernetes.io/no-provisioner"},
               {"volumeBindingMode", "WaitForFirstConsumer"}},
        object{
            {"metadata", object{{"name", "zoned"}}},
            {"provisioner", "csi.example.com"},
            {"volumeBindingMode", "WaitForFirstConsumer"},
            {"allowedTopologies", array{object{{"matchLabelExpressions",
                                                array{object{{"key", kZone}, {"values", List(Some({"a", "b"}))}}}}}}}}};
    array volumes;
    for (int i = 0; i < kVolumes; ++i) AddClaimAndVolume(i, volumes);
    // Free ones, which claims that wait may get.
    for (int i = 0, count = Below(3); i < count; ++i)
      volumes.push_back(Volume(absl::StrCat("free", i), Pick({"static", "wait", ""}), "Available"));
    if (Chance(drivers_ ? 90 : 40)) AddCsi(made, volumes);
    if (Chance(drivers_ ? 70 : 20)) AddRoom(made);
    made["volumes"] = std::move(volumes);
  }

  object Volume(const std::string& name, const std::string& storage_class, const std::string& phase) {
    object spec{{"capacity", object{{"storage", Pick({"1Gi", "10Gi"})}}},
                {"accessModes", array{Pick({"ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"})}}};
    if (!storage_class.empty()) spec["storageClassName"] = storage_class;
    const int source = Below(12);
    if (source < 7) {
      // Several may be one volume.
      spec["csi"] = object{{"driver", Chance(90) ? "csi.example.com" : "ebs.csi.aws.com"},
                           {"volumeHandle", Chance(70) ? name : std::string("v0")}};
    } else if (source < (drivers_ ? 9 : 8)) {
      spec["awsElasticBlockStore"] =
          object{{"volumeID", absl::StrCat(Chance(50) ? "aws://a/vol-" : "vol-", Chance(80) ? name : "v0")}};
    } else if (source < 11) {
      spec["nfs"] = object{{"server", "s"}, {"path", "/"}};
    } else {
      spec["hostPath"] = object{{"path", "/d"}};
    }
    if (Chance(drivers_ ? 15 : 60)) {
      array terms;
      for (int i = 0, count = 1 + Below(2); i < count; ++i) terms.push_back(NodeTerm());
      spec["nodeAffinity"] = object{{"required", object{{"nodeSelectorTerms", std::move(terms)}}}};
    }
    object metadata{{"name", name}};
    // Those that claims may get have none: Kubernetes looks at these labels only once they have them.
    if (phase == "Bound" && Chance(drivers_ ? 10 : 35)) {
      metadata["labels"] =
          object{{Pick({kZone, "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/region"}),
                  Pick({"a", "b", "a__b", "r"})}};
    }
    return object{{"metadata", std::move(metadata)}, {"spec", std::move(spec)}, {"status", object{{"phase", phase}}}};
  }

  // Claim ci of namespace ns in one of the states a claim can be in.
  void AddClaimAndVolume(int number, array& volumes) {
    const std::string claim = absl::StrCat("c", number), volume = absl::StrCat("v", number);
    if (Chance(drivers_ ? 1 : 5)) return;  // there is none
    object metadata{{"namespace", "ns"}, {"name", claim}, {"uid", absl::StrCat("u-", claim)}};
    object spec{{"accessModes", array{Chance(drivers_ ? 5 : 20) ? "ReadWriteOncePod" : "ReadWriteOnce"}},
                {"resources", object{{"requests", object{{"storage", Pick({"1Gi", "5Gi"})}}}}}};
    object status;
    const int state = Below(100);
    if (state < (drivers_ ? 50 : 60)) {
      spec["storageClassName"] = Pick({"now", "wait", ""});
      spec["volumeName"] = volume;
      metadata["annotations"] = object{{"pv.kubernetes.io/bind-completed", "yes"}};
      status["phase"] = "Bound";
      if (!Chance(drivers_ ? 2 : 5)) {
        object made = Volume(volume, std::string(spec["storageClassName"].as_string()), "Bound");
        made["spec"].as_object()["claimRef"] = object{{"kind", "PersistentVolumeClaim"},
                                                      {"namespace", "ns"},
                                                      {"name", claim},
                                                      {"uid", absl::StrCat("u-", claim)}};
        volumes.push_back(std::move(made));
      }
    } else {
      if (drivers_) {
        spec["storageClassName"] = Pick({"wait", "wait", "old", "zoned"});
      } else if (!Chance(10)) {
        spec["storageClassName"] = Pick({"now", "wait", "wait", "static", "static", "zoned", "gone", ""});
      }
      const bool lost = !drivers_ && state < 65;
      status["phase"] = lost ? "Lost" : "Pending";
      if (lost) spec["volumeName"] = volume;
      if (state > 96) metadata["annotations"] = object{{"volume.kubernetes.io/selected-node", nodes_.front()}};
    }
    if (Chance(drivers_ ? 1 : 4)) {
      metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z";
      metadata["finalizers"] = array{"kubernetes.io/pvc-protection"};
    }
    claims_.push_back(
        object{{"metadata", std::move(metadata)}, {"spec", std::move(spec)}, {"status", std::move(status)}});
  }

  array Volumes(bool asked) {
    array list;
    std::set<std::string> used;
    for (int i = 0, count = 1 + Below(asked ? 2 : 3); i < count; ++i) {
      object volume{{"name", absl::StrCat("w", i)}};
      const int kind = Below(100);
      if (kind < (drivers_ ? 65 : 75) || (drivers_ && asked && kind < 95)) {
        // Kubernetes looks for two volumes when a pod names one claim twice.
        const std::string claim = absl::StrCat("c", Below(kVolumes + (Chance(5) ? 1 : 0)));
        if (!used.insert(claim).second) continue;
        volume["persistentVolumeClaim"] = object{{"claimName", claim}};
      } else if (kind < 82) {
        AddEphemeral(absl::StrCat("w", i), volume);
      } else if (kind < 90) {
        volume["emptyDir"] = object();
      } else if (kind < 93) {
        volume["gcePersistentDisk"] = object{{"pdName", Pick({"d", "e"})}, {"readOnly", Chance(50)}};
      } else if (kind < 96) {
        volume["rbd"] = object{{"monitors", array{"m"}}, {"image", "i"}, {"readOnly", Chance(50)}};
      } else {
        volume["csi"] = object{{"driver", "inline.example.com"}};
      }
      list.push_back(std::move(volume));
    }
    return list;
  }

  // Its claim is made for the pod by Kubernetes' controller, which may not have been there yet.
  void AddEphemeral(const std::string& name, object& volume) {
    object spec{{"accessModes", array{"ReadWriteOnce"}},
                {"resources", object{{"requests", object{{"storage", "1Gi"}}}}},
                {"storageClassName", Pick({"wait", "now"})}};
    volume["ephemeral"] = object{{"volumeClaimTemplate", object{{"spec", spec}}}};
    if (Chance(20)) return;
    object metadata{{"namespace", ns_}, {"name", absl::StrCat(name_, "-", name)}};
    // With one of another that has a node Kubernetes' NodeVolumeLimits fails, and lets nobody there.
    if (!asked_ || Chance(85)) {
      metadata["ownerReferences"] = array{object{{"apiVersion", "v1"},
                                                 {"kind", "Pod"},
                                                 {"name", name_},
                                                 {"uid", absl::StrCat("u-", name_)},
                                                 {"controller", true}}};
    }
    claims_.push_back(
        object{{"metadata", std::move(metadata)}, {"spec", std::move(spec)}, {"status", object{{"phase", "Pending"}}}});
  }

  // Drivers that have so many volumes for a node, or so much room in a zone, and volumes that are attached.
  void AddCsi(object& made, const array& volumes) {
    array nodes;
    for (const std::string& name : nodes_) {
      if (Chance(10)) continue;
      array drivers;
      for (const char* driver : {"csi.example.com", "ebs.csi.aws.com"}) {
        if (Chance(25)) continue;
        object each{{"name", driver}, {"nodeID", name}};
        if (!Chance(10)) each["allocatable"] = object{{"count", driver[0] == 'c' ? Below(5) : Below(2)}};
        drivers.push_back(std::move(each));
      }
      nodes.push_back(object{{"metadata", object{{"name", name}}}, {"spec", object{{"drivers", std::move(drivers)}}}});
    }
    made["csiNodes"] = std::move(nodes);
    array attachments;
    for (const auto& volume : volumes) {
      if (Chance(50)) continue;
      const std::string name(volume.at("metadata").at("name").as_string());
      attachments.push_back(object{
          {"metadata", object{{"name", absl::StrCat("csi-", name)}}},
          {"spec", object{{"attacher", Chance(85) ? "csi.example.com" : "ebs.csi.aws.com"},
                          {"nodeName", nodes_[static_cast<std::size_t>(Below(static_cast<int>(nodes_.size())))]},
                          {"source", object{{"persistentVolumeName", Chance(92) ? name : std::string("gone")}}}}},
          {"status", object{{"attached", Chance(70)}}}});
    }
    if (!attachments.empty()) made["attachments"] = std::move(attachments);
  }

  // Each pod's claims for themselves fit, or do not: Kubernetes counts them one by one, we together.
  void AddRoom(object& made) {
    object spec;
    if (!Chance(10)) spec["storageCapacity"] = Chance(90);
    made["csiDrivers"] = array{object{{"metadata", object{{"name", "csi.example.com"}}}, {"spec", std::move(spec)}}};
    array capacities;
    for (int i = Below(6); i > 0; --i) {
      object capacity{{"metadata", object{{"namespace", Pick({"ns", "kube-system"})}, {"name", absl::StrCat("k", i)}}},
                      {"storageClassName", Pick({"wait", "wait", "wait", "zoned", "old"})}};
      if (!Chance(10)) capacity["nodeTopology"] = Topology();
      if (!Chance(10)) capacity["capacity"] = Pick({"0", "4Gi", "100Gi"});
      if (Chance(25)) capacity["maximumVolumeSize"] = Pick({"0", "4Gi", "100Gi"});
      capacities.push_back(std::move(capacity));
    }
    made["csiCapacities"] = std::move(capacities);
  }

  object Topology() {
    object selector;
    if (Chance(55)) selector["matchLabels"] = object{{kZone, Pick({"a", "b", "c"})}};
    if (Chance(25)) selector["matchLabels"] = object{{kHostname, Pick({"n0", "n1"})}};
    if (Chance(25)) {
      object requirement{{"key", "disktype"}, {"operator", Pick({"In", "NotIn", "Exists", "DoesNotExist"})}};
      const auto& op = requirement["operator"].as_string();
      if (op == "In" || op == "NotIn") requirement["values"] = List(Some({"ssd", "hdd"}));
      selector["matchExpressions"] = array{std::move(requirement)};
    }
    return selector;
  }

  const std::uint64_t seed_;
  RandomStream random_;
  bool taints_ = false, selectors_ = false, ports_ = false, resources_ = false, affinity_ = false, spread_ = false,
       volumes_ = false, drivers_ = false, nominated_ = false;
  std::vector<std::string> nodes_;
  array claims_;
  std::string name_, ns_;  // of the pod being made
  bool asked_ = false, host_network_ = false;
  std::set<std::string> port_keys_;
};

}  // namespace

boost::json::object RandomCase(std::uint64_t seed) { return Maker(seed).Make(); }

}  // namespace gangway::testutil
