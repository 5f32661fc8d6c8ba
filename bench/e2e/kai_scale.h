// The scale suite of KAI Scheduler (its test/e2e/scale) on a real control plane: 500 nodes of 8 GPUs.
#pragma once

namespace gangway::bench {

// Prints a line a figure, beside what KAI publishes of its own runs. A few minutes.
void KaiScale();

}  // namespace gangway::bench
