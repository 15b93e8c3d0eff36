internal import RoostCore
internal import RoostMigration

extension ConformanceCheck {
    static let compaction: [ConformanceCheck] = [
        ConformanceCheck(
            "compact.while-open",
            "Compacting an open store changes nothing that can be read, or is refused with `busy`.",
            needs: [.persistence, .file]
        ) { bench in
            let store = try mostlyEmptiedStore(bench)
            let (before, size) = (try store.contents(), try store.byteCount())
            let (identity, digest) = (try store.metadata().storeUUID, try store.view { try $0.computeTally() }.digest)
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            let shown = try StoreContents(of: snapshot)
            do {
                // The open snapshot may still need the space of deleted content.
                if try bench.type.compactOpenStore(
                    bench.location(), options: bench.fixture.options, isCancelled: { false })
                {
                    try expect(try store.byteCount() <= size, "a compacted store is at most as large as before")
                }
            } catch let error as StoreError {
                try expect(
                    error.code == .busy, "a type that cannot compact an open store fails with busy",
                    otherwise: "\(error)")
            }
            try expectEqual(try store.contents(), before, "the contents afterwards")
            try expectEqual(try StoreContents(of: snapshot), shown, "the content of an open snapshot afterwards")
            try expectEqual(try store.metadata().storeUUID, identity, "the identity afterwards")
            try expectEqual(try store.view { try $0.computeTally() }.digest, digest, "the digest afterwards")
            try store.change { try $0.insert(ObjectID("Track", key: 5000), values: ["title": "later"]) }
            try expectEqual(
                try bench.reopen(store).view { try $0.count(FetchRequest("Track")) }, 11,
                "objects after one more commit")
        },
        ConformanceCheck(
            "compact.cancelled",
            "A cancelled compaction of an open store fails with `cancelled` or `busy`, and leaves the store as it was.",
            needs: [.persistence, .file]
        ) { bench in
            let store = try mostlyEmptiedStore(bench)
            let before = try store.contents()
            try expectError(.cancelled, .busy, in: "compacting that is cancelled at once") {
                _ = try bench.type.compactOpenStore(
                    bench.location(), options: bench.fixture.options, isCancelled: { true })
            }
            try expectEqual(try store.contents(), before, "the contents afterwards")
            try expectEqual(try bench.reopen(store).contents(), before, "the contents after reopening")
        },
    ]
}

private func mostlyEmptiedStore(_ bench: Workbench) throws -> any PersistentStore {
    let store = try bench.create()
    try store.change { changes in
        for key in Int64(1)...2000 {
            try changes.insert(
                ObjectID("Track", key: key), values: ["title": .string("\(key) " + String(repeating: "x", count: 200))])
        }
    }
    try store.change { changes in
        for key in Int64(11)...2000 { changes.delete(ObjectID("Track", key: key), version: 1) }
    }
    return store
}
