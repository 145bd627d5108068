# The folders that pkg-config files name. The prefix is relative to their own folder, so that the installed tree may be
# moved. That is not possible if an installation folder is absolute.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(CU264_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
  set(CU264_PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
  set(CU264_PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH cu264_pc_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  set(CU264_PC_PREFIX "\${pcfiledir}/${cu264_pc_up}")
  set(CU264_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(CU264_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
