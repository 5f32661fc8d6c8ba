#include "tests/simulation/contended.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/cluster_resources.h"
#include "api/volcano/hyper_node.h"
#include "tests/simulation/drawing.h"
#include "tests/simulation/provisioner.h"

namespace gangway::testutil {
namespace {

using drawing::Create;
using drawing::Delete;
using drawing::kCpus;
using drawing::kTroubles;
using drawing::Shape;
using drawing::Trouble;

constexpr int kCpuOfNode = 16, kNodesInZone = 2;
constexpr int kCpuOfNarrowQueue = 24, kCpuOfTeam = 40, kCpuOfAll = 64;

constexpr std::array kShapes{
    Shape{0, 0, 1, 1, 1},
    Shape{0, 0, 2, 2, 2},
    Shape{0, 0, 4, 4, 4},
    Shape{0, 0, 6, 6, 6},
    Shape{0, 0, 8, 8, 8},
    Shape{0, 0, 12, 12, 12},
    Shape{0, 0, 6, 2, 2},
    Shape{0, 0, 8, 4, 4},  // elastic
    Shape{1, 1, 3, 3, 4},
    Shape{2, 2, 2, 2, 4},
    Shape{2, 2, 4, 4, 6},
    Shape{4, 4, 4, 4, 8},
    // Without its tasks' minima it would be others that come first.
    Shape{3, 3, 3, 1, 4},
    Shape{3, 3, 3, 1, 4},
    Shape{4, 4, 4, 1, 5},
    Shape{4, 4, 4, 1, 5},
    Shape{5, 5, 5, 1, 6},
    Shape{6, 6, 6, 1, 7},
};
// Half the cluster, or most of a queue, each: in every history.
struct LargeJob {
  Shape shape;
  int cpu, host_port = 0;
  const char* queue = "default";
};
constexpr std::array kLargeJobs{LargeJob{{6, 6, 6, 1, 7}, 4},
                                LargeJob{{5, 5, 4, 1, 6}, 5},
                                LargeJob{{6, 6, 6, 1, 7}, 3},
                                LargeJob{{4, 4, 4, 1, 5}, 5},
                                LargeJob{{0, 0, 8, 8, 8}, 5},
                                LargeJob{{0, 0, 6, 6, 6}, 6},
                                LargeJob{{0, 0, 4, 4, 4}, 8, 9000},
                                LargeJob{{0, 0, 4, 4, 4}, 4, 0, "narrow"},
                                LargeJob{{0, 0, 3, 3, 3}, 6, 0, "narrow"},
                                LargeJob{{0, 0, 3, 3, 3}, 3, 0, "narrow"}};

// What jobs ask of the places of their pods, and some that do, in every history of such jobs.
enum class Place { kNear, kNearServers, kApart, kQuiet, kNoisy, kSpread, kVolume, kTopology, kPartTopology };
constexpr char kZone[] = "zone", kRow[] = "row", kHost[] = "kubernetes.io/hostname";
struct PlacedJob {
  Place place;
  const char* by;  // topology key, storage class or tier
  Shape shape;
  int cpu;
};
constexpr std::array kPlacedJobs{
    PlacedJob{Place::kNear, kRow, {0, 0, 4, 4, 4}, 5},
    PlacedJob{Place::kNear, kRow, {0, 0, 2, 2, 2}, 9},
    PlacedJob{Place::kNear, kHost, {0, 0, 3, 3, 3}, 5},
    PlacedJob{Place::kNear, kZone, {0, 0, 2, 2, 2}, 10},
    PlacedJob{Place::kNearServers, kRow, {1, 1, 3, 3, 4}, 4},
    PlacedJob{Place::kApart, kHost, {0, 0, 4, 4, 4}, 2},
    PlacedJob{Place::kApart, kZone, {0, 0, 2, 2, 2}, 6},
    PlacedJob{Place::kQuiet, kHost, {0, 0, 2, 2, 2}, 2},
    PlacedJob{Place::kNoisy, "", {0, 0, 4, 4, 4}, 3},
    PlacedJob{Place::kSpread, kZone, {0, 0, 6, 6, 6}, 2},
    PlacedJob{Place::kSpread, kHost, {0, 0, 6, 2, 2}, 2},
    PlacedJob{Place::kSpread, kHost, {0, 0, 4, 4, 4}, 3},
    PlacedJob{Place::kVolume, "local", {0, 0, 3, 3, 3}, 5},
    PlacedJob{Place::kVolume, "local", {0, 0, 2, 2, 2}, 9},
    PlacedJob{Place::kVolume, "local", {0, 0, 4, 4, 4}, 3},
    PlacedJob{Place::kVolume, "made", {0, 0, 3, 3, 3}, 4},
    PlacedJob{Place::kVolume, kSlowClass, {0, 0, 2, 2, 2}, 4},
    PlacedJob{Place::kVolume, kSlowClass, {0, 0, 2, 2, 2}, 9},
    PlacedJob{Place::kTopology, R"("highestTierAllowed":1)", {0, 0, 2, 2, 2}, 9},
    PlacedJob{Place::kTopology, R"("highestTierName":"rack")", {0, 0, 4, 2, 2}, 7},
    PlacedJob{Place::kTopology, R"("highestTierAllowed":1)", {0, 0, 3, 3, 3}, 8},
    PlacedJob{Place::kTopology, R"("highestTierAllowed":1)", {0, 0, 2, 2, 2}, 10},
    PlacedJob{Place::kTopology, R"("highestTierName":"rack")", {0, 0, 2, 2, 2}, 12},
    PlacedJob{Place::kPartTopology, R"("highestTierAllowed":1)", {0, 0, 4, 4, 4}, 9},
    PlacedJob{Place::kPartTopology, R"("highestTierAllowed":1)", {0, 0, 4, 4, 4}, 7},
    PlacedJob{Place::kPartTopology, R"("highestTierAllowed":1)", {0, 0, 6, 6, 6}, 5},
    PlacedJob{Place::kPartTopology, R"("highestTierName":"rack")", {0, 0, 4, 4, 4}, 5},
};
constexpr int kVolumesInZone = 4;  // as many as there are claims of their class, whichever zone these take

constexpr std::array kQueues{"default", "narrow", "narrow", "narrow", "team-a", "team-b"};
constexpr std::array kPriorities{"", "", "low", "high"};
constexpr std::array kPlugins{
    "",
    "",
    "",
    R"("plugins":{"svc":[]},)",
    R"("plugins":{"env":[],"svc":[]},)",
    R"("plugins":{"env":[],"svc":[]},)",
    R"("plugins":{"ssh":[],"svc":[]},)",
    R"("plugins":{"paddle":["--server=ps","--worker=w"],"svc":["--publish-not-ready-addresses=true"]},)",
    R"("plugins":{"pytorch":["--master=w","--worker=ps"],"svc":[]},)",
    R"("plugins":{"tensorflow":["--ps=ps","--worker=w"],"svc":[]},)",
    R"("plugins":{"mpi":["--master=w","--worker=w"],"ssh":[],"svc":[]},)",
    R"("plugins":{"ray":["--head=w","--worker=ps"],"svc":[]},)",
    R"("plugins":{"hcclrank":["--master=ps","--worker=w"],"svc":[]},)"};

class Contending : private drawing::Drawing {
 public:
  Contending(std::uint64_t seed, bool placed, bool still) : Drawing(seed), placed_(placed), still_(still) {}

  Contention Run() {
    MakeNodes();
    MakeQueues();
    if (placed_) {
      AddPlaced();
    } else {
      for (const LargeJob& large : kLargeJobs) AddLargeJob(large);
      for (int more = Between(11, 14); more > 0; --more) AddJob();
    }
    for (int i = 0; i < 2; ++i) AddBarePod(absl::StrCat("bare-", i));
    AddHalfAGangOfAnotherScheduler();
    if (!still_) Cordon(2 * kNodesInZone);
    for (Doing& doing : result_.doings) Tell(doing);
    return std::move(result_);
  }

 private:
  // Plain ones, half of them in each zone, one of these in each row, and two for those who tolerate it.
  void MakeNodes() {
    const auto shape = [](absl::string_view rest, int count) {
      return *sandbox::ParseNodeShape(absl::StrCat("cpu=", kCpuOfNode, ",memory=64Gi,", rest, ",count=", count));
    };
    std::vector<sandbox::NodeShape> shapes;
    for (const char* zone : {"a", "b"}) {
      for (int row = 0; row < kNodesInZone; ++row)
        shapes.push_back(shape(absl::StrCat("label:zone=", zone, ",label:row=", row), 1));
    }
    shapes.push_back(shape("label:zone=a,label:dedicated=ml,taint:dedicated=ml:NoSchedule", 2));
    result_.nodes = sandbox::MakeNodes(shapes, 0);
  }

  void MakeQueues() {
    const auto add = [this](absl::string_view name, absl::string_view spec) {
      result_.before.push_back(
          Create(api::kQueues,
                 absl::StrCat(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":")",
                              name, R"("},"spec":{"weight":1)", spec, "}}")));
    };
    add("narrow", absl::StrCat(R"(,"priority":1,"capability":{"cpu":")", kCpuOfNarrowQueue,
                               R"("})"));  // before others, up to there
    add("team", absl::StrCat(R"(,"capability":{"cpu":")", kCpuOfTeam, R"("})"));
    add("team-a", R"(,"parent":"team")");
    add("team-b", R"(,"parent":"team","priority":1)");
    for (const auto& [name, value] : {std::pair{"low", 1}, std::pair{"high", 1000}}) {
      result_.before.push_back(
          Create(api::kPriorityClasses,
                 absl::StrCat(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":")",
                              name, R"("},"value":)", value, "}")));
    }
  }

  // Whether the job's pods fit an empty cluster.
  bool Fits(const drawing::Job& job, bool one_zone) const {
    const int on_a_node = job.host_port != 0 ? 1 : kCpuOfNode / job.cpu;
    const int cpu_of_queue = job.queue == "narrow"    ? kCpuOfNarrowQueue
                             : job.queue == "default" ? kCpuOfAll
                                                      : kCpuOfTeam;
    return job.shape.servers + job.shape.trainers <=
           std::min((one_zone ? kNodesInZone : 2 * kNodesInZone) * on_a_node, cpu_of_queue / job.cpu);
  }

  void AddLargeJob(const LargeJob& large) {
    drawing::Job job;
    job.queue = large.queue;
    job.shape = large.shape;
    job.cpu = large.cpu;
    job.host_port = large.host_port;
    Befall(job, {Trouble::Kind::kNone, ""});
  }

  void AddJob() {
    drawing::Job job;
    job.queue = Of(kQueues);
    job.priority = Of(kPriorities);
    job.plugins = Of(kPlugins);
    job.cpu = Of(kCpus);
    if (Chance(30)) job.host_port = 9000 + Between(0, 1);
    const bool one_zone = Chance(40);
    if (one_zone) absl::StrAppend(&job.pod_spec, R"("nodeSelector":{"zone":")", Chance(50) ? "a" : "b", R"("},)");
    if (Chance(10)) absl::StrAppend(&job.pod_spec, R"("tolerations":[{"key":"dedicated","operator":"Exists"}],)");
    do {
      job.shape = Of(kShapes);
      for (int tries = 0; tries < 5 && !Fits(job, one_zone); ++tries) job.cpu = Of(kCpus);
    } while (!Fits(job, one_zone));
    job.in_turn = job.shape.servers > 0 && Chance(15);
    if (job.in_turn) job.shape.min_available = job.shape.servers;  // else it would wait for itself
    const bool whole =
        job.shape.servers == 0 && job.shape.trainers >= 4 && job.shape.min_available == job.shape.trainers;
    if (whole && Chance(25)) job.partitions = job.shape.trainers / 2;
    const bool restarts_partition = job.partitions > 0 && Chance(50);
    Befall(job, restarts_partition
                    ? Trouble{Trouble::Kind::kFails, R"({"event":"PodFailed","action":"RestartPartition"})"}
                    : Of(kTroubles));
  }

  // ---- jobs that want places

  void AddPlaced() {
    MakeHyperNodes();
    MakeStorage();
    begin_ = absl::Seconds(6);  // nodes are known by then (Checker::Rules::node_known)
    for (const PlacedJob& placed : kPlacedJobs) AddPlacedJob(placed);
    for (int more = Between(2, 4); more > 0; --more) AddJob();
    if (Chance(50)) LoseVolume();
    if (still_) return;
    if (Chance(50)) MoveNode();
    if (Chance(50)) LoseRack();
  }

  // A rack of each row, with one node of each zone, one of those that are dedicated, and a hall of them all.
  static UserRequest HyperNode(const std::string& name, const char* tier, const std::string& members) {
    return Create(
        api::volcano::kHyperNodes,
        absl::StrCat(R"({"apiVersion":"topology.volcano.sh/v1alpha1","kind":"HyperNode","metadata":{"name":")", name,
                     R"("},"spec":{)", tier, R"(,"members":[)", members, "]}}"));
  }
  static UserRequest FirstRack() {
    return HyperNode(
        "rack-0", R"("tier":1,"tierName":"rack")",
        R"({"type":"Node","selector":{"exactMatch":{"name":"node-000"}}},{"type":"Node","selector":{"exactMatch":{"name":"node-002"}}})");
  }
  void MakeHyperNodes() {
    result_.before.push_back(FirstRack());
    result_.before.push_back(HyperNode("rack-1", R"("tier":1,"tierName":"rack")",
                                       R"({"type":"Node","selector":{"regexMatch":{"pattern":"^node-00[13]$"}}})"));
    result_.before.push_back(
        HyperNode("rack-2", R"("tier":1,"tierName":"rack")",
                  R"({"type":"Node","selector":{"labelMatch":{"matchLabels":{"dedicated":"ml"}}}})"));
    result_.before.push_back(HyperNode("hall", R"("tier":2,"tierName":"hall")",
                                       R"({"type":"HyperNode","selector":{"regexMatch":{"pattern":"^rack-"}}})"));
  }

  static UserRequest Volume(const std::string& name, const char* of_class, const char* zone, int gigabytes) {
    return Create(
        api::kPersistentVolumes,
        absl::StrCat(
            R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":")", name,
            R"("},"spec":{"capacity":{"storage":")", gigabytes,
            R"(Gi"},"accessModes":["ReadWriteMany"],"storageClassName":")", of_class,
            R"(","persistentVolumeReclaimPolicy":"Retain","hostPath":{"path":"/data"},)",
            R"("nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":[")",
            zone, R"("]}]}]}}}})"));
  }
  void MakeStorage() {
    for (const auto& [name, provisioner] :
         {std::pair{"local", "kubernetes.io/no-provisioner"}, std::pair{"fragile", "kubernetes.io/no-provisioner"},
          std::pair{"made", "sandbox.gangway.io/volumes"}, std::pair{kSlowClass, kSlowProvisioner}}) {
      result_.before.push_back(
          Create(api::kStorageClasses,
                 absl::StrCat(R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":")", name,
                              R"("},"provisioner":")", provisioner,
                              R"(","reclaimPolicy":"Delete","volumeBindingMode":"WaitForFirstConsumer"})")));
    }
    for (int i = 0; i < kVolumesInZone; ++i) {
      for (const char* zone : {"a", "b"})
        result_.before.push_back(Volume(absl::StrCat("local-", zone, "-", i), "local", zone, 1 + i / 2));
    }
    result_.before.push_back(Volume("fragile", "fragile", "a", 1));
  }

  // Its claim comes with it.
  void MountClaim(drawing::Job& job, const char* of_class) {
    absl::StrAppend(&job.pod_spec, R"("volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data-)", job.name,
                    R"("}}],)");
    result_.before.push_back(
        Create(api::kPersistentVolumeClaims,
               absl::StrCat(R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data-)", job.name,
                            R"("},"spec":{"accessModes":["ReadWriteMany"],"storageClassName":")", of_class,
                            R"(","resources":{"requests":{"storage":"1Gi"}}}})")));
  }
  static std::string Affinity(const char* kind, const char* by, const std::string& labels) {
    return absl::StrCat(R"("affinity":{")", kind,
                        R"(":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":")", by,
                        R"(","labelSelector":{"matchLabels":{)", labels, "}}}]}},");
  }

  void AddPlacedJob(const PlacedJob& placed) {
    drawing::Job job;
    job.name = absl::StrCat("job-", jobs_);
    job.queue = "default";
    job.priority = Of(kPriorities);
    job.shape = placed.shape;
    job.cpu = placed.cpu;
    const std::string own = absl::StrCat(R"("app":")", job.name, R"(")");
    job.labels = absl::StrCat(",", own);
    const std::string topology = absl::StrCat(R"("networkTopology":{"mode":"hard",)", placed.by, "}");
    bool calm = Chance(70);
    switch (placed.place) {
      case Place::kNear:
        job.pod_spec = Affinity("podAffinity", placed.by, own);
        break;
      case Place::kNearServers:
        job.pod_spec = Affinity("podAffinity", placed.by, own + R"(,"role":"ps")");  // the first server's own, too
        job.servers_stay = calm = true;
        break;
      case Place::kApart:
        job.pod_spec = Affinity("podAntiAffinity", placed.by, own);
        break;
      case Place::kQuiet:
        job.pod_spec = Affinity("podAntiAffinity", placed.by, R"("noisy":"yes")");
        break;
      case Place::kNoisy:
        absl::StrAppend(&job.labels, R"(,"noisy":"yes")");
        break;
      case Place::kSpread:
        job.pod_spec = absl::StrCat(
            R"("topologySpreadConstraints":[{"maxSkew":)", Chance(70) ? 1 : 2, R"(,"topologyKey":")", placed.by,
            R"(","whenUnsatisfiable":"DoNotSchedule","nodeTaintsPolicy":"Honor","labelSelector":{"matchLabels":{)", own,
            "}}}],");
        break;
      case Place::kVolume:
        MountClaim(job, placed.by);
        break;
      case Place::kTopology:
        job.topology = topology + ",";
        break;
      case Place::kPartTopology:
        job.part_topology = "," + topology;
        job.partitions = job.shape.trainers / 2;
        break;
    }
    Befall(job, calm ? Trouble{Trouble::Kind::kNone, ""} : Of(kTroubles));
  }

  // The volume of a job goes and another comes; what was on it has gone, and the user gives up.
  void LoseVolume() {
    drawing::Job job;
    job.name = absl::StrCat("job-", jobs_);
    job.queue = "default";
    job.shape = {0, 0, 2, 2, 2};
    job.cpu = 3;
    MountClaim(job, "fragile");
    Befall(job, {Trouble::Kind::kNone, ""});
    const absl::Duration goes = Seconds(1, 40);
    At(goes, Delete(api::kPersistentVolumes, "fragile"));
    At(goes + Seconds(5, 40), Volume("fragile", "fragile", "b", 1));
    At(goes + Seconds(60, 120), Delete(api::kJobs, job.name));
  }
  void MoveNode() {
    const std::size_t which = random_.Below(2 * kNodesInZone);
    const std::string node = result_.nodes[which].name;
    const bool in_a = which < kNodesInZone;
    const auto label = [](bool a) {
      return absl::StrCat(R"({"metadata":{"labels":{"zone":")", a ? "a" : "b", R"("}}})");
    };
    const absl::Duration from = Seconds(1, 60);
    Begin(absl::StrCat(node, " in the other zone"));
    At(from, {"PATCH", &api::kNodes, node, "", label(!in_a)});
    At(from + Seconds(10, 60), {"PATCH", &api::kNodes, node, "", label(in_a)});
  }
  void LoseRack() {
    const absl::Duration from = Seconds(1, 60);
    Begin("rack-0 gone");
    At(from, Delete(api::volcano::kHyperNodes, "rack-0"));
    At(from + Seconds(10, 60), FirstRack());
  }

  const bool placed_, still_;
};

}  // namespace

Contention DrawContention(std::uint64_t seed, bool placed, bool still) { return Contending(seed, placed, still).Run(); }

}  // namespace gangway::testutil
