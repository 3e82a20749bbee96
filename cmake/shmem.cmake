# SPDX-License-Identifier: MIT
#
# libshmem.so: OpenSHMEM over librocshmem.so, from shmem/*.c and the public headers. A call goes through it in one jump to
# an address that is known at start (-fno-plt, -z now), and its own calls are not looked up at all.
file(GLOB shmem_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/shmem/*.c)
add_library(shmem SHARED ${shmem_sources})
add_library(rocshmem::shmem ALIAS shmem)
set_target_properties(shmem PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 INSTALL_RPATH "$ORIGIN")
target_include_directories(shmem
    PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_options(shmem PRIVATE -O2 -fno-plt -Wpedantic)
target_link_libraries(shmem PRIVATE rocshmem rs_flags)
target_link_options(shmem PRIVATE -Wl,-z,now -Wl,-Bsymbolic-functions)
if(NOT RS_SANITIZE)
    target_link_options(shmem PRIVATE -Wl,-z,defs)
endif()

file(GLOB shmem_parts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/include/shmem/*.h)
set(shmem_headers ${CMAKE_SOURCE_DIR}/include/shmem.h ${CMAKE_SOURCE_DIR}/include/shmemx.h
    ${CMAKE_SOURCE_DIR}/include/pshmem.h)
set(shmem_mpp ${CMAKE_SOURCE_DIR}/include/mpp/shmem.h ${CMAKE_SOURCE_DIR}/include/mpp/shmemx.h)
if(DEFINED SKBUILD)
    # As the runtime in wheel.cmake: one file, and a linker script instead of a link.
    set_target_properties(shmem PROPERTIES VERSION 0)
    install(TARGETS shmem LIBRARY DESTINATION rocshmem4py/lib NAMELINK_SKIP)
    file(WRITE ${CMAKE_BINARY_DIR}/libshmem.so.ld "INPUT(libshmem.so.0)\n")
    install(FILES ${CMAKE_BINARY_DIR}/libshmem.so.ld DESTINATION rocshmem4py/lib RENAME libshmem.so)
    set(shmem_include rocshmem4py/include)
    set(shmem_lib rocshmem4py/lib)
else()
    install(TARGETS shmem LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    set(shmem_include ${CMAKE_INSTALL_INCLUDEDIR})
    set(shmem_lib ${CMAKE_INSTALL_LIBDIR})
endif()
# What others call their libraries, for build systems that look for -lsma, -loshmem or -lopenshmem. Linker scripts: a
# program that is linked so needs libshmem.so.0 and nothing else.
foreach(other_name sma oshmem openshmem)
    file(WRITE ${CMAKE_BINARY_DIR}/lib${other_name}.so.ld "INPUT(libshmem.so)\n")
    install(FILES ${CMAKE_BINARY_DIR}/lib${other_name}.so.ld
        DESTINATION ${shmem_lib} RENAME lib${other_name}.so)
endforeach()
install(FILES ${shmem_headers} DESTINATION ${shmem_include})
install(FILES ${shmem_parts} DESTINATION ${shmem_include}/shmem)
install(FILES ${shmem_mpp} DESTINATION ${shmem_include}/mpp)
