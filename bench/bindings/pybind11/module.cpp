/* SPDX-License-Identifier: MIT
 *
 * Five functions of the runtime bound with pybind11, in its plainest form, for bench/python_calls.py to
 * compare with our extension. Addresses are ints, as in the Python API.
 */
#include <cstdint>

#include <pybind11/pybind11.h>
#include <rocshmem/rocshmem.h>

namespace py = pybind11;

static void *address(std::uintptr_t value)
{
    return reinterpret_cast<void *>(value);
}

PYBIND11_MODULE(rocshmem_pybind11, m)
{
    m.def(
        "rocshmem_putmem",
        [](std::uintptr_t dest, std::uintptr_t source, std::size_t nelems, int pe) {
            rocshmem_putmem(address(dest), address(source), nelems, pe);
        },
        py::arg("dest"), py::arg("source"), py::arg("nelems"), py::arg("pe"));
    m.def(
        "rocshmem_getmem",
        [](std::uintptr_t dest, std::uintptr_t source, std::size_t nelems, int pe) {
            rocshmem_getmem(address(dest), address(source), nelems, pe);
        },
        py::arg("dest"), py::arg("source"), py::arg("nelems"), py::arg("pe"));
    m.def(
        "rocshmem_int64_atomic_fetch_add",
        [](std::uintptr_t dest, std::int64_t value, int pe) {
            return rocshmem_int64_atomic_fetch_add(static_cast<std::int64_t *>(address(dest)), value, pe);
        },
        py::arg("dest"), py::arg("value"), py::arg("pe"));
    m.def("rocshmem_my_pe", []() { return rocshmem_my_pe(); });
    m.def(
        "rocshmem_putmem_on_stream",
        [](std::uintptr_t dest, std::uintptr_t source, std::size_t nelems, int pe, std::uintptr_t stream) {
            rocshmem_putmem_on_stream(address(dest), address(source), nelems, pe, address(stream));
        },
        py::arg("dest"), py::arg("source"), py::arg("nelems"), py::arg("pe"), py::arg("stream"));
}
