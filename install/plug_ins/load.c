/* load FILE...: loads each as a plug-in, beside those before, and uses it. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **files)
{
    for (int i = 1; i < count; i++) {
        void *plug_in = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
        if (plug_in == NULL) {
            fprintf(stderr, "plug-in %d: %s\n", i, dlerror());
            return 1;
        }
        int (*use)(void) = (int (*)(void))dlsym(plug_in, "use");
        int result = use == NULL ? -1 : use();
        if (result != 0) {
            fprintf(stderr, "plug-in %d: use() is %d\n", i, result);
            return 1;
        }
    }
    printf("%d plug-ins\n", count - 1);
    return 0;
}
