"""haft from Python, by the shared library and the description of it that `./dev api` writes.

    import haft

    library = haft.load("dist/api.json", "libhaft.so.0.2")
    with library.domain() as domain, domain.table(capacity=1000, object_size=8) as table:
        with table.worker() as worker:
            ship = worker.insert(b"Beagle")
            with worker.section() as objects:
                print(ship, bytes(objects[ship]))   # 4v1 b'Beagle\\x00\\x00'
            worker.free(ship)                       # haft.Stale if it had been freed before

    with library.counted(capacity=1000, object_size=8) as sessions:     # for any thread, without a worker
        session = sessions.insert(b"Beagle")
        with sessions.hold(session) as content:     # it may sleep; haft.Stale if it had been freed before
            print(bytes(content))
        sessions.free(session)

A slot holds bytes: those of struct.pack, of a ctypes structure or of any other buffer.  A read section
or a hold gives them as a memoryview, which is released when that ends: a use after that is a ValueError.
Python cannot revoke what is made of that view: a slice, or another memoryview of it, still leads to the
slot after the section, and to no memory after the table.  Copy what is to be kept: bytes(view).

Every status but HAFT_OK is an exception, named like the status (haft.Stale is HAFT_STALE).  Options are
keywords, named like the members of C's options structs; a callback is a Python function.  Each thread
has a worker of its own.  What is missing here is in `library.c`: all functions, structs and constants
as the C headers have them; `help(haft.Worker)` shows their contracts after a load.
"""

import contextlib
import ctypes
import json
import re
import threading

# --- what the description says, as ctypes ---

_INTEGERS = {(True, 1): ctypes.c_int8, (True, 2): ctypes.c_int16, (True, 4): ctypes.c_int32,
             (True, 8): ctypes.c_int64, (False, 1): ctypes.c_uint8, (False, 2): ctypes.c_uint16,
             (False, 4): ctypes.c_uint32, (False, 8): ctypes.c_uint64}
_FLOATS = {4: ctypes.c_float, 8: ctypes.c_double}


class Declarations:
    """The functions, structs and constants of the C headers, as attributes."""

    def __init__(self, api, shared):
        self._described = {each["name"]: each for each in api["structs"] + api["callbacks"]}
        self._made = {}
        self.functions = {each["name"]: each for each in api["functions"]}
        vars(self).update(api["constants"])
        for each in api["enums"]:
            vars(self).update(each["values"])
        for each in api["structs"]:
            setattr(self, each["name"], self._struct(each["name"]))
        for each in api["functions"]:
            setattr(self, each["name"], self._function(each, getattr(shared, each["name"])))

    def _function(self, described, found):
        found.restype = self._type(described["returns"])
        if not described["variadic"]:
            found.argtypes = [self._type(each["type"]) for each in described["parameters"]]
        found.__doc__ = contract_text(described)
        return found

    def _type(self, described):
        kind = described["kind"]
        if kind == "integer":
            return _INTEGERS[described["signed"], described["size"]]
        if kind == "struct":
            return self._struct(described["name"])
        if kind == "callback":
            return self._callback(described)
        if kind == "array":
            return self._type(described["to"]) * described["count"]
        if kind == "float":
            return _FLOATS[described["size"]]
        if described["c"] == "const char *":
            return ctypes.c_char_p
        # Pointers to all else, and lists of variable arguments, are addresses.
        return {"void": None, "bool": ctypes.c_bool, "enum": ctypes.c_uint32}.get(kind, ctypes.c_void_p)

    def _callback(self, described):
        name = described["name"]
        signature = self._described[name] if name else described
        key = name or described["c"]
        if key not in self._made:
            self._made[key] = ctypes.CFUNCTYPE(self._type(signature["returns"]),
                                               *(self._type(each["type"]) for each in signature["parameters"]))
        return self._made[key]

    def _struct(self, name):
        if name not in self._made:
            described = self._described[name]
            made = self._made[name] = type(name, (ctypes.Structure,), {})
            made._fields_ = [(each["name"], self._type(each["type"])) for each in described["members"]]
            for each in described["members"]:
                if getattr(made, each["name"]).offset != each["offset"]:
                    raise ImportError(f"{name}.{each['name']} does not lie where the description has it")
            if described["size"] not in (None, ctypes.sizeof(made)):
                raise ImportError(f"{name} has not the {described['size']} bytes that the description says")
        return self._made[name]


def contract_text(described):
    """A contract as a docstring."""
    arguments = ", ".join(f"{each['type']['c']} {each['name']}".replace("* ", "*")
                          for each in described["parameters"])
    lines = [f"{described['returns']['c']} {described['name']}({arguments or 'void'})"]
    for field, text in (described["contract"] or {}).items():
        lines += ["", text if field == "summary" else f"{field}: {text}"]
    return "\n".join(lines)


# --- statuses ---

class HaftError(Exception):
    """A call that did not answer HAFT_OK: `status` is its number, `name` its name in C."""

    def __init__(self, status, name, text):
        super().__init__(f"{text} ({name})")
        self.status, self.name, self.text = status, name, text


def _exceptions(values):
    """{status: class}; the classes are this module's, whichever library is loaded."""
    made = {}
    for name, value in values.items():
        if value == 0:
            continue
        title = "".join(part.title() for part in name.removeprefix("HAFT_").split("_"))
        made[value] = globals().setdefault(title, type(title, (HaftError,), {"__doc__": name, "__module__": __name__}))
    return made


# --- ids ---

class Id:
    """The id of an object: prints as C's haft_id_format does, 17v3 or 17v3t5; int() is what to send."""

    __slots__ = ("_c", "_layout", "value")

    def __init__(self, c, layout, value):
        self._c, self._layout, self.value = c, layout, value

    def _field(self, get):
        return get(self._layout, self.raw())

    def raw(self):
        return self._c.haft_id(self.value)

    @property
    def index(self):
        return self._field(self._c.haft_id_index)

    @property
    def generation(self):
        return self._field(self._c.haft_id_generation)

    @property
    def tag(self):
        return self._field(self._c.haft_id_tag)

    def __int__(self):
        return self.value

    def __eq__(self, other):
        return self.value == other.value if isinstance(other, Id) else NotImplemented

    def __hash__(self):
        return hash(self.value)

    def __bool__(self):
        return self.value != 0

    def __str__(self):
        text = ctypes.create_string_buffer(self._c.HAFT_ID_TEXT_SIZE)
        self._c.haft_id_format(self._layout, self.raw(), ctypes.addressof(text), len(text))
        return text.value.decode()

    def __repr__(self):
        return f"<haft.Id {self}: index {self.index}, generation {self.generation}, tag {self.tag}>"


# --- what is opened and closed ---

class _Closing:
    """Closed by close(), or at the end of a `with`; a close that is refused may be tried again."""

    _closer = None  # the function of C
    _pointer = None

    @property
    def _handle(self):
        """What functions of C take."""
        if not self._pointer:
            raise ValueError(f"the {type(self).__name__.lower()} is closed")
        return self._pointer

    def close(self):
        if self._pointer:
            self._must(getattr(self._c, self._closer)(self._handle))
            self._pointer = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        try:
            self.close()
        except HaftError:
            if error is None:  # else the first one says more
                raise

    def _open(self, opener, *before, options=None):
        """What the opener puts into its last parameter."""
        pointer = ctypes.c_void_p()
        given = () if options is None else (ctypes.addressof(options), ctypes.sizeof(options))
        self._must(getattr(self._c, opener)(*before, *given, ctypes.addressof(pointer)))
        self._pointer = pointer


class Library:
    """The shared library; `c` has all that its headers declare."""

    def __init__(self, api, shared):
        self.c = Declarations(api, shared)
        self.version = self.c.haft_version_text().decode()
        if self.version != api["version"]:
            raise ImportError(f"the library is haft {self.version}, the description that of {api['version']}")
        statuses = next(each["values"] for each in api["enums"] if each["name"] == "haft_status")
        self._names = {value: name for name, value in statuses.items()}
        self._errors = _exceptions(statuses)

    def must(self, status):
        """Raises the exception of a status that is not HAFT_OK."""
        if status != self.c.HAFT_OK:
            raise self.error(status)

    def error(self, status):
        text = self.c.haft_status_text(status).decode()
        return self._errors.get(status, HaftError)(status, self._names.get(status, str(status)), text)

    def options(self, name, given):
        """An options struct of C; a member that it lacks is a TypeError."""
        struct = getattr(self.c, name)
        types = dict(struct._fields_)
        for key, value in given.items():
            if key not in types:
                raise TypeError(f"no option '{key}'; {name} has: {', '.join(types)}")
            if callable(value) and not isinstance(value, ctypes._CFuncPtr):
                given[key] = types[key](value)
            elif isinstance(value, str):
                given[key] = value.encode()
            try:
                struct(**{key: given[key]})
            except TypeError as error:
                raise TypeError(f"option '{key}' cannot be {value!r}: {error}") from None
        return struct(**given)

    def domain(self, **options):
        return Domain(self, options)

    def counted(self, **options):
        return Counted(self, options)


class _Opened(threading.local):
    """What the thread has open in all domains, and the workers whose quiescent points are put off until no
    section is open: in one domain's section the thread must not wait in another."""

    def __init__(self):
        self.workers, self.sections, self.due = set(), 0, {}


_opened = _Opened()


class Domain(_Closing):
    """Tables whose freed slots one clock lets go: haft_domain_options are its keywords."""

    _closer = "haft_domain_close"

    def __init__(self, library, options):
        self.library, self._c, self._must = library, library.c, library.must
        self._kept = self.library.options("haft_domain_options", options)  # its callbacks may be called
        self._open("haft_domain_open_sized", options=self._kept)

    def table(self, **options):
        return Table(self, options)

    @contextlib.contextmanager
    def _waiting(self):
        """For a call that may wait for this domain's threads: the calling one is in no section, and parked in
        its other domains, where two threads that wait crosswise would wait for each other for ever."""
        if _opened.sections:
            raise self.library.error(self._c.HAFT_IN_SECTION)
        workers = {worker.table.domain: worker for worker in _opened.workers}
        workers.pop(self, None)
        with contextlib.ExitStack() as parks:
            for worker in workers.values():
                parks.enter_context(worker.parked())
            yield

    def wait(self):
        """Not inside a section, of whatever domain."""
        with self._waiting():
            self._must(self._c.haft_domain_wait(self._handle))

    def tick(self):
        self._must(self._c.haft_domain_tick(self._handle))

    @property
    def stats(self):
        return _members(self._c.haft_domain_stats_get(self._handle))


class _Slots(_Closing):
    """Objects by id; the classes below set library, _layout and object_size."""

    def id(self, value):
        """The id that a number, as int(id) gave it, or a text, as str(id) gave it, stands for."""
        if isinstance(value, str):
            found = self._c.haft_id()
            if not self._c.haft_id_parse(self._layout, value.encode(), ctypes.addressof(found)):
                raise ValueError(f"'{value}' is not the text of an id, such as 17v3")
            return self._id(found)
        return Id(self._c, self._layout, value)

    def _id(self, found):
        return Id(self._c, self._layout, ctypes.c_uint64.from_buffer(found).value)

    def _insert(self, call, into, content):
        given = memoryview(content).cast("B")
        if len(given) > self.object_size:
            raise ValueError(f"{len(given)} bytes do not fit into an object of {self.object_size}")
        slot = (ctypes.c_char * max(self.object_size, 1))()
        slot[:len(given)] = bytes(given)
        found = self._c.haft_id()
        self._must(call(into, ctypes.addressof(slot), ctypes.addressof(found)))
        return self._id(found)

    def _view_of(self, address):
        return memoryview((ctypes.c_char * self.object_size).from_address(address)).cast("B")


class Table(_Slots):
    """Objects by id: haft_table_options are its keywords.  Any thread inserts and frees."""

    _closer = "haft_table_close"

    def __init__(self, domain, options):
        self.domain, self.library, self._c, self._must = domain, domain.library, domain._c, domain._must
        self._kept = self.library.options("haft_table_options", options)
        self._open("haft_table_open_sized", domain._handle, options=self._kept)
        info = self._c.haft_table_info(self._handle)
        self._layout, self.object_size = info.layout, info.object_size

    def close(self):
        """Not inside a section, of whatever domain."""
        if self._pointer:
            with self.domain._waiting():
                super().close()

    @property
    def view(self):
        return self._c.haft_table_view(self._handle)

    def worker(self):
        return Worker(self)


    def free(self, name):
        """Frees the object, from a thread without a worker."""
        self._must(self._c.haft_table_free(self._handle, name.raw()))

    def is_live(self, name):
        return self._c.haft_is_live(self.view, name.raw())

    def clear(self):
        """All objects end, and none is inserted any more.  A table that workers keep open may be cleared again."""
        self._must(self._c.haft_table_clear(self._handle))

    def explain(self, name):
        """None for a live object, else the exception that says why the id does not resolve."""
        status = self._c.haft_diagnose(self._handle, name.raw())
        return None if status == self._c.HAFT_OK else self.library.error(status)

    @property
    def stats(self):
        return _members(self._c.haft_table_stats_get(self._handle))

    def __len__(self):
        return self._c.haft_table_stats_get(self._handle).live


class Worker(_Closing):
    """One thread's way into a table.  quiescent() is passed when the thread's outermost section ends."""

    _closer = "haft_worker_close"

    def __init__(self, table):
        self.table, self.library, self._c, self._must = table, table.library, table._c, table._must
        self._thread = threading.get_ident()
        self._open("haft_worker_open", table._handle)
        _opened.workers.add(self)

    def close(self):
        super().close()
        _opened.workers.discard(self)

    @property
    def _handle(self):
        if threading.get_ident() != self._thread:
            raise RuntimeError("a worker belongs to the thread that has opened it")
        return super()._handle

    def insert(self, content=b"", wait=True):
        """The id of a new object.  Inside a section, of whatever domain, it cannot wait: say wait=False there,
        and meet haft.Busy."""
        try:
            return self.table._insert(self._c.haft_insert, self._handle, content)
        except HaftError as error:
            if not wait or error.status != self._c.HAFT_BUSY:
                raise
        with self.table.domain._waiting():
            return self.table._insert(self._c.haft_insert_wait, self._handle, content)

    def free(self, name):
        """Frees the object; haft.Stale if that was done before.  Open sections still read it."""
        self._must(self._c.haft_free(self._handle, name.raw()))

    def quiescent(self):
        """Between jobs, where sections are rare; inside a section, of whatever domain, it is put off until the
        outermost one ends."""
        handle = self._handle
        if _opened.sections:
            _opened.due[self] = None
            return
        with self.table.domain._waiting():
            self._must(self._c.haft_worker_quiescent(handle))

    def flush(self):
        self._must(self._c.haft_worker_flush(self._handle))

    def _domain(self):
        """The domain of an open worker, on its thread."""
        return self._handle and self.table.domain._handle

    @contextlib.contextmanager
    def section(self):
        """Objects that stay what they are until it ends, even if they are freed.  Sections nest.

        A view that something still exports is a BufferError at the end; the section has ended then.
        """
        domain = self._domain()
        state = self._c.haft_job_begin(domain)
        _opened.sections += 1
        objects = Section(self.table)
        try:
            yield objects
        finally:
            try:
                objects._release()
            finally:
                self._c.haft_job_end(domain, state)
                _opened.sections -= 1
                _opened.due[self] = None
        while _opened.sections == 0 and _opened.due:
            worker, _ = _opened.due.popitem()
            if worker._pointer:
                worker.quiescent()

    @contextlib.contextmanager
    def parked(self):
        """For what blocks: no other thread waits for this one meanwhile."""
        domain = self._domain()
        state = self._c.haft_thread_park(domain)
        try:
            yield
        finally:
            self._c.haft_thread_unpark(domain, state)


class Section:
    """The objects of a table: section[id] is a memoryview of the bytes, section.get(id) that or None."""

    def __init__(self, table):
        self._table, self._views, self._is_open = table, [], True

    def get(self, name):
        """haft_resolve"""
        if not self._is_open:
            raise ValueError("the section has ended")
        table = self._table
        address = table._c.haft_resolve(table.view, name.raw())
        if address is None:
            return None
        found = table._view_of(address)
        self._views.append(found)
        return found

    def __getitem__(self, name):
        found = self.get(name)
        if found is None:
            raise self._table.explain(name) or KeyError(str(name))
        return found

    def __contains__(self, name):
        return self.get(name) is not None

    def _release(self):
        self._is_open = False
        refused = None
        for view in self._views:
            try:
                view.release()
            except BufferError as error:
                refused = refused or error
        if refused:
            raise refused


class Counted(_Slots):
    """Objects by id, held by counts: haft_counted_options are its keywords.  Any thread calls all of it."""

    _closer = "haft_counted_close"

    def __init__(self, library, options):
        self.library, self._c, self._must = library, library.c, library.must
        self._kept = self.library.options("haft_counted_options", options)
        self._open("haft_counted_open_sized", options=self._kept)
        info = self._c.haft_counted_info(self._handle)
        self._layout, self.object_size = info.layout, info.object_size

    def insert(self, content=b""):
        """The id of a new object."""
        return self._insert(self._c.haft_counted_insert, self._handle, content)

    @contextlib.contextmanager
    def hold(self, name):
        """The bytes, which stay while they are held, even if the object is freed; haft.Stale if that was done
        before.  What still exports them at the end is a BufferError, and the hold has ended then."""
        handle = self._handle
        address = self._c.haft_counted_acquire(handle, name.raw())
        if address is None:
            raise self.explain(name) or KeyError(str(name))
        found = self._view_of(address)
        try:
            yield found
        finally:
            try:
                found.release()
            finally:
                self._must(self._c.haft_counted_release(handle, name.raw()))

    def copy(self, name):
        """The bytes, or None; the table has the option `copies`."""
        slot = (ctypes.c_char * max(self.object_size, 1))()
        is_live = self._c.haft_counted_copy(self._handle, name.raw(), ctypes.addressof(slot))
        return slot.raw[:self.object_size] if is_live else None

    def free(self, name):
        """Frees the object; haft.Stale if that was done before.  It ends with its last holder."""
        self._must(self._c.haft_counted_free(self._handle, name.raw()))

    def take(self, name):
        """The bytes of an object that ends now; haft.InUse while it is held."""
        slot = (ctypes.c_char * max(self.object_size, 1))()
        self._must(self._c.haft_counted_take(self._handle, name.raw(), ctypes.addressof(slot)))
        return slot.raw[:self.object_size]

    def is_live(self, name):
        return self._c.haft_counted_is_live(self._handle, name.raw())

    def explain(self, name):
        """None for a live object, else the exception that says why the id names none."""
        status = self._c.haft_counted_diagnose(self._handle, name.raw())
        return None if status == self._c.HAFT_OK else self.library.error(status)

    @property
    def stats(self):
        return _members(self._c.haft_counted_stats_get(self._handle))

    def __len__(self):
        return self._c.haft_counted_stats_get(self._handle).live


def _members(struct):
    return {name: getattr(struct, name) for name, _ in struct._fields_}


# --- loading ---

_CONTRACTS = {Domain: {"wait": "haft_domain_wait", "tick": "haft_domain_tick"},
              Table: {"free": "haft_table_free", "clear": "haft_table_clear", "is_live": "haft_is_live",
                      "explain": "haft_diagnose"},
              Worker: {"insert": "haft_insert_wait", "free": "haft_free", "quiescent": "haft_worker_quiescent",
                       "flush": "haft_worker_flush", "section": "haft_job_begin", "parked": "haft_thread_park"},
              Section: {"get": "haft_resolve"},
              Counted: {"insert": "haft_counted_insert", "hold": "haft_counted_acquire",
                        "copy": "haft_counted_copy", "free": "haft_counted_free", "take": "haft_counted_take",
                        "is_live": "haft_counted_is_live", "explain": "haft_counted_diagnose"}}


def _document(library):
    """The contracts, below what the docstrings say here."""
    for owner, methods in _CONTRACTS.items():
        for method, name in methods.items():
            found = vars(owner)[method]
            own = re.sub(r"\n\nC's contract:.*", "", found.__doc__ or "", flags=re.S)
            found.__doc__ = f"{own}\n\nC's contract:\n\n{contract_text(library.c.functions[name])}".strip()


def load(api, library):
    """The library; `api` is the file that `./dev api` wrote.  An OSError or a ValueError names what is wrong."""
    with open(api, encoding="utf-8") as file:
        try:
            described = json.load(file)
        except json.JSONDecodeError as error:
            raise ValueError(f"{api}:{error.lineno}:{error.colno}: {error.msg}") from None
        except UnicodeDecodeError:
            raise ValueError(f"{api}: not a text") from None
    if not isinstance(described, dict) or not {"functions", "structs", "enums"} <= described.keys():
        raise ValueError(f"{api}: not a description that ./dev api has written")
    loaded = Library(described, ctypes.CDLL(library))
    _document(loaded)
    return loaded
