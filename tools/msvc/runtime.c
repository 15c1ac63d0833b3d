/*
 * tools/msvc/runtime.c - what Clang's code for Visual C++'s target needs of the runtime library,
 * for a DLL that is linked and not run.
 */
#include <stdint.h>

unsigned _tls_index;
int _fltused;
uintptr_t __security_cookie;
_Thread_local char __tls_guard = 1;

void __dyn_tls_on_demand_init(void)
{
}

void __security_check_cookie(uintptr_t cookie)
{
    (void)cookie;
}

void __chkstk(void)
{
}
