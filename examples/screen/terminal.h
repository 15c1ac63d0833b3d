/*
 * terminal.h - the size of a terminal, and a line on stderr that is written again and again.
 */
#ifndef EXAMPLES_SCREEN_TERMINAL_H
#define EXAMPLES_SCREEN_TERMINAL_H

/* Of the terminal behind `file`, now: it may be resized.  80 and 24 where it does not say. */
unsigned terminal_columns(int file);
unsigned terminal_rows(int file);

/*
 * Writes a bar, filled to `part` of 1, and the text over the current line of stderr, a terminal.
 * The line is never wider than the terminal: the bar becomes shorter, then it is left out, then the
 * text is cut.  A negative part: no bar.  `text` is ASCII.
 */
void terminal_line(double part, const char *text);

/* Removes that line. */
void terminal_line_end(void);

#endif /* EXAMPLES_SCREEN_TERMINAL_H */
