internal import Roost
internal import RoostCore
internal import RoostFiles
internal import RoostMigration
internal import RoostStores

/// One run of `roost update` or `roost delete`.
final class BatchRun {
    /// The words for a command in messages.
    struct Words {
        /// The verb: `update` or `delete`.
        let verb: String
        /// The participle: `Updated` or `Deleted`.
        let past: String
    }

    static let options = [
        CommandOption("yes", letter: "y", help: "Do not ask for confirmation."),
        CommandOption("dry-run", letter: "n", help: "Print what would change, and change nothing."),
        CommandOption(
            "keep-backup", help: "Make a verified backup before the change, <name>.backup-<UUID> beside the store."),
        .json, .quiet, .verbose,
    ]

    let words: Words
    let arguments: ParsedArguments
    let console: Console
    private var isCommitted = false
    private var backup: String?

    init(_ words: Words, arguments: ParsedArguments, console: Console) throws {
        self.words = words
        self.arguments = arguments
        self.console = console
        for option in ["where", "sort", "limit", "offset"] where arguments.allValues(option).count > 1 {
            let remedy = option == "where" ? "join conditions with AND" : "give it once"
            throw UsageError("option '--\(option)' is given more than once; \(remedy)")
        }
        guard isDryRun || arguments.has("yes") || StandardInput.isTerminal else {
            throw UsageError(
                "cannot ask whether to \(words.verb): standard input is not a terminal. Use --yes to \(words.verb) without asking, or --dry-run to see what would change"
            )
        }
    }

    var isDryRun: Bool { arguments.has("dry-run") }

    /// Opens the store, runs `body`, and closes the store.
    ///
    /// If the changed store cannot be closed, the command only warns. After an error, the user would
    /// repeat the change.
    func withStore(_ body: (any PersistentStore) throws -> ExitCode) throws -> ExitCode {
        func closingFailed(_ error: StoreError) -> Bool {
            guard isCommitted else { return false }
            console.printError("warning: the change is made and stays, but the store was not closed: \(error.message)")
            return true
        }
        return try StoreArguments.withStore(
            arguments.positions[0], arguments: arguments, forWriting: !isDryRun, closingFailed: closingFailed
        ) { store in
            guard !arguments.has("keep-backup") || store.type.capabilities.contains(.file) else {
                throw UsageError(
                    "option '--keep-backup' needs a store that is a file; back '\(store.location)' up with its own tools"
                )
            }
            // An empty commit makes a read-only store fail before the changes are prepared.
            if !isDryRun, store.isReadOnly { _ = try store.commit(ChangeSet(model: store.model)) }
            return try body(store)
        }
    }

    /// Prepares changes, asks for confirmation, commits, and reports.
    ///
    /// Returns `finding` if the user declines.
    func run(
        _ store: any PersistentStore, _ prepare: (any StoreSnapshot) throws(StoreError) -> PreparedBatch
    ) throws -> ExitCode {
        do {
            return try attempt(store, prepare)
        } catch let error as StoreError {
            // The error's message contains only the first reason.
            for reason in Self.reasons(error).prefix(Self.listedCount) { console.printError(reason) }
            throw error
        }
    }

    private static let listedCount = 10

    static func reasons(_ error: StoreError) -> [String] {
        let denials = error.denials.map { denial in
            switch denial.reason {
            case .rule: "\(denial.deleted) has \(denial.remaining) in '\(denial.relationship)'"
            case .referenced: "\(denial.remaining) has \(denial.deleted) in '\(denial.relationship)'"
            case .mandatory: "\(denial.remaining) needs \(denial.deleted) for '\(denial.relationship)'"
            }
        }
        let violations = error.violations.map {
            "\($0.rejected) would have the same \($0.attributes.joined(separator: " and ")) as \($0.existing)"
        }
        // The failures of a denied delete repeat its denials.
        let failures = denials.isEmpty && error.failures.count > 1 ? error.failures.map(\.message) : []
        let missing =
            error.missingObjects.count > 1 ? error.missingObjects.map { "\($0) does not exist" } : []
        return denials + violations + failures + missing
    }

    private func attempt(
        _ store: any PersistentStore, _ prepare: (any StoreSnapshot) throws(StoreError) -> PreparedBatch
    ) throws -> ExitCode {
        func prepared() throws(StoreError) -> PreparedBatch {
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            return try prepare(snapshot)
        }
        var batch = try UsageError.requesting { try prepared() }
        if isDryRun {
            try report(batch, generation: nil)
            return .success
        }
        if arguments.has("yes") || batch.isEmpty {
            if !batch.isEmpty { try backUp(store) }
            var isFirst = true
            let receipt = try store.retryingConflicts { () throws(StoreError) in
                if !isFirst { batch = try prepared() }
                isFirst = false
                try Interruption.shared.beginCommit()
                let receipt = try store.commit(batch.changes)
                isCommitted = true
                return receipt
            }
            try report(batch, generation: receipt.generation)
            return .success
        }
        guard try console.ask("\(table(batch))\n\(question(batch)) [y/N] ") else {
            console.printError("nothing was changed")
            return .finding
        }
        try backUp(store)
        // While the user decides, another program can add references to the objects without changing
        // the objects' versions.
        let current = try prepared()
        guard current.concernsSameObjects(as: batch) else { throw Self.conflict(nil) }
        try report(current, generation: try commit(current, store: store), showsTable: false)
        return .success
    }

    private func backUp(_ store: any PersistentStore) throws {
        guard arguments.has("keep-backup") else { return }
        let destination = StoreLocation(
            type: store.location.type, path: StoreFile.backupSibling(of: store.location.path))
        let cancellation = ConversionCancellation()
        _ = try Interruption.shared.cancelling(cancellation) {
            try StoreMaintenance(registry: .standard).backUp(
                .store(store), to: destination, options: ConversionOptions(cancellation: cancellation))
        }
        backup = destination.path
    }

    /// Commits the changes, or fails if another program changed an object after the preparation.
    private func commit(_ batch: PreparedBatch, store: any PersistentStore) throws(StoreError) -> Generation {
        do throws(StoreError) {
            try Interruption.shared.beginCommit()
            let generation = try store.commit(batch.changes).generation
            isCommitted = true
            return generation
        } catch {
            guard error.code == .conflict else { throw error }
            throw Self.conflict(error)
        }
    }

    private static func conflict(_ underlying: StoreError?) -> StoreError {
        StoreError(
            .conflict, "An object changed while waiting for your answer; nothing was changed. Run the command again.",
            underlying: underlying)
    }

    // MARK: Output

    private func question(_ batch: PreparedBatch) -> String {
        let verb = words.verb.prefix(1).uppercased() + words.verb.dropFirst()
        return batch.objectCount == 1 ? "\(verb) it?" : "\(verb) these \(batch.objectCount) objects?"
    }

    private func report(_ batch: PreparedBatch, generation: Generation?, showsTable: Bool = true) throws {
        let report = Report(
            entity: arguments.positions[1], requested: batch.requested.map(Report.Count.init),
            cascaded: batch.cascaded.map(Report.Count.init), related: batch.related.map(Report.Count.init),
            count: batch.objectCount, isDryRun: isDryRun, generation: generation, backup: backup)
        let objects = batch.objectCount == 1 ? "1 object" : "\(batch.objectCount) objects"
        let sentence =
            isDryRun
            ? "Would \(words.verb) \(objects); nothing was changed."
            : "\(words.past) \(objects)." + (backup.map { "\nThe store as it was before: \($0)" } ?? "")
        try console.printReport(
            report, text: batch.isEmpty || !showsTable ? sentence : "\(table(batch))\n\(sentence)", warnings: [],
            arguments: arguments)
    }

    private func table(_ batch: PreparedBatch) -> String {
        var table = TextTable([("entity", .leading), ("objects", .trailing), ("why", .leading)])
        let parts = [
            (batch.requested, "asked for"), (batch.cascaded, "delete rule cascade"),
            (batch.related, "a reference to or from the object changes"),
        ]
        for (counts, reason) in parts {
            for count in counts { table.append([count.entity.text, "\(count.count)", reason]) }
        }
        return table.description
    }

    /// The object that `--json` prints.
    private struct Report: Encodable {
        struct Count: Encodable {
            let entity: String
            let count: Int

            init(_ count: PreparedBatch.EntityCount) {
                entity = count.entity.text
                self.count = count.count
            }
        }

        let entity: String
        let requested: [Count]
        let cascaded: [Count]
        let related: [Count]
        let count: Int
        let isDryRun: Bool
        let generation: Generation?
        let backup: String?

        private enum CodingKeys: String, CodingKey {
            case entity, requested, cascaded, related, count, generation, backup
            case isDryRun = "dryRun"
        }
    }
}
