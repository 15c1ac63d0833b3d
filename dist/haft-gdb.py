# haft-gdb.py - haft 0.2.0: what gdb shows of it
#
# Copyright (c) 2026 The haft authors.  SPDX-License-Identifier: MIT
# Made of haft's sources by ./dev amalgamate; changes belong there.

"""What gdb shows of haft: ids, tables, domains and workers, and two commands.

Programs that Bazel builds carry this file inside themselves (.debug_gdb_scripts), and an installed
libhaft.so has it beside it; gdb loads either unasked from places that it trusts:

    add-auto-load-safe-path /path/to/program-or-library      (in ~/.gdbinit)

or by hand, as with the two files: source tools/gdb/haft-gdb.py; source dist/haft-gdb.py.

    print id              haft_id 17v3 (0x300000011), live in table "monsters"
    print *table          its numbers; print table: a line
    haft tables           the shared and the counted tables that are open
    haft id TABLE ID      what the table says of an id: why it is or is not live

Needs gdb 10 or later.  Ids are understood without the library's debug information, all else with it.
"""

import gdb

FIRST_INDEX = 4
END, RESERVED, EXHAUSTED, FREE = range(4)
DEFAULT_LAYOUT = (32, 32, 0)
NOT_KNOWN = "not known: the slot's memory is not in this core"
MOST_WORKERS = 100000  # of a list that may be damaged
CLOSED, OPEN, BORROWED = range(3)
STATE_BITS = 2  # of a worker's state; its thread's number stands above
COUNTED_FREE, COUNTED_RESERVED, COUNTED_LIVE, COUNTED_ENDED = range(4)  # as concurrent/counted/word.h has them
COUNTED_LOW_BITS = 30
COUNTED_EXHAUSTED = 2
FRESH_IS_CLOSED = 1 << 63

# --- reading the program ---


def number(value):
    """Also of an atomic one."""
    return int(value.cast(gdb.lookup_type("unsigned long")))


def read_word(address):
    pointer = gdb.lookup_type("unsigned long").pointer()
    return int(gdb.Value(address).cast(pointer).dereference())


def pointers(name, tag):
    """A static pointer to a struct, in each haft of the program, for plug-ins have their own.  The file has any
    name; the two files put `haft__` before internal names."""
    for symbol in gdb.lookup_static_symbols(name) + gdb.lookup_static_symbols("haft__" + name):
        kind = symbol.type.strip_typedefs()
        if kind.code == gdb.TYPE_CODE_PTR and kind.target().strip_typedefs().tag == tag:
            yield symbol.value()


def open_list(name, tag):
    """The tables of a list that are open; none where the library has no debug information."""
    for table in pointers(name, tag):
        while int(table) != 0:
            try:
                yield table.dereference()
                table = table["next_open"]
            except gdb.error:
                break


def open_tables():
    return open_list("open_tables", "haft_table")


def open_counted():
    return open_list("open_counted", "haft_counted")


def workers_of(table):
    address = number(table["workers"])
    worker_type = gdb.lookup_type("struct haft_worker").pointer()
    for _ in range(MOST_WORKERS):
        if address == 0:
            return
        worker = gdb.Value(address).cast(worker_type).dereference()
        yield worker
        address = int(worker["next"])


def state_of(worker):
    return number(worker["state"]) & ((1 << STATE_BITS) - 1)


def name_of(table):
    return table["name"].string(errors="replace")


# --- ids ---


def layout_of(slots):
    layout = slots["format"]["layout"]
    return tuple(int(layout[width + "_bits"]) for width in ("index", "generation", "tag"))


def fields(bits, layout):
    """Index, generation, tag, and the bits above them."""
    result = []
    for width in layout:
        result.append(bits & ((1 << width) - 1))
        bits >>= width
    return (*result, bits)


def id_text(bits, layout=DEFAULT_LAYOUT):
    """As haft_id_format() writes it."""
    if bits == 0:
        return "nil"
    index, generation, tag, above = fields(bits, layout)
    text = f"{index}v{generation}"
    text += f"t{tag}" if layout[2] != 0 else ""
    return text + (f"+{hex(above << sum(layout))}" if above else "")


def slot_address(slots, bits):
    view = slots["view"]
    return int(view["base"]) + (bits & int(view["mask"])) * int(view["stride"])


def is_live(slots, bits):
    try:
        return bits != 0 and read_word(slot_address(slots, bits)) == bits
    except gdb.MemoryError:
        return False


def check_fields(slots, bits, layout, limit):
    """What is wrong with an id, whatever its slot has; else None."""
    index, _, tag, above = fields(bits, layout)
    if bits == 0:
        return "nil"
    if above or index < FIRST_INDEX:
        return "malformed: no table of this layout issues it"
    if tag << (layout[0] + layout[1]) != int(slots["format"]["tag"]):
        return "of another table: the tag is not this one's"
    if index >= limit:
        return "never issued: the index is beyond the table's slots"
    return None


def diagnose(slots, bits):
    """What haft_diagnose() says, in words."""
    layout = layout_of(slots)
    index, generation, _, _ = fields(bits, layout)
    wrong = check_fields(slots, bits, layout, int(slots["limit"]))
    if wrong:
        return wrong
    try:
        word = read_word(slot_address(slots, bits))
    except gdb.MemoryError:
        return NOT_KNOWN
    if word == bits:
        return "live"
    return diagnose_word(word, layout, index, generation)


def diagnose_word(word, layout, index, generation):
    mark, now, _, _ = fields(word, layout)
    if word == 0:
        return "never issued, or its slot was given back since"
    if mark == EXHAUSTED:
        return "exhausted: freed, and the slot has lived all its generations"
    if mark == index:
        return "stale: freed" if generation < now else "never issued: the slot is not there yet"
    if generation == now and mark == RESERVED:
        return "reserved, not published yet"
    if generation < now or now == 0:
        return "stale: freed or given up"
    return "never issued: the slot's next generation is lower"


# --- ids of counted tables ---


class CountedWord:
    """A slot's word: see concurrent/counted/word.h."""

    def __init__(self, table, word):
        mask = int(table["generation_mask"])
        self.fresh = word == 0
        self.life = int(table["first_life"]) if self.fresh else word >> 32
        self.generation = self.life & mask
        self.wrapped = bool(table["wraps"]) and not self.fresh and (self.life > mask or mask == (1 << 32) - 1)
        self.state = word >> COUNTED_LOW_BITS & 3
        self.low = word & ((1 << COUNTED_LOW_BITS) - 1)
        self.reserved = self.state == COUNTED_RESERVED and self.low == 0
        self.worn = self.generation == 0


def counted_words(table):
    """The words of all slots ever used, by index."""
    base, stride = int(table["base"]), int(table["stride"])
    end = number(table["block"]["fresh"]["word"]) & ~FRESH_IS_CLOSED
    for index in range(FIRST_INDEX + unused_in_queue(table), end):
        yield CountedWord(table, read_word(base + index * stride))


def unused_in_queue(table):
    """1: the slot that a queue began with is still there, without a life; else 0."""
    if int(table["min_free"]) == 0:
        return 0
    word = counted_word_of(table, FIRST_INDEX)
    return int(word.state == COUNTED_FREE and word.life == int(table["first_life"]))


def counted_word_of(table, bits):
    index = bits & int(table["index_mask"])
    return CountedWord(table, read_word(int(table["base"]) + index * int(table["stride"])))


def diagnose_counted(table, bits):
    """What haft_counted_diagnose() says, in words."""
    layout = layout_of(table)
    wrong = check_fields(table, bits, layout, FIRST_INDEX + int(table["slot_count"]))
    if wrong:
        return wrong
    try:
        word = counted_word_of(table, bits)
    except gdb.MemoryError:
        return NOT_KNOWN
    generation = fields(bits, layout)[1]
    if word.generation == generation and not word.fresh:
        if word.state == COUNTED_LIVE:
            return f"live, {word.low} holders" if word.low != 1 else "live, 1 holder"
        if word.state == COUNTED_ENDED:
            return f"stale: freed, and still held {word.low} times" if word.low != 1 else "stale: freed, and still held once"
        if word.reserved:
            return "reserved, not published yet"
    first = int(table["first_life"])
    issued = generation != 0 if word.wrapped else generation >= first and (word.worn or generation < word.generation)
    if not issued:
        return "never issued: the slot's next generation is lower" if generation > word.generation else "never issued"
    return "exhausted: freed, and the slot has lived all its generations" if word.worn else "stale: freed or given up"


def is_live_counted(table, bits):
    return diagnose_counted(table, bits).startswith("live")


class Id:
    def __init__(self, value):
        self.bits = int(value["bits"])

    def live_in(self):
        """The table that the id is live in, and its layout."""
        for table in open_tables():
            if is_live(table["slots"], self.bits):
                return table, layout_of(table["slots"])
        for table in open_counted():
            if is_live_counted(table, self.bits):
                return table, layout_of(table)
        return None

    def to_string(self):
        found = self.live_in()
        if found:
            table, layout = found
            return f'{id_text(self.bits, layout)} ({hex(self.bits)}), live in table "{name_of(table)}"'
        return "nil" if self.bits == 0 else f"{id_text(self.bits)} ({hex(self.bits)})"


# --- tables ---


class Summary:
    """A line, and figures below it."""

    def __init__(self, value):
        self.value = value

    def line(self):
        raise NotImplementedError

    def figures(self):
        raise NotImplementedError

    def to_string(self):
        return self.line()

    def children(self):
        return iter(self.figures())


class Table(Summary):
    def sums(self):
        """The counters of all workers, and of calls without one."""
        sums = {}
        workers = list(workers_of(self.value))
        for counters in [worker["counters"] for worker in workers] + [self.value["counters"]]:
            for field in counters.type.fields():
                sums[field.name] = sums.get(field.name, 0) + number(counters[field.name])
        sums["open"] = sum(state_of(worker) == OPEN for worker in workers)
        return sums

    def line(self):
        sums = self.sums()
        live = sums.get("published", 0) + sums.get("inserted", 0) - sums.get("freed", 0)
        return f'table "{name_of(self.value)}", {live} live of {int(self.value["capacity"])}'

    def stats(self, sums):
        """What haft_table_stats has, as far as the counters tell it: in its order, by its names."""
        made = sums["published"] + sums["inserted"]
        known = {
            **sums,
            "live": made - sums["freed"],
            "reserved": sums["reserved"] - sums["published"] - sums["aborted"],
            "retired": sums["freed"] + sums["aborted"] - sums["reclaimed"],
            "exhausted": sums["exhausted"],
            "capacity": self.value["capacity"],
            "created": made,
            "workers": sums["open"],
        }
        for field in gdb.lookup_type("struct haft_table_stats").fields():
            if field.name in known:
                yield field.name, known[field.name]

    def figures(self):
        yield from self.stats(self.sums())
        yield "object_size", self.value["slots"]["object_size"]
        yield "layout", "+".join(str(width) for width in layout_of(self.value["slots"]))
        yield "domain", self.value["domain"]


class Local(Summary):
    def line(self):
        return f'local table "{name_of(self.value)}", {int(self.value["front"]["count"])} live of {int(self.value["capacity"])}'

    def figures(self):
        yield "live", self.value["front"]["count"]
        yield "capacity", self.value["capacity"]
        yield "exhausted", self.value["exhausted"]
        yield "slots_used", int(self.value["used"]) - FIRST_INDEX
        yield "object_size", self.value["slots"]["object_size"]
        yield "layout", "+".join(str(width) for width in layout_of(self.value["slots"]))


class Packed(Summary):
    def line(self):
        return f'packed table "{name_of(self.value)}", {int(self.value["count"])} live of {int(self.value["capacity"])}'

    def figures(self):
        yield "live", self.value["count"]
        yield "dead", self.value["dead_count"]
        yield "capacity", self.value["capacity"]
        yield "exhausted", self.value["exhausted"]
        yield "object_size", self.value["view"]["object_size"]


class Counted(Summary):
    def used(self):
        drawn = (number(self.value["block"]["fresh"]["word"]) & ~FRESH_IS_CLOSED) - FIRST_INDEX
        return drawn - unused_in_queue(self.value)

    def line(self):
        """Without a walk: gdb shows it for each frame that has the table as an argument."""
        return f'counted table "{name_of(self.value)}", {self.used()} slots used of {int(self.value["slot_count"])}'

    def figures(self):
        yield from self.stats()
        yield "object_size", self.value["object_size"]
        yield "layout", "+".join(str(width) for width in layout_of(self.value))

    def stats(self):
        """What haft_counted_stats has, in its order, by its names."""
        names = ("live", "held", "reserved", "ended", "free", "exhausted")
        counts = dict.fromkeys(names, 0)
        for word in counted_words(self.value):
            for name in self.counted_as(word):
                counts[name] += 1
        yield from counts.items()
        yield "high_water", self.used()
        yield "capacity", self.value["capacity"]
        yield "limit", self.value["slot_count"]

    def counted_as(self, word):
        if word.state == COUNTED_LIVE:
            return ("live", "held") if word.low else ("live",)
        if word.reserved:
            return ("reserved",)
        if word.state == COUNTED_RESERVED and word.low == COUNTED_EXHAUSTED:
            return ("exhausted",)
        return ("free",) if word.state == COUNTED_FREE else ("ended",)


class Domain(Summary):
    def line(self):
        return f'domain {int(self.value["number"])}, {self.value["clock"]["name"].string()} clock'

    def figures(self):
        yield "backlog", number(self.value["requested"]) - number(self.value["done"])
        yield "grace_periods", number(self.value["grace_periods"])
        yield "longest_ns", number(self.value["longest_ns"])
        yield "stalls", number(self.value["stalls"])
        yield "tables", number(self.value["tables"])


class Worker(Summary):
    STATES = {CLOSED: "closed", OPEN: "open", BORROWED: "borrowed"}

    def line(self):
        state = state_of(self.value)
        named = self.STATES.get(state, str(state))
        return f'worker of table "{name_of(self.value["table"])}", {named}'

    def figures(self):
        counters = self.value["counters"]
        for name in ("inserted", "reserved", "published", "freed", "refused_frees", "reclaimed"):
            yield name, number(counters[name])
        yield "waiting_slots", int(self.value["backlog"]["retired"]) - int(self.value["backlog"]["done"])


PRINTERS = {
    "haft_table": Table,
    "haft_local": Local,
    "haft_packed": Packed,
    "haft_counted": Counted,
    "haft_domain": Domain,
    "haft_worker": Worker,
}


class Line:
    """A pointer: its value and the line of what it points to."""

    def __init__(self, value, printer):
        self.value = value
        self.printer = printer

    def to_string(self):
        try:
            return f"{hex(int(self.value))} {self.printer(self.value.dereference()).line()}"
        except gdb.error:
            return hex(int(self.value))


def look_up(value):
    """gdb's question: which printer prints this value?"""
    kind = value.type.strip_typedefs().unqualified()
    if kind.code == gdb.TYPE_CODE_STRUCT:
        if kind.tag == "haft_id":
            return Id(value)
        printer = PRINTERS.get(kind.tag)
        return printer(value) if printer and kind.fields() else None
    if kind.code == gdb.TYPE_CODE_PTR and int(value) != 0:
        target = kind.target().strip_typedefs().unqualified()
        printer = PRINTERS.get(target.tag) if target.code == gdb.TYPE_CODE_STRUCT else None
        return Line(value, printer) if printer and target.fields() else None
    return None


look_up.__name__ = "haft"

# --- commands ---


class HaftCommand(gdb.Command):
    """haft tables; haft id TABLE ID"""

    def __init__(self):
        super().__init__("haft", gdb.COMMAND_DATA, prefix=True)


class TablesCommand(gdb.Command):
    """haft tables: the shared and the counted tables that are open, one a line."""

    def __init__(self):
        super().__init__("haft tables", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        lines = [(table, Table(table)) for table in open_tables()] + [(table, Counted(table)) for table in open_counted()]
        for table, printer in lines:
            print(f"{hex(int(table.address))} {printer.line()}")
        if not lines:
            print("no table is open, or the library has no debug information")


class IdCommand(gdb.Command):
    """haft id TABLE ID: what a table says of an id.  TABLE points to a haft_table, haft_counted or
    haft_local; ID is a haft_id or a number."""

    def __init__(self):
        super().__init__("haft id", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        if len(words) != 2:
            raise gdb.GdbError("usage: haft id TABLE ID")
        table, identifier = (gdb.parse_and_eval(word) for word in words)
        if identifier.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
            identifier = identifier["bits"]
        bits = int(identifier) & (1 << 64) - 1
        pointed = table.dereference()
        counted = pointed.type.strip_typedefs().tag == "haft_counted"
        slots = pointed if counted else pointed["slots"]
        said = diagnose_counted(slots, bits) if counted else diagnose(slots, bits)
        print(f"{id_text(bits, layout_of(slots))}: {said}")


if not any(getattr(printer, "__name__", "") == "haft" for printer in gdb.pretty_printers):
    gdb.pretty_printers.append(look_up)
    HaftCommand()
    TablesCommand()
    IdCommand()
