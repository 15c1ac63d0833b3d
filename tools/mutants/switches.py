"""Files with many changes at once, each behind a switch: programs are built once for all of them.

A function's body becomes

    {if (haft_switched == NUMBER) {the changed body} else {the body as it is, with marks}}

so that whatever may be changed in a body can be switched; switched.c reads the number from the
environment.  A mark, haft_reached[MARK] = 1, stands before each statement that a change is in.  The
lines keep their numbers.
"""

HEAD = "extern int haft_switched; extern unsigned char *haft_reached;\n#line 1\n"


def _marked(text, span, places, marks):
    """The body in `span` as it is, with marks before these places."""
    made, last = "", span[0]
    for place in sorted(places):
        made += f"{text[last:place]}haft_reached[{marks[place]}] = 1; "
        last = place
    return made + text[last:span[1]]


def _body(text, changed, numbers, marks):
    """One of these changes' function: all of them, and the body as it is."""
    begin, end = changed[0].body
    line = f"\n#line {text.count(chr(10), 0, begin) + 1}\n"
    made = "{"
    for change in changed:
        if change in numbers:
            whole = change.of(text)
            made += f"if (haft_switched == {numbers[change]}) {line}" \
                    f"{whole[begin:end + len(whole) - len(text)]} else "
    return f"{made}{line}{_marked(text, (begin, end), {change.place for change in changed}, marks)}}}"


def of_text(text, found, numbers, marks):
    """A file's text, of which these changes were found; those in `numbers` can be switched on.

    Marks are numbers, by the places of the changes.
    """
    by_body = {}
    for change in found:
        by_body.setdefault(change.body, []).append(change)
    made, last = "", 0
    for (begin, end), changed in sorted(by_body.items()):
        made += text[last:begin] + _body(text, changed, numbers, marks)
        last = end
    return HEAD + made + text[last:]
