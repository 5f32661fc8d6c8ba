#!/usr/bin/env python3
"""Condenses Volcano's definitions of its types, as its releases ship them, into what our tests put into API servers.

    tests/golden/volcano/types/condense.py v1.9.0 v1.10.0 ...    in order; needs Go, whose client downloads the releases

Writes TYPE/RELEASE.yaml beside this script for each release in which the definition is another than in the one before; what is not
there is as in the newest file of an older release. A file that says `null`: the release has no such type. Without descriptions,
and pod templates are anything: they are those of the Kubernetes that the release was built with.
"""

import json
import pathlib
import subprocess
import sys

import yaml

TYPES = (
    "batch.volcano.sh_cronjobs", "batch.volcano.sh_jobs", "bus.volcano.sh_commands", "flow.volcano.sh_jobflows",
    "flow.volcano.sh_jobtemplates", "scheduling.volcano.sh_podgroups", "scheduling.volcano.sh_queues",
    "topology.volcano.sh_hypernodes",
)
HERE = pathlib.Path(__file__).parent


def is_pod_template(schema):
    spec = schema.get("properties", {}).get("spec", {})
    return "containers" in spec.get("properties", {})


def condensed(schema):
    if isinstance(schema, list):
        return [condensed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if isinstance(schema.get("properties"), dict):
        if is_pod_template(schema):
            return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        kept = {key: condensed(value) for key, value in schema.items() if key not in ("description", "properties")}
        kept["properties"] = {name: condensed(field) for name, field in schema["properties"].items()}
        return kept
    return {key: condensed(value) for key, value in schema.items() if key != "description"}


def definition(release, name):
    module = json.loads(subprocess.run(["go", "mod", "download", "-json", f"volcano.sh/volcano@{release}"], check=True,
                                       capture_output=True, text=True, cwd="/").stdout)
    for folder in ("config/crd/volcano/bases", "config/crd/jobflow/bases"):
        path = pathlib.Path(module["Dir"], folder, name + ".yaml")
        if path.exists():
            crd = yaml.safe_load(path.read_text())
            crd.pop("status", None)
            crd["metadata"] = {"name": crd["metadata"]["name"]}
            return condensed(crd)
    return None


for name in TYPES:
    before = "nothing"
    group, plural = name.split("_")
    folder = HERE / f"{plural}.{group}"
    for release in sys.argv[1:]:
        crd = definition(release, name)
        if crd != before:
            folder.mkdir(exist_ok=True)
            minor = ".".join(release.lstrip("v").split(".")[:2])
            (folder / f"{minor}.yaml").write_text(yaml.safe_dump(crd, sort_keys=True, width=200))
        before = crd
