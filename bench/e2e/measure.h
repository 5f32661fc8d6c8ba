// A cluster to measure in, and what is read of it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "kube/client/client.h"
#include "tests/e2e/control_plane.h"
#include "tests/e2e/installed_gangway.h"

namespace gangway::bench {

// Gangway at work on so many nodes, whose pods nobody runs. `program`: another gangway than the one that was built with
// this. Ends the program when it cannot be had.
std::unique_ptr<testutil::InstalledGangway> Install(int nodes, const std::string& program = "", bool audit = false);
std::unique_ptr<testutil::InstalledGangway> InstallOn(std::vector<kube::Request> nodes, const std::string& program = "",
                                                      bool audit = false);
void MakeNamespace(testutil::ControlPlane& plane, const std::string& name);
void MakeNamespace(testutil::InstalledGangway& gangway, const std::string& name);

// The gangways to compare: that of GW_BENCH_PEER, where it is set, and "", the one that was built with this.
std::vector<std::string> Programs();

struct Cost {
  double count = 0, seconds = 0;  // of the API server, from request to answer
};
// Requests that change something, of anybody, as the API server counts them: "PATCH podgroups" -> 200. Leases are left
// out.
std::map<std::string, Cost> Writes(testutil::ControlPlane& plane);
// "PATCH podgroups 1000 of 3.1 ms, ..."
std::string Since(const std::map<std::string, Cost>& before, const std::map<std::string, Cost>& after);

// CPU seconds of what runs of a control plane and of this program, by the name of the process.
std::map<std::string, double> CpuByProcess();
// "kube-apiserver 8.12 s, etcd 1.30 s, ...", without those that used nothing.
std::string CpuSince(const std::map<std::string, double>& before, const std::map<std::string, double>& after);

std::string Seconds(absl::Duration d);
std::string Memory(const testutil::ProcessUse& use);

}  // namespace gangway::bench
