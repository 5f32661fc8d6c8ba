#!/usr/bin/env python3
"""Condenses recordings of the real Volcano into what our stories are compared with.

    tests/golden/volcano/condense.py RECORDINGS        RECORDINGS: a folder with a folder for each case

Writes CASE/input.yaml (copied) and CASE/recorded.json beside this script, for each case whose folder has a timeline:

  phases    of each Job, PodGroup and Queue, without repetitions; "r1" is a Job's retryCount. Of a PodGroup those that last
  moments   each snapshot in a line per object: phase, counters, what is bound, the newest condition of a PodGroup. Of a Job also
            Status/NAME, its minimum and its conditions; Tasks/NAME, its taskStatusCount, which Volcano drops when it kills, so that
            of a Job that has ended it stands here only where it was kept; Nodes/NAME, where no two of its pods find room on one node.
            Of a PodGroup also Counts/NAME, its counters
  events    Kind/name Type Reason: "must" if it is there whenever the scheduler looks, "may" if it tells of a state that passes
  injected  the fields that Volcano fills in, as they first stood: of pods, PodGroups and whatever plugins make

Left out, because it depends on when a session of the scheduler looked or on chance: status.version, texts of messages, the order of
env, volumes and mounts, counters on the way, UIDs and random suffixes (here <uid> and nothing). tests/stories/observe.cc reads our
objects in the same way.
"""

import json
import pathlib
import re
import sys

UID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
FINAL = {"Completed", "Failed", "Aborted", "Terminated"}
NODE_CPUS = 16  # of every node in the recordings
COUNTERS = ("pending", "running", "succeeded", "failed", "unknown", "terminating")
# Of a pod. The rest is the template's, or the API server's.
POD_FIELDS = ("hostname", "subdomain", "schedulerName", "priorityClassName", "hostNetwork", "dnsPolicy", "restartPolicy")
CLUSTERS_OWN = ("kube-root-ca.crt", "kubernetes")
SPECS = {
    "PodGroup": ("minMember", "minTaskMember", "minResources", "queue"),
    "Service": ("clusterIP", "selector", "ports", "publishNotReadyAddresses"),
    "NetworkPolicy": ("podSelector", "ingress", "policyTypes"),
    "PersistentVolumeClaim": ("accessModes", "resources", "storageClassName"),
    "Job": ("minAvailable", "queue", "maxRetry", "schedulerName"),
}


def plain(name):
    """A name without a UID or the random end of a claim's or volume's name."""
    return re.sub(r"-[a-z0-9]{12}$", "", re.sub("-" + UID, "", name))


def newest_condition(status):
    """Times are whole seconds: of two in one second the one that the phase says."""
    whole = status.get("phase") in ("Running", "Completed")
    return max(status.get("conditions") or [], key=lambda c: (c.get("lastTransitionTime") or "", (c["type"] == "Scheduled") == whole), default=None)


def placed(status):
    """Bound, though the next session has yet to write Running."""
    newest = newest_condition(status)
    return status.get("phase") == "Inqueue" and newest is not None and newest["type"] == "Scheduled"


def job_state(status):
    phase = (status.get("state") or {}).get("phase", "")
    retries = status.get("retryCount", 0)
    return phase + (f" r{retries}" if phase and retries else "")


def states(kind, status):
    if kind == "Job":
        return [job_state(status)]
    if kind == "Queue":
        return [status.get("state", "")]
    return [status.get("phase", "")] + (["Running"] if placed(status) else [])


def lasting(sequence):
    """Of a PodGroup's phases those that last. What lies between two sessions passes: the way of a group that was made anew until it is
    placed, a loss that is made good, the last word about a group that is being removed. Moments show these where they last."""
    lives = [[]]
    for state in sequence:
        if state == "gone":
            lives.append([])
        else:
            lives[-1].append(state)
    told = []
    for i, life in enumerate(lives):
        first, last = 0, len(life)
        removed = i + 1 < len(lives)
        while removed and last > 1 and life[last - 1] in ("Unknown", "Completed", "Pending"):
            last -= 1
        runs = [k for k in range(last) if life[k] == "Running"]
        if i > 0 and runs:
            first = runs[-1]
        kept = life[first:last]
        if runs and i == 0:
            kept = life[: runs[0]] + life[runs[-1] : last]
        told += kept + (["gone"] if removed else [])
    return told


def phases_of(timeline, until, own_queues, keeps_jobs):
    phases, cleaned = {}, set()
    for event in timeline:
        kind, name = event["kind"], plain(event["name"])
        if event["t"] > until or kind not in ("Job", "PodGroup", "Queue") or (kind == "Queue" and name not in own_queues):
            continue
        gone = event["type"] == "DELETED"
        # The recorder's clean-up begins while the last snapshot is written.
        if gone and kind == "Job" and keeps_jobs and event["t"] > until - 0.3:
            cleaned.add(name)
        if name in cleaned:
            continue
        sequence = phases.setdefault(f"{kind}/{name}", [])
        for state in ["gone"] if gone else states(kind, event.get("status") or {}):
            if state and (not sequence or sequence[-1] != state):
                sequence.append(state)
    return {key: lasting(sequence) if key.startswith("PodGroup/") else sequence for key, sequence in phases.items()}


def counters(status, names):
    return "".join(f" {name}={status[name]}" for name in names if status.get(name))


def task_counts(status):
    return "; ".join(
        f"{task}: " + ", ".join(f"{count} {phase}" for phase, count in sorted(counts.get("phase", {}).items()))
        for task, counts in sorted((status.get("taskStatusCount") or {}).items()))


def spread(pods):
    """Where no two find room on one node of 16 cpu: how many nodes they are on."""
    bound = [pod["spec"] for pod in pods if pod["spec"].get("nodeName")]
    cpus = [sum(float(c.get("resources", {}).get("requests", {}).get("cpu", "0").replace("m", "e-3")) for c in spec["containers"]) for spec in bound]
    if not bound or min(cpus) <= NODE_CPUS / 2:
        return None
    return f"{len(bound)} pods on {len({spec['nodeName'] for spec in bound})}"


def moment_of(objects, own_queues):
    lines = {}
    for job in objects.get("Job", []):
        status, name = job.get("status", {}), job["metadata"]["name"]
        final = (status.get("state") or {}).get("phase") in FINAL
        lines["Job/" + name] = job_state(status) + counters(status, ("terminating",) if final else COUNTERS)
        lines["Status/" + name] = f"min {status.get('minAvailable', 0)}: " + ", ".join(c["status"] for c in status.get("conditions") or [])
        if not final or status.get("taskStatusCount"):
            lines["Tasks/" + name] = task_counts(status)
        on = spread([p for p in objects.get("Pod", []) if p["metadata"].get("labels", {}).get("volcano.sh/job-name") == name and p["status"]["phase"] in ("Pending", "Running")])
        if on is not None:
            lines["Nodes/" + name] = on
    for group in objects.get("PodGroup", []):
        status = group.get("status", {})
        newest = newest_condition(status)
        line = "Running" if placed(status) else status.get("phase", "")
        if newest is not None:
            line += f"; {newest['type']}={newest['status']} {newest.get('reason', '')}".rstrip()
        lines["PodGroup/" + plain(group["metadata"]["name"])] = line
        lines["Counts/" + plain(group["metadata"]["name"])] = counters(status, ("running", "succeeded", "failed")).lstrip()
    waiting = {}
    for pod in objects.get("Pod", []):
        name, spec = pod["metadata"]["name"], pod["spec"]
        bound = bool(spec.get("nodeName"))
        lines["Pod/" + name] = (
            pod["status"]["phase"] + (" bound" if bound else "") + (" terminating" if pod["metadata"].get("deletionTimestamp") else ""))
        for condition in pod["status"].get("conditions", []):
            if condition["type"] == "PodScheduled" and not bound:
                task = re.sub(r"\d+$", "", name).rstrip("-")
                reasons = waiting.setdefault("Waiting/" + task, {})
                reasons[condition["reason"]] = reasons.get(condition["reason"], 0) + 1
    for task, reasons in waiting.items():
        lines[task] = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    for queue in objects.get("Queue", []):
        if queue["metadata"]["name"] in own_queues:
            lines["Queue/" + queue["metadata"]["name"]] = queue.get("status", {}).get("state", "")
    for kind in ("ConfigMap", "Service", "NetworkPolicy", "Secret", "PersistentVolumeClaim"):
        for thing in objects.get(kind, []):
            if thing["metadata"]["name"] not in CLUSTERS_OWN:
                lines[f"{kind}/{plain(thing['metadata']['name'])}"] = "there"
    return dict(sorted(lines.items()))


def anonymous(value, volumes):
    if isinstance(value, dict):
        return {key: "<ns>" if key == "volcano.sh/job-namespace" else anonymous(value[key], volumes) for key in sorted(value)}
    if isinstance(value, list):
        return [anonymous(item, volumes) for item in value]
    if isinstance(value, str):
        return volumes.get(value) or re.sub(UID, "<uid>", value)
    return value


def by_text(items):
    return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))


def injected_into_pod(pod):
    metadata, spec = pod["metadata"], pod["spec"]
    fields = {
        "labels": metadata.get("labels", {}),
        "annotations": {k: v for k, v in metadata.get("annotations", {}).items() if not k.startswith("test.kwok/")},
        "owner": owner_of(metadata),
    }
    fields.update({name: spec[name] for name in POD_FIELDS if name in spec})
    for kind in ("initContainers", "containers"):
        for container in spec.get(kind, []):
            fields[f"{kind}/{container['name']}"] = {
                part: by_text(container[part]) for part in ("env", "ports", "volumeMounts") if container.get(part)}
    if spec.get("volumes"):
        fields["volumes"] = by_text(spec["volumes"])
    return fields


def owner_of(metadata):
    return [f"{o['kind']}/{o['name']}" + (" controller" if o.get("controller") else "") for o in metadata.get("ownerReferences", [])]


def injected_into(kind, thing):
    if kind == "Pod":
        return injected_into_pod(thing)
    fields = {"owner": owner_of(thing["metadata"])}
    for part in ("labels", "annotations"):
        kept = {k: v for k, v in thing["metadata"].get(part, {}).items() if not k.startswith("pv.kubernetes.io/")}
        if kept:
            fields[part] = kept
    spec = thing.get("spec", {})
    fields.update({name: spec[name] for name in SPECS.get(kind, ()) if name in spec})
    if kind == "Job":
        fields["tasks"] = [{k: task[k] for k in ("name", "replicas", "minAvailable", "maxRetry") if k in task} for task in spec["tasks"]]
        resources = thing.get("status", {}).get("controlledResources", {})
        fields["controlledResources"] = {k: v for k, v in resources.items() if k.startswith("plugin-")}
    if kind == "ConfigMap":
        fields["data"] = thing.get("data", {})
    if kind == "Secret":
        fields["keys"] = sorted(thing.get("data", {}))
    return fields


def injected(snapshots):
    found = {}
    for objects in snapshots.values():
        for kind in ("Job", "PodGroup", "Pod", "ConfigMap", "Service", "NetworkPolicy", "Secret", "PersistentVolumeClaim"):
            for thing in objects.get(kind, []):
                name = plain(thing["metadata"]["name"])
                # Only the first incarnation of a pod: a later one carries a version that is not exact.
                told = thing["metadata"].get("annotations", {})
                later = {told.get("volcano.sh/job-version", "0"), told.get("volcano.sh/job-retry-count", "0")} != {"0"}
                if name in CLUSTERS_OWN or later or thing["metadata"].get("deletionTimestamp"):
                    continue
                volumes = {v["name"]: plain(v["name"]) for v in thing.get("spec", {}).get("volumes", [])} if kind == "Pod" else {}
                claims = [v["persistentVolumeClaim"]["claimName"] for v in thing.get("spec", {}).get("volumes", []) if "persistentVolumeClaim" in v] if kind == "Pod" else []
                volumes.update({claim: plain(claim) for claim in claims})
                found.setdefault(f"{kind}/{name}", anonymous(injected_into(kind, thing), volumes))
    return dict(sorted(found.items()))


def waits_at(moments):
    """Objects that wait at some moment: what the scheduler says of them no session misses."""
    waiting = set()
    for lines in moments.values():
        for key, line in lines.items():
            name = key.split("/", 1)[1]
            if key.startswith("PodGroup/") and ("Unschedulable=True" in line or line == "Pending"):
                waiting.update((key, "Job/" + name))
            if key.startswith("Pod/") and line == "Pending" and any(k.startswith("Waiting/") and name.startswith(k[8:]) for k in lines):
                waiting.add(key)
    return waiting


def events_of(timeline, until, moments, phases):
    must, may = set(), set()
    # A job whose pods were made anew may be told to wait meanwhile, and any gang that it was placed.
    again = {key[4:] for key, sequence in phases.items() if key.startswith("Job/") and any(s.startswith("Pending") for s in sequence[1:])}
    for event in timeline:
        name = plain(event.get("name", ""))
        if event["kind"] == "Pod" and any(name.startswith(job + "-") for job in again):
            may.add(f"Pod/{name} Warning FailedScheduling")
        if event["kind"] == "PodGroup":
            may.add(f"PodGroup/{name} Normal Scheduled")
    for job in again:
        may.update((f"Job/{job} Warning PodGroupPending", f"PodGroup/{job} Warning Unschedulable", f"PodGroup/{job} Normal Unschedulable"))
    waiting = waits_at(moments)
    running = {key for lines in moments.values() for key, line in lines.items() if key.startswith("PodGroup/") and line.startswith("Running")}
    for event in timeline:
        if event["kind"] != "Event" or event["t"] > until or event["from"] not in ("volcano", "vc-controller-manager"):
            continue
        # Volcano warns of a gang that it lets in or places; we do not (docs: differences).
        if event["object"].startswith("PodGroup/") and re.match("0/0 tasks in gang|.*pod group is ready,", event["message"]):
            continue
        thing, reason = plain(event["object"]), event["reason"]
        line = f"{thing} {event['type_']} {reason}"
        passing = reason in ("Unschedulable", "FailedScheduling", "PodGroupPending") and thing not in waiting
        passing = passing or (thing.startswith("PodGroup/") and reason == "Scheduled" and thing not in running)
        (may if passing else must).add(line)
    return {line: "must" if line in must else "may" for line in sorted(must | may)}


def end_of(readme):
    """Seconds until the recorder's clean-up: its last snapshot, or the last thing it waited for."""
    return max(float(t) for t in re.findall(r"^- t=([0-9.]+) (?:snapshot|reached) ", readme, re.M)) + 0.01


def condense(folder, target):
    timeline = [json.loads(line) for line in (folder / "timeline.jsonl").read_text().splitlines()]
    snapshots = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("[0-9][0-9]-*.json"))}
    readme = (folder / "README.md").read_text()
    until = end_of(readme)
    own_queues = set(re.findall(r"kind: Queue\nmetadata:\n  name: (\S+)", (folder / "input.yaml").read_text()))
    moments = {name: moment_of(objects, own_queues) for name, objects in snapshots.items()}
    phases = phases_of(timeline, until, own_queues, "reached Job object gone" not in readme)
    recorded = {
        "phases": phases,
        "moments": moments,
        "events": events_of(timeline, until, moments, phases),
        "injected": injected(snapshots),
    }
    target.mkdir(exist_ok=True)
    (target / "recorded.json").write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n")
    # A plain y is true to Kubernetes; it was submitted as a text.
    (target / "input.yaml").write_text(re.sub(r": y$", ': "y"', (folder / "input.yaml").read_text(), flags=re.M))
    return until


def main():
    here = pathlib.Path(__file__).parent
    for folder in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        if (folder / "timeline.jsonl").exists():
            until = condense(folder, here / folder.name)
            print(f"{folder.name}: {until:.1f} s")


if __name__ == "__main__":
    main()
