#ifndef TOUCHSTONE_BASE_PROGRAM_FOLDER_H_
#define TOUCHSTONE_BASE_PROGRAM_FOLDER_H_

#include <string>

namespace touchstone {

// The folder of the running program, where its companions lie; empty where the kernel does not tell.
std::string ProgramFolder();

}  // namespace touchstone

#endif  // TOUCHSTONE_BASE_PROGRAM_FOLDER_H_
