/*
 * Preloaded into the process of a guest's kernel. The process ends with its parent, ACKLAB_PARENT. The random bytes of the guest are a function of ACKLAB_ENTROPY
 * and of their place in the stream.
 *
 * User-Mode Linux takes the entropy of its kernel from getrandom(2) of the host (arch/um/os-Linux/util.c). Ports, initial sequence numbers, hash seeds and
 * address layouts of the guest derive from it. This library replaces that function.
 *
 * SplitMix64: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <unistd.h>

__attribute__((constructor)) static void end_with_parent(void)
{
	const char *parent = getenv("ACKLAB_PARENT");

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent may have ended before. */
	if (parent && getppid() != atoi(parent))
		_exit(1);
}

static uint64_t next(void)
{
	static uint64_t state;
	static int is_seeded;
	uint64_t mixed;

	if (!is_seeded) {
		const char *seed = getenv("ACKLAB_ENTROPY");

		state = seed ? strtoull(seed, NULL, 10) : 0;
		is_seeded = 1;
	}
	mixed = state += 0x9e3779b97f4a7c15;
	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
	return mixed ^ mixed >> 31;
}

ssize_t getrandom(void *buffer, size_t length, unsigned int flags)
{
	size_t filled;

	(void)flags;
	for (filled = 0; filled < length; filled += sizeof(uint64_t)) {
		uint64_t bytes = next();
		size_t left = length - filled;

		memcpy((char *)buffer + filled, &bytes, left < sizeof(bytes) ? left : sizeof(bytes));
	}
	return (ssize_t)length;
}
