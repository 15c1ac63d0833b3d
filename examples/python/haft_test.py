#!/usr/bin/env python3
"""Tests of haft.py.

    haft_test.py API.json libhaft.so [unittest's arguments]
"""

import contextlib
import pathlib
import struct
import sys
import tempfile
import threading
import unittest

import haft


class Opened(unittest.TestCase):
    """A domain, a table and this thread's worker."""

    options = {"name": "ships", "capacity": 1000, "object_size": 8}

    def setUp(self):
        self.domain = self.enterContext(library.domain())
        self.table = self.enterContext(self.domain.table(**self.options))
        self.worker = self.enterContext(self.table.worker())

    def enterContext(self, manager):  # Python 3.11 has it
        value = manager.__enter__()
        self.addCleanup(manager.__exit__, None, None, None)
        return value


def use_up(worker):
    """Until all slots wait for a grace period."""
    with contextlib.suppress(haft.Busy):
        while True:
            worker.free(worker.insert(wait=False))


class Objects(Opened):
    def test_insert_gives_an_id_by_which_a_section_finds_the_bytes(self):
        ship = self.worker.insert(struct.pack("=Q", 9))
        with self.worker.section() as objects:
            self.assertEqual(struct.unpack("=Q", objects[ship]), (9,))
            self.assertIn(ship, objects)

    def test_what_is_written_in_a_section_is_there_in_the_next(self):
        ship = self.worker.insert(b"Beagle")
        with self.worker.section() as objects:
            objects[ship][0:6] = b"Raft  "
        with self.worker.section() as objects:
            self.assertEqual(bytes(objects[ship]), b"Raft  \0\0")

    def test_too_many_bytes_are_refused(self):
        with self.assertRaisesRegex(ValueError, "9 bytes do not fit into an object of 8"):
            self.worker.insert(bytes(9))

    def test_a_freed_object_is_read_until_the_section_ends(self):
        ship = self.worker.insert(b"Beagle")
        with self.worker.section() as objects:
            found = objects[ship]
            self.worker.free(ship)
            self.assertEqual(bytes(found), b"Beagle\0\0")
            self.assertIsNone(objects.get(ship))
            with self.assertRaises(haft.Stale):
                objects[ship]

    def test_no_view_outlives_its_section(self):
        ship = self.worker.insert()
        with self.worker.section() as objects:
            found = objects[ship]
        with self.assertRaises(ValueError):
            found[0]
        with self.assertRaisesRegex(ValueError, "the section has ended"):
            objects.get(ship)

    def test_an_inner_section_leaves_the_outer_one_open(self):
        ship = self.worker.insert(b"Beagle")
        with self.worker.section() as outer:
            found = outer[ship]
            self.worker.free(ship)
            with contextlib.suppress(haft.Busy):
                for _ in range(5000):
                    with self.worker.section():
                        self.worker.free(self.worker.insert(b"Raft", wait=False))
            self.assertEqual(bytes(found), b"Beagle\0\0")

    def test_a_section_ends_although_a_view_is_still_exported(self):
        ship, other = self.worker.insert(b"Beagle"), self.worker.insert(b"Raft")
        with self.assertRaises(BufferError):
            with self.worker.section() as objects:
                exported, found = struct.iter_unpack("=Q", objects[ship]), objects[other]
        with self.assertRaises(ValueError):
            found[0]
        del exported
        self.domain.wait()  # haft.InSection if the section were open

    def test_no_quiescent_point_is_passed_while_a_section_of_any_domain_is_open(self):
        passed = []
        with self.domain.table(capacity=10) as near, near.worker() as mine:
            with library.domain() as domain, domain.table(capacity=10) as far, far.worker() as theirs:
                for worker in (mine, theirs):
                    worker.quiescent = lambda worker=worker: passed.append(worker)
                with mine.section():
                    with theirs.section():
                        pass
                    self.assertEqual(passed, [])
                self.assertCountEqual(passed, [mine, theirs])
                passed.clear()
                with theirs.section():
                    pass
                self.assertEqual(passed, [theirs])

    def test_a_section_of_one_domain_lets_nothing_wait_in_another(self):
        with library.domain() as domain, domain.table(capacity=1000, waiting_bytes=4096, object_size=8) as far:
            with domain.table(capacity=1) as other, far.worker() as worker:
                with self.worker.section():
                    use_up(worker)
                    ended = domain.stats["grace_periods"]
                    worker.quiescent()
                    for wait in (worker.insert, domain.wait, other.close):
                        with self.assertRaises(haft.InSection):
                            wait()
                    self.assertEqual(domain.stats["grace_periods"], ended)
                self.assertGreater(domain.stats["grace_periods"], ended)

    def test_a_worker_may_close_before_the_sections_around_its_own_end(self):
        with self.worker.section():
            with self.table.worker() as inner, inner.section():
                pass


class Errors(Opened):
    def test_a_second_free_raises_the_status_by_name_with_its_text(self):
        ship = self.worker.insert()
        self.worker.free(ship)
        with self.assertRaisesRegex(haft.Stale, r"the object has been freed \(HAFT_STALE\)") as caught:
            self.worker.free(ship)
        self.assertEqual(caught.exception.status, library.c.HAFT_STALE)
        self.assertIsInstance(caught.exception, haft.HaftError)

    def test_an_unknown_option_is_named(self):
        with self.assertRaisesRegex(TypeError, "no option 'size'; haft_table_options has: .*object_size"):
            self.domain.table(capacity=10, size=8)
        with self.assertRaisesRegex(TypeError, "option 'object_size' cannot be 'x'"):
            self.domain.table(capacity=10, object_size="x")

    def test_a_full_table_says_so(self):
        with self.domain.table(capacity=2) as table, table.worker() as worker:
            with self.assertRaises((haft.Full, haft.Busy)):
                for _ in range(100000):  # the capacity is the least that fits
                    worker.insert(wait=False)

    def test_a_table_with_an_open_worker_stays_open(self):
        with self.assertRaises(haft.InUse):
            self.table.close()
        self.assertEqual(len(self.table), 0)

    def test_what_is_closed_is_not_called(self):
        table = self.domain.table(capacity=10)
        worker = table.worker()
        name = worker.insert()
        worker.close()
        table.close()
        table.close()  # again: nothing happens
        for call in (worker.insert, worker.quiescent, worker.section().__enter__, table.worker,
                     lambda: table.free(name), lambda: table.is_live(name), lambda: table.stats):
            with self.assertRaisesRegex(ValueError, "the (worker|table) is closed"):
                call()

    def test_a_worker_is_refused_to_another_thread(self):
        refused = []

        def use():
            for call in (self.worker.insert, self.worker.quiescent, self.worker.section().__enter__):
                try:
                    call()
                except RuntimeError as error:
                    refused.append(str(error))

        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        self.assertEqual(refused, ["a worker belongs to the thread that has opened it"] * 3)

    def test_a_file_that_is_no_description_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "api.json")
            for content, said in ((b"{\n ]", ":2:2: "), (b"[]", ": not a description"), (b"\xfb", ": not a text")):
                file.write_bytes(content)
                with self.assertRaisesRegex(ValueError, f"^{file}{said}"):
                    haft.load(str(file), sys.argv[2])


class Ids(Opened):
    options = {"name": "ships", "capacity": 100, "object_size": 8}

    def test_an_id_prints_itself_and_is_read_again(self):
        ship = self.worker.insert()
        self.assertEqual(str(ship), f"{ship.index}v{ship.generation}")
        self.assertEqual(self.table.id(str(ship)), ship)
        self.assertEqual(self.table.id(int(ship)), ship)
        self.assertRegex(repr(ship), f"index {ship.index}, generation {ship.generation}, tag 0")

    def test_a_tag_is_part_of_it(self):
        layout = library.c.haft_layout(20, 8, 4)
        with self.domain.table(capacity=100, layout=layout, tag=5) as table, table.worker() as worker:
            ship = worker.insert()
            self.assertEqual(ship.tag, 5)
            self.assertTrue(str(ship).endswith("t5"))
            self.assertIsNone(table.explain(ship))

    def test_ids_are_keys(self):
        ship, other = self.worker.insert(), self.worker.insert()
        self.assertEqual({ship: 1, other: 2}[self.table.id(int(ship))], 1)

    def test_a_text_that_is_no_id_is_named(self):
        with self.assertRaisesRegex(ValueError, "'17x3' is not the text of an id"):
            self.table.id("17x3")

    def test_explain_says_why(self):
        ship = self.worker.insert()
        self.assertIsNone(self.table.explain(ship))
        self.worker.free(ship)
        self.assertIsInstance(self.table.explain(ship), haft.Stale)


class Threads(Opened):
    def test_a_thread_without_a_worker_frees(self):
        ship = self.worker.insert(b"Beagle")
        thread = threading.Thread(target=lambda: self.table.free(ship))
        thread.start()
        thread.join()
        self.assertFalse(self.table.is_live(ship))

    def test_of_many_threads_that_free_an_object_one_wins(self):
        ships = [self.worker.insert() for _ in range(200)]
        won = []

        def sink():
            with self.table.worker() as worker:
                for ship in ships:
                    try:
                        worker.free(ship)
                        won.append(ship)
                    except haft.Stale:
                        pass

        threads = [threading.Thread(target=sink) for _ in range(4)]
        for thread in threads:
            thread.start()
        with self.worker.parked():
            for thread in threads:
                thread.join()
        self.assertEqual(sorted(map(int, won)), sorted(map(int, ships)))

    def test_no_thread_waits_for_a_parked_one(self):
        waited = threading.Event()

        def wait():
            with self.table.worker() as worker:
                worker.free(worker.insert())
                worker.flush()
                self.domain.wait()
                waited.set()

        thread = threading.Thread(target=wait, daemon=True)
        with self.worker.parked():
            thread.start()
            self.assertTrue(waited.wait(30))
        thread.join()

    def cross(self, wait):
        """Two threads with workers in two domains call wait(table, worker), each in a domain of its own."""
        domains = [library.domain(), library.domain()]
        tables = [domain.table(capacity=1000, waiting_bytes=4096, object_size=8) for domain in domains]
        online, returned = threading.Barrier(2), threading.Semaphore(0)

        def use(number):
            with tables[0].worker() as first, tables[1].worker() as second:
                online.wait()
                wait(tables[number], (first, second)[number])
                returned.release()

        threads = [threading.Thread(target=use, args=[number], daemon=True) for number in range(2)]
        for thread in threads:
            thread.start()
        for _ in threads:
            self.assertTrue(returned.acquire(timeout=300), "the threads wait for each other")
        for thread in threads:
            thread.join()
        for closing in tables + domains:
            closing.close()

    def test_threads_that_wait_in_two_domains_do_not_wait_for_each_other(self):
        def insert(_table, worker):
            use_up(worker)
            worker.insert()

        def pass_quiescent_point(_table, worker):
            use_up(worker)
            worker.quiescent()  # waits, as 1/32 of waiting_bytes waits

        def end_section(_table, worker):
            with worker.section():
                use_up(worker)

        def wait(table, worker):
            worker.free(worker.insert())
            worker.flush()
            table.domain.wait()

        def close(table, _worker):
            other = table.domain.table(capacity=1, object_size=8)
            with other.worker() as inserting:
                inserting.insert()
            other.close()

        for call in (insert, pass_quiescent_point, end_section, wait, close):
            with self.subTest(call.__name__):
                self.cross(call)

    def test_a_callback_is_called(self):
        reclaimed = []
        with self.domain.table(capacity=10, on_reclaim=lambda *said: reclaimed.append(said)) as table:
            with table.worker() as worker:
                worker.free(worker.insert())
                worker.flush()
        self.assertTrue(reclaimed)


class Counted(unittest.TestCase):
    def setUp(self):
        self.destroyed = []
        self.sessions = library.counted(name="sessions", capacity=10, object_size=8,
                                        on_destroy=lambda *said: self.destroyed.append(said))
        self.addCleanup(self.sessions.close)

    def test_a_freed_object_ends_with_its_last_holder(self):
        session = self.sessions.insert(b"Beagle")
        with self.sessions.hold(session) as content:
            with self.sessions.hold(session):
                self.sessions.free(session)
                with self.assertRaises(haft.Stale):
                    self.sessions.hold(session).__enter__()
            self.assertEqual(bytes(content), b"Beagle\0\0")
            self.assertEqual((self.sessions.stats["ended"], self.destroyed), (1, []))
        self.assertEqual((self.sessions.stats["ended"], len(self.destroyed)), (0, 1))
        with self.assertRaises(ValueError):
            content[0]

    def test_any_thread_holds_and_writes(self):
        session = self.sessions.insert()

        def write():
            with self.sessions.hold(session) as content:
                content[0:4] = b"Raft"

        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
        with self.sessions.hold(session) as content:
            self.assertEqual(bytes(content[0:4]), b"Raft")

    def test_a_hold_ends_although_its_view_is_still_exported(self):
        session = self.sessions.insert(b"Beagle")
        with self.assertRaises(BufferError):
            with self.sessions.hold(session) as content:
                exported = struct.iter_unpack("=Q", content)
        self.assertEqual(self.sessions.stats["held"], 0)
        del exported

    def test_take_ends_what_is_not_held(self):
        session = self.sessions.insert(b"Beagle")
        with self.sessions.hold(session), self.assertRaises(haft.InUse):
            self.sessions.take(session)
        self.assertEqual(self.sessions.take(session), b"Beagle\0\0")
        self.assertEqual((len(self.sessions), self.destroyed), (0, []))
        self.assertIsInstance(self.sessions.explain(session), haft.Stale)
        with self.assertRaises(haft.Stale):
            self.sessions.free(session)

    def test_a_copy_needs_no_hold(self):
        with library.counted(capacity=10, object_size=12, copies=True) as handles:
            handle = handles.insert(b"twelve bytes")
            self.assertEqual(handles.copy(handle), b"twelve bytes")
            self.assertTrue(handles.is_live(handles.id(str(handle))))
            handles.free(handle)
            self.assertIsNone(handles.copy(handle))

    def test_a_table_is_open_while_an_object_is_held(self):
        session = self.sessions.insert()
        with self.sessions.hold(session), self.assertRaises(haft.InUse):
            self.sessions.close()
        self.assertEqual(len(self.destroyed), 1)

    def test_a_full_table_says_so(self):
        for _ in range(10):
            self.sessions.insert()
        with self.assertRaises(haft.Full):
            self.sessions.insert()


class Documentation(unittest.TestCase):
    def test_methods_have_their_contracts(self):
        self.assertIn("haft_status haft_free(haft_worker *worker, haft_id id)", haft.Worker.free.__doc__)
        self.assertIn("Progress: ", haft.Worker.free.__doc__)

    def test_each_function_has_its_own(self):
        lacking = [name for name in library.c.functions if name not in getattr(library.c, name).__doc__]
        self.assertEqual(lacking, [])


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    library = haft.load(*sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
