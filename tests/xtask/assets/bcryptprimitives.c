/* A stand-in for one function of Windows' bcryptprimitives.dll.
 *
 * Rust's standard library takes its random bytes from ProcessPrng, which Wine has only since
 * version 9. `cargo xtask check-windows` compiles this file into a DLL that it lays beside the
 * executable, for its own try under Wine alone. It is never shipped: Windows has the real one.
 */
#include <windows.h>
#include <ntsecapi.h>

/* RtlGenRandom takes a ULONG; larger requests go in slices of this size. */
#define SLICE_BYTES 65536u

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T count)
{
    while (count > 0) {
        ULONG slice = count < SLICE_BYTES ? (ULONG)count : SLICE_BYTES;
        if (!RtlGenRandom(bytes, slice))
            return FALSE;
        bytes += slice;
        count -= slice;
    }
    return TRUE;
}
