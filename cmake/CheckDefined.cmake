# Run after MODULE is linked: fails if a function of cu264's own is left undefined in it. The linker cannot refuse such a
# module (-z defs), since Python's functions are undefined in it until Python loads it.
#
#   cmake -DNM=... -DMODULE=... -P CheckDefined.cmake
execute_process(COMMAND ${NM} --dynamic --undefined-only --demangle ${MODULE} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]*(cu264|nanobind)::[^\n]*" undefined "${symbols}")
if(undefined)
  list(JOIN undefined "\n" undefined)
  message(FATAL_ERROR "${MODULE} lacks what it calls:\n${undefined}")
endif()
