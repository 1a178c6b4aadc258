# `make install` and `make deb`. Included by CMakeLists.txt it makes the install rules and configures
# CPack; run by CPack it adds to the package's tree what only Debian wants.

if(CPACK_TEMPORARY_DIRECTORY)
  cmake_policy(VERSION 3.25)
  if(CPACK_YARD_TORCH_ROOT)
    message(FATAL_ERROR "a package needs the distribution's LibTorch; configure without YARD_TORCH_ROOT")
  endif()
  set(share "${CPACK_TEMPORARY_DIRECTORY}/usr/share")
  set(doc "${share}/doc/yardmaster")
  file(REMOVE "${doc}/LICENSE")
  execute_process(COMMAND date -R --date=@${CPACK_YARD_DATE} OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX MATCH "20[0-9][0-9]" year "${date}")
  file(WRITE "${doc}/copyright" "Yardmaster
Copyright (C) ${year} the Yardmaster developers

Licensed under the Apache License, Version 2.0. On Debian systems the licence is in
/usr/share/common-licenses/Apache-2.0.
")
  file(WRITE "${doc}/changelog" "yardmaster (${CPACK_PACKAGE_VERSION}) stable; urgency=medium

  * Release ${CPACK_PACKAGE_VERSION}; CHANGELOG.md lists the changes.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  file(GLOB packed "${doc}/changelog" "${share}/man/man1/*.1")
  execute_process(COMMAND gzip -9n ${packed} COMMAND_ERROR_IS_FATAL ANY)
  if(EXISTS "${share}/zsh/site-functions")
    file(RENAME "${share}/zsh/site-functions" "${share}/zsh/vendor-completions")
  endif()
  # Services, which an operator enables, and their settings, which dpkg keeps as they were edited.
  if(EXISTS "${CPACK_TEMPORARY_DIRECTORY}/usr/libexec/yardmaster/yardmaster-serve")
    file(COPY "${CPACK_YARD_SOURCE}/scripts/systemd/yardmaster.service"
              "${CPACK_YARD_SOURCE}/scripts/systemd/yardmaster-drift.service"
              "${CPACK_YARD_SOURCE}/scripts/systemd/yardmaster-drift.timer"
              "${CPACK_YARD_SOURCE}/scripts/systemd/yardmaster-slurm.service"
         DESTINATION "${CPACK_TEMPORARY_DIRECTORY}/usr/lib/systemd/system")
    file(COPY "${CPACK_YARD_SOURCE}/docs/examples/serve.yaml" "${CPACK_YARD_SOURCE}/serving/slurm/agent.yaml"
         DESTINATION "${CPACK_TEMPORARY_DIRECTORY}/etc/yardmaster")
  endif()
  return()
endif()

# ---- Install rules ------------------------------------------------------------------------------
# `yardmaster` finds the other programs, and all of them share/yardmaster, relative to themselves.
set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
    GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # not the tests

install(TARGETS yardmaster RUNTIME DESTINATION bin)
foreach(program yardmaster-sim yardmaster-bench yardmaster-train yardmaster-serve)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION libexec/yardmaster)
  endif()
endforeach()
install(TARGETS yardmaster_env LIBRARY DESTINATION lib PUBLIC_HEADER DESTINATION include)

file(GLOB clusters CONFIGURE_DEPENDS experiments/clusters/*.yaml)
install(FILES ${clusters} DESTINATION share/yardmaster/clusters)
install(DIRECTORY checkpoints/pilot DESTINATION share/yardmaster/checkpoints)
install(FILES serving/slurm/job_submit.lua serving/slurm/agent.yaml DESTINATION share/yardmaster/slurm)
install(DIRECTORY docs/examples/prometheus docs/examples/grafana DESTINATION share/yardmaster/examples)
install(FILES LICENSE CHANGELOG.md DESTINATION share/doc/yardmaster)

# For users of the library.
set(made "${PROJECT_BINARY_DIR}/generated/installed")
file(CONFIGURE OUTPUT "${made}/yardmaster_env.pc" @ONLY CONTENT [[
prefix=${pcfiledir}/../..
Name: yardmaster_env
Description: Environments of GPU cluster scheduling for other languages
Version: @PROJECT_VERSION@
Libs: -L${prefix}/lib -lyardmaster_env
Cflags: -I${prefix}/include
]])
file(CONFIGURE OUTPUT "${made}/yardmaster_envConfig.cmake" @ONLY CONTENT [[
if(NOT TARGET yardmaster::env)
  get_filename_component(_yardmaster "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
  add_library(yardmaster::env SHARED IMPORTED)
  set_target_properties(yardmaster::env PROPERTIES
    IMPORTED_LOCATION "${_yardmaster}/lib/libyardmaster_env.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_yardmaster}/include")
  unset(_yardmaster)
endif()
]])
include(CMakePackageConfigHelpers)
write_basic_package_version_file("${made}/yardmaster_envConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${made}/yardmaster_env.pc" DESTINATION lib/pkgconfig)
install(FILES "${made}/yardmaster_envConfig.cmake" "${made}/yardmaster_envConfigVersion.cmake"
        DESTINATION lib/cmake/yardmaster_env)

# yard_install_output(FILE argument...): installs what the built program prints. A program without
# the command installs no file.
function(yard_install_output file)
  cmake_path(GET file FILENAME name)
  cmake_path(GET file PARENT_PATH folder)
  string(JOIN " " arguments ${ARGN})
  install(CODE "
    execute_process(COMMAND \"$<TARGET_FILE:yardmaster>\" ${arguments}
                    OUTPUT_FILE \"${made}/${name}\" ERROR_QUIET RESULT_VARIABLE failed)
    if(failed)
      message(STATUS \"Not installed: ${file} (no 'yardmaster ${arguments}')\")
    else()
      file(INSTALL \"${made}/${name}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${folder}\")
    endif()")
endfunction()
yard_install_output(share/man/man1/yardmaster.1 man)
yard_install_output(share/bash-completion/completions/yardmaster completion bash)
yard_install_output(share/zsh/site-functions/_yardmaster completion zsh)
yard_install_output(share/fish/vendor_completions.d/yardmaster.fish completion fish)

# ---- The Debian package -------------------------------------------------------------------------
set(CPACK_GENERATOR DEB)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS ${CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS})
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_FILE}")
set(CPACK_YARD_TORCH_ROOT "${YARD_TORCH_ROOT}")
set(CPACK_YARD_SOURCE "${PROJECT_SOURCE_DIR}")
set(CPACK_PACKAGE_CONTACT "Yardmaster developers <yardmaster@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "GPU cluster simulator, learned schedulers and policy server")
set(CPACK_PACKAGE_DESCRIPTION
"Yardmaster replays the jobs of a GPU cluster under other scheduling policies,
trains schedulers with reinforcement learning, and serves them to a cluster
manager over gRPC or HTTP, with a heuristic as fallback. The package has the
command yardmaster, the C library of the environment, ready-made clusters and
a trained policy. On amd64 it needs a processor with SSE4.2 (x86-64-v2).")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)  # NAME_VERSION_ARCHITECTURE.deb
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
file(WRITE "${made}/triggers" "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${made}/triggers")
if(YARD_SERVING)
  file(WRITE "${made}/conffiles" "/etc/yardmaster/serve.yaml\n/etc/yardmaster/agent.yaml\n")
  # A removed service ends; systemd learns of a new one.
  file(WRITE "${made}/prerm" [[#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl disable --now yardmaster.service yardmaster-slurm.service yardmaster-drift.timer || true
fi
]])
  file(WRITE "${made}/postinst" [[#!/bin/sh
set -e
if [ "$1" = configure ] && [ -d /run/systemd/system ]; then
  systemctl daemon-reload || true
  systemctl try-restart yardmaster.service yardmaster-slurm.service || true
fi
]])
  file(CHMOD "${made}/prerm" "${made}/postinst" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
       GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  list(APPEND CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${made}/conffiles" "${made}/prerm" "${made}/postinst")
endif()
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
if(YARD_AGENTS)
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libopenblas0-pthread)  # training is slow with libblas3
endif()
# The date of the package's changelog: of the commit, so that equal sources make equal packages.
set(CPACK_YARD_DATE "$ENV{SOURCE_DATE_EPOCH}")
if(NOT CPACK_YARD_DATE)
  execute_process(COMMAND git -C "${PROJECT_SOURCE_DIR}" log -1 --format=%ct ERROR_QUIET
                  OUTPUT_VARIABLE CPACK_YARD_DATE OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
if(NOT CPACK_YARD_DATE)
  string(TIMESTAMP CPACK_YARD_DATE "%s")
endif()
include(CPack)
