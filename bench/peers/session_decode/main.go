// A peer of bench/plugin/extender: only decodes the body of onSessionOpen, with the standard library, into structs that
// have what ours reads of it. Prints the median in nanoseconds.
//
//	session_decode FILE TIMES
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strconv"
	"time"
)

type resource struct {
	MilliCPU, Memory float64
	ScalarResources  map[string]float64
	MaxTaskNum       int
}

type metadata struct {
	Name, Namespace, UID string
	CreationTimestamp    *time.Time
	DeletionTimestamp    *time.Time
	Labels, Annotations  map[string]string
	OwnerReferences      []struct {
		Name, UID  string
		Controller *bool
	}
}

type container struct {
	Name      string
	Resources struct{ Requests, Limits map[string]string }
	Ports     []struct {
		HostPort, ContainerPort int
		HostIP, Protocol        string
	}
}

type pod struct {
	Metadata metadata
	Spec     struct {
		NodeName, SchedulerName, PriorityClassName, PreemptionPolicy string
		Priority                                                     *int32
		HostNetwork                                                  bool
		Containers, InitContainers                                   []container
		NodeSelector                                                 map[string]string
		Affinity                                                     json.RawMessage
		Tolerations                                                  []struct{ Key, Operator, Value, Effect string }
		Volumes, TopologySpreadConstraints, ResourceClaims           json.RawMessage
	}
	Status struct {
		Phase, NominatedNodeName string
		StartTime                *time.Time
		Conditions               []struct{ Type, Status, Reason string }
	}
}

type task struct {
	UID, Job, Name, Namespace, TaskRole, NodeName string
	Resreq, InitResreq                            *resource
	Status                                        int
	Priority                                      int32
	Preemptable, BestEffort, SchGated             bool
	Pod                                           *pod
}

type subJob struct {
	GID, UID, Job   string
	MinAvailable    int32
	Tasks           map[string]*task
	TaskStatusIndex map[string]map[string]*task
}

type job struct {
	UID, Name, Namespace, Queue string
	Priority, MinAvailable      int32
	SubJobs                     map[string]*subJob
	TaskToSubJob                map[string]string
	TaskStatusIndex             map[string]map[string]*task
	Tasks                       map[string]*task
	TaskMinAvailable            map[string]int32
	Allocated, TotalRequest     *resource
	PodGroup                    *struct {
		Metadata metadata
		Spec     struct {
			MinMember     int32
			MinTaskMember map[string]int32
			Queue         string
			MinResources  map[string]string
		}
		Status struct{ Phase string }
	}
}

type node struct {
	Name string
	Node *struct {
		Metadata metadata
		Spec     struct {
			Unschedulable bool
			Taints        []struct{ Key, Value, Effect string }
		}
		Status struct{ Capacity, Allocatable map[string]string }
	}
	Idle, Used, Releasing, Pipelined, Allocatable, Capacity *resource
	Tasks                                                   map[string]*task
}

type session struct {
	Jobs   map[string]*job
	Nodes  map[string]*node
	Queues map[string]*struct {
		UID, Name string
		Weight    int32
		Queue     *struct {
			Metadata metadata
			Spec     struct {
				Weight               int32
				Capability, Deserved map[string]string
			}
			Status struct{ State string }
		}
	}
}

func main() {
	body, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	times, err := strconv.Atoi(os.Args[2])
	if err != nil {
		panic(err)
	}
	var took []int
	for i := 0; i < times; i++ {
		begin := time.Now()
		var s session
		if err := json.Unmarshal(body, &s); err != nil {
			panic(err)
		}
		took = append(took, int(time.Since(begin)))
		if len(s.Jobs) == 0 || len(s.Nodes) == 0 {
			panic("nothing was read")
		}
	}
	sort.Ints(took)
	fmt.Println(took[len(took)/2])
}
