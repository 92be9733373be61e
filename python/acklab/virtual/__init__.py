"""Emulation in virtual time: the kernel's TCP and any program, in a guest whose clock waits.

The guest is User-Mode Linux with `time-travel=inf-cpu`: its processes take no time, and the clock
advances only when all of them wait. So packets are never late, and two runs give the same bytes
under any load of the host.

| module | contents | |---|---| | `kernels` | kernels of guests, in the cache of the user | |
`build` | builds a kernel from Debian's source or a tree of the user | | `guest` | boots a kernel
with a command, and always ends it | | `pid1` | the first process of a guest: mounts, starts the
command, powers off | | `inside` | the emulation in the guest, whose results are files | |
`emulation` | the emulation in the view of its caller |
"""
