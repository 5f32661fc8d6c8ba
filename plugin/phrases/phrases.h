// The one table of what is said of gangs that wait, of what stands in their way, and of all that `gangway explain`
// adds: in English and in Chinese. Kubernetes', Volcano's and Paddle's own words (Pod, gang, PodGroup, maxSkew) are the
// same in both; where Kubernetes' Chinese documentation has a word for something, it is that one.
#pragma once

#include "plugin/phrases/words.h"

namespace gangway::phrases {

// ---- numbers of things, and what stands between words

inline constexpr CountedPhrase kTasks("$0 task", "$0 tasks", "$0 个任务");
inline constexpr CountedPhrase kNodes("$0 node", "$0 nodes", "$0 个节点");
inline constexpr CountedPhrase kPods("$0 pod", "$0 pods", "$0 个 Pod");
inline constexpr CountedPhrase kGangs("$0 gang", "$0 gangs", "$0 个 gang");
inline constexpr CountedPhrase kSubGroups("$0 sub-group", "$0 sub-groups", "$0 个子组");
inline constexpr Phrase kSoMany("$0", "$0 个");
inline constexpr Phrase kComma(", ", "，");
inline constexpr Phrase kSemicolon("; ", "；");
inline constexpr Phrase kAnd(" and ", " 和 ");
inline constexpr Phrase kOr(" or ", " 或 ");
inline constexpr Phrase kAside("$0 ($1)", "$0（$1）");
inline constexpr Phrase kNothing("nothing", "无");

// ---- why a gang waits

inline constexpr Phrase kWaits("waits", "等待中");
inline constexpr Phrase kWaitsFor("waits for $0 of $1: $2", "等待 $1中的 $0 个：$2");
inline constexpr Phrase kWaitsForNamed("waits for $0 of $1 named $2: $3", "等待名为 $2 的 $1中的 $0 个：$3");
inline constexpr Phrase kWaitsForSubGroups("waits for $0 of $1 of $2: $3", "等待 $2 的 $1中的 $0 个：$3");
inline constexpr CountedPhrase kSubGroupsHave("$0 has all of $1", "$0 have all of $1", "$0 个子组已有全部 $1");
inline constexpr Phrase kNoPodYet("none exists yet", "尚无 Pod");
inline constexpr CountedPhrase kPodsExist("$0 pod exists", "$0 pods exist", "已有 $0 个 Pod");
inline constexpr CountedPhrase kAreEnding(", $0 is ending", ", $0 are ending", "，$0 个正在终止");

inline constexpr Phrase kTaskNeeds("a task needs $0", "任务需要 $0");
inline constexpr Phrase kRoleNeeds("$0 needs $1", "$0 需要 $1");
inline constexpr Phrase kANode("a node", "一个节点");
inline constexpr Phrase kInHyperNode("in HyperNode $0, ", "在 HyperNode $0中，");
inline constexpr Phrase kOfTier("$0, tier $1", "$0（第 $1 层）");
inline constexpr Phrase kWithPlaced("with $0 placed, ", "放置 $0 个之后，");
inline constexpr Phrase kNoNodes("the cluster has no nodes", "集群没有节点");
inline constexpr Phrase kHasFree("$0 has $1 free", "$0空闲 $1");
inline constexpr Phrase kHaveFree("$0 have $1 free", "$0空闲 $1");
inline constexpr Phrase kHaveFreeAtMost("$0 have at most $1 free", "$0最多空闲 $1");
inline constexpr Phrase kSo("$0 $1", "$0$1");
inline constexpr Phrase kSoMore("$0 $1", "$0（$1）");
inline constexpr CountedPhrase kFit("$0 fits", "$0 fit", "$0 个可用");
inline constexpr Phrase kRoomKeptOn("; on $0 room is kept for $1", "；$0上的空间为$1保留");
inline constexpr Phrase kIt("it", "它");
inline constexpr Phrase kOther("$0", " $0 ");
inline constexpr CountedPhrase kUntilEnd(" until $0 pod ends", " until $0 pods end", "，直到 $0 个 Pod 结束");

inline constexpr CountedPhrase kRoomAwaited("room is kept for it until $0 pod of $1$2 has ended",
                                            "room is kept for it until $0 pods of $1$2 have ended",
                                            "空间为它保留，直到 $1$2 的 $0 个 Pod 结束");
inline constexpr Phrase kAndAnotherGang(" and another gang", " 和另一个 gang");
inline constexpr Phrase kAndOtherGangs(" and $0 other gangs", " 和另外 $0 个 gang");
inline constexpr Phrase kKeptForMinimum("room is kept for gangs that lack their minimum, the first is $0",
                                        "空间为尚未达到最少数量的 gang 保留，第一个是 $0");
inline constexpr Phrase kGated("pods are held by scheduling gates, the first is $0",
                               "Pod 被调度门控（schedulingGates）阻挡，第一个是 $0");
inline constexpr Phrase kNotModelled("$0 asks for something this scheduler does not know",
                                     "$0 要求的内容本调度器不支持");
inline constexpr Phrase kNotModelledInstead("$0 asks for something this scheduler does not know: $1",
                                            "$0 要求的内容本调度器不支持：$1");
inline constexpr Phrase kDevicesInstead(
    "it allocates no devices of resource.k8s.io; ask for devices as resources of a device plugin (resources.limits), "
    "or give the pods to a scheduler that allocates them (schedulerName: default-scheduler)",
    "它不分配 resource.k8s.io 的设备；请以设备插件的资源（resources.limits）申请设备，或把 Pod "
    "交给能分配这类设备的调度器（schedulerName: default-scheduler）");
inline constexpr Phrase kPartsOfCardsInstead(
    "it does not say which card has room, and without that the device plugin starts no pod; ask for whole cards "
    "(nvidia.com/gpu) or for parts that are resources of their own (MIG profiles), or let Volcano's own scheduler "
    "place the pods",
    "它不指定哪块卡有空间，而没有这一指定，设备插件不会启动 Pod；请申请整卡（nvidia.com/gpu）或本身就是资源的部分（MIG "
    "规格），或让 Volcano 自己的调度器放置这些 Pod");
inline constexpr Phrase kNumaInstead(
    "it does not know what is free in a NUMA zone; without this policy the topology manager of the nodes' kubelets "
    "still decides and refuses pods that do not fit (TopologyAffinityError); or let Volcano's own scheduler place the "
    "pods",
    "它不知道一个 NUMA 区中还有什么空闲；去掉此策略，节点 kubelet "
    "的拓扑管理器（topology manager）仍会把关，拒绝放不下的 Pod（TopologyAffinityError）；或让 Volcano "
    "自己的调度器放置这些 Pod");
inline constexpr Phrase kOfQueue("$0 of queue $1", "队列 $1 的 $0");
inline constexpr Phrase kNameTwoGangs("$0 name two gangs", "$0 指向两个不同的 gang");
inline constexpr Phrase kNoHyperNodeHasNodes("no HyperNode of tier $0 has nodes", "没有第 $0 层的 HyperNode 含有节点");
inline constexpr Phrase kNoHyperNodeHasAll("no HyperNode of tier $0 has all nodes where its pods are",
                                           "没有第 $0 层的 HyperNode 包含其 Pod 所在的全部节点");
inline constexpr Phrase kPatternDoesNotCompile(
    "; HyperNode $0 selects nothing by the pattern $1, which does not compile: $2",
    "；HyperNode $0 的模式 $1 无法编译，不选中任何成员：$2");
inline constexpr Phrase kLabelMatchDoesNotRead("; HyperNode $0 selects nothing by its labelMatch, which does not read",
                                               "；HyperNode $0 的 labelMatch 无法读取，不选中任何成员");
inline constexpr Phrase kOrLess("$0 or less", "$0 或更低");
inline constexpr Phrase kNoQueue("there is no queue $0", "没有名为 $0 的队列");
inline constexpr Phrase kQueueIsClosed("queue $0 is closed", "队列 $0 已关闭");
inline constexpr Phrase kUses("needs $0 $1, $2 uses $3 of $4", "需要 $0 $1，$2已用 $3（共 $4）");
inline constexpr Phrase kMorePromisedBefore(", $0 more are promised to gangs let in before",
                                            "，另有 $0 已承诺给先前获准入的 gang");
inline constexpr Phrase kSoMuchTooMany(", $0 too many", "，超出 $0");
inline constexpr Phrase kNoNodeHas("needs $0 $1, which no node of the cluster has", "需要 $0 $1，集群中没有节点提供它");
inline constexpr Phrase kUsesAndIsKept("needs $0 $1, $2 uses $3 of $4, and what is free of it is kept for $5",
                                       "需要 $0 $1，$2已用 $3（共 $4），空闲的部分为$5保留");
inline constexpr Phrase kQueueKept("; what becomes free there is kept for it", "；那里空出来的部分为它保留");
inline constexpr Phrase kTheQueue("queue $0", "队列 $0 ");
inline constexpr Phrase kTheQuota("quota $0", "资源配额 $0 ");
inline constexpr Phrase kTheCluster("the cluster", "集群");
inline constexpr Phrase kGroupMissing("waits for its PodGroup $1, which is not there ($0)",
                                      "等待其 PodGroup $1：它不存在（$0）");
inline constexpr Phrase kGroupsNotServed(
    "waits for its PodGroup $0: the cluster has no $1, or the scheduler may not list them",
    "等待其 PodGroup $0：集群没有 $1，或者调度器无权列出它们");

// ---- a claim of a volume

inline constexpr Phrase kClaim("claim $0", "PVC $0 不可用");
inline constexpr Phrase kNoClaim("there is no claim $0", "没有名为 $0 的 PVC");
inline constexpr Phrase kClaimUnreadable("claim $0 cannot be read: the scheduler may not list persistentvolumeclaims",
                                         "无法读取 PVC $0：调度器无权列出 persistentvolumeclaims");
inline constexpr Phrase kClaimUnbound("claim $0 is not bound yet", "PVC $0 尚未绑定");
inline constexpr Phrase kClaimUnboundOf("claim $0 is not bound yet (storage class $1)", "PVC $0 尚未绑定（存储类 $1）");
inline constexpr Phrase kClaimLost("claim $0 has lost its volume", "PVC $0 丢失了它的卷");
inline constexpr Phrase kClaimLostOf("claim $0 has lost its volume $1", "PVC $0 丢失了它的卷 $1");
inline constexpr Phrase kClaimEnding("claim $0 is being deleted", "PVC $0 正在被删除");
inline constexpr Phrase kClaimOfAnother(
    "claim $0 is not the pod's own, though its volume is ephemeral: delete that claim",
    "PVC $0 不属于该 Pod，而它的卷是临时卷（ephemeral）：请删除这个 PVC");
inline constexpr Phrase kClaimInUse("claim $0 is for one pod at a time (ReadWriteOncePod), and another has it",
                                    "PVC $0 同一时间只供一个 Pod 使用（ReadWriteOncePod），现被另一个 Pod 占用");
inline constexpr Phrase kVolumeMissing(
    "volume $0 of claim $1 is not known: it is gone, or the scheduler may not list persistentvolumes",
    "找不到 PVC $1 的卷 $0：它已不存在，或者调度器无权列出 persistentvolumes");
inline constexpr Phrase kVolumeNotModelled("claim $0: $1 asks for something this scheduler does not know",
                                           "PVC $0：$1 要求的内容本调度器不支持");

// ---- what stands between a pod and a node: of so many nodes, and what is so on most of them

inline constexpr CountedPhrase kCordoned("is cordoned", "are cordoned", "被标记为不可调度（cordon）");
inline constexpr CountedPhrase kDoesNotMatch("does not match", "do not match", "不符合节点选择条件");
inline constexpr Phrase kNodesWith("nodes with $0", "满足 $0 的节点");
inline constexpr Phrase kLabelIn("$0 in ($1)", "$0 属于 ($1)");
inline constexpr Phrase kLabelNotIn("$0 not in ($1)", "$0 不属于 ($1)");
inline constexpr Phrase kWithoutLabel("no $0", "没有标签 $0");
inline constexpr Phrase kEmptyAffinity("an empty node affinity", "空的节点亲和性");
inline constexpr CountedPhrase kTainted("is tainted", "are tainted", "带有不容忍的污点");
inline constexpr Phrase kWith("with $0", "键 $0");
inline constexpr CountedPhrase kPortTaken("has its host port taken", "have its host port taken",
                                          "的主机端口（hostPort）已被占用");
inline constexpr CountedPhrase kVolumeOutOfReach("does not reach volume", "do not reach volume", "无法访问卷");
inline constexpr Phrase kVolumeOf("$0 ($1)", "$0，$1");
inline constexpr Phrase kNoNode("no node", "任何节点都不能访问");
inline constexpr CountedPhrase kNoVolumeFor("has no volume for claim", "have no volume for claim",
                                            "没有可供 PVC 使用的卷");
inline constexpr CountedPhrase kNoStorageFor("has no storage left for claim", "have no storage left for claim",
                                             "没有可供 PVC 使用的剩余存储");
inline constexpr Phrase kClaimOfClass("$0 (storage class $1)", "$0，存储类 $1");
inline constexpr CountedPhrase kAttachesNoMore("can attach no more volumes of", "can attach no more volumes of",
                                               "不能再挂接更多的卷");
inline constexpr Phrase kAtMostOf("$0 ($1 at most)", "$0，最多 $1 个");
inline constexpr CountedPhrase kNoPodNear("has no pod with $0 in its $1", "have no pod with $0 in their $1",
                                          "所在的 $1 中没有标签为 $0 的 Pod");
inline constexpr CountedPhrase kPodNear("has a pod with $0 in its $1", "have a pod with $0 in their $1",
                                        "所在的 $1 中有标签为 $0 的 Pod");
inline constexpr Phrase kNoLabelsAtAll("no labels at all", "（不匹配任何标签）");
inline constexpr Phrase kAnyLabels("any labels", "任意值");
inline constexpr CountedPhrase kKeptFree("is kept free by the podAntiAffinity", "are kept free by the podAntiAffinity",
                                         "被其他 Pod 的反亲和性（podAntiAffinity）排除");
inline constexpr Phrase kOfPlacedPods("of pods placed with it", "来自一同放置的 Pod");
inline constexpr Phrase kOfPod("of pod $0", "来自 Pod $0");
inline constexpr CountedPhrase kNoLabel("has no label $0", "have no label $0", "没有标签 $0");
inline constexpr CountedPhrase kTooSkewed("is in a $0 that has maxSkew $1 more pods than another",
                                          "are in a $0 that has maxSkew $1 more pods than another",
                                          "所在的 $0 已比另一处多出 $1 个 Pod（maxSkew）");
inline constexpr CountedPhrase kTooFewDomains(
    "is in a $0 that may have maxSkew $1 pods at most while there are $2 of minDomains $3",
    "are in a $0 that may have maxSkew $1 pods at most while there are $2 of minDomains $3",
    "所在的 $0 最多可有 $1 个 Pod（maxSkew），因为只有 $2 处，少于 minDomains $3");

// ---- how a gang stands

inline constexpr Phrase kHasEnded("has ended: it asks for nothing any more", "已结束：不再请求任何资源");
inline constexpr Phrase kAsksForNoPods("has no pods and asks for none", "没有 Pod，也不请求 Pod");
inline constexpr Phrase kOnNodes("on $0", "位于 $0上");
inline constexpr Phrase kRuns("runs: $0 of $1 have a node (minimum $2), $3",
                              "运行中：$1 中的 $0 个已有节点（最少 $2 个），$3");
inline constexpr CountedPhrase kLastRuns("the last $0 run like it", "the last $0 runs like it", "最近 $0 次同类运行");
inline constexpr Phrase kBudgetLets("; disruption budget $0 lets $1 of $2 go", "；中断预算 $0 允许 $2 中的 $1 个离开");
inline constexpr Phrase kEndsAsItSays("; it says that it ends by $0", "；它声明最迟于 $0 结束");
inline constexpr Phrase kEndsAsBefore("; $0 took at most $1, which is until $2", "；$0最长 $1，即到 $2 为止");
inline constexpr Phrase kRunsWith("runs with $0 of $1 (minimum $2) and $3", "以 $1 中的 $0 个运行（最少 $2 个），$3");
inline constexpr Phrase kGetsMore("gets $0 more in the next round", "下一轮将再得到 $0 个");
inline constexpr Phrase kLetInNext(
    "is let in by the scheduler's next round, since there is room for its minimum; then its pods are made",
    "将在调度器的下一轮获准入，因为其最少数量所需的空间足够；之后才创建它的 Pod");
inline constexpr Phrase kStartsNext("starts with the scheduler's next round: there is room for $0, $1",
                                    "将在调度器的下一轮启动：有空间放置 $0，$1");
inline constexpr Phrase kVolumeIsMade(
    "waits for the volume that is to be made for claim $0 on node $1; kubectl describe pvc $0 says by whom",
    "等待在节点 $1 上为 PVC $0 创建卷；kubectl describe pvc $0 会说明由谁创建");
inline constexpr Phrase kIsNotLetIn("is not let in: $0", "未获准入：$0");
inline constexpr Phrase kIsNotLetInAnd("is not let in and $0", "未获准入，$0");
inline constexpr Phrase kTooMany("needs $0 $1, $2: $3 too many", "需要 $0 $1，$2：超出 $3");
inline constexpr Phrase kIsKept("needs $0 $1, $2, and what is free of it is kept for $3",
                                "需要 $0 $1，$2，空闲的部分为 $3 保留");
inline constexpr Phrase kPodsHold("pods hold $0 of the cluster's $1", "Pod 占用 $0（集群共 $1）");
inline constexpr Phrase kQueueHolds("queue $0 holds $1 of $2", "队列 $0 占用 $1（共 $2）");
inline constexpr Phrase kQuotaCounts("quota $0 counts $1 of $2", "资源配额 $0 已计 $1（共 $2）");
inline constexpr Phrase kMorePromised(", $0 more are promised to gangs that come before it",
                                      "，另有 $0 已承诺给排在它前面的 gang");
inline constexpr Phrase kLetInUpToSum(", gangs are let in for up to $0", "，gang 的准入上限为 $0");
inline constexpr Phrase kNextRoundEvicts("; the scheduler's next round evicts $0$1", "；调度器的下一轮将驱逐 $0$1");
inline constexpr Phrase kNextRoundMoves("; the scheduler's next round moves $0$1", "；调度器的下一轮将迁移 $0$1");
inline constexpr CountedPhrase kCouldLeaveLater("; $0 gang of $1 could leave for it from $2 on",
                                                "; $0 gangs of $1 could leave for it, the first from $2 on",
                                                "；$1 的 $0 个 gang 以后可以为它让出，最早从 $2 起");
inline constexpr Phrase kSeveralQueues("several queues", "多个队列");
inline constexpr Phrase kNobodyLeaves("; queue $0 holds less than its share, and nobody leaves for it: $1",
                                      "；队列 $0 占用少于其份额，但没有 gang 为它让出：$1");
inline constexpr Phrase kNothingIsTakenBack("the scheduler's configuration has no action reclaim",
                                            "调度器的配置中没有 reclaim 动作");
inline constexpr Phrase kEvictsNever("its priority class, or a pod of it, has preemptionPolicy Never",
                                     "它的优先级类或它的某个 Pod 的 preemptionPolicy 为 Never");
inline constexpr Phrase kNobodyIsAbove("no queue beside it holds more than its share of what it asks for",
                                       "没有别的队列在它请求的资源上超出份额");
inline constexpr Phrase kOfThoseAbove("of $0 in queues above their share $1", "在超出份额的队列的 $0中，$1");
inline constexpr CountedPhrase kMayNeverLeave("$0 may never be evicted", "$0 may never be evicted", "$0 个不可驱逐");
inline constexpr CountedPhrase kKeptByItsQueue("$0 is in a queue with reclaimable: false",
                                               "$0 are in queues with reclaimable: false",
                                               "$0 个位于 reclaimable: false 的队列");
inline constexpr CountedPhrase kKeptByBudget("$0 is kept by a disruption budget", "$0 are kept by disruption budgets",
                                             "$0 个受中断预算保护");
inline constexpr CountedPhrase kMayLeaveLater("$0 may leave later", "$0 may leave later", "$0 个以后可以让出");
inline constexpr CountedPhrase kIsTooDear("$0 would cost its queue more of its share than this one gains",
                                          "$0 would cost their queues more of their shares than this one gains",
                                          "$0 个一旦让出，其队列失去的份额将多于本队列所得");
inline constexpr CountedPhrase kNoRoomEvenSo("$0 could leave, and it would find no room even so",
                                             "$0 could leave, and it would find no room even so",
                                             "$0 个可以让出，但即使如此它也没有空间");
inline constexpr CountedPhrase kAllAreTooDear(
    "$0 could leave, and so many as it needs would cost their queues more of their shares than this one gains",
    "$0 could leave, and so many as it needs would cost their queues more of their shares than this one gains",
    "$0 个可以让出，但它所需的那些一起让出时，其队列失去的份额将多于本队列所得");
inline constexpr Phrase kPodsOf("$0 of $1", "$1 的 $0");
inline constexpr Phrase kForItsPriority(" for its priority", "（因为它的优先级）");
inline constexpr Phrase kForItsShare(" for what its queue deserves", "（因为其队列的应得量）");
inline constexpr Phrase kForItsRoom(" to other nodes, so that it finds room", "到其他节点，为它腾出空间");
inline constexpr Phrase kSinceItLostAMember(", since it lost a member and for too long found no room for another",
                                            "（因为它失去了成员，且过久未能为替补找到空间）");
inline constexpr Phrase kMustHaveEnded("; by $0 the pods there must have ended, and it starts",
                                       "；最迟到 $0，那里的 Pod 应已结束，它随即启动");
inline constexpr Phrase kLikelyHaveEnded("; as past runs took, about $0", "；按以往运行时间，约为 $0");

// ---- nodes as a pod sees them

inline constexpr CountedPhrase kHasRoom("has room", "have room", "有空间");
inline constexpr CountedPhrase kIsTooSmall("is too small: $0", "are too small: $0", "容量不足：$0");
inline constexpr CountedPhrase kLacks("lacks $0", "lack $0", "缺少 $0");
inline constexpr CountedPhrase kKeptBy("is kept by $0", "are kept by $0", "被 $0 阻挡");

// ---- queues

inline constexpr Phrase kIsNotThere("is not there", "不存在");
inline constexpr Phrase kIsOpen("is open", "已开启");
inline constexpr Phrase kIsClosed("is closed", "已关闭");
inline constexpr CountedPhrase kQueueStands("$0: $1 holds room in it, $2", "$0: $1 hold room in it, $2",
                                            "$0：$1 占用其资源，$2");
inline constexpr CountedPhrase kWait("$0 waits", "$0 wait", "$0 个等待");

// ---- changes that are tried

inline constexpr CountedPhrase kMoreNodes("$0 more node", "$0 more nodes", "增加 $0 个节点");
inline constexpr CountedPhrase kMoreNodesLike("$0 more node like $1", "$0 more nodes like $1",
                                              "增加 $0 个同 $1 一样的节点");
inline constexpr Phrase kQueueNamed("queue $0", "队列 $0");
inline constexpr Phrase kMinimumOf("a minimum of $0", "最少数量为 $0");
inline constexpr Phrase kPriorityOf("priority $0", "优先级 $0");
inline constexpr Phrase kPriorityClassOf("priority class $0", "优先级类（PriorityClass）$0");
inline constexpr Phrase kCapabilityOf("a capability of $0 for queue $1", "队列 $1 的容量上限（capability）为 $0");
inline constexpr Phrase kQueueMade("queue $0 made and open", "创建并开启队列 $0");
inline constexpr CountedPhrase kUncordoned("node $0 uncordoned", "nodes $0 uncordoned",
                                           "恢复节点 $0 的调度（uncordon）");
inline constexpr Phrase kEndOf("the end of podgroup $0", "podgroup $0 结束");
inline constexpr Phrase kPodsAskFor("pods that ask for $0 $1", "Pod 只请求 $0 $1");
inline constexpr Phrase kPodsOfRoleAskFor("pods of $0 that ask for $1 $2", "$0 的 Pod 只请求 $1 $2");
inline constexpr Phrase kEvicts("evicts $0", "会驱逐 $0");
inline constexpr Phrase kTolerating("pods that tolerate $0", "Pod 容忍污点 $0");
inline constexpr Phrase kAnywhere("pods without nodeSelector and required node affinity",
                                  "Pod 不带 nodeSelector 和必需的节点亲和性");
inline constexpr Phrase kUngated("pods without their scheduling gates", "Pod 不带调度门控（schedulingGates）");
inline constexpr Phrase kItHolds("it holds $0", "它占用 $0");
inline constexpr Phrase kNoClassHasIt("no class has it", "没有优先级类是这个值");
inline constexpr Phrase kInsteadOf("instead of $0", "原为 $0");

// ---- the page of `gangway explain`

inline constexpr Phrase kSubjectSays("$0 $1", "$0 $1");
inline constexpr Phrase kMoreByName("and $0 more (-o wide names them)", "另有 $0 项（-o wide 会全部列出）");
inline constexpr Phrase kFreeOf("$0 $1 of $2 free", "$0 空闲 $1（共 $2）");
inline constexpr Phrase kForPods(" for $0", "，可放 $0");
inline constexpr Phrase kNamely("$0: $1", "$0：$1");
inline constexpr Phrase kSuchAs("$0, such as $1", "$0，例如 $1");
inline constexpr Phrase kNodeWith("$0 with $1", "$0：$1");
inline constexpr Phrase kNamelyOn("$0: $1 ($2)", "$0：$1（$2）");
inline constexpr Phrase kOfResource("$0 $1", "$0 $1");
inline constexpr Phrase kAskedThere("$0 asked, $1 there", "请求 $0，总量 $1");
inline constexpr Phrase kAskedThereAtMost("$0 asked, $1 there at most", "请求 $0，总量最多 $1");
inline constexpr Phrase kAskedFree("$0 asked, $1 of $2 free", "请求 $0，空闲 $1（共 $2）");
inline constexpr Phrase kAskedFreeAtMost("$0 asked, at most $1 of $2 free", "请求 $0，最多空闲 $1（共 $2）");
inline constexpr Phrase kAsks("Asks: $0, at least $1 together; $2 placed",
                              "请求：$0，至少 $1 个同时运行；已放置 $2 个");
inline constexpr Phrase kPodsRole("pods", "各 Pod");
inline constexpr Phrase kAsk("$0: $1 x $2$3$4; $5 placed$6", "$0：$1 x $2$3$4；已放置 $5 个$6");
inline constexpr Phrase kOnNodesWith(" on nodes with $0", "，节点须满足 $0");
inline constexpr Phrase kAtLeast(", at least $0", "，至少 $0 个");
inline constexpr Phrase kNotMadeYet(", $0 not made yet", "，$0 个尚未创建");
inline constexpr Phrase kNodesTitle("Nodes: $0", "节点：$0");
inline constexpr Phrase kForPodsOf("for $0 of $1", "对于 $1 的 $0");
inline constexpr Phrase kNoRole("no role", "无角色");
inline constexpr Phrase kOpen("open", "开启");
inline constexpr Phrase kClosed("closed", "关闭");
inline constexpr Phrase kQueueTitle("Queue $0: $1, weight $2, priority $3$4", "队列 $0：$1，权重 $2，优先级 $3$4");
inline constexpr Phrase kBelow(", below $0", "，上级队列 $0");
inline constexpr Phrase kHolds("$0: holds $1 of $2$3", "$0：占用 $1/$2$3");
inline constexpr Phrase kPromised(", $0 promised to gangs that were let in", "，$0 已承诺给获准入的 gang");
inline constexpr Phrase kCapability(", capability $0", "，容量上限（capability）$0");
inline constexpr Phrase kDeserved(", deserved $0", "，应得量（deserved）$0");
inline constexpr Phrase kDeservedNotRead(", deserved $0 is not looked at (queues share by weight)",
                                         "，应得量（deserved）$0 不起作用（队列按权重分配）");
inline constexpr Phrase kGuaranteed(", guaranteed $0", "，保障量（guarantee）$0");
inline constexpr Phrase kOfLate(", of late $0 on average", "，近期平均 $0");
inline constexpr Phrase kShareWhileOthersWait(", its share while others wait is $0", "，有其他队列等待时的份额为 $0");
inline constexpr Phrase kClusterTitle("Cluster: $0", "集群：$0");
inline constexpr Phrase kPodsHoldOf("$0: pods hold $1 of $2$3$4", "$0：Pod 占用 $1/$2$3$4");
inline constexpr Phrase kOutsideOfGangs(", $0 of it outside of gangs", "，其中 $0 不属于任何 gang");
inline constexpr Phrase kStartsBy("starts by $0 if nobody comes before it, and nobody leaves later than is known",
                                  "若无人排到它前面，且占用者都不晚于已知时间离开，最迟于 $0 启动");
inline constexpr Phrase kLikelyStarts("starts about $0 if nobody comes before it, and runs take no longer than before",
                                      "若无人排到它前面，且运行都不比以往更久，约于 $0 启动");
inline constexpr Phrase kAsFarAsKnown("As far as ends of pods are known it $0", "就已知的 Pod 结束时间而言，它$0");
inline constexpr Phrase kGangLine("$0 (queue $1, priority $2): holds $3$4; $5$6",
                                  "$0（队列 $1，优先级 $2）：占用 $3$4；$5$6");
inline constexpr Phrase kAndAsks("; asks $0", "；请求 $0");
inline constexpr Phrase kAndMore("; $0", "；$0");
inline constexpr Phrase kBeforeTitle("Before it in order: $0", "排在它前面：$0");
inline constexpr Phrase kHoldRoomTitle("Hold room:", "占用资源：");
inline constexpr Phrase kWaitTitle("Wait, in the order in which they are served:", "等待中，按调度顺序：");
inline constexpr Phrase kBelowTitle("Below it:", "下级队列：");
inline constexpr Phrase kChild("$0 ($1, weight $2): $3", "$0（$1，权重 $2）：$3");
inline constexpr Phrase kHeldOf("$0 $1 of $2", "$0 占用 $1（共 $2）");
inline constexpr Phrase kNoHelp("Would help: no single change of those that were tried",
                                "可行的改动：试算过的单项改动都不够");
inline constexpr Phrase kWouldLetIn("Would let it in, each alone, as was tried:",
                                    "以下任何一项改动都能使它获准入（已试算）：");
inline constexpr Phrase kWouldHelp("Would help, each alone, as was tried:", "以下任何一项改动都能解决（已试算）：");
inline constexpr Phrase kWithYes("With $0: yes, it $1", "若改为：$0，可以，它$1");
inline constexpr Phrase kWithYesLater("With $0: yes, when pods have ended; until then it $1",
                                      "若改为：$0，可以，待有 Pod 结束之后；在那之前它$1");
inline constexpr Phrase kEvictedTitle("Would be evicted$0:", "将被驱逐$0：");
inline constexpr Phrase kMovedTitle("Would be moved$0:", "将被迁移$0：");
inline constexpr Phrase kEvictedLine("$0 (queue $1, priority $2): $3 of its $4",
                                     "$0（队列 $1，优先级 $2）：$3（共 $4）");
inline constexpr Phrase kWithNo("With $0: no, it $1", "若改为：$0，仍不行，它$1");
inline constexpr Phrase kNobodySchedules(
    "If it stays so, nobody schedules it: gangway doctor says whether a scheduler is at work",
    "如果一直如此，说明没有调度器在处理它：用 gangway doctor 查看调度器是否在工作");
inline constexpr Phrase kPlacesTitle("Places:", "位置：");
inline constexpr Phrase kPodBelongs("$0 $1$2$3, and belongs to podgroup $4", "$0 $1$2$3，属于 podgroup $4");
inline constexpr Phrase kPodHasNoNode("has no node", "尚无节点");
inline constexpr Phrase kPodIsOn("is on node $0", "位于节点 $0");
inline constexpr Phrase kPodIsGated(", is held by scheduling gates", "，被调度门控（schedulingGates）阻挡");
inline constexpr Phrase kPodIsEnding(", is being deleted", "，正在被删除");

}  // namespace gangway::phrases
