// What is measured on a real API server; each makes its cluster and prints a line a figure.
#pragma once

#include <utility>

namespace gangway::bench {

void ManyGangs();
inline constexpr std::pair<int, int> kGangShapes[] = {{100, 10}, {20, 50}, {1000, 1}, {1, 1000}, {20, 500}};
void GangShapes();
void OneGangShape(int gangs, int size);
void LargeGang();

void ManyJobs();
void JobRestart();
void WritesOfJobs();
void PaceOfJobs();

// The public scale suite of KAI Scheduler, whose own figures are of 500 nodes.
void KaiScale(int nodes);
// Of it only what fills the cluster.
void KaiFill(int nodes);
// Of it only what many deletions at once make room for; and what these cost the API server, by whom and when.
void KaiReclaim(int nodes);
void WritesOfReclaim(int nodes);

}  // namespace gangway::bench
