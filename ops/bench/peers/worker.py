# SPDX-License-Identifier: Apache-2.0
"""One library under measurement: reads requests as JSON lines, answers each with one JSON line.

    python worker.py PEER

Vectors are float32 little-endian, row after row; hits are int32, k a query, -1 where there is none.
The requests are those of io.sagitta.ops.bench.engine.worker.WorkerMain.
"""

import gc
import json
import os
import sys
import time

import numpy

import faiss_peer
import hnswlib_peer
import usearch_peer

PEERS = {
    "hnswlib": hnswlib_peer.Hnswlib,
    "faiss-flat": faiss_peer.FaissFlat,
    "faiss-sq8": faiss_peer.FaissSq8,
    "usearch": usearch_peer.Usearch,
}


def vectors(path, dimension):
    """The rows of a file, mapped."""
    return numpy.memmap(path, dtype="<f4", mode="r").reshape(-1, dimension)


class Worker:
    def __init__(self, peer):
        self.peer = peer
        self.queries = {}

    def about(self, request):
        return {"version": self.peer.version()}

    def build(self, request):
        base = vectors(request["base"], request["dim"])
        start = time.perf_counter()
        self.peer.build(base, request["m"], request["ef_construction"], request["threads"])
        seconds = time.perf_counter() - start
        self.peer.save(os.path.join(request["index"], "index"))
        return {"seconds": seconds, "threads": request["threads"]}

    def open(self, request):
        start = time.perf_counter()
        self.peer.load(
            os.path.join(request["index"], "index"),
            request["rows"],
            request["dim"],
            request["m"],
            request["ef_construction"],
        )
        return {"seconds": time.perf_counter() - start}

    def search(self, request):
        queries = self.read_queries(request)[request["from"] : request["to"]]
        k = request["k"]
        self.peer.prepare(request["ef"], request["threads"])
        answer = {}
        if request.get("each"):
            hits = numpy.full((len(queries), k), -1, dtype="<i4")
            nanos = numpy.zeros(len(queries), dtype="<i8")
            start = time.perf_counter()
            for i in range(len(queries)):
                begin = time.perf_counter_ns()
                hits[i] = self.peer.search(queries[i : i + 1], k)[0]
                nanos[i] = time.perf_counter_ns() - begin
            answer["seconds"] = time.perf_counter() - start
            nanos.tofile(request["each"])
        else:
            start = time.perf_counter()
            hits = self.peer.search(queries, k)
            answer["seconds"] = time.perf_counter() - start
            visited = self.peer.visited()
            if visited is not None:
                answer["visited"] = visited / len(queries)
        numpy.ascontiguousarray(hits, dtype="<i4").tofile(request["hits"])
        return answer

    def collect(self, request):
        gc.collect()
        return {}

    def read_queries(self, request):
        """All queries of a file, in memory: reading them is not part of a search."""
        path = request["queries"]
        if path not in self.queries:
            self.queries[path] = numpy.array(vectors(path, request["dim"]))
        return self.queries[path]


def main():
    worker = Worker(PEERS[sys.argv[1]]())
    # Libraries may print: answers have a stream of their own.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        request = json.loads(line)
        operations = {
            "about": worker.about,
            "build": worker.build,
            "open": worker.open,
            "search": worker.search,
            "collect": worker.collect,
        }
        try:
            answer = operations[request["op"]](request)
        except Exception as failure:  # the other side reports it and ends this process
            answer = {"error": f"{type(failure).__name__}: {failure}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
