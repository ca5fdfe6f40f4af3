/* Hides features of this processor from a process: gcc -shared -fPIC -o processors.so processors.c
 *
 * The kernel lets CPUID fault (arch_prctl; Linux on Intel). Each fault is answered by the processor's own answer without
 * the bits that HIDE_CPUID names: "7.0.ebx=10020 7.1.eax=10" hides these (hexadecimal) bits of leaf 7. */

#define _GNU_SOURCE
#include <cpuid.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define ARCH_SET_CPUID 0x1012
#define MOST 32

static struct { unsigned leaf, subleaf, place, bits; } hidden[MOST];
static int count;

static void answer(int signal_number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const unsigned char *code = (const unsigned char *)registers[REG_RIP];
    unsigned found[4], leaf = registers[REG_RAX], subleaf = registers[REG_RCX];
    (void)signal_number, (void)info;
    if (code[0] != 0x0f || code[1] != 0xa2)
        _exit(139); /* a fault of another kind */
    syscall(SYS_arch_prctl, ARCH_SET_CPUID, 1);
    __cpuid_count(leaf, subleaf, found[0], found[1], found[2], found[3]);
    syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0);
    for (int n = 0; n < count; n++)
        if (hidden[n].leaf == leaf && (leaf != 7 || hidden[n].subleaf == subleaf))
            found[hidden[n].place] &= ~hidden[n].bits;
    registers[REG_RAX] = found[0], registers[REG_RBX] = found[1];
    registers[REG_RCX] = found[2], registers[REG_RDX] = found[3];
    registers[REG_RIP] += 2;
}

__attribute__((constructor)) static void hide(void)
{
    const char *wanted = getenv("HIDE_CPUID");
    struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO | SA_NODEFER};
    if (!wanted || !*wanted)
        return;
    for (char *copy = strdup(wanted), *part = strtok(copy, " "); part && count < MOST; part = strtok(NULL, " ")) {
        char place;
        if (sscanf(part, "%u.%u.e%cx=%x", &hidden[count].leaf, &hidden[count].subleaf, &place, &hidden[count].bits) == 4)
            hidden[count++].place = place - 'a';
    }
    sigaction(SIGSEGV, &action, NULL);
    if (syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0))
        fputs("CPUID does not fault here\n", stderr), _exit(3);
}
