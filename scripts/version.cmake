# What `yardmaster version` prints. Included by CMakeLists.txt it writes yard_build.h (compiler and
# libraries, at configure time) and makes the target yard_version; run as a script (cmake -P) at
# every build it writes yard_version.h (the commit), and touches it only when that has changed.

if(CMAKE_SCRIPT_MODE_FILE)
  cmake_policy(VERSION 3.25)
  execute_process(COMMAND git -C "${SOURCE}" describe --tags --always --dirty
                  OUTPUT_VARIABLE commit ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE
                  RESULT_VARIABLE failed)
  if(failed OR commit STREQUAL "")
    set(commit "unknown")
  endif()
  file(CONFIGURE OUTPUT "${OUT}" CONTENT
       "#pragma once\n#define YARD_COMMIT \"@commit@\"\n" @ONLY)
  return()
endif()

set(build_facts "")
macro(yard_fact name value)
  set(fact_value "${value}")
  if(fact_value STREQUAL "")
    set(fact_value "none")
  endif()
  string(APPEND build_facts "    {\"${name}\", \"${fact_value}\"}, \\\n")
endmacro()

set(sanitize_note "")
if(YARD_SANITIZE)
  set(sanitize_note " with -fsanitize=${YARD_SANITIZE}")
endif()
set(torch_found "")
if(YARD_AGENTS)
  set(torch_found "${Torch_VERSION}")
endif()
yard_fact("compiler" "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
yard_fact("build_type" "${CMAKE_BUILD_TYPE}${sanitize_note}")
yard_fact("target" "${CMAKE_SYSTEM_NAME} ${CMAKE_SYSTEM_PROCESSOR} ${YARD_MARCH}")
yard_fact("libtorch" "${torch_found}")
yard_fact("onednn" "${dnnl_VERSION}")
yard_fact("grpc" "${gRPC_VERSION}")
yard_fact("protobuf" "${Protobuf_VERSION}")
yard_fact("yaml-cpp" "${yaml-cpp_VERSION}")
yard_fact("eigen" "${Eigen3_VERSION}")
yard_fact("openssl" "${OPENSSL_VERSION}")
yard_fact("zlib" "${ZLIB_VERSION_STRING}")
yard_fact("fmt" "${fmt_VERSION}")
yard_fact("spdlog" "${spdlog_VERSION}")
yard_fact("nlohmann-json" "${nlohmann_json_VERSION}")
yard_fact("cli11" "${CLI11_VERSION}")
yard_fact("boost" "${Boost_VERSION_STRING}")
yard_fact("prometheus-cpp" "${prometheus_VERSION}")
yard_fact("cuda" "${CMAKE_CUDA_COMPILER_VERSION}")  # of a LibTorch with CUDA

file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/yard_build.h" @ONLY CONTENT
"#pragma once
#define YARD_RELEASE \"@PROJECT_VERSION@\"
#define YARD_BUILD_FACTS \\
@build_facts@
")

add_custom_target(yard_version_header
  COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}"
          "-DOUT=${PROJECT_BINARY_DIR}/generated/yard_version.h" -P "${CMAKE_CURRENT_LIST_FILE}"
  BYPRODUCTS "${PROJECT_BINARY_DIR}/generated/yard_version.h" VERBATIM)
add_library(yard_version OBJECT "${PROJECT_SOURCE_DIR}/env/base/core/version.cc")
target_link_libraries(yard_version PUBLIC yard_flags)
add_dependencies(yard_version yard_version_header)
