# Runs after a GoogleTest program is linked: cmake -D PROGRAM=... -D FILE=... -D NAME=... -D LABEL=... -D ENVIRONMENT=...
# -P this. Writes FILE, in which ctest finds an entry NAME.SUITE for each suite of the program. A process for each case
# would take longer to start than most cases take to run.
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" lines "${listing}")
set(entries)
foreach(line IN LISTS lines)
  # Suites begin a line and end with a point; cases are indented.
  if(NOT line MATCHES "^([A-Za-z0-9_/]+)\\.( +#.*)?$")
    continue()
  endif()
  set(suite ${CMAKE_MATCH_1})
  string(APPEND entries "add_test([[${NAME}.${suite}]] [[${PROGRAM}]] [[--gtest_filter=${suite}.*]])\n"
    "set_tests_properties([[${NAME}.${suite}]] PROPERTIES LABELS [[${LABEL}]] ENVIRONMENT [[${ENVIRONMENT}]] TIMEOUT 1200 "
    # The list of skipped cases ends the output if no case failed. If none passed either, the suite was skipped.
    "SKIP_REGULAR_EXPRESSION [==[PASSED  ] 0 tests\\.\n(\\[  SKIPPED ][^\n]*\n)+$]==])\n")
endforeach()
if(NOT entries)
  message(FATAL_ERROR "${PROGRAM} lists no suites")
endif()
file(WRITE ${FILE} "${entries}")
