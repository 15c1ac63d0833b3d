/*
 * screen.h - the whole terminal as a page: its modes, its keys, and the signals that end a program
 * or stop it.  Stopped or ended, the program leaves the terminal as it was.
 */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include <stdbool.h>
#include <stdint.h>

enum { KEY_NONE = 0, KEY_END = -1 /* a signal that ends the program, or no terminal any more */ };

/* Takes the terminal of stdout, with the keys of stdin if that is one, and gives it back. */
void screen_begin(void);
void screen_end(void);

/* Whether stdin is a terminal, so that keys come. */
bool screen_has_keys(void);

/* Shows as many of the text's lines as there is room for, and `hint` in the terminal's last one. */
void screen_show(const char *text, const char *hint);

/* Waits for a key, but no longer than this.  KEY_NONE early: the terminal has another size. */
int screen_wait(uint64_t ms);

#endif /* TOP_SCREEN_H */
