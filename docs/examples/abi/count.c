// A noisy count: how many rows the dataset has, with noise of the geometric
// mechanism. Under the relation add-remove it is 1-differentially private.
//
//   clang --target=wasm32 -O2 -nostdlib -Wl,--no-entry -Wl,--strip-all -o count-c.wasm count.c
#include <stdint.h>

#define EXPORT(name) __attribute__((export_name(name)))

extern unsigned char __heap_base; // the linker's: where free memory begins
static uintptr_t top;

// alloc gives memory to the caller. Every call of sample is made on a fresh
// instance, so nothing is ever freed.
EXPORT("alloc") void *alloc(int32_t bytes) {
	if (top == 0)
		top = ((uintptr_t)&__heap_base + 7) & ~(uintptr_t)7;
	uintptr_t at = top;
	top = (at + (uintptr_t)bytes + 7) & ~(uintptr_t)7;
	uintptr_t pages = (top + 65535) >> 16, have = __builtin_wasm_memory_size(0);
	if (pages > have && __builtin_wasm_memory_grow(0, pages - have) == (uintptr_t)-1)
		return 0;
	return (void *)at;
}

// Numbers of one output.
EXPORT("width") int32_t width(void) { return 1; }

static uint64_t state;

// SplitMix64, as a number uniform on the multiples of 2^-53 in [0, 1).
static double uniform(void) {
	uint64_t z = state += 0x9E3779B97F4A7C15;
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
	z = (z ^ z >> 27) * 0x94D049BB133111EB;
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

// How often a coin that shows heads with probability exp(-1) does so in a row.
static double geometric(void) {
	double k = 0;
	while (uniform() < 0.36787944117144233)
		k++;
	return k;
}

// n outputs on a dataset of rows by columns numbers, drawn from the seed alone.
EXPORT("sample") int32_t sample(int64_t seed, const double *dataset, int32_t rows, int32_t columns, int32_t n, double *out) {
	state = (uint64_t)seed;
	for (int32_t i = 0; i < n; i++) {
		double more = geometric();
		out[i] = rows + more - geometric();
	}
	return 0; // any other number is an error
}
