# The papers' published forms, each in a folder published/ beside the production form: a library of its own that
# cu264 does not link, for benches, tests and the command's switches for comparison. It is not installed.
file(GLOB published_sources CONFIGURE_DEPENDS encoder/published/*.cpp vision/published/*.cpp)
if(CU264_WITH_CUDA)
  file(GLOB published_cuda_sources CONFIGURE_DEPENDS
       entropy/*/published/*.cpp entropy/*/published/*.cu vision/published/*.cu)
else()
  list(FILTER published_sources EXCLUDE REGEX "/published_canny.cpp$")
endif()
add_library(cu264_published STATIC ${published_sources} ${published_cuda_sources})
target_link_libraries(cu264_published PUBLIC cu264 PRIVATE cu264_core cu264_build_flags)
if(CU264_WITH_CUDA)
  target_compile_definitions(cu264_published PRIVATE CU264_WITH_CUDA)
  target_link_libraries(cu264_published PRIVATE CUDA::cudart_static)
endif()
