/* Four bodies under gravity, double precision. FMA lets the compiler fuse multiplication and
 * addition. */
#include "work.h"

#ifdef FMA
#pragma STDC FP_CONTRACT ON
#else
#pragma STDC FP_CONTRACT OFF
#endif

#define BODIES 4
#define STEPS  20000

struct body {
    double x, y, z, vx, vy, vz, mass;
};

static double square_root(double x)
{
#if defined(__wasm__) || defined(__riscv) || defined(__x86_64__)
    return __builtin_sqrt(x);
#endif
}

static NOINLINE void advance(struct body *b, double dt)
{
    for (int i = 0; i < BODIES; i++)
        for (int j = i + 1; j < BODIES; j++) {
            double dx = b[i].x - b[j].x, dy = b[i].y - b[j].y, dz = b[i].z - b[j].z;
            double r2 = dx * dx + dy * dy + dz * dz + 0.01;
            double pull = dt / (r2 * square_root(r2));
            b[i].vx -= dx * b[j].mass * pull;
            b[i].vy -= dy * b[j].mass * pull;
            b[i].vz -= dz * b[j].mass * pull;
            b[j].vx += dx * b[i].mass * pull;
            b[j].vy += dy * b[i].mass * pull;
            b[j].vz += dz * b[i].mass * pull;
        }
    for (int i = 0; i < BODIES; i++) {
        b[i].x += dt * b[i].vx;
        b[i].y += dt * b[i].vy;
        b[i].z += dt * b[i].vz;
    }
}

u64 work(void)
{
    struct body b[BODIES] = {
        {0, 0, 0, 0, 0, 0, 40},
        {1, 0, 0.1, 0, 6, 0, 1},
        {0, 2.5, 0, 4, 0, 0.3, 0.5},
        {-4, 0, 0.2, 0, -3, 0, 0.2},
    };
    for (int i = 0; i < STEPS; i++)
        advance(b, 0.0005);
    double energy = 0;
    for (int i = 0; i < BODIES; i++)
        energy += b[i].mass * (b[i].vx * b[i].vx + b[i].vy * b[i].vy + b[i].vz * b[i].vz);
    return (u64)(s64)(energy * 1000);
}
