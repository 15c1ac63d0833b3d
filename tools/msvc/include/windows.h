#pragma once
#include "crt.h"
#define WINAPI __stdcall
#define NTAPI __stdcall
#define FALSE 0
#define INFINITE 0xffffffff
#define WAIT_OBJECT_0 0
#define PAGE_READWRITE 0x04
#define MEM_COMMIT 0x1000
#define MEM_RESERVE 0x2000
#define MEM_RELEASE 0x8000
#define MEM_RESET 0x80000
#define SYNCHRONIZE 0x100000
#define TIMER_MODIFY_STATE 0x0002
#define GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT 0x2
#define GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS 0x4
#define FLS_OUT_OF_INDEXES ((DWORD)0xffffffff)
/* Words that the real one takes: min and max unless NOMINMAX is defined. */
#define far
#define near
#define small char
#define interface struct
typedef unsigned long DWORD;
typedef int BOOL;
typedef unsigned char BOOLEAN;
typedef long LONG;
typedef long long LONGLONG;
typedef size_t SIZE_T;
typedef void *HANDLE;
typedef struct HINSTANCE__ *HMODULE;
typedef long long(WINAPI *FARPROC)(void);
typedef union _LARGE_INTEGER {
    struct {
        DWORD LowPart;
        LONG HighPart;
    } u;
    LONGLONG QuadPart;
} LARGE_INTEGER;
typedef struct _SYSTEM_INFO {
    DWORD dwOemId;
    DWORD dwPageSize;
    void *lpMinimumApplicationAddress;
    void *lpMaximumApplicationAddress;
    size_t dwActiveProcessorMask;
    DWORD dwNumberOfProcessors;
    DWORD dwProcessorType;
    DWORD dwAllocationGranularity;
    unsigned short wProcessorLevel;
    unsigned short wProcessorRevision;
} SYSTEM_INFO;
typedef struct _RTL_SRWLOCK {
    void *Ptr;
} SRWLOCK;
typedef struct _RTL_CONDITION_VARIABLE {
    void *Ptr;
} CONDITION_VARIABLE;
CRT void WINAPI GetSystemInfo(SYSTEM_INFO *info);
CRT void *WINAPI VirtualAlloc(void *base, SIZE_T size, DWORD kind, DWORD protection);
CRT BOOL WINAPI VirtualFree(void *base, SIZE_T size, DWORD kind);
CRT BOOL WINAPI VirtualUnlock(void *base, SIZE_T size);
CRT BOOL WINAPI QueryPerformanceCounter(LARGE_INTEGER *now);
CRT BOOL WINAPI QueryPerformanceFrequency(LARGE_INTEGER *second);
CRT DWORD WINAPI GetCurrentThreadId(void);
CRT DWORD WINAPI GetCurrentProcessId(void);
CRT BOOL WINAPI GetModuleHandleExA(DWORD flags, const char *name, HMODULE *module);
CRT DWORD WINAPI GetModuleFileNameA(HMODULE module, char *name, DWORD size);
CRT HMODULE WINAPI GetModuleHandleA(const char *name);
CRT FARPROC WINAPI GetProcAddress(HMODULE module, const char *name);
CRT BOOL WINAPI SwitchToThread(void);
CRT void WINAPI Sleep(DWORD ms);
CRT HANDLE WINAPI CreateWaitableTimerExA(void *security, const char *name, DWORD flags,
                                         DWORD access);
CRT BOOL WINAPI SetWaitableTimer(HANDLE timer, const LARGE_INTEGER *due, LONG period, void *routine,
                                 void *arg, BOOL resume);
CRT DWORD WINAPI WaitForSingleObject(HANDLE handle, DWORD ms);
CRT BOOL WINAPI CloseHandle(HANDLE handle);
CRT void WINAPI InitializeSRWLock(SRWLOCK *lock);
CRT void WINAPI AcquireSRWLockExclusive(SRWLOCK *lock);
CRT BOOLEAN WINAPI TryAcquireSRWLockExclusive(SRWLOCK *lock);
CRT void WINAPI ReleaseSRWLockExclusive(SRWLOCK *lock);
CRT void WINAPI InitializeConditionVariable(CONDITION_VARIABLE *condition);
CRT BOOL WINAPI SleepConditionVariableSRW(CONDITION_VARIABLE *condition, SRWLOCK *lock, DWORD ms,
                                          unsigned long flags);
CRT void WINAPI WakeAllConditionVariable(CONDITION_VARIABLE *condition);
CRT HANDLE WINAPI CreateSemaphoreA(void *security, LONG first, LONG most, const char *name);
CRT BOOL WINAPI ReleaseSemaphore(HANDLE semaphore, LONG count, LONG *before);
CRT DWORD WINAPI FlsAlloc(void(WINAPI *at_end)(void *));
CRT BOOL WINAPI FlsFree(DWORD key);
CRT void *WINAPI FlsGetValue(DWORD key);
CRT BOOL WINAPI FlsSetValue(DWORD key, void *value);
