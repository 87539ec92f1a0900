# SPDX-License-Identifier: Apache-2.0
"""What a pyarrow user does, and what he must get, against any server that speaks the protocol.

    python flight_cases.py grpc://127.0.0.1:8815

Exits with 0 when every case holds. SAGITTA_FAKE=1 says that the server is the fake one of the unit tests;
then the error classes are tested too, which a healthy cluster does not show.
"""

import base64
import json
import os
import struct
import sys
import unittest
import uuid

import pyarrow as pa
import pyarrow.flight as fl

URI = sys.argv.pop(1) if len(sys.argv) > 1 and "://" in sys.argv[1] else "grpc://127.0.0.1:8815"
FAKE = os.environ.get("SAGITTA_FAKE") == "1"
DIM = 4


def options(seconds=30, **more):
    return fl.FlightCallOptions(timeout=seconds, **more)


def command(verb, **body):
    return json.dumps({verb: body}).encode()


def vector(dim=DIM):
    return pa.list_(pa.field("item", pa.float32(), nullable=False), dim)


def rows(ids, kind=None):
    """Row i has vector [i, 1, 1, 1] and text t<i>."""
    ids = list(ids)
    values = [[float(i), 1.0, 1.0, 1.0] for i in ids]
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "v": pa.array(values, kind or vector()),
            "text": pa.array(["t%d" % i for i in ids], pa.utf8()),
        }
    )


class Case(unittest.TestCase):
    def setUp(self):
        self.client = fl.connect(URI)
        self.name = "py-" + uuid.uuid4().hex[:12]
        self.act(
            "create",
            collection=self.name,
            fields=[
                {"name": "v", "type": "float32", "dim": DIM, "metric": "cosine"},
                {"name": "text", "type": "utf8"},
            ],
        )

    def tearDown(self):
        self.act("drop", collection=self.name)
        self.client.close()

    # ---- helpers

    def act(self, verb, **body):
        action = fl.Action(verb, json.dumps(body).encode())
        results = list(self.client.do_action(action, options()))
        self.assertEqual(len(results), 1)
        return json.loads(results[0].body.to_pybytes())

    def count(self):
        return self.act("count", collection=self.name)["count"]

    def put(self, table, descriptor=None, chunk=None, call=None):
        """Writes a table and gives back all answers but READY."""
        if descriptor is None:
            descriptor = fl.FlightDescriptor.for_path(self.name)
        writer, reader = self.client.do_put(descriptor, table.schema, call or options())
        answers = []
        try:
            self.assertEqual(json.loads(reader.read().to_pybytes()), {"ready": True})
            for batch in table.to_batches(max_chunksize=chunk):
                writer.write_batch(batch)
            writer.done_writing()
            while (buffer := reader.read()) is not None:
                answers.append(json.loads(buffer.to_pybytes()))
        finally:
            writer.close()
        return answers

    def do_get(self, verb, **body):
        body.setdefault("collection", self.name)
        return self.client.do_get(fl.Ticket(command(verb, **body)), options())

    def read(self, verb, **body):
        return self.do_get(verb, **body).read_all()

    def stored(self):
        """Every point by id, as (vector, text), read back by get."""
        ids = self.read("scan", fields=[])["id"].to_pylist()
        table = self.read("get", ids=ids, fields=["v", "text"]) if ids else None
        found = {}
        for row in table.to_pylist() if table is not None else []:
            found[row["id"]] = (row["v"], row["text"])
        return found

    def assert_stored(self, ids):
        expected = {i: ([float(i), 1.0, 1.0, 1.0], "t%d" % i) for i in ids}
        self.assertEqual(self.stored(), expected)


class Searches(Case):
    def test_a_search_has_hits_scores_and_a_certificate(self):
        self.put(rows(range(5)))
        table = self.read("search", vector=[1, 0, 0, 0], k=2)
        self.assertEqual(table.column_names, ["query", "id", "_score", "_version", "text"])
        self.assertEqual(table["id"].to_pylist(), [4, 3])
        self.assertAlmostEqual(table["_score"][0].as_py(), 4 / 19**0.5, places=5)
        certificate = json.loads(table.schema.metadata[b"sagitta.certificate"])
        self.assertTrue(certificate["exact"])
        self.assertEqual(certificate["missing"], [])
        self.assertEqual(certificate["consistency"], "strong")
        self.assertGreaterEqual(len(certificate["shards"]), 1)
        self.assertLessEqual(len(table.schema.metadata[b"sagitta.certificate"]), 1024)

    def test_several_vectors_and_packed_ones_are_the_same_search(self):
        self.put(rows(range(5)))
        queries = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0]]
        packed = base64.b64encode(struct.pack("<8f", *sum(queries, []))).decode()
        listed = self.read("search", vectors=queries, k=1)
        self.assertEqual(listed["query"].to_pylist(), [0, 1])
        self.assertEqual(listed["id"].to_pylist(), [4, 0])
        self.assertEqual(self.read("search", vector_f32=packed, k=1).to_pylist(), listed.to_pylist())

    def test_hits_come_in_groups_of_equal_values(self):
        table = pa.table(
            {
                "id": pa.array(range(8), pa.int64()),
                "v": pa.array([[8.0 - i, 1.0, 1.0, 1.0] for i in range(8)], vector()),
                "text": ["a", "a", None, "b", "a", "c", "b", "c"],
            }
        )
        self.put(table)
        found = self.read("search", vector=[1, 0, 0, 0], k=2, group_by="text", fields=[])
        self.assertEqual(found.column_names, ["query", "id", "_score", "_version", "text"])
        self.assertEqual(found["id"].to_pylist(), [0, 3])
        self.assertEqual(found["text"].to_pylist(), ["a", "b"])
        found = self.read("search", vector=[1, 0, 0, 0], k=9, offset=1, group_by="text", group_size=2)
        self.assertEqual(found["id"].to_pylist(), [3, 6, 5, 7])
        with self.assertRaisesRegex(pa.ArrowInvalid, "without 'group_by'"):
            self.read("search", vector=[1, 0, 0, 0], group_size=2)

    def test_an_empty_collection_has_no_hits_and_no_error(self):
        table = self.read("search", vector=[1, 0, 0, 0], k=10)
        self.assertEqual(table.num_rows, 0)
        self.assertIn(b"sagitta.certificate", table.schema.metadata)
        self.assertEqual(self.read("scan").num_rows, 0)
        self.assertEqual(self.count(), 0)

    def test_b006_k_above_the_number_of_points_gives_all(self):
        self.put(rows(range(3)))
        self.assertEqual(self.read("search", vector=[1, 0, 0, 0], k=10).num_rows, 3)

    def test_b007_limits_are_named(self):
        for k in (0, -1, 2**31 - 1, 2**63 - 1, 2**63):
            with self.assertRaisesRegex(pa.ArrowInvalid, r"\[sagitta.INVALID_ARGUMENT\].*1 to 10000"):
                self.read("search", vector=[1, 0, 0, 0], k=k)
        with self.assertRaisesRegex(pa.ArrowInvalid, "1 to 65536"):
            self.read("search", vector=[1, 0, 0, 0], ef=2**31 - 1)
        with self.assertRaisesRegex(pa.ArrowInvalid, "from 1 to 10000"):
            self.read("search", vector=[1, 0, 0, 0], offset=1, k=2**63 - 1)
        self.assertEqual(self.count(), 0)

    def test_b015_a_query_of_another_length_says_what_was_expected(self):
        for query in ([1, 2, 3], [1, 2, 3, 4, 5]):
            with self.assertRaisesRegex(pa.ArrowInvalid, "expected 4"):
                self.read("search", vector=query)
        with self.assertRaises(pa.ArrowInvalid):
            self.read("search", vector=[])

    def test_b013_integers_are_exact(self):
        ids = [0, 2**53 + 1, 2**63 - 1, -(2**63), -1]
        table = pa.table(
            {
                "id": pa.array(ids, pa.int64()),
                "v": pa.array([[1.0, 2.0, 3.0, 4.0]] * len(ids), vector()),
                "text": pa.array([str(i) for i in ids]),
            }
        )
        self.put(table)
        for i in ids:
            found = self.read("get", ids=[i], fields=["text"])
            self.assertEqual(found["id"].to_pylist(), [i])
            self.assertEqual(found["text"].to_pylist(), [str(i)])
        for i in (2**63, 2**64 - 1):
            with self.assertRaises(pa.ArrowInvalid):
                self.read("get", ids=[i])


class Puts(Case):
    def test_answers_come_one_a_batch_in_order(self):
        answers = self.put(rows(range(10)), chunk=3)
        self.assertEqual([a["rows"] for a in answers], [3, 3, 3, 1])
        self.assertEqual(self.count(), 10)
        self.assert_stored(range(10))

    def test_vectors_of_every_list_and_float_type_are_converted(self):
        kinds = [
            pa.list_(pa.float32(), DIM),
            pa.list_(pa.float64(), DIM),
            pa.list_(pa.float16(), DIM),
            pa.list_(pa.float32()),
            pa.list_(pa.float64()),
            pa.list_(pa.float16()),
            pa.large_list(pa.float32()),
            pa.large_list(pa.float64()),
        ]
        for number, kind in enumerate(kinds):
            with self.subTest(str(kind)):
                ids = range(number * 10, number * 10 + 5)
                self.put(rows(ids, kind))
        expected = [i for number in range(len(kinds)) for i in range(number * 10, number * 10 + 5)]
        self.assert_stored(expected)

    def test_b052_slices_and_chunks_mean_the_logical_table(self):
        whole = 3_000
        for kind in (vector(), pa.list_(pa.float32()), pa.large_list(pa.float32())):
            with self.subTest(str(kind)):
                table = rows(range(whole), kind)
                self.put(table.slice(1_000, 500))
                self.assert_stored(range(1_000, 1_500))
                parts, at = [], 0
                for size in (7, 1, 2_000, 300, whole - 2_308):
                    parts.append(table.slice(at, size))
                    at += size
                self.put(pa.concat_tables(parts))
                self.assert_stored(range(whole))
                self.act("delete", collection=self.name, filter="id >= 0")
                self.assertEqual(self.count(), 0)

    def test_b054_dictionaries_that_differ_grow_or_come_late(self):
        kind = pa.dictionary(pa.int32(), pa.utf8())
        schema = pa.schema([("id", pa.int64()), ("v", vector()), ("text", kind)])

        def batch(ids, texts, values):
            indices = pa.array([None if t is None else values.index(t) for t in texts], pa.int32())
            column = pa.DictionaryArray.from_arrays(indices, pa.array(values, pa.utf8()))
            vectors = pa.array([[float(i), 1.0, 1.0, 1.0] for i in ids], vector())
            return pa.record_batch([pa.array(ids, pa.int64()), vectors, column], schema=schema)

        batches = [
            batch([], [], []),
            batch([0, 1, 2], ["a", "b", None], ["a", "b"]),
            batch([3, 4], ["x", "a"], ["x", "a"]),
            batch([5, 6], ["a", "y"], ["x", "a", "y"]),
            batch([7], [None], ["q"]),
        ]
        for deltas in (False, True):
            with self.subTest(deltas=deltas):
                write = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=deltas)
                writer, reader = self.client.do_put(
                    fl.FlightDescriptor.for_path(self.name), schema, options(write_options=write)
                )
                for one in batches:
                    writer.write_batch(one)
                writer.done_writing()
                answers = []
                while (buffer := reader.read()) is not None:
                    answers.append(json.loads(buffer.to_pybytes()))
                writer.close()
                self.assertEqual([a.get("rows") for a in answers], [None, 0, 3, 2, 2, 1])
                texts = {i: text for i, (_, text) in self.stored().items()}
                self.assertEqual(
                    texts, {0: "a", 1: "b", 2: None, 3: "x", 4: "a", 5: "a", 6: "y", 7: None}
                )

    def test_b054_empty_batches_and_streams_are_no_ops(self):
        empty = rows([])
        schema = empty.schema
        writer, reader = self.client.do_put(
            fl.FlightDescriptor.for_path(self.name), schema, options()
        )
        nothing = pa.record_batch([pa.array([], f.type) for f in schema], schema=schema)
        for part in (nothing, rows([1]).to_batches()[0], nothing, rows([2]).to_batches()[0], nothing):
            writer.write_batch(part)
        writer.done_writing()
        answers = []
        while (buffer := reader.read()) is not None:
            answers.append(json.loads(buffer.to_pybytes()))
        writer.close()
        self.assertEqual([a.get("rows") for a in answers[1:]], [0, 1, 0, 1, 0])
        self.assertEqual(self.put(empty), [])
        self.assert_stored([1, 2])

    def test_b054_columns_come_in_any_order_but_unknown_ones_are_refused(self):
        self.put(rows([1]).select(["text", "v", "id"]))
        self.assert_stored([1])
        extra = rows([2]).append_column("colour", pa.array(["red"]))
        with self.assertRaisesRegex(pa.ArrowInvalid, "colour"):
            self.put(extra)
        self.assertEqual(self.count(), 1)

    def test_b015_a_bad_row_refuses_its_batch_and_says_which(self):
        values = [[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0]]
        table = pa.table(
            {
                "id": pa.array([1, 2, 3], pa.int64()),
                "v": pa.array(values, pa.list_(pa.float32())),
                "text": pa.array(["a", "b", "c"]),
            }
        )
        with self.assertRaisesRegex(pa.ArrowInvalid, r"\[sagitta.INVALID_ARGUMENT\].*row 1"):
            self.put(table)
        self.assertEqual(self.count(), 0)

    def test_b010_values_that_are_not_finite_are_refused(self):
        for bad in (float("nan"), float("inf"), float("-inf")):
            table = pa.table(
                {
                    "id": pa.array([1, 2], pa.int64()),
                    "v": pa.array([[1.0] * DIM, [1.0, bad, 1.0, 1.0]], vector()),
                    "text": pa.array(["a", "b"]),
                }
            )
            with self.assertRaisesRegex(pa.ArrowInvalid, "row 1"):
                self.put(table)
        self.assertEqual(self.count(), 0)

    def test_b014_of_an_id_twice_in_a_batch_the_last_row_wins(self):
        table = pa.table(
            {
                "id": pa.array([1, 1], pa.int64()),
                "v": pa.array([[1.0] * DIM, [1.0, 1.0, 1.0, 1.0]], vector()),
                "text": pa.array(["first", "t1"]),
            }
        )
        self.put(table)
        self.assert_stored([1])

    def test_b050_batches_up_to_the_bound_work_and_beyond_it_the_bound_is_named(self):
        wide = self.name + "-w"
        dim = 1536
        self.act(
            "create",
            collection=wide,
            fields=[{"name": "v", "type": "float32", "dim": dim, "metric": "l2"}],
        )
        path = fl.FlightDescriptor.for_path(wide)
        try:

            def table(count):
                flat = pa.array([float(i % 97) for i in range(dim)] * count, pa.float32())
                column = pa.FixedSizeListArray.from_arrays(flat, dim)
                return pa.table({"id": pa.array(range(count), pa.int64()), "v": column})

            self.assertEqual(self.put(table(2_000), path)[0]["rows"], 2_000)
            back = self.read("search", collection=wide, vector=[0.0] * dim, k=2_000, fields=["v"])
            self.assertEqual(back.num_rows, 2_000)
            self.assertEqual(
                back["v"].combine_chunks().flatten()[:dim].to_pylist(),
                [float(i % 97) for i in range(dim)],
            )
            self.assertTrue(all(b.nbytes <= 2 << 20 for b in back.to_batches()))
            with self.assertRaisesRegex(pa.ArrowInvalid, r"\[sagitta.LIMIT\].*16777216"):
                self.put(table(2_800), path)
            with self.assertRaisesRegex(pa.ArrowInvalid, r"\[sagitta.LIMIT\].*20971520"):
                self.put(table(25_000), path)
            counted = self.act("count", collection=wide)
            self.assertEqual(counted, {"count": 2_000})
        finally:
            self.act("drop", collection=wide)

    def test_compressed_batches_are_refused_by_name(self):
        for codec in ("lz4", "zstd"):
            write = pa.ipc.IpcWriteOptions(compression=codec)
            with self.assertRaisesRegex(pa.ArrowNotImplementedError, "compressed"):
                self.put(rows(range(1_000)), call=options(write_options=write))
        self.assertEqual(self.count(), 0)

    def test_modes(self):
        def descriptor(mode):
            return fl.FlightDescriptor.for_command(
                command("put", collection=self.name, mode=mode)
            )

        self.put(rows([1, 2]))
        answer = self.put(rows([2, 3]), descriptor("insert"))[0]
        self.assertEqual(answer["rows"], 1)
        self.assertEqual([r["row"] for r in answer["rejects"]], [0])
        self.assertEqual(answer["rejects"][0]["code"], "sagitta.ALREADY_EXISTS")
        answer = self.put(rows([3, 4]), descriptor("update"))[0]
        self.assertEqual([r["code"] for r in answer["rejects"]], ["sagitta.NOT_FOUND"])
        answer = self.put(rows([1, 2]).select(["id"]), descriptor("delete"))[0]
        self.assert_stored([3])

    def test_a_put_may_create_its_collection(self):
        created = self.name + "-c"
        descriptor = fl.FlightDescriptor.for_command(
            command(
                "put",
                collection=created,
                create={
                    "fields": [
                        {"name": "v", "type": "float32", "dim": DIM},
                        {"name": "text", "type": "utf8"},
                    ]
                },
            )
        )
        try:
            self.put(rows([1, 2, 3]), descriptor)
            self.assertEqual(self.act("count", collection=created), {"count": 3})
        finally:
            self.act("drop", collection=created)

    def test_a_replay_under_a_writer_gets_the_first_answer_and_changes_nothing(self):
        opened = self.act("open_writer")["writer"]
        descriptor = fl.FlightDescriptor.for_command(
            command("put", collection=self.name, writer=opened)
        )
        answers = []
        for _ in range(2):
            table = rows([1, 2])
            writer, reader = self.client.do_put(descriptor, table.schema, options())
            reader.read()
            tag = json.dumps({"seq": 0, "acked_below": 0}).encode()
            writer.write_with_metadata(table.to_batches()[0], pa.py_buffer(tag))
            writer.done_writing()
            answers.append(json.loads(reader.read().to_pybytes()))
            writer.close()
        self.assertEqual(answers[0]["seq"], 0)
        self.assertEqual(answers[0]["rows"], answers[1]["rows"])
        self.assertEqual(
            [s["index"] for s in answers[0]["shards"]], [s["index"] for s in answers[1]["shards"]]
        )

    def test_a_writer_that_reads_no_answers_still_learns_of_an_error(self):
        writer, _ = self.client.do_put(
            fl.FlightDescriptor.for_path(self.name), rows([]).schema, options()
        )
        bad = pa.table(
            {
                "id": pa.array([1], pa.int64()),
                "v": pa.array([[float("nan")] * DIM], vector()),
                "text": pa.array(["a"]),
            }
        )
        with self.assertRaisesRegex(pa.ArrowInvalid, r"\[sagitta.INVALID_ARGUMENT\]"):
            writer.write_table(bad)
            writer.close()

    def test_a_rejected_upload_leaves_the_connection_usable(self):
        for _ in range(5):
            writer, _ = self.client.do_put(
                fl.FlightDescriptor.for_path("nope"), rows([]).schema, options()
            )
            with self.assertRaises(pa.ArrowKeyError):
                for _ in range(200):
                    writer.write_table(rows(range(100)))
                writer.close()
            self.assertEqual(self.count(), 0)


class Listings(Case):
    def test_collections_have_a_schema_and_a_flight(self):
        self.put(rows(range(3)))
        infos = {i.descriptor.path[0].decode(): i for i in self.client.list_flights()}
        self.assertIn(self.name, infos)
        path = fl.FlightDescriptor.for_path(self.name)
        schema = self.client.get_schema(path, options()).schema
        self.assertEqual(schema.names, ["id", "v", "text"])
        self.assertEqual(schema.field("v").metadata[b"sagitta.metric"], b"cosine")
        self.assertIn("create", [a.type for a in self.client.list_actions()])

    def test_a_scan_is_planned_and_its_endpoints_hold_it(self):
        self.put(rows(range(20)))
        info = self.client.get_flight_info(
            fl.FlightDescriptor.for_command(command("scan", collection=self.name)), options()
        )
        self.assertGreaterEqual(len(info.endpoints), 1)
        if not FAKE:
            ids = []
            for endpoint in info.endpoints:
                ids += self.client.do_get(endpoint.ticket, options()).read_all()["id"].to_pylist()
            self.assertEqual(sorted(ids), list(range(20)))

    def test_a_scan_gives_its_cursor_last_and_goes_on_from_it(self):
        self.put(rows(range(20)))
        ids, cursor = [], None
        for _ in range(20):
            body = {"fields": [], "limit": 7}
            if cursor:
                body["cursor"] = cursor
            reader = self.do_get("scan", **body)
            found, metadata = [], None
            while True:
                try:
                    chunk = reader.read_chunk()
                except StopIteration:
                    break
                found += chunk.data["id"].to_pylist()
                metadata = chunk.app_metadata
            cursor = json.loads(metadata.to_pybytes())["cursor"]
            ids += found
            if len(found) < 7:
                break
        self.assertEqual(ids, list(range(20)))


class Errors(Case):
    def test_what_is_missing_is_a_key_error(self):
        with self.assertRaisesRegex(pa.ArrowKeyError, r"\[sagitta.NOT_FOUND\].*nope"):
            self.client.do_get(
                fl.Ticket(command("search", collection="nope", vector=[1])), options()
            ).read_all()
        with self.assertRaisesRegex(pa.ArrowKeyError, "nope"):
            list(self.client.do_action(fl.Action("drop", b'{"collection":"nope"}'), options()))
        with self.assertRaisesRegex(pa.ArrowKeyError, "nope"):
            self.client.get_schema(fl.FlightDescriptor.for_path("nope"), options())

    def test_what_exists_is_invalid_and_says_so(self):
        with self.assertRaisesRegex(pa.ArrowInvalid, r"\[sagitta.ALREADY_EXISTS\]"):
            self.act(
                "create",
                collection=self.name,
                fields=[{"name": "v", "type": "float32", "dim": DIM}],
            )

    def test_b045_names_follow_one_rule(self):
        for name in ("..", ".", "../x", "a/b", "a\\b", "%2e%2e", "\0", "a\n", "", "x" * 300, "Foo"):
            with self.assertRaisesRegex(pa.ArrowInvalid, r"\[a-z0-9\]"):
                self.act(
                    "create",
                    collection=name,
                    fields=[{"name": "v", "type": "float32", "dim": DIM}],
                )
            with self.assertRaisesRegex(pa.ArrowInvalid, r"\[a-z0-9\]"):
                self.act("drop", collection=name)

    def test_what_is_not_offered_is_not_implemented(self):
        with self.assertRaisesRegex(pa.ArrowNotImplementedError, r"\[sagitta.UNIMPLEMENTED\]"):
            list(self.client.do_action(fl.Action("compact", b"{}"), options()))
        with self.assertRaises(pa.ArrowNotImplementedError):
            writer, reader = self.client.do_exchange(
                fl.FlightDescriptor.for_path(self.name), options()
            )
            writer.begin(rows([]).schema)
            writer.done_writing()
            reader.read_all()

    def test_unknown_keys_name_the_nearest(self):
        with self.assertRaisesRegex(pa.ArrowInvalid, "did you mean 'vector'"):
            self.read("search", vectr=[1, 0, 0, 0])

    @unittest.skipUnless(FAKE, "only the fake server fails on demand")
    def test_each_code_has_its_exception(self):
        classes = {
            "invalid_argument": pa.ArrowInvalid,
            "not_found": pa.ArrowKeyError,
            "already_exists": pa.ArrowInvalid,
            "conflict": pa.ArrowInvalid,
            "limit": pa.ArrowInvalid,
            "unauthenticated": fl.FlightUnauthenticatedError,
            "permission_denied": fl.FlightUnauthorizedError,
            "unavailable": fl.FlightUnavailableError,
            "session_expired": pa.ArrowInvalid,
            "outcome_unknown": fl.FlightTimedOutError,
            "deadline_exceeded": fl.FlightTimedOutError,
            "unimplemented": pa.ArrowNotImplementedError,
            "corrupt": fl.FlightInternalError,
            "internal": fl.FlightInternalError,
        }
        for code, expected in classes.items():
            ticket = fl.Ticket(command("search", collection="fail-" + code, vector=[1]))
            with self.subTest(code):
                with self.assertRaises(expected) as caught:
                    self.client.do_get(ticket, options()).read_all()
                self.assertIn("[sagitta.%s] as asked" % code.upper(), str(caught.exception))
                if issubclass(expected, fl.FlightError):
                    details = json.loads(caught.exception.extra_info)
                    self.assertEqual(details["code"], "sagitta." + code.upper())
                    self.assertEqual(details["retry_after_ms"], 150)
                body = json.dumps({"collection": "fail-" + code}).encode()
                with self.assertRaises(expected):
                    list(self.client.do_action(fl.Action("count", body), options()))
                writer, reader = self.client.do_put(
                    fl.FlightDescriptor.for_path("fail-" + code), rows([]).schema, options()
                )
                with self.assertRaises(expected):
                    reader.read()
                    writer.close()


if __name__ == "__main__":
    unittest.main(verbosity=2)
