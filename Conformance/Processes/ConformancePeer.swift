internal import Foundation
public import RoostCore
internal import RoostGraph
internal import RoostStores

/// The second process of checks that involve several processes.
///
/// It runs each line of its standard input as a command, and answers with one line: `ok`, `ok
/// <words>`, or `error <code> <message>`. An endless command reports its progress as `acked <n>`,
/// and `import` waits for answers to the reports. The process ends at the end of its input, after
/// an error other than `StoreError`, or when a check kills it. Program and suite must have the same
/// version.
public final class ConformancePeer {
    private let types: [any PersistentStoreType]
    private let answer: (String) throws -> Void
    private var store: (any PersistentStore)?
    private var held: (any StoreSnapshot)?
    private var loader: (any BulkLoader)?

    /// Runs the commands of standard input on stores of these types until the input ends.
    ///
    /// - Returns: The exit status: 0, or 1 after an invalid command or an error other than
    ///   `StoreError`.
    public static func main(_ types: [any PersistentStoreType]) -> Int32 {
        let peer = ConformancePeer(types) {
            try FileHandle.standardOutput.write(contentsOf: Data(($0 + "\n").utf8))
        }
        do {
            while let line = readLine() { try peer.serve(line.split(separator: " ").map(String.init)) }
            return 0
        } catch {
            FileHandle.standardError.write(Data("conformance peer: \(error)\n".utf8))
            return 1
        }
    }

    init(_ types: [any PersistentStoreType], answer: @escaping (String) throws -> Void) {
        (self.types, self.answer) = (types, answer)
    }

    private func serve(_ words: [String]) throws {
        do {
            let words = try perform(words)
            try answer((["ok"] + words).joined(separator: " "))
        } catch let error as StoreError {
            try answer("error \(error.code) \(error.message)")
        }
    }

    private func perform(_ words: [String]) throws -> [String] {
        let arguments = Array(words.dropFirst())
        switch words.first {
        case "open", "create": try open(arguments, creating: words.first == "create")
        case "number": return ["\(try number(in: opened().snapshot()))"]
        case "hold":
            let snapshot = try opened().snapshot()
            held = snapshot
            return ["\(try number(in: snapshot, closing: false))"]
        case "held":
            guard let held else { throw Self.misuse("no snapshot is held") }
            return ["\(try number(in: held, closing: false))"]
        case "commit": try commit(try integer(arguments, index: 0))
        case "commits":
            for number in try integer(arguments, index: 0)... {
                try commit(number)
                try answer("acked \(number)")
            }
        case "update":
            let id = ObjectID("Track", key: try integer(arguments, index: 0))
            var changes = ChangeSet(model: try opened().model)
            try changes.update(
                id, version: UInt32(clamping: try integer(arguments, index: 1)), values: ["title": "the peer's"])
            _ = try opened().commit(changes)
        case "import":
            try importTracks(from: try integer(arguments, index: 0), by: try integer(arguments, index: 1))
        case "reserve":
            let keys = try opened().reserveKeys(Int(clamping: try integer(arguments, index: 0)), for: "Track")
            return ["\(keys.lowerBound)", "\(keys.upperBound)"]
        case "load": try load(try integer(arguments, index: 0))
        case "finish":
            guard let loader else { throw Self.misuse("no load is under way") }
            _ = try loader.finish()
            self.loader = nil
        case "limit-file-size": try ProcessCalls.limitFileSize(to: try integer(arguments, index: 0))
        case "limit-open-files": try ProcessCalls.forbidOpeningFiles()
        case "drop-privileges": try ProcessCalls.dropPrivileges()
        case "close":
            held?.close()
            (held, loader) = (nil, nil)
            try store?.close()
            store = nil
        default: throw Self.misuse("unknown command '\(words.joined(separator: " "))'")
        }
        return []
    }

    /// Runs `open` or `create` with `<URL> [read-only] [history] [timeout=<seconds>]`, and options
    /// of the type as `<name>=<value>`.
    private func open(_ words: [String], creating: Bool) throws {
        guard let location = words.first.flatMap({ StoreLocation(text: $0.removingPercentEncoding ?? $0) }) else {
            throw Self.misuse("no store URL")
        }
        guard let type = types.first(where: { $0.name == location.type }) else {
            throw StoreError(
                .unknownStoreType, "The peer program has no store type '\(location.type)'; give it to ConformancePeer.")
        }
        var options = StoreOptions()
        for word in words.dropFirst() {
            let parts = (word.removingPercentEncoding ?? word).split(separator: "=", maxSplits: 1).map(String.init)
            switch (parts[0], parts.count) {
            case ("read-only", 1): options.isReadOnly = true
            case ("history", 1): options.tracksHistory = true
            case ("timeout", 2): options.timeoutSeconds = Double(parts[1]) ?? 0
            default: options.typeOptions[parts[0]] = parts.count > 1 ? parts[1] : ""
            }
        }
        store =
            creating
            ? try type.create(location, model: try model(for: type), options: options)
            : try type.open(location, options: options)
    }

    private func model(for type: any PersistentStoreType) throws(StoreError) -> ManagedObjectModel {
        try ConformanceModel.standard(for: [StoreFixture(type)])
    }

    private func commit(_ number: Int64) throws {
        let store = try opened()
        _ = try store.commit(try CrashWorkload.transaction(number, in: store.model))
    }

    private func opened() throws -> any PersistentStore {
        guard let store else { throw Self.misuse("no store is open") }
        return store
    }

    private func load(_ count: Int64) throws {
        let store = try opened()
        let loader = try store.bulkLoader(BulkLoadOptions())
        self.loader = loader
        var batch = RecordBatch(model: store.model)
        for key in 0..<count { try batch.append(ObjectID("Dog", key: 1_000_000 + key), values: ["trait": "loaded"]) }
        try loader.append(batch)
    }

    /// The number of reports that `import` may send without an answer.
    private static let importLead = 8

    /// Inserts numbered tracks in a context, saves after each `part` tracks, and reports each save.
    ///
    /// The reader answers each report with a line, so that the import does not outrun a slow
    /// reader.
    private func importTracks(from first: Int64, by part: Int64) throws {
        let container = try PersistentContainer(try Store(try opened(), registry: StoreRegistry(types)))
        try container.performAndWait { context in
            context.author = "import"
            var unansweredCount = 0
            for number in first... {
                let track = try context.insert("Track")
                // Titles are not in the order of insertion.
                track["title"] = .string("\(number % 7)-\(number)")
                guard number % part == 0 else { continue }
                try context.save()
                try answer("acked \(number)")
                unansweredCount += 1
                guard unansweredCount >= Self.importLead else { continue }
                guard readLine() != nil else { return }
                unansweredCount -= 1
            }
        }
    }

    /// Returns the number of the transaction whose state a snapshot shows, or -1 for another state.
    private func number(in snapshot: any StoreSnapshot, closing: Bool = true) throws -> Int64 {
        defer { if closing { snapshot.close() } }
        return try CrashWorkload.number(in: snapshot) ?? -1
    }

    private func integer(_ words: [String], index: Int) throws -> Int64 {
        guard index < words.count, let number = Int64(words[index]) else { throw Self.misuse("a number is missing") }
        return number
    }

    private static func misuse(_ text: String) -> Mismatch {
        Mismatch(expected: "commands of this version of the suite", actual: text)
    }
}
