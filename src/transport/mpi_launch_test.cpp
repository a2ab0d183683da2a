#include <array>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "transport/mpi.h"

namespace pipedream::transport {
namespace {

constexpr std::array kSigns{"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"};

TEST(LaunchedByMpirun, SeesTheVariablesOfTheLaunchers) {
  for (const char* name : kSigns) ::unsetenv(name);  // a launcher may have started the tests
  EXPECT_FALSE(launched_by_mpirun());
  for (const char* name : kSigns) {
    ::setenv(name, "0", 1);
    EXPECT_TRUE(launched_by_mpirun()) << name;
    ::unsetenv(name);
  }
}

TEST(LaunchedSize, IsWhatTheLauncherSaysOrNothing) {
  ::unsetenv("OMPI_COMM_WORLD_SIZE");
  ::unsetenv("PMI_SIZE");
  EXPECT_FALSE(launched_size());
  ::setenv("PMI_SIZE", "5", 1);
  EXPECT_EQ(launched_size(), 5);
  ::unsetenv("PMI_SIZE");
}

TEST(LaunchedHere, IsWhatTheLauncherSaysOrNothing) {
  ::unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  ::unsetenv("MPI_LOCALNRANKS");
  EXPECT_FALSE(launched_here());
  ::setenv("MPI_LOCALNRANKS", "3", 1);
  EXPECT_EQ(launched_here(), 3);
  ::unsetenv("MPI_LOCALNRANKS");
}

}  // namespace
}  // namespace pipedream::transport
