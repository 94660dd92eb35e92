#include "reward/task/admission_data.h"

#include "reward/task/mutants.h"

namespace touchstone {

Result<AdmissionData> CollectAdmissionData(const Task& task, const DimValues& dims, RunnerPort& port,
                                           const SecretKey& key) {
  TOUCHSTONE_ASSIGN(ReferenceDriver driver, ReferenceDriver::Create(task, dims, port));
  AdmissionData data;
  data.dims = dims;
  TOUCHSTONE_ASSIGN(data.inputs, driver.MakeInputs(key, 0));
  TOUCHSTONE_ASSIGN(const auto other, driver.MakeInputs(key, 1));
  const auto run = [&driver](const std::vector<TensorData>& inputs) {
    driver.Store(0, inputs);
    return driver.Run(0);
  };
  TOUCHSTONE_ASSIGN(data.previous, run(other));
  driver.Store(0, data.inputs);
  TOUCHSTONE_ASSIGN(data.oracle, driver.Oracle(0));
  TOUCHSTONE_ASSIGN(data.reference, driver.Run(0));
  for (size_t i = 0; i < data.inputs.size(); ++i) {
    std::vector<TensorData> inputs = data.inputs;
    inputs[i] = other[i];
    TOUCHSTONE_ASSIGN(auto outputs, run(inputs));
    data.other_input.push_back(std::move(outputs));
  }
  std::vector<TensorData> rounded = data.inputs;
  bool any = false;
  for (TensorData& input : rounded) {
    if (!LowerPrecision(input.dtype)) continue;
    input = RoundedToLowerPrecision(input);
    any = true;
  }
  if (any) {
    TOUCHSTONE_ASSIGN(data.rounded_inputs, run(rounded));
  }
  return data;
}

}  // namespace touchstone
