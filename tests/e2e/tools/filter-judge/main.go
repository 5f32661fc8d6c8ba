// Says which nodes take a pod, by the filters of Kubernetes' own scheduler: a case a line on stdin, an answer a line on stdout.
//
//	{"nodes": [...], "pods": [...], "namespaces": [...], "volumes": [...], "claims": [...], "classes": [...], "csiNodes": [...],
//	 "csiDrivers": [...], "csiCapacities": [...], "attachments": [...], "pod": {...}}
//
// Objects are Kubernetes', as a user writes them. Each is first made what an API server would store (defaults, what it changes when
// something is created, validation), with the status it came with. The answer:
//
//	{"feasible": [names], "refused": {node: {"plugin": ..., "reasons": [...]}}, "case": {...}}
//
// "case" are the objects as stored; {"invalid": [...]} instead of all that: no API server takes these objects.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime/debug"
	"sort"
	"strings"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/storage/csidriver"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

type clusterCase struct {
	Nodes         []*v1.Node                      `json:"nodes"`
	Pods          []*v1.Pod                       `json:"pods"`
	Namespaces    []*v1.Namespace                 `json:"namespaces"`
	Volumes       []*v1.PersistentVolume          `json:"volumes"`
	Claims        []*v1.PersistentVolumeClaim     `json:"claims"`
	Classes       []*storagev1.StorageClass       `json:"classes"`
	CSINodes      []*storagev1.CSINode            `json:"csiNodes,omitempty"`
	CSIDrivers    []*storagev1.CSIDriver          `json:"csiDrivers,omitempty"`
	CSICapacities []*storagev1.CSIStorageCapacity `json:"csiCapacities,omitempty"`
	Attachments   []*storagev1.VolumeAttachment   `json:"attachments,omitempty"`
	Pod           *v1.Pod                         `json:"pod"`
}

type refusal struct {
	Plugin  string   `json:"plugin"`
	Reasons []string `json:"reasons"`
}

type answer struct {
	Invalid  []string           `json:"invalid,omitempty"`
	Feasible []string           `json:"feasible"`
	Refused  map[string]refusal `json:"refused"`
	Case     *clusterCase       `json:"case,omitempty"`
}

// ---- as an API server stores it

type strategy interface {
	PrepareForCreate(ctx context.Context, obj runtime.Object)
	Validate(ctx context.Context, obj runtime.Object) field.ErrorList
}

var (
	core    = schema.GroupVersion{Group: "", Version: runtime.APIVersionInternal}
	storage = schema.GroupVersion{Group: "storage.k8s.io", Version: runtime.APIVersionInternal}
)

func store(what string, object runtime.Object, group schema.GroupVersion, rules strategy, wrong *[]string) {
	legacyscheme.Scheme.Default(object)
	internal, err := legacyscheme.Scheme.ConvertToVersion(object, group)
	if err != nil {
		*wrong = append(*wrong, fmt.Sprintf("%s: %v", what, err))
		return
	}
	// What creates an object begins its status anew; these have lived on.
	status := reflect.ValueOf(internal).Elem().FieldByName("Status")
	var kept reflect.Value
	if status.IsValid() {
		kept = reflect.New(status.Type()).Elem()
		kept.Set(status)
	}
	ctx := request.WithRequestInfo(context.Background(), &request.RequestInfo{Verb: "create", APIGroup: group.Group, APIVersion: "v1"})
	rules.PrepareForCreate(ctx, internal)
	for _, each := range rules.Validate(ctx, internal) {
		*wrong = append(*wrong, fmt.Sprintf("%s: %v", what, each))
	}
	if status.IsValid() {
		status.Set(kept)
	}
	if err := legacyscheme.Scheme.Convert(internal, object, nil); err != nil {
		*wrong = append(*wrong, fmt.Sprintf("%s: %v", what, err))
	}
}

func (c *clusterCase) store() (wrong []string) {
	for i, each := range c.Nodes {
		store(fmt.Sprintf("nodes[%d]", i), each, core, node.Strategy, &wrong)
	}
	for i, each := range c.Pods {
		store(fmt.Sprintf("pods[%d]", i), each, core, pod.Strategy, &wrong)
	}
	for i, each := range c.Namespaces {
		store(fmt.Sprintf("namespaces[%d]", i), each, core, namespace.Strategy, &wrong)
	}
	for i, each := range c.Volumes {
		store(fmt.Sprintf("volumes[%d]", i), each, core, persistentvolume.Strategy, &wrong)
	}
	for i, each := range c.Claims {
		store(fmt.Sprintf("claims[%d]", i), each, core, persistentvolumeclaim.Strategy, &wrong)
	}
	for i, each := range c.Classes {
		store(fmt.Sprintf("classes[%d]", i), each, storage, storageclass.Strategy, &wrong)
	}
	for i, each := range c.CSINodes {
		store(fmt.Sprintf("csiNodes[%d]", i), each, storage, csinode.Strategy, &wrong)
	}
	for i, each := range c.CSIDrivers {
		store(fmt.Sprintf("csiDrivers[%d]", i), each, storage, csidriver.Strategy, &wrong)
	}
	for i, each := range c.CSICapacities {
		store(fmt.Sprintf("csiCapacities[%d]", i), each, storage, csistoragecapacity.Strategy, &wrong)
	}
	for i, each := range c.Attachments {
		store(fmt.Sprintf("attachments[%d]", i), each, storage, volumeattachment.Strategy, &wrong)
	}
	store("pod", c.Pod, core, pod.Strategy, &wrong)
	return wrong
}

// ---- the filters

// The lister that the plugins keep; each case brings its own snapshot.
type lister struct{ *schedulercache.Snapshot }

// The pods that are nominated for a node and have none yet.
type nominated map[string][]fwk.PodInfo

func (n nominated) AddNominatedPod(klog.Logger, fwk.PodInfo, *fwk.NominatingInfo) {}
func (n nominated) DeleteNominatedPodIfExists(*v1.Pod)                            {}
func (n nominated) UpdateNominatedPod(klog.Logger, *v1.Pod, fwk.PodInfo)          {}
func (n nominated) NominatedPodsForNode(node string) []fwk.PodInfo                { return n[node] }

type judge struct {
	nominated nominated
	lister    *lister
	framework framework.Framework
	informers informers.SharedInformerFactory
}

// In the order of the default profile. What else is in that: what scores, binds or queues, and resource claims, which are left out.
var filters = []string{names.NodeUnschedulable, names.NodeName, names.TaintToleration, names.NodeAffinity, names.NodePorts, names.NodeResourcesFit,
	names.VolumeRestrictions, names.NodeVolumeLimits, names.VolumeBinding, names.VolumeZone, names.PodTopologySpread, names.InterPodAffinity}

func newJudge(ctx context.Context) (*judge, error) {
	metrics.Register()
	defaults, err := latest.Default()
	if err != nil {
		return nil, err
	}
	profile := defaults.Profiles[0]
	enabled := map[string]bool{}
	for _, each := range profile.Plugins.MultiPoint.Enabled {
		enabled[each.Name] = true
	}
	profile.Plugins = &config.Plugins{
		QueueSort: config.PluginSet{Enabled: []config.Plugin{{Name: names.PrioritySort}}},
		Bind:      config.PluginSet{Enabled: []config.Plugin{{Name: names.DefaultBinder}}},
	}
	registry := plugins.NewInTreeRegistry()
	client := fake.NewClientset()
	j := &judge{nominated: nominated{}, lister: &lister{schedulercache.NewEmptySnapshot()}, informers: informers.NewSharedInformerFactory(client, 0)}
	options := []frameworkruntime.Option{
		frameworkruntime.WithClientSet(client),
		frameworkruntime.WithInformerFactory(j.informers),
		frameworkruntime.WithSnapshotSharedLister(j.lister),
		frameworkruntime.WithPodNominator(j.nominated),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(j.informers.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithParallelism(1),
	}
	// Which of them look before they filter is theirs to say: multi point finds it out.
	for _, name := range filters {
		if !enabled[name] {
			return nil, fmt.Errorf("the default profile of this Kubernetes has no %s", name)
		}
		profile.Plugins.MultiPoint.Enabled = append(profile.Plugins.MultiPoint.Enabled, config.Plugin{Name: name, Weight: 1})
	}
	j.framework, err = frameworkruntime.NewFramework(ctx, registry, &profile, options...)
	return j, err
}

// No informer runs: what they know is put there.
func show[T any](informer cache.SharedIndexInformer, objects []T) error {
	items := make([]interface{}, 0, len(objects))
	for _, each := range objects {
		items = append(items, each)
	}
	return informer.GetIndexer().Replace(items, "1")
}

func (j *judge) show(c *clusterCase) error {
	core, storage := j.informers.Core().V1(), j.informers.Storage().V1()
	for _, err := range []error{
		show(core.Nodes().Informer(), c.Nodes),
		show(core.Namespaces().Informer(), c.Namespaces),
		show(core.PersistentVolumes().Informer(), c.Volumes),
		show(core.PersistentVolumeClaims().Informer(), c.Claims),
		show(storage.StorageClasses().Informer(), c.Classes),
		show(storage.CSINodes().Informer(), c.CSINodes),
		show(storage.CSIDrivers().Informer(), c.CSIDrivers),
		show(storage.CSIStorageCapacities().Informer(), c.CSICapacities),
		show(storage.VolumeAttachments().Informer(), c.Attachments),
	} {
		if err != nil {
			return err
		}
	}
	// As the scheduler's cache has it: pods that have a node which is there, and have not ended.
	there := map[string]bool{}
	for _, each := range c.Nodes {
		there[each.Name] = true
	}
	var placed []*v1.Pod
	clear(j.nominated)
	for _, each := range c.Pods {
		ended := each.Status.Phase == v1.PodSucceeded || each.Status.Phase == v1.PodFailed
		if there[each.Spec.NodeName] && !ended {
			placed = append(placed, each)
		}
		// And in its queue those without a node, which it is to give one.
		waits := each.Spec.NodeName == "" && each.DeletionTimestamp == nil && each.Status.Phase == v1.PodPending
		if node := each.Status.NominatedNodeName; waits && node != "" {
			info, err := framework.NewPodInfo(each)
			if err != nil {
				return err
			}
			j.nominated[node] = append(j.nominated[node], info)
		}
	}
	j.lister.Snapshot = schedulercache.NewSnapshot(placed, c.Nodes)
	return nil
}

func refusalOf(status *fwk.Status) refusal {
	return refusal{Plugin: status.Plugin(), Reasons: status.Reasons()}
}

// schedule_one.go, findNodesThatFitPod
func (j *judge) ask(ctx context.Context, c *clusterCase) (answer, error) {
	if err := j.show(c); err != nil {
		return answer{}, err
	}
	result := answer{Feasible: []string{}, Refused: map[string]refusal{}}
	state := framework.NewCycleState()
	before, status, by := j.framework.RunPreFilterPlugins(ctx, state, c.Pod)
	for _, each := range c.Nodes {
		switch {
		case !status.IsSuccess():
			result.Refused[each.Name] = refusalOf(status)
			if by.Len() > 0 {
				result.Refused[each.Name] = refusal{strings.Join(sets.List(by), "+"), status.Reasons()}
			}
		case !before.AllNodes() && !before.NodeNames.Has(each.Name):
			result.Refused[each.Name] = refusal{strings.Join(sets.List(by), "+"), []string{"not among the nodes it looks at"}}
		default:
			info, err := j.lister.Get(each.Name)
			if err != nil {
				return answer{}, err
			}
			if refused := j.framework.RunFilterPluginsWithNominatedPods(ctx, state, c.Pod, info); !refused.IsSuccess() {
				result.Refused[each.Name] = refusalOf(refused)
			} else {
				result.Feasible = append(result.Feasible, each.Name)
			}
		}
	}
	sort.Strings(result.Feasible)
	return result, nil
}

func (j *judge) answer(ctx context.Context, line []byte) (result answer, err error) {
	defer func() {
		if trouble := recover(); trouble != nil {
			err = fmt.Errorf("%v\n%s", trouble, debug.Stack())
		}
	}()
	c := &clusterCase{}
	if err := json.Unmarshal(line, c); err != nil {
		return answer{Invalid: []string{err.Error()}}, nil
	}
	if c.Pod == nil {
		return answer{Invalid: []string{"pod: it is not there"}}, nil
	}
	if wrong := c.store(); len(wrong) > 0 {
		return answer{Invalid: wrong}, nil
	}
	result, err = j.ask(ctx, c)
	result.Case = c
	return result, err
}

func run(in io.Reader, out io.Writer) error {
	klog.SetLogger(logr.Discard())
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	j, err := newJudge(ctx)
	if err != nil {
		return err
	}
	reader, writer := bufio.NewReaderSize(in, 1<<20), bufio.NewWriter(out)
	encoder := json.NewEncoder(writer)
	encoder.SetEscapeHTML(false)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if len(line) > 1 {
			result, wrong := j.answer(ctx, line)
			if wrong != nil {
				return fmt.Errorf("%v, of the case %s", wrong, line)
			}
			if wrong := encoder.Encode(result); wrong != nil {
				return wrong
			}
		}
		if err == io.EOF {
			return writer.Flush()
		}
	}
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "filter-judge:", err)
		os.Exit(1)
	}
}
