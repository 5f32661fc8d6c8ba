// The expected texts are what vcctl printed when it was recorded (tests/golden/volcano/bus-commands). Volcano's client
// drops apiVersion and kind of what it reads, so vcctl shows them empty; a job without them is the one recorded.
#include "cmd/vcctl/job_view.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace gangway::cmd {
namespace {

using api::volcano::Job;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kJob[] = R"json({
 "metadata": {
  "creationTimestamp": "2026-11-21T05:15:56Z",
  "generation": 1,
  "name": "cmd3",
  "namespace": "g-bus-commands",
  "resourceVersion": "2922",
  "uid": "6fc01d84-dfb4-4f1b-9754-bb16ec5a97e7"
 },
 "spec": {
  "maxRetry": 3,
  "minAvailable": 2,
  "queue": "default",
  "schedulerName": "volcano",
  "tasks": [
   {
    "maxRetry": 3,
    "minAvailable": 2,
    "name": "w",
    "replicas": 2,
    "template": {
     "metadata": {},
     "spec": {
      "containers": [
       {
        "image": "example.test/app:v1",
        "name": "w",
        "resources": {
         "requests": {
          "cpu": "1",
          "memory": "100M"
         }
        }
       }
      ],
      "restartPolicy": "Never"
     }
    }
   }
  ]
 },
 "status": {
  "conditions": [
   {
    "lastTransitionTime": "2026-11-21T05:15:58Z",
    "status": "Aborting"
   },
   {
    "lastTransitionTime": "2026-11-21T05:15:59Z",
    "status": "Aborted"
   },
   {
    "lastTransitionTime": "2026-11-21T05:15:59Z",
    "status": "Restarting"
   },
   {
    "lastTransitionTime": "2026-11-21T05:16:01Z",
    "status": "Pending"
   },
   {
    "lastTransitionTime": "2026-11-21T05:16:01Z",
    "status": "Running"
   }
  ],
  "minAvailable": 2,
  "retryCount": 1,
  "running": 2,
  "state": {
   "lastTransitionTime": "2026-11-21T05:16:01Z",
   "phase": "Running"
  },
  "taskStatusCount": {
   "w": {
    "phase": {
     "Running": 2
    }
   }
  },
  "version": 9
 }
})json";

constexpr char kView[] = R"text(Name:       	cmd3
Namespace:  	g-bus-commands
Labels:     	<none>
Annotations:	<none>
API Version:	
Kind:       	
Metadata:
  Creation Timestamp:	2026-11-21 05:15:56 +0000 UTC
  Generate Name:     	
  Generation:        	1
  Resource Version:  	2922
  UID:               	6fc01d84-dfb4-4f1b-9754-bb16ec5a97e7
Spec:
  Min Available:     	2
  Plugins:
    Env:	[]
    Ssh:	[]
  Scheduler Name:    	volcano
  Tasks:
    Name:	w
    Replicas:	2
    Template:
      Metadata:
        Annotations:
          Cri . Cci . Io / Container - Type:          	
          Kubernetes . Io / Availablezone:            	
          Network . Alpha . Kubernetes . Io / Network:	
        Creation Timestamp:	0001-01-01 00:00:00 +0000 UTC
      Spec:
        Containers:
          Command:
          Image:	example.test/app:v1
          Name: 	w
          Ports:
          Resources:
            Limits:
              Cpu:   	0
              Memory:	0
            Requests:
              Cpu:   	1
              Memory:	100M
            Working Dir:	
        Image Pull Secrets:
        Restart Policy:   	Never
Status:
  Running:      	2
  RetryCount:   	1
  Min Available:	2
  Version:      	9
  State:
    Phase:	Running
  Conditions:
    Status	TransitionTime
    Aborting 	2026-11-21 05:15:58 +0000 UTC 
    Aborted 	2026-11-21 05:15:59 +0000 UTC 
    Restarting 	2026-11-21 05:15:59 +0000 UTC 
    Pending 	2026-11-21 05:16:01 +0000 UTC 
    Running 	2026-11-21 05:16:01 +0000 UTC 
)text";

constexpr const char* kEvents[] = {
    R"json({"metadata": {"name": "cmd3.18e9f797f47f084c"}, "type": "Normal", "reason": "CommandIssued", "message": "Start to execute command AbortJob, and clean it up to make sure executed not more than once.", "count": 1, "firstTimestamp": "2026-11-21T05:15:58Z", "lastTimestamp": "2026-11-21T05:15:58Z", "source": {"component": "vc-controller-manager"}})json",
    R"json({"metadata": {"name": "cmd3.18e9f797f4803805"}, "type": "Normal", "reason": "ExecuteAction", "message": "Start to execute action AbortJob ", "count": 1, "firstTimestamp": "2026-11-21T05:15:58Z", "lastTimestamp": "2026-11-21T05:15:58Z", "source": {"component": "vc-controller-manager"}})json",
    R"json({"metadata": {"name": "cmd3.18e9f7983505b96c"}, "type": "Normal", "reason": "CommandIssued", "message": "Start to execute command ResumeJob, and clean it up to make sure executed not more than once.", "count": 1, "firstTimestamp": "2026-11-21T05:15:59Z", "lastTimestamp": "2026-11-21T05:15:59Z", "source": {"component": "vc-controller-manager"}})json",
    R"json({"metadata": {"name": "cmd3.18e9f79835068198"}, "type": "Normal", "reason": "ExecuteAction", "message": "Start to execute action ResumeJob ", "count": 1, "firstTimestamp": "2026-11-21T05:15:59Z", "lastTimestamp": "2026-11-21T05:15:59Z", "source": {"component": "vc-controller-manager"}})json",
};

constexpr char kEventsText[] = R"text(Events:
Type           	Reason                                  	Age                           	Form                                    	Message
-------        	-------                                 	-------                       	-------                                 	-------
Normal         	CommandIssued                           	3s                            	vc-controller-manager                   	Start to execute command AbortJob, and clean it up to make sure executed not more than once.
Normal         	ExecuteAction                           	3s                            	vc-controller-manager                   	Start to execute action AbortJob
Normal         	CommandIssued                           	2s                            	vc-controller-manager                   	Start to execute command ResumeJob, and clean it up to make sure executed not more than once.
Normal         	ExecuteAction                           	2s                            	vc-controller-manager                   	Start to execute action ResumeJob
)text";

absl::Time At(const char* text) { return api::ParseTime(text).value(); }

std::vector<JobEvent> RecordedEvents() {
  std::vector<JobEvent> events;
  for (const char* json : kEvents) events.push_back(api::Decode<JobEvent>(json).value());
  return events;
}

TEST(JobViewTest, AsRecorded) { EXPECT_EQ(JobViewText(api::Decode<Job>(kJob).value()), kView); }

TEST(JobEventsTest, AsRecorded) { EXPECT_EQ(JobEventsText(RecordedEvents(), At("2026-11-21T05:16:01Z")), kEventsText); }

TEST(JobEventsTest, RepeatedOnesSayHowOftenAndSinceWhen) {
  std::vector<JobEvent> events = RecordedEvents();
  events.resize(1);
  events[0].count = 3;
  events[0].source.host = "n1";
  events[0].last_timestamp.at = At("2026-11-21T05:20:00Z");
  const std::string text = JobEventsText(events, At("2026-11-21T05:20:10Z"));
  EXPECT_THAT(text, HasSubstr("\t10s (x3 over 4m12s)           \t"));
  EXPECT_THAT(text, HasSubstr("\tvc-controller-manager, n1               \t"));
}

TEST(JobEventsTest, None) { EXPECT_EQ(JobEventsText({}, At("2026-11-21T05:16:01Z")), "Events: \t<none>\n"); }

TEST(JobViewTest, EverythingAContainerSays) {
  Job job = api::Decode<Job>(kJob).value();
  job.metadata.labels = {{"a", "1"}, {"b", "\"2\""}};
  job.spec.plugins = {{"env", {}}, {"ssh", {"--no-root", "--port=22"}}};
  job.spec.tasks[0].pod_template.json = R"json({"metadata": {"annotations": {"kubernetes.io/availablezone": "z1"}},
    "spec": {"restartPolicy": "OnFailure", "imagePullSecrets": [{"name": "pull"}],
    "containers": [{"name": "c", "image": "i", "command": ["sh", "-c"], "workingDir": "/w", "ports": [{"containerPort": 80, "name": "http"}],
    "resources": {"limits": {"cpu": "1500m", "memory": "1Gi"}}}]}})json";
  const std::string text = JobViewText(job);
  EXPECT_THAT(text, HasSubstr("Labels:     \t{\"a\":\"1\",\"b\":\"\\\"2\\\"\"}\n"));
  EXPECT_THAT(text, HasSubstr("    Ssh:\t[--no-root --port=22]\n"));
  EXPECT_THAT(text, HasSubstr("Availablezone:            \tz1\n"));
  EXPECT_THAT(text, HasSubstr("          Command:\n            sh\n            -c\n"));
  EXPECT_THAT(text, HasSubstr("            Container Port:\t80\n            Name:          \thttp\n"));
  EXPECT_THAT(text, HasSubstr("              Cpu:   \t1500m\n              Memory:\t1Gi\n"));
  EXPECT_THAT(text, HasSubstr("            Working Dir:\t/w\n"));
  EXPECT_THAT(text, HasSubstr("          Name:     \tpull\n"));
}

TEST(JobViewTest, PluginObjectsAreShownOurRecordsAreNot) {
  Job job = api::Decode<Job>(kJob).value();
  job.status.controlled_resources = {{"gangway.io/pods", "w=2"}, {"plugin-svc", "svc"}};
  const std::string text = JobViewText(job);
  EXPECT_THAT(text, HasSubstr("  Controlled Resources:\n    plugin-svc: \tsvc\n"));
  EXPECT_THAT(text, Not(HasSubstr("gangway.io")));
}

TEST(JobViewTest, ATemplateThatIsNoneIsToldInItsPlace) {
  Job job = api::Decode<Job>(kJob).value();
  job.spec.tasks[0].pod_template.json = R"json({"spec": {"containers": 7}})json";
  EXPECT_THAT(JobViewText(job), HasSubstr("      <spec.containers: "));
}

}  // namespace
}  // namespace gangway::cmd
