# Makes the manual page and the completions of shells with the command itself. cu264_install_command_help() installs them
# where systems look.
set(cu264_help_folder ${CMAKE_CURRENT_BINARY_DIR}/help)
file(MAKE_DIRECTORY ${cu264_help_folder})
set(cu264_help_files)

# cu264_help_file(FILE OPTION...): what `cu264 help OPTION...` prints.
function(cu264_help_file name)
  set(file ${cu264_help_folder}/${name})
  add_custom_command(OUTPUT ${file} COMMAND cu264_app help ${ARGN} > ${file} DEPENDS cu264_app VERBATIM)
  set(cu264_help_files ${cu264_help_files} ${file} PARENT_SCOPE)
endfunction()

cu264_help_file(cu264.1 --man)
cu264_help_file(cu264 --completion bash)
cu264_help_file(_cu264 --completion zsh)
cu264_help_file(cu264.fish --completion fish)
add_custom_target(cu264_help ALL DEPENDS ${cu264_help_files})

# cu264_install_command_help([INSTALL OPTION...])
set_property(GLOBAL PROPERTY CU264_HELP_FOLDER ${cu264_help_folder})
function(cu264_install_command_help)
  get_property(folder GLOBAL PROPERTY CU264_HELP_FOLDER)
  install(FILES ${folder}/cu264.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 ${ARGN})
  install(FILES ${folder}/cu264 DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions ${ARGN})
  install(FILES ${folder}/_cu264 DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions ${ARGN})
  install(FILES ${folder}/cu264.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d ${ARGN})
endfunction()
cu264_install_command_help()
