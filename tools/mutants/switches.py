"""Files with many changes at once, each behind a switch: programs are built once for all of them.

A function's body becomes

    {haft_entered[MARK] = 1; if (haft_switched == NUMBER) {the changed body} else {the body as it is}}

so that whatever may be changed in a body can be switched; switched.c reads the number from the
environment.  The lines keep their numbers.
"""

HEAD = "extern int haft_switched; extern unsigned char *haft_entered;\n#line 1\n"


def _body(text, changed, numbers, mark):
    """One of these changes' function: all of them, and the body as it is."""
    begin, end = changed[0].body
    line = f"\n#line {text.count(chr(10), 0, begin) + 1}\n"
    made = f"{{haft_entered[{mark}] = 1; "
    for change in changed:
        if change in numbers:
            whole = change.of(text)
            made += f"if (haft_switched == {numbers[change]}) {line}" \
                    f"{whole[begin:end + len(whole) - len(text)]} else "
    return f"{made}{line}{text[begin:end]}}}"


def of_text(text, found, numbers, marks):
    """A file's text, of which these changes were found; those in `numbers` can be switched on."""
    by_body = {}
    for change in found:
        by_body.setdefault(change.body, []).append(change)
    made, last = "", 0
    for (begin, end), changed in sorted(by_body.items()):
        made += text[last:begin] + _body(text, changed, numbers, marks[changed[0].function])
        last = end
    return HEAD + made + text[last:]
