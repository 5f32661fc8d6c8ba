// Asks a Gangway extender where a gang of four goes: place_gang HOST:PORT CPU_OF_A_MEMBER
//
// Package gangwayv1 is made from the contract, by protoc with the tools of go.mod (scripts/client-tools does it).
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	pb "gangway/examples/clients/go/gangwayv1"
)

// One call with the whole cluster.
func place(ctx context.Context, client pb.GangSchedulerClient, gang *pb.Gang, nodes []*pb.Node) (string, error) {
	reply, err := client.PlaceGang(ctx, &pb.PlaceGangRequest{Gang: gang, Cluster: &pb.Cluster{Nodes: nodes}})
	if err != nil {
		return "", err
	}
	return text(reply.Placed, reply.Placements, reply.Reason), nil
}

// The same as a stream: the cluster once, then what changes.
func follow(ctx context.Context, client pb.GangSchedulerClient, gang *pb.Gang, nodes []*pb.Node) (string, error) {
	stream, err := client.Follow(ctx)
	if err != nil {
		return "", err
	}
	request := &pb.FollowRequest{Decide: true}
	for _, node := range nodes {
		request.Changes = append(request.Changes, &pb.Change{What: &pb.Change_Node{Node: node}})
	}
	request.Changes = append(request.Changes, &pb.Change{What: &pb.Change_Gang{Gang: gang}})
	if err := stream.Send(request); err != nil {
		return "", err
	}
	response, err := stream.Recv()
	if err != nil {
		return "", err
	}
	if len(response.Decisions) == 0 { // there is nothing new
		return "", errors.New("nothing was decided")
	}
	decision := response.Decisions[0]
	return text(decision.Placed, decision.Placements, decision.Reason), stream.CloseSend()
}

func text(placed bool, placements []*pb.Placement, reason *pb.Reason) string {
	if !placed {
		return reason.GetText()
	}
	var spots []string
	for _, spot := range placements {
		spots = append(spots, fmt.Sprintf("%s-%d %s", spot.Task, spot.Index, spot.Node))
	}
	return strings.Join(spots, ", ")
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: place_gang HOST:PORT CPU_OF_A_MEMBER")
	}
	connection, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	client := pb.NewGangSchedulerClient(connection)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	var nodes []*pb.Node
	for _, name := range []string{"node-0", "node-1"} {
		nodes = append(nodes, &pb.Node{Name: name, Allocatable: map[string]string{"cpu": "2", "pods": "110"}})
	}
	task := &pb.Task{Name: "trainer", Replicas: proto.Int32(4), Requests: map[string]string{"cpu": os.Args[2]}}
	gang := &pb.Gang{Name: "ctr", Tasks: []*pb.Task{task}}
	for _, ask := range []func(context.Context, pb.GangSchedulerClient, *pb.Gang, []*pb.Node) (string, error){place, follow} {
		answer, err := ask(ctx, client, gang, nodes)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(answer)
	}
}
