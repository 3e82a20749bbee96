# SPDX-License-Identifier: MIT
#
# What is installed, in a prefix or in the wheel: the runtime, the tools, the headers, and what other build systems look
# for: a CMake package and files for pkg-config. All of them find the rest from where they lie, so a prefix can be moved.
# libshmem.so and its headers: cmake/shmem.cmake.
include(CMakePackageConfigHelpers)

# Folders, relative to the prefix. The wheel's prefix is the Python package.
if(DEFINED SKBUILD)
    set(package_prefix rocshmem4py/)
    set(package_lib lib)
    set(package_include include)
    set(tool_folders rocshmem4py/bin ${SKBUILD_SCRIPTS_DIR})
    include(cmake/wheel.cmake)
else()
    set(package_prefix)
    set(package_lib ${CMAKE_INSTALL_LIBDIR})
    set(package_include ${CMAKE_INSTALL_INCLUDEDIR})
    set(tool_folders ${CMAKE_INSTALL_BINDIR})
    install(TARGETS rocshmem LIBRARY DESTINATION ${package_lib})
endif()
if(TARGET rocshmem_ucx)
    install(TARGETS rocshmem_ucx LIBRARY DESTINATION ${package_prefix}${package_lib})
endif()
if(TARGET rocshmem_mpi)
    install(TARGETS rocshmem_mpi LIBRARY DESTINATION ${package_prefix}${package_lib})
endif()
install(FILES ${public_headers} DESTINATION ${package_prefix}${package_include}/rocshmem)

# A second name is a copy of what was installed, stripped or not: a wheel has no links.
foreach(folder ${tool_folders})
    if(tools)
        install(TARGETS ${tools} RUNTIME DESTINATION ${folder})
    endif()
    set(pairs ${tool_names})
    while(pairs)
        list(POP_FRONT pairs program second_name)
        cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY \${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE at)
        install(CODE "configure_file(\"\$ENV{DESTDIR}${at}/${program}\" \"\$ENV{DESTDIR}${at}/${second_name}\" COPYONLY)")
    endwhile()
endforeach()

# The targets are written down in rocshmemConfig.cmake.in, not exported: there are two, and the same text serves the
# wheel, whose libraries are not where CMake installs them.
set(package_cmake ${package_lib}/cmake/rocshmem)
configure_package_config_file(cmake/rocshmemConfig.cmake.in ${CMAKE_BINARY_DIR}/rocshmemConfig.cmake
    INSTALL_DESTINATION ${package_cmake} PATH_VARS package_lib package_include
    INSTALL_PREFIX /prefix # any: only the way from the one to the other counts
    NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/rocshmemConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/rocshmemConfig.cmake ${CMAKE_BINARY_DIR}/rocshmemConfigVersion.cmake
    DESTINATION ${package_prefix}${package_cmake})

file(RELATIVE_PATH package_up /prefix/${package_lib}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" package_up "${package_up}")
set(package_names rocshmem)
if(TARGET shmem)
    list(APPEND package_names shmem)
endif()
foreach(package_name ${package_names})
    configure_file(cmake/${package_name}.pc.in ${package_name}.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/${package_name}.pc DESTINATION ${package_prefix}${package_lib}/pkgconfig)
endforeach()
