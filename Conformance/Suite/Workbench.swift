internal import Foundation
package import RoostCore

/// The workspace of one run of a check: its own directory and its stores.
///
/// ``discard()`` closes and removes everything, even after a failure.
package final class Workbench {
    package let fixture: StoreFixture
    package let directory: String
    /// The default model of checks.
    package let model: ManagedObjectModel
    private var stores: [any PersistentStore] = []
    private var urls: [StoreLocation] = []
    private var peers: [Peer] = []

    /// Creates an empty directory for a run.
    package init(_ fixture: StoreFixture) throws {
        self.fixture = fixture
        model = try ConformanceModel.standard(for: [fixture])
        directory = try Self.makeDirectory()
    }

    /// Checks that runs can create directories in the directory for temporary files.
    ///
    /// - Throws: `missingDirectory`, `permissionDenied`.
    package static func requireTemporaryDirectory() throws(StoreError) {
        let path = try makeDirectory()
        // The directory is empty and has a unique name, so a failed removal does no harm.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Creates an empty directory in the directory for temporary files, which must exist.
    private static func makeDirectory() throws(StoreError) -> String {
        let place = FileManager.default.temporaryDirectory
        let path = place.appendingPathComponent("roost-conformance-\(UUID().uuidString)").path
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            return path
        } catch {
            let exists = FileManager.default.fileExists(atPath: place.path)
            throw StoreError(
                exists ? .permissionDenied : .missingDirectory,
                "Cannot create a directory in '\(place.path)', which \(exists ? "is not writable" : "does not exist"); set TMPDIR to a writable directory",
                underlying: error)
        }
    }

    package var type: any PersistentStoreType { fixture.type }

    package func location(_ name: String = "store") -> StoreLocation {
        let location = fixture.makeLocation(directory, name)
        if !urls.contains(location) { urls.append(location) }
        return location
    }

    func transaction(_ number: Int64) throws(StoreError) -> ChangeSet {
        try CrashWorkload.transaction(number, in: model)
    }

    /// Returns a music library whose model the stores support.
    func sampleGraph(seed: UInt64, objectCount: Int) throws(StoreError) -> SampleGraph {
        try SampleGraph(seed: seed, objectCount: objectCount, hasConstraints: fixture.keepsConstraints)
    }

    package func create(
        _ model: ManagedObjectModel? = nil, name: String = "store", configure: (inout StoreOptions) -> Void = { _ in }
    ) throws -> any PersistentStore {
        var options = fixture.options
        configure(&options)
        let store = try type.create(location(name), model: model ?? self.model, options: options)
        stores.append(store)
        return store
    }

    package func open(
        name: String = "store", configure: (inout StoreOptions) -> Void = { _ in }
    ) throws -> any PersistentStore {
        var options = fixture.options
        configure(&options)
        let store = try type.open(location(name), options: options)
        stores.append(store)
        return store
    }

    /// Opens a store that is not examined at the end.
    ///
    /// The check itself must examine and close the store.
    func openApart(name: String, configure: (inout StoreOptions) -> Void = { _ in }) throws -> any PersistentStore {
        try openApart(location: location(name), configure: configure)
    }

    func openApart(location: StoreLocation, configure: (inout StoreOptions) -> Void = { _ in }) throws
        -> any PersistentStore
    {
        var options = fixture.options
        configure(&options)
        return try type.open(location, options: options)
    }

    /// Closes a store and opens it again, unless closing would discard its content.
    package func reopen(_ store: any PersistentStore) throws -> any PersistentStore {
        guard fixture.keepsClosedStores else { return store }
        try store.close()
        stores.removeAll { $0 === store }
        let reopened = try type.open(store.location, options: fixture.options)
        stores.append(reopened)
        return reopened
    }

    /// Creates the store for the checks of reading: the fixture's sample, or the standard one.
    ///
    /// The store is closed, unless closing would discard its content.
    package func makeSample() throws -> StoreSample {
        if let sample = fixture.sample { return try sample(directory) }
        let store = try create(try StandardSample.model.get())
        for changes in try StandardSample.commits.get() { _ = try store.commit(changes) }
        if fixture.keepsClosedStores { try store.close() }
        return StoreSample(store.location, options: fixture.options, holding: try StandardSample.content.get())
    }

    /// Opens a sample, or returns its open store if closing would discard the content.
    package func open(
        _ sample: StoreSample, configure: (inout StoreOptions) -> Void = { _ in }
    ) throws -> any PersistentStore {
        if !fixture.keepsClosedStores, let store = stores.first(where: { $0.location == sample.location }) {
            return store
        }
        var options = sample.options
        configure(&options)
        let store = try type.open(sample.location, options: options)
        stores.append(store)
        return store
    }

    func startPeer() throws -> Peer {
        guard let program = fixture.peer else {
            throw Mismatch(
                expected: "a second process for checks about processes",
                actual: "the fixture names no peer program; give it one, or exclude the check with a reason")
        }
        let peer = try Peer(program)
        peers.append(peer)
        return peer
    }

    /// Opens the store that a second process writes: for writing if several processes can write,
    /// otherwise for reading.
    ///
    /// - Returns: The store, or nil if it can be open in one process only.
    func openBesidePeer() throws -> (any PersistentStore)? {
        if fixture.capabilities.contains(.multipleProcesses) { return try open() }
        do {
            return try open {
                $0.isReadOnly = true
                $0.timeoutSeconds = 0.1
            }
        } catch let error as StoreError where error.code == .busy { return nil }
    }

    /// Starts a second process that opens or creates the store with the default name.
    func startPeer(_ verb: String) throws -> Peer {
        let peer = try startPeer()
        try peer.ask(command(verb))
        return peer
    }

    /// Returns a command for a second process that opens or creates the store with this name.
    ///
    /// It includes the fixture's read-only setting, timeout and type options.
    func command(
        _ verb: String, name: String = "store", readOnly: Bool = false, timeoutSeconds: Double? = nil
    ) -> String {
        // Spaces separate words, so words are percent-encoded.
        func word(_ text: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
        }
        var words = [verb, word(location(name).description)]
        if readOnly || fixture.options.isReadOnly { words.append("read-only") }
        words.append(word("timeout=\(timeoutSeconds ?? fixture.options.timeoutSeconds)"))
        words += fixture.options.typeOptions.map { word("\($0.key)=\($0.value)") }.sorted()
        return words.joined(separator: " ")
    }

    package func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory).sorted() }

    package func write(_ bytes: [UInt8], as name: String) throws -> String {
        let path = "\(directory)/\(name)"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return path
    }

    package func bytes(of path: String) -> [UInt8]? { FileManager.default.contents(atPath: path).map { [UInt8]($0) } }

    /// Requires that every open store, except those opened apart, is undamaged, and that its
    /// recorded tally, if any, equals the computed one.
    package func examineStores() throws {
        for store in stores {
            let snapshot: any StoreSnapshot
            do throws(StoreError) {
                snapshot = try store.snapshot()
            } catch {
                if error.code == .closed { continue }
                throw error
            }
            defer { snapshot.close() }
            let damage = try store.integrityFindings().filter { $0.severity == .damage }
            guard damage.isEmpty else {
                throw Mismatch(expected: "no damage in the store afterwards", actual: "\(damage)")
            }
            let computed = try snapshot.computeTally()
            if let recorded = try snapshot.recordedTally(), recorded != computed {
                throw Mismatch(
                    expected: "the recorded tally is the computed one, \(describe(computed))",
                    actual: describe(recorded))
            }
        }
    }

    /// Closes and removes everything.
    ///
    /// Failures are ignored, because the result of the check is already known.
    package func discard() {
        for peer in peers { try? peer.kill() }
        for store in stores { try? store.close() }
        if fixture.capabilities.contains(.writing) { for location in urls { try? type.destroy(location) } }
        try? FileManager.default.removeItem(atPath: directory)
    }
}

func describe(_ tally: StoreTally) -> String {
    "digest \(tally.digest), generation \(tally.generation), counts \(tally.entities.map(\.count)) and links \(tally.relationships.map(\.count))"
}
