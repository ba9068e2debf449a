# How every target of ours is compiled. Written to the C++23 subset of GCC 12, the oldest compiler.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

find_program(CCACHE ccache)
if(CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

add_library(kubexm_compiler INTERFACE)
target_include_directories(kubexm_compiler INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(kubexm_compiler INTERFACE
    -Wall -Wextra -Wpedantic -Werror
    -Wconversion -Wsign-conversion  # lengths from the wire must not change sign or size silently
    -Wold-style-cast                # a cast that cannot be searched for hides a mistake
    -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
    -Wnull-dereference -Wformat=2 -Wimplicit-fallthrough
    -Wno-missing-field-initializers  # a designated initialiser leaves the rest at its default on purpose
    -fstack-protector-strong)
target_compile_definitions(kubexm_compiler INTERFACE
    JSON_USE_IMPLICIT_CONVERSIONS=0)  # a JSON value turns into a type only where the code says so
# A test program is linked in a sixth of the time. Releases keep the distribution's linker.
find_program(MOLD mold)
if(MOLD AND CMAKE_BUILD_TYPE STREQUAL "Debug")
    add_link_options(-fuse-ld=mold)
endif()
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_definitions(kubexm_compiler INTERFACE _FORTIFY_SOURCE=2)
    target_link_options(kubexm_compiler INTERFACE -Wl,-z,relro,-z,now)
endif()

set(KUBEXM_SANITIZE "" CACHE STRING "Sanitizers to build with, as in -fsanitize=")
if(KUBEXM_SANITIZE)
    # Everything is instrumented, GoogleTest's glue in our test files included.
    add_compile_options(-fsanitize=${KUBEXM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${KUBEXM_SANITIZE})
    # GCC's null-dereference analysis reports the sanitizers' own checks.
    target_compile_options(kubexm_compiler INTERFACE -Wno-null-dereference)
endif()

if(KUBEXM_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)  # the fuzzer follows coverage through our modules
endif()
