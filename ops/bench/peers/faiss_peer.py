# SPDX-License-Identifier: Apache-2.0
"""Faiss: HNSW over float32, and over 8-bit scalar quantised vectors."""

import faiss


class FaissFlat:
    @staticmethod
    def version():
        return f"faiss {faiss.__version__} ({faiss.get_compile_options().strip()})"

    def make(self, dimension, m):
        return faiss.IndexHNSWFlat(dimension, m, faiss.METRIC_INNER_PRODUCT)

    def build(self, base, m, ef_construction, threads):
        faiss.omp_set_num_threads(threads)
        self.index = self.make(base.shape[1], m)
        self.index.hnsw.efConstruction = ef_construction
        self.index.train(base)
        self.index.add(base)

    def save(self, path):
        faiss.write_index(self.index, path)

    def load(self, path, rows, dimension, m, ef_construction):
        self.index = faiss.read_index(path)

    def prepare(self, ef, threads):
        faiss.omp_set_num_threads(threads)
        self.index.hnsw.efSearch = ef
        faiss.cvar.hnsw_stats.reset()

    def search(self, queries, k):
        return self.index.search(queries, k)[1]

    def visited(self):
        return faiss.cvar.hnsw_stats.ndis


class FaissSq8(FaissFlat):
    def make(self, dimension, m):
        return faiss.IndexHNSWSQ(
            dimension, faiss.ScalarQuantizer.QT_8bit, m, faiss.METRIC_INNER_PRODUCT
        )
