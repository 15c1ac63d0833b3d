/* The version that the library was built as. */
#include <haft/haft.h>

uint32_t haft_version(void)
{
    return HAFT_VERSION;
}

const char *haft_version_text(void)
{
    return HAFT_VERSION_TEXT;
}
