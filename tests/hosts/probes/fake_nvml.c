/* The driver's management library with two made-up devices: 0 is whole, 1 is in MIG mode with one partition.
 * The file named by FAKE_NVML_STATE says how it behaves: well, dead, hanging, garbage or unified. The one named by
 * FAKE_NVML_USE, if any, says in MiB what this process and its neighbours hold on device 0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OK = 0, INVALID = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7, NOT_LOADED = 9, LOST = 15 };
enum { WHOLE = 1, PARTITIONED = 2, PARTITION = 3 };
static const unsigned long long GIB = 1ULL << 30;
static const char *UUIDS[] = {"", "GPU-11111111-aaaa-bbbb-cccc-000000000000",
                              "GPU-22222222-aaaa-bbbb-cccc-000000000000",
                              "MIG-33333333-aaaa-bbbb-cccc-000000000000"};

typedef struct { unsigned version; unsigned long long total, reserved, free, used; } memory_t;
typedef struct { unsigned gpu, memory; } utilisation_t;
typedef struct { unsigned pid; unsigned long long used; unsigned gpu_instance, compute_instance; } process_t;

static int state_is(const char *wanted) {
    char state[16] = "well";
    FILE *file = fopen(getenv("FAKE_NVML_STATE"), "r");
    if (file) {
        if (fscanf(file, "%15s", state) != 1) strcpy(state, "well");
        fclose(file);
    }
    return strcmp(state, wanted) == 0;
}

static int lost = 0; /* once lost, handles stay dead until the library is opened anew */

static int gone(void) {
    while (state_is("hanging")) usleep(20000);
    if (state_is("dead")) lost = 1;
    return lost ? LOST : OK;
}

static int use_is_told(unsigned long long *own, unsigned long long *others) {
    const char *name = getenv("FAKE_NVML_USE");
    FILE *file = name ? fopen(name, "r") : NULL;
    int told = file && fscanf(file, "%llu %llu", own, others) == 2;
    if (file) fclose(file);
    *own <<= 20;
    *others <<= 20;
    return told;
}

static long id_of(void *device) { return (long)device; }

int nvmlInitWithFlags(unsigned flags) { return (lost = state_is("dead")) ? NOT_LOADED : OK; }
int nvmlShutdown(void) { return OK; }
const char *nvmlErrorString(int code) { return code == LOST ? "GPU is lost" : "driver not loaded"; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 2; return gone(); }

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    *device = (void *)(long)(index + 1);
    return index < 2 ? gone() : INVALID;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) {
    for (long id = WHOLE; id <= PARTITION; id++)
        if (strcmp(uuid, UUIDS[id]) == 0) { *device = (void *)id; return gone(); }
    return NOT_FOUND;
}

int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length) {
    snprintf(uuid, length, "%s", UUIDS[id_of(device)]);
    return gone();
}

int nvmlDeviceGetMigMode(void *device, unsigned *now, unsigned *next) {
    *now = *next = id_of(device) == PARTITIONED;
    return id_of(device) == WHOLE ? NOT_SUPPORTED : gone();
}

int nvmlDeviceGetMaxMigDeviceCount(void *device, unsigned *count) { *count = 7; return gone(); }

int nvmlDeviceGetMigDeviceHandleByIndex(void *device, unsigned index, void **partition) {
    *partition = (void *)(long)PARTITION;
    return index == 1 ? gone() : NOT_FOUND; /* place 0 is empty, as after a partition was given back */
}

int nvmlDeviceGetGpuInstanceId(void *device, unsigned *id) { *id = 5; return gone(); }
int nvmlDeviceGetComputeInstanceId(void *device, unsigned *id) { *id = 0; return gone(); }

int nvmlDeviceGetMemoryInfo_v2(void *device, memory_t *memory) {
    static unsigned long long taken = 0; /* someone else's use grows by a quarter of a GiB a look */
    if (memory->version != (sizeof(memory_t) | 2U << 24)) return INVALID;
    if (state_is("unified")) return NOT_SUPPORTED;
    if (id_of(device) == PARTITIONED) return NOT_SUPPORTED; /* only its partitions tell */
    memory->total = (id_of(device) == WHOLE ? 24 : 10) * GIB;
    memory->reserved = GIB;
    unsigned long long own = 0, others = 0;
    if (id_of(device) == WHOLE && use_is_told(&own, &others)) memory->used = own + others;
    else memory->used = id_of(device) == WHOLE ? GIB + (taken = (taken + GIB / 4) % (20 * GIB)) : 2 * GIB;
    memory->free = memory->total - memory->used - memory->reserved;
    if (state_is("garbage")) memory->free = ~0ULL;
    return gone();
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, process_t *processes) {
    unsigned long long own = 0, others = 0;
    if (id_of(device) != WHOLE || !use_is_told(&own, &others)) return NOT_SUPPORTED;
    unsigned room = *count;
    *count = 2;
    if (room < 2) return TOO_SMALL;
    processes[0] = (process_t){1, others, 0, 0};
    processes[1] = (process_t){(unsigned)getpid(), own, 0, 0};
    return gone();
}

int nvmlDeviceGetUtilizationRates(void *device, utilisation_t *rates) {
    rates->gpu = state_is("garbage") ? 4000000000U : 40;
    rates->memory = 10;
    return id_of(device) == WHOLE ? gone() : NOT_SUPPORTED;
}
