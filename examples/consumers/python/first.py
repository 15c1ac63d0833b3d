#!/usr/bin/env python3
"""Uses the shared library from Python, with nothing but dist/api.json (./dev api) and ctypes.

    first.py API.json libhaft.so

Every function of the file is looked up by its name, inline ones too.  Structs are made from their
members; ids and views go in and out by value.
"""

import ctypes
import json
import sys

INTEGERS = {(True, 1): ctypes.c_int8, (True, 2): ctypes.c_int16, (True, 4): ctypes.c_int32,
            (True, 8): ctypes.c_int64, (False, 1): ctypes.c_uint8, (False, 2): ctypes.c_uint16,
            (False, 4): ctypes.c_uint32, (False, 8): ctypes.c_uint64}


class Library:
    def __init__(self, api, path):
        self.api = api
        self.shared = ctypes.CDLL(path)
        self.described = {each["name"]: each for each in api["structs"]}
        self.structs = {}
        self.statuses = {}
        for each in api["enums"]:
            self.statuses.update(each["values"] if each["name"] == "haft_status" else {})
        for each in api["functions"]:
            setattr(self, each["name"], self.function(each))

    def function(self, described):
        found = getattr(self.shared, described["name"])  # dlsym
        found.restype = self.type_of(described["returns"])
        if not described["variadic"]:
            found.argtypes = [self.type_of(each["type"]) for each in described["parameters"]]
        return found

    def type_of(self, described):
        kind = described["kind"]
        if kind == "void":
            return None
        if kind == "bool":
            return ctypes.c_bool
        if kind == "integer":
            return INTEGERS[described["signed"], described["size"]]
        if kind == "enum":
            return ctypes.c_uint32
        if kind == "array":
            return self.type_of(described["to"]) * described["count"]
        if kind == "struct":
            return self.struct(described["name"])
        if described["c"] == "const char *":
            return ctypes.c_char_p
        return ctypes.c_void_p  # pointers, callbacks, lists of variable arguments

    def struct(self, name):
        if name not in self.structs:
            described = self.described[name]
            made = self.structs[name] = type(name, (ctypes.Structure,), {})
            made._fields_ = [(each["name"], self.type_of(each["type"])) for each in described["members"]]
            assert ctypes.sizeof(made) == described["size"], f"{name}: not as large as in C"
            for each in described["members"]:
                assert getattr(made, each["name"]).offset == each["offset"], f"{name}.{each['name']}"
        return self.structs[name]

    def must(self, status):
        if status != self.statuses["HAFT_OK"]:
            raise RuntimeError(self.haft_status_text(status).decode())


def use_local(haft):
    options = haft.struct("haft_local_options")(name=b"numbers", capacity=10, object_size=8)
    local, nine = ctypes.c_void_p(), ctypes.c_uint64(9)
    id_of_nine = haft.struct("haft_id")()
    haft.must(haft.haft_local_open(ctypes.addressof(options), ctypes.addressof(local)))
    haft.must(haft.haft_local_insert(local, ctypes.addressof(nine), ctypes.addressof(id_of_nine)))
    found = haft.haft_resolve(haft.haft_local_view(local), id_of_nine)
    assert ctypes.c_uint64.from_address(found).value == 9
    haft.must(haft.haft_local_free(local, id_of_nine))
    assert haft.haft_resolve(haft.haft_local_view(local), id_of_nine) is None
    assert haft.haft_local_free(local, id_of_nine) == haft.statuses["HAFT_STALE"]
    haft.haft_local_close(local)


def use_shared(haft):
    options = haft.struct("haft_table_options")(capacity=10, object_size=8)
    domain, table, worker = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    name = haft.struct("haft_id")()
    haft.must(haft.haft_domain_open(None, ctypes.addressof(domain)))
    # As a program does that knows fewer options: only the first two.
    haft.must(haft.haft_table_open_sized(domain, ctypes.addressof(options), 16, ctypes.addressof(table)))
    assert haft.haft_table_object_size(table) == 0
    haft.must(haft.haft_table_close(table))
    haft.must(haft.haft_table_open(domain, ctypes.addressof(options), ctypes.addressof(table)))
    haft.must(haft.haft_worker_open(table, ctypes.addressof(worker)))
    haft.must(haft.haft_insert(worker, None, ctypes.addressof(name)))
    assert haft.haft_is_live(haft.haft_table_view(table), name)
    assert haft.haft_table_stats_get(table).live == 1
    haft.must(haft.haft_free(worker, name))
    haft.must(haft.haft_worker_close(worker))
    haft.must(haft.haft_table_close(table))
    haft.must(haft.haft_domain_close(domain))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        haft = Library(json.load(file), sys.argv[2])
    use_local(haft)
    use_shared(haft)
    print(f"{len(haft.api['functions'])} functions found, ids resolved")


if __name__ == "__main__":
    main()
