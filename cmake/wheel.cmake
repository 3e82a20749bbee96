# SPDX-License-Identifier: MIT
#
# What the wheel holds beside python/rocshmem4py: the extension with its stubs at top level, the library, the headers and
# the tools inside the package (install.cmake), and the tools once more in the environment's scripts folder: real programs,
# because a launcher that first starts a Python costs ten times what the job costs.
if(TARGET _rocshmem4py)
    install(TARGETS _rocshmem4py LIBRARY DESTINATION .)
    file(GLOB stubs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bindings/cpython/*.pyi)
    install(FILES ${stubs} DESTINATION .)
    # mypy does not look for the stub of a single module among installed packages; a stub package it finds.
    install(FILES ${CMAKE_SOURCE_DIR}/bindings/cpython/_rocshmem4py.pyi
        DESTINATION _rocshmem4py-stubs RENAME __init__.pyi)
endif()

# A wheel is a zip file: it has no symbolic links, so the library goes in once, under the name that programs ask for, and
# under the linker's name as a one-line linker script.
set_target_properties(rocshmem PROPERTIES VERSION 0)
install(TARGETS rocshmem LIBRARY DESTINATION rocshmem4py/lib NAMELINK_SKIP)
file(WRITE ${CMAKE_BINARY_DIR}/librocshmem.so.ld "INPUT(librocshmem.so.0)\n")
install(FILES ${CMAKE_BINARY_DIR}/librocshmem.so.ld DESTINATION rocshmem4py/lib RENAME librocshmem.so)
