/* SPDX-License-Identifier: MIT
 *
 * Five functions of the runtime bound with nanobind, in its plainest form, for bench/python_calls.py to
 * compare with our extension. Addresses are ints, as in the Python API.
 */
#include <cstdint>

#include <nanobind/nanobind.h>
#include <rocshmem/rocshmem.h>

namespace nb = nanobind;

static void *address(std::uintptr_t value)
{
    return reinterpret_cast<void *>(value);
}

NB_MODULE(rocshmem_nanobind, m)
{
    m.def(
        "rocshmem_putmem",
        [](std::uintptr_t dest, std::uintptr_t source, std::size_t nelems, int pe) {
            rocshmem_putmem(address(dest), address(source), nelems, pe);
        },
        nb::arg("dest"), nb::arg("source"), nb::arg("nelems"), nb::arg("pe"));
    m.def(
        "rocshmem_getmem",
        [](std::uintptr_t dest, std::uintptr_t source, std::size_t nelems, int pe) {
            rocshmem_getmem(address(dest), address(source), nelems, pe);
        },
        nb::arg("dest"), nb::arg("source"), nb::arg("nelems"), nb::arg("pe"));
    m.def(
        "rocshmem_int64_atomic_fetch_add",
        [](std::uintptr_t dest, std::int64_t value, int pe) {
            return rocshmem_int64_atomic_fetch_add(static_cast<std::int64_t *>(address(dest)), value, pe);
        },
        nb::arg("dest"), nb::arg("value"), nb::arg("pe"));
    m.def("rocshmem_my_pe", []() { return rocshmem_my_pe(); });
    m.def(
        "rocshmem_putmem_on_stream",
        [](std::uintptr_t dest, std::uintptr_t source, std::size_t nelems, int pe, std::uintptr_t stream) {
            rocshmem_putmem_on_stream(address(dest), address(source), nelems, pe, address(stream));
        },
        nb::arg("dest"), nb::arg("source"), nb::arg("nelems"), nb::arg("pe"), nb::arg("stream"));
}
