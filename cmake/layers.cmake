# The order of the layers, in one table: a module may include, and is linked with, only what its line
# names. "+torch" admits libtorch's headers. check_layers.cmake enforces it over the direct includes.
set(PD_LAYERS
    "core:"
    "graph: core"
    "cluster: core"
    "profile: core graph"
    "cost: core graph cluster profile"
    "plan: core graph cluster profile cost"
    "schedule: core graph cost plan"
    "timeline: core schedule"
    "simulate: core graph cluster profile cost plan schedule timeline"
    "systems: core graph cluster profile cost plan schedule timeline simulate"
    "report: core graph cluster profile cost plan schedule timeline simulate systems"
    "page: core graph cluster profile cost plan schedule timeline simulate systems report"
    "text: core"
    "pt2: core"
    "place: core"
    "image: core"
    "model: core graph +torch"
    "imported: core graph pt2 model +torch"
    "data: core text graph image model +torch"
    "generate: core graph text model data +torch"
    "profiler: core place graph profile model +torch"
    "checkpoint: core"
    "transport: core"
    "probe: core cluster cost report transport"
    "runtime: core place graph plan schedule timeline model transport +torch"
    "train: core text checkpoint place data graph cluster profile cost plan schedule timeline systems simulate report model profiler transport runtime +torch"
    "library: core text checkpoint place data graph cluster profile cost plan schedule timeline systems simulate report model pt2 imported profiler transport runtime train +torch"
    "cli: core text checkpoint place data generate graph cluster profile cost plan schedule timeline systems simulate report page model pt2 imported profiler transport probe runtime train +torch")

# pd_layer_line(MODULE out): the names on the line of MODULE, as a list; an error for a module not in the table.
function(pd_layer_line module out)
  foreach(line IN LISTS PD_LAYERS)
    if(line MATCHES "^${module}:(.*)$")
      string(STRIP "${CMAKE_MATCH_1}" names)
      string(REPLACE " " ";" names "${names}")
      set(${out} "${names}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "src/${module} is not in the table of cmake/layers.cmake: add its line there")
endfunction()
