#ifndef TOUCHSTONE_REWARD_TASK_ADMISSION_DATA_H_
#define TOUCHSTONE_REWARD_TASK_ADMISSION_DATA_H_

#include "base/hash.h"
#include "base/result.h"
#include "reward/task/admission.h"
#include "reward/task/reference_driver.h"

namespace touchstone {

// Runs the task's reference as often as Admit() needs it: in both precisions, on other inputs, on rounded ones.
Result<AdmissionData> CollectAdmissionData(const Task& task, const DimValues& dims, RunnerPort& port,
                                           const SecretKey& key);

}  // namespace touchstone

#endif  // TOUCHSTONE_REWARD_TASK_ADMISSION_DATA_H_
