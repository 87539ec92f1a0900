# SPDX-License-Identifier: Apache-2.0
"""hnswlib, float32, inner product of unit vectors: its fastest way to a cosine."""

from importlib import metadata

import hnswlib


class Hnswlib:
    @staticmethod
    def version():
        return "hnswlib " + metadata.version("hnswlib")

    def build(self, base, m, ef_construction, threads):
        self.index = hnswlib.Index(space="ip", dim=base.shape[1])
        self.index.init_index(
            max_elements=base.shape[0], M=m, ef_construction=ef_construction, random_seed=100
        )
        self.index.add_items(base, num_threads=threads)

    def save(self, path):
        self.index.save_index(path)

    def load(self, path, rows, dimension, m, ef_construction):
        self.index = hnswlib.Index(space="ip", dim=dimension)
        self.index.load_index(path, max_elements=rows)

    def prepare(self, ef, threads):
        self.index.set_ef(ef)
        self.threads = threads

    def search(self, queries, k):
        return self.index.knn_query(queries, k=k, num_threads=self.threads)[0]

    def visited(self):
        return None  # counted in C++ only where metrics are compiled in
