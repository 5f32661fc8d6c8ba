// What is measured on a real API server; each makes its cluster and prints a line a figure.
#pragma once

namespace gangway::bench {

void ManyGangs();
void GangShapes();
void LargeGang();

void ManyJobs();
void JobRestart();
void WritesOfJobs();
void PaceOfJobs();

// The public scale suite of KAI Scheduler, whose own figures are of 500 nodes.
void KaiScale(int nodes);

}  // namespace gangway::bench
