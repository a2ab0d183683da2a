#include "cli/run.h"

int main(int count, char** arguments) { return pipedream::cli::run(count, arguments); }
