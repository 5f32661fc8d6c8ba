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

}  // namespace gangway::bench
