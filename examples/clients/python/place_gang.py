"""Asks a Gangway extender where a gang of four goes: python place_gang.py HOST:PORT CPU_OF_A_MEMBER

The modules are made from the contract: python -m grpc_tools.protoc -I . --python_out=OUT --grpc_python_out=OUT proto/gangway/v1/extender.proto
"""

import sys

import grpc
from proto.gangway.v1 import extender_pb2 as pb
from proto.gangway.v1 import extender_pb2_grpc as rpc


def place(stub, gang, nodes):
    """One call with the whole cluster."""
    request = pb.PlaceGangRequest(gang=gang, cluster=pb.Cluster(nodes=nodes))
    return stub.PlaceGang(request, timeout=10)


def follow(stub, gang, nodes):
    """The same as a stream: the cluster once, then what changes."""
    changes = [pb.Change(node=node) for node in nodes] + [pb.Change(gang=gang)]
    requests = iter([pb.FollowRequest(changes=changes, decide=True)])
    return next(stub.Follow(requests, timeout=10)).decisions[0]


def main():
    address, cpu = sys.argv[1:]
    stub = rpc.GangSchedulerStub(grpc.insecure_channel(address))
    nodes = [pb.Node(name=name, allocatable={"cpu": "2", "pods": "110"}) for name in ("node-0", "node-1")]
    gang = pb.Gang(name="ctr", tasks=[pb.Task(name="trainer", replicas=4, requests={"cpu": cpu})])
    for answer in place(stub, gang, nodes), follow(stub, gang, nodes):
        if answer.placed:
            print(*(f"{spot.task}-{spot.index} {spot.node}" for spot in answer.placements), sep=", ")
        else:
            print(answer.reason.text)


main()
