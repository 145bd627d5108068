# Makes the manual page and the completions of shells with the command itself, and installs them where systems look.
set(cu264_help_folder ${CMAKE_CURRENT_BINARY_DIR}/help)
file(MAKE_DIRECTORY ${cu264_help_folder})
set(cu264_help_files)

# cu264_help_file(FILE DESTINATION OPTION...): what `cu264 help OPTION...` prints, as DESTINATION/FILE.
function(cu264_help_file name destination)
  set(file ${cu264_help_folder}/${name})
  add_custom_command(OUTPUT ${file} COMMAND cu264_app help ${ARGN} > ${file} DEPENDS cu264_app VERBATIM)
  install(FILES ${file} DESTINATION ${destination})
  set(cu264_help_files ${cu264_help_files} ${file} PARENT_SCOPE)
endfunction()

cu264_help_file(cu264.1 ${CMAKE_INSTALL_MANDIR}/man1 --man)
cu264_help_file(cu264 ${CMAKE_INSTALL_DATADIR}/bash-completion/completions --completion bash)
cu264_help_file(_cu264 ${CMAKE_INSTALL_DATADIR}/zsh/site-functions --completion zsh)
cu264_help_file(cu264.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d --completion fish)
add_custom_target(cu264_help ALL DEPENDS ${cu264_help_files})
