// touchstone-runner-torch: runs references. It holds LibTorch and no candidate.
#include "sandbox/runner/torch/torch_handler.h"

int main() {
  const auto handler = touchstone::MakeTorchHandler();
  return touchstone::ServeRunner(*handler);
}
