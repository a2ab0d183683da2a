// Not part of the product: the layer check is shown this file and must refuse it (CMakeLists.txt).
#include "graph/graph.h"
