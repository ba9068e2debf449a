# Third-party code by the short names that modules.txt uses: KUBEXM_PACKAGE_<name> = CMake targets.
# Missing packages are named in one line, by their names in Debian and Fedora.

function(kubexm_missing WHAT DEBIAN FEDORA)
    message(FATAL_ERROR "${WHAT} is missing: install ${DEBIAN} (Debian) or ${FEDORA} (Fedora), or run ./dev setup")
endfunction()

find_program(PKG_CONFIG_EXECUTABLE NAMES pkg-config pkgconf)
if(NOT PKG_CONFIG_EXECUTABLE)
    kubexm_missing(pkg-config pkg-config pkgconf-pkg-config)
endif()
find_package(PkgConfig QUIET REQUIRED)

# kubexm_pkg(NAME MODULE DEBIAN FEDORA): a library that describes itself to pkg-config.
function(kubexm_pkg NAME MODULE DEBIAN FEDORA)
    pkg_check_modules(${NAME} IMPORTED_TARGET QUIET GLOBAL ${MODULE})
    if(NOT ${NAME}_FOUND)
        kubexm_missing("${MODULE}" ${DEBIAN} ${FEDORA})
    endif()
    set(KUBEXM_PACKAGE_${NAME} PkgConfig::${NAME} PARENT_SCOPE)
endfunction()

kubexm_pkg(systemd libsystemd>=252 libsystemd-dev systemd-devel)
kubexm_pkg(openssl libcrypto>=3.0 libssl-dev openssl-devel)
kubexm_pkg(curl libcurl>=7.85 libcurl4-openssl-dev libcurl-devel)
kubexm_pkg(mnl libmnl>=1.0 libmnl-dev libmnl-devel)
kubexm_pkg(nftnl libnftnl>=1.2 libnftnl-dev libnftnl-devel)
kubexm_pkg(nghttp2 libnghttp2>=1.43 libnghttp2-dev libnghttp2-devel)
kubexm_pkg(json nlohmann_json>=3.10 nlohmann-json3-dev json-devel)
kubexm_pkg(yaml yaml-cpp>=0.6 libyaml-cpp-dev yaml-cpp-devel)
kubexm_pkg(sqlite sqlite3>=3.37 libsqlite3-dev sqlite-devel)
kubexm_pkg(toml tomlplusplus>=3.0 libtomlplusplus-dev tomlplusplus-devel)
kubexm_pkg(fmt fmt>=8.0 libfmt-dev fmt-devel)

find_package(CLI11 QUIET)
if(NOT CLI11_FOUND)
    kubexm_missing(CLI11 libcli11-dev cli11-devel)
endif()
set(KUBEXM_PACKAGE_cli11 CLI11::CLI11)

# Not every distribution has a Drogon that is new enough; ./dev setup builds one into its cache.
find_package(Drogon 1.9.10 QUIET CONFIG)
if(NOT Drogon_FOUND)
    message(FATAL_ERROR "Drogon 1.9.10 is missing: run ./dev setup, or name the prefix of yours with -DDrogon_ROOT=PREFIX")
endif()
set(KUBEXM_PACKAGE_drogon Drogon::Drogon)

if(KUBEXM_TESTS)
    find_package(GTest QUIET)
    if(NOT GTest_FOUND)
        kubexm_missing(GoogleTest "libgtest-dev and libgmock-dev" "gtest-devel and gmock-devel")
    endif()
endif()
