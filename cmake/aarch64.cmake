# Toolchain of Debian for 64-bit ARM: g++-aarch64-linux-gnu, and CU264_SYSROOT, a folder with what else is linked
# (scripts/lib/aarch64.sh fills it).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CU264_SYSROOT)
set(CMAKE_FIND_ROOT_PATH ${CU264_SYSROOT} /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,-rpath-link,${CU264_SYSROOT}/usr/lib/aarch64-linux-gnu)
set(CMAKE_SHARED_LINKER_FLAGS_INIT ${CMAKE_EXE_LINKER_FLAGS_INIT})
set(CMAKE_MODULE_LINKER_FLAGS_INIT ${CMAKE_EXE_LINKER_FLAGS_INIT})
# Debian keeps headers that differ between processors apart.
set(CMAKE_CXX_FLAGS_INIT "-isystem ${CU264_SYSROOT}/usr/include/aarch64-linux-gnu")
