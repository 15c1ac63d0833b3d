/*
 * haft-gdb.py inside the program: gdb reads it from there.  Not loaded into memory when it runs.
 */
        .section .debug_gdb_scripts, "MS", %progbits, 1
        .byte 4                         /* a Python script, in full: its name, then its text */
        .ascii "haft-gdb.py\n"
        .incbin "tools/gdb/haft-gdb.py"
        .byte 0
        .section .note.GNU-stack, "", %progbits
