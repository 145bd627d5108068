# Debian packages, which `cpack` makes in a build folder that was configured with -DCMAKE_INSTALL_PREFIX=/usr; scripts/debs does
# both. Each package has a component of its own, of which a plain `cmake --install` takes nothing.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME cu264)
set(CPACK_PACKAGE_CONTACT "The cu264 authors <cu264@invalid>")
set(CPACK_PACKAGE_VENDOR cu264)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/capi)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)  # with the exact version, which library and module need
# Packages of one version for several systems have different names: 0.1.0-1~debian12.
set(CU264_PACKAGE_RELEASE 1 CACHE STRING "What follows the version in the names of packages")
set(CPACK_DEBIAN_PACKAGE_RELEASE ${CU264_PACKAGE_RELEASE})
set(CPACK_COMPONENTS_ALL)

# cu264_package(COMPONENT NAME SECTION DESCRIPTION [DEPENDS COMPONENT...]): begins a package, whose files are then installed
# with the component. The first line of the description is the project's.
macro(cu264_package component name section description)
  cmake_parse_arguments(package "" "" "DEPENDS" ${ARGN})
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  string(TOUPPER ${component} key)
  set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${key}_DESCRIPTION ${description})
  set(CPACK_COMPONENT_${key}_DEPENDS ${package_DEPENDS})
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} RENAME copyright
          COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()

set(triggers ${CMAKE_CURRENT_BINARY_DIR}/triggers)
file(WRITE ${triggers} "activate-noawait ldconfig\n")

if(CU264_C)
  cu264_package(deb_library libcu264-0 libs "libcu264.so.0, the library for C programs. It encodes on the processor, and on\n\
NVIDIA GPUs where libcu264-cuda0 is installed, to the same bytes.")
  install(TARGETS cu264_c LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT deb_library NAMELINK_SKIP EXCLUDE_FROM_ALL)
  set(CPACK_DEBIAN_DEB_LIBRARY_PACKAGE_SUGGESTS libcu264-cuda0)
  set(CPACK_DEBIAN_DEB_LIBRARY_PACKAGE_GENERATE_SHLIBS ON)
  set(CPACK_DEBIAN_DEB_LIBRARY_PACKAGE_CONTROL_EXTRA ${triggers})

  if(CU264_WITH_CUDA)
    cu264_package(deb_cuda libcu264-cuda0 libs "The CUDA module libcu264_cuda.so.0, which libcu264.so.0 opens where it is installed. It\n\
contains NVIDIA's CUDA runtime and needs NVIDIA's driver." DEPENDS deb_library)
    install(TARGETS cu264_cuda_module LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT deb_cuda NAMELINK_SKIP EXCLUDE_FROM_ALL)
    set(CPACK_DEBIAN_DEB_CUDA_PACKAGE_SUGGESTS libcuda1)
    set(CPACK_DEBIAN_DEB_CUDA_PACKAGE_CONTROL_EXTRA ${triggers})
  endif()

  cu264_package(deb_development libcu264-dev libdevel "The header cu264/cu264.h, for C programs and for every language that calls C. The\n\
C++ library has no stable ABI, so it is built with the programs that use it." DEPENDS deb_library)
  install(TARGETS cu264_c
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT deb_development NAMELINK_ONLY EXCLUDE_FROM_ALL)
  install(EXPORT cu264cTargets NAMESPACE cu264::
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cu264 COMPONENT deb_development EXCLUDE_FROM_ALL)
  install(FILES ${PROJECT_BINARY_DIR}/encoder/cu264Config.cmake ${PROJECT_BINARY_DIR}/encoder/cu264ConfigVersion.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cu264 COMPONENT deb_development EXCLUDE_FROM_ALL)
  install(FILES ${PROJECT_BINARY_DIR}/capi/cu264-c.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT deb_development EXCLUDE_FROM_ALL)
  install(FILES ${PROJECT_SOURCE_DIR}/include/cu264/cu264.h ${PROJECT_SOURCE_DIR}/include/cu264/version.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cu264 COMPONENT deb_development EXCLUDE_FROM_ALL)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/c.md ${PROJECT_SOURCE_DIR}/samples/encode_gray.c
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libcu264-dev COMPONENT deb_development EXCLUDE_FROM_ALL)
endif()

if(CU264_APP)
  cu264_package(deb_command cu264 video "The command encodes whatever FFmpeg reads to .264, .mp4, .mov, .mkv and .ts, on NVIDIA GPUs or\n\
the processor. Every picture is intra and stands on its own.")
  install(TARGETS cu264_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT deb_command EXCLUDE_FROM_ALL)
  cu264_install_command_help(COMPONENT deb_command EXCLUDE_FROM_ALL)
  install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/cu264 COMPONENT deb_command EXCLUDE_FROM_ALL)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/cu264
          COMPONENT deb_command EXCLUDE_FROM_ALL)
endif()

if(TARGET gstcu264)
  cu264_package(deb_gstreamer gstreamer1.0-cu264 video "The element cu264enc of GStreamer." DEPENDS deb_library)
  install(TARGETS gstcu264 LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/gstreamer-1.0 COMPONENT deb_gstreamer EXCLUDE_FROM_ALL)
endif()

include(CPack)
