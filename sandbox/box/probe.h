// What this host can give to boxes, for people: `touchstone doctor` prints it.
#ifndef TOUCHSTONE_SANDBOX_BOX_PROBE_H_
#define TOUCHSTONE_SANDBOX_BOX_PROBE_H_

#include <string>
#include <vector>

#include "sandbox/box/layers.h"

namespace touchstone {

struct LayerReport {
  Layer layer = Layer::kOwnUid;
  bool available = false;
  bool needed_for_full = false;
  std::string detail;  // how it is done here, or why it is not
  std::string remedy;  // what to change on the host to get it; empty when it is available
};

// One report for each layer, in the order of their numbers. Tries each thing as a spawner would and undoes it: makes
// and removes control groups, forks children. Takes some tens of milliseconds; the caller must have one thread.
std::vector<LayerReport> ProbeHost();

// The level that boxes reach with what is available.
Level LevelOf(const std::vector<LayerReport>& reports);

}  // namespace touchstone

#endif  // TOUCHSTONE_SANDBOX_BOX_PROBE_H_
