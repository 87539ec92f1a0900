# SPDX-License-Identifier: Apache-2.0
"""USearch, float32, inner product of unit vectors."""

from importlib import metadata

import numpy
from usearch.index import Index


class Usearch:
    @staticmethod
    def version():
        return "usearch " + metadata.version("usearch")

    @staticmethod
    def make(dimension, m, ef_construction):
        return Index(
            ndim=dimension,
            metric="ip",
            dtype="f32",
            connectivity=m,
            expansion_add=ef_construction,
        )

    def build(self, base, m, ef_construction, threads):
        self.index = self.make(base.shape[1], m, ef_construction)
        self.index.add(numpy.arange(base.shape[0], dtype=numpy.uint64), base, threads=threads)

    def save(self, path):
        self.index.save(path)

    def load(self, path, rows, dimension, m, ef_construction):
        self.index = self.make(dimension, m, ef_construction)
        self.index.load(path)

    def prepare(self, ef, threads):
        self.index.expansion_search = ef
        self.threads = threads

    def search(self, queries, k):
        matches = self.index.search(queries, k, threads=self.threads)
        self.visits = matches.computed_distances
        return matches.keys.reshape(len(queries), -1)

    def visited(self):
        return self.visits
