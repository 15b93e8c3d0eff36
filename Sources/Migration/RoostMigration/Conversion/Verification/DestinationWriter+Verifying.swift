internal import Foundation
internal import RoostCore

/// The results of reading the finished destination.
struct SecondReading {
    var tally: StoreTally
    /// The number of references and links that involve left-out objects, by relationship.
    var dangling: [RelationshipCount]
}

extension DestinationWriter {
    /// Reads and hashes the whole destination, and checks its file's structure if verification is
    /// on.
    func readAgain(
        _ store: any PersistentStore, expecting copied: CopiedContent, memory: PrivateMemory
    ) throws(StoreError) -> SecondReading {
        let snapshot = try store.snapshot()
        defer { snapshot.close() }
        let generation = try snapshot.recordedTally()?.generation
        let parts = try ContentPart.parts(of: copied.tally, snapshot: snapshot, checkingStructure: options.verifies)
        let reading = PartwiseReading(self, store: store, parts: parts, expecting: copied, memory: memory)
        let threads =
            snapshot is any SequentialSnapshot
            ? 1 : min(maximumReaders, ProcessInfo.processInfo.activeProcessorCount, parts.count)
        let sharedView =
            threads > 1 && generation != nil ? try (snapshot as? any ViewSharingSnapshot)?.shareView() : nil
        // Without a recorded generation, two snapshots may show different content, so only this thread reads.
        let others = (1..<max(threads, 1)).filter { _ in generation != nil }.compactMap { _ in
            // The other readers read all parts if this reader gets no thread, file handle or reader slot.
            try? WorkerThread("roost-verifier") { () throws(StoreError) in
                guard let own = try? (sharedView ?? store.snapshot)() else { return }
                defer { own.close() }
                // A snapshot of a later commit is not read.
                if try own.recordedTally()?.generation == generation { reading.run(own) }
            }
        }
        reading.run(snapshot)
        for result in others.map({ $0.join() }) { try result.get() }
        return try reading.result()
    }

    /// Throws `verificationFailed` unless both tallies agree for each entity and each relationship.
    static func compare(
        _ read: StoreTally, found: StoreTally, model: ManagedObjectModel, location: StoreLocation
    ) throws(StoreError) {
        for (entity, (read, found)) in zip(model.entities, zip(read.entities, found.entities)) where read != found {
            throw failure("entity '\(entity.name)'", things: "objects", read: read, found: found, location: location)
        }
        for (relationship, (read, found)) in zip(model.relationships, zip(read.relationships, found.relationships))
        where read != found {
            throw failure(
                "relationship '\(relationship.name)'", things: "links", read: read, found: found, location: location)
        }
    }

    private static func failure(
        _ what: String, things: String, read: Tally, found: Tally, location: StoreLocation
    ) -> StoreError {
        let difference =
            read.count == found.count
            ? "the \(things) of \(what) differ from what was read"
            : "\(read.count) \(things) of \(what) were read, but \(found.count) were found"
        return StoreError(
            .verificationFailed,
            "The finished destination '\(location)' differs from the source: \(difference). Do not use it; check the disk and try again, or report the problem."
        )
    }
}
