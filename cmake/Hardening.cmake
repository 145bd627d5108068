# Adds to cu264_build_flags what Debian builds its programs with against memory errors that come in with a file:
# position-independent executables, guards of return addresses and of the stack, checked copies, read-only relocations.
option(CU264_HARDENING "Compile with the hardening flags of Linux distributions" ON)

include(CheckPIESupported)
check_pie_supported(LANGUAGES CXX)
if(NOT CU264_HARDENING)
  return()
endif()

include(CheckCXXCompilerFlag)
include(CheckLinkerFlag)
foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection)
  string(MAKE_C_IDENTIFIER "CU264_HAS${flag}" known)
  check_cxx_compiler_flag(${flag} ${known})
  if(${known})
    target_compile_options(cu264_build_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${flag}>)
  endif()
endforeach()
check_linker_flag(CXX "LINKER:-z,relro,-z,now" CU264_HAS_RELRO)
if(CU264_HAS_RELRO)
  target_link_options(cu264_build_flags INTERFACE "LINKER:-z,relro,-z,now")
endif()

if(CU264_SANITIZE OR CU264_FUZZ)
  # Sanitizers check copies themselves; the standard library's own assertions are for tests, since they cost time.
  target_compile_definitions(cu264_build_flags INTERFACE _GLIBCXX_ASSERTIONS)
else()
  # Some compilers define another level by themselves. Without optimisation there is nothing to check with.
  target_compile_options(cu264_build_flags INTERFACE
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release,RelWithDebInfo,MinSizeRel>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>")
endif()
