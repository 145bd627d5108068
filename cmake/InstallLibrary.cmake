# Installs the library, the public headers, a CMake package, a pkg-config file, the licence and the documents.
set_target_properties(cu264 PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

if(NOT DEFINED BUILD_SHARED_LIBS)
  set(BUILD_SHARED_LIBS OFF)
endif()
# libcu264.so is the library for C programs (capi/).
set(CU264_PC_LIBRARY -l:libcu264.a)
if(BUILD_SHARED_LIBS)
  set_target_properties(cu264 PROPERTIES OUTPUT_NAME cu264++)
  set(CU264_PC_LIBRARY -lcu264++)
endif()
install(TARGETS cu264 EXPORT cu264Targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/cu264 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

set(cu264_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cu264)
install(EXPORT cu264Targets NAMESPACE cu264:: DESTINATION ${cu264_package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/cu264Config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/cu264Config.cmake
                              INSTALL_DESTINATION ${cu264_package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/cu264ConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cu264Config.cmake ${CMAKE_CURRENT_BINARY_DIR}/cu264ConfigVersion.cmake
        DESTINATION ${cu264_package_dir})

if(BUILD_SHARED_LIBS)
  set(CU264_PC_REQUIRES "Requires.private: tbb libcrypto")
else()
  set(CU264_PC_REQUIRES "Requires: tbb libcrypto")
endif()
if(CU264_WITH_CUDA AND NOT BUILD_SHARED_LIBS)
  list(GET CUDAToolkit_LIBRARY_DIR 0 cu264_cuda_folder)
  set(CU264_PC_LIBS_CUDA " -L${cu264_cuda_folder} -lcudart_static -ldl -lrt -lpthread")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/cu264.pc.in ${CMAKE_CURRENT_BINARY_DIR}/cu264.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cu264.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The documents refer to each other by relative names, so docs/ stays a folder.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
# What builds the site stays in the repository.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN site EXCLUDE)
