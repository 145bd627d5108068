# The papers' published forms, each in a folder published/ beside the production form. They are a library of their own,
# which benches, tests and the command link for comparison, but cu264 does not. It is not installed. What the encoder
# can choose (Config::entropy, Config::packing) is in cu264 instead.
file(GLOB published_sources CONFIGURE_DEPENDS encoder/published/*.cpp vision/published/*.cpp)
if(CU264_WITH_CUDA)
  file(GLOB published_cuda_sources CONFIGURE_DEPENDS
       entropy/*/published/*.cpp entropy/*/published/*.cu vision/published/*.cu)
  list(FILTER published_cuda_sources EXCLUDE REGEX
       "/(cavlcu|cavlcu_kernel|join_blocks|raster_input|block_headers|escape_slices|gvle_packer)\\.[cpu]+$")
else()
  list(FILTER published_sources EXCLUDE REGEX "/published_canny.cpp$")
endif()
add_library(cu264_published STATIC ${published_sources} ${published_cuda_sources})
target_link_libraries(cu264_published PUBLIC cu264 PRIVATE cu264_core cu264_build_flags)
if(CU264_WITH_CUDA)
  target_compile_definitions(cu264_published PRIVATE CU264_WITH_CUDA)
  target_link_libraries(cu264_published PRIVATE CUDA::cudart_static)
endif()
