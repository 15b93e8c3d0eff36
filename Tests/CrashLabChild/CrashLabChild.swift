import CrashRecorder
import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostMigration

/// The child process of the crash lab: it runs the recorded operations and checks the files that a
/// power cut could have left.
///
/// - `CrashLabChild build <type> <path> <n>` creates a store of `n` transactions and keeps it open;
///   if `n` is negative, it closes the store. With the argument `history`, the store records a
///   history. The process prints `digest <digest>` and `built`, and waits for the end of input.
/// - `run <operation> <directory> <source type> <store type>` performs an operation of `CrashLab`
///   on `store` and then writes the mark `ack`. At the end, even after an error, it prints
///   `calls <n>`, `reports <n>` and `questions <n>`: the numbers of calls in which a fault can
///   occur, of progress reports, and of points where a policy can fail. With the argument
///   `cancel <n>`, report n cancels the operation. With `failure <n>`, the policy fails at point n.
/// - `check` takes the operation, both types and the digests of the old store, the new store and
///   the source. It reads lines `<what> <directory>`: the store may have the new content (1), the
///   old content (2) or either (0). It answers each line with the problem, or with `ok` and the
///   names of the files in the directory, separated by slashes.
/// - `fail` takes the operation and both types. It reads lines
///   `<directory> <classes> <number> <action> <sticky>`, runs the operation in the directory with
///   that fault, and answers `0 <calls>` or `3 <calls> <error>`.
/// - `works` prints 1 if calls can be recorded.
@main
struct CrashLabChild {
    static func main() {
        let arguments = CommandLine.arguments
        do {
            switch (arguments.dropFirst().first, arguments.count) {
            case ("works", 2): try say("\(crashrecorder_works())")
            case ("build", 5), ("build", 6):
                try build(
                    arguments[2], at: arguments[3], count: Int64(arguments[4]) ?? 1,
                    hasHistory: arguments.last == "history")
            case ("run", 6), ("run", 8):
                let interruption = Interruption(
                    arguments.count == 8 ? Interruption.Kind(rawValue: arguments[6]) : nil,
                    at: arguments.last.flatMap { Int($0) } ?? 0)
                defer {
                    try? say("calls \(crashrecorder_count())")
                    try? say("reports \(interruption.count.reports)")
                    try? say("questions \(interruption.count.questions)")
                }
                try Operation(arguments[2], source: arguments[4], store: arguments[5]).run(
                    in: arguments[3], interruption: interruption)
                crashrecorder_mark("ack")
            case ("fail", 5): try fail(try Operation(arguments[2], source: arguments[3], store: arguments[4]))
            case ("check", 8):
                let operation = try Operation(arguments[2], source: arguments[3], store: arguments[4])
                let digests = Operation.Digests(old: arguments[5], new: arguments[6], source: arguments[7])
                while let line = readLine() {
                    try say(operation.check(String(line.dropFirst(2)), outcome: line.prefix(1), digests: digests))
                }
            default:
                throw StoreError(.invalidRequest, "usage: CrashLabChild works | build … | run … | fail … | check …")
            }
        } catch {
            FileHandle.standardError.write(Data("CrashLabChild: \(error)\n".utf8))
            exit(3)
        }
    }

    private static func build(_ type: String, at path: String, count: Int64, hasHistory: Bool) throws {
        let store = try StoreRegistry.standard.create(
            StoreLocation(type: type, path: path), model: try CrashVersions.first(),
            options: StoreOptions().with { $0.tracksHistory = hasHistory ? true : nil })
        try CrashVersions.commit(1...abs(count), to: store)
        let snapshot = try store.snapshot()
        try say("digest \(try snapshot.computeTally().digest)")
        snapshot.close()
        if count < 0 { try store.close() }
        try say("built")
        _ = FileHandle.standardInput.readDataToEndOfFile()
    }

    private static func fail(_ operation: Operation) throws {
        while let line = readLine() {
            let words = line.split(separator: " ")
            let numbers = words.dropFirst().compactMap { Int64($0) }
            guard words.count == 5, numbers.count == 4 else {
                throw StoreError(.invalidRequest, "not a fault: \(line)")
            }
            crashrecorder_set_fault(numbers[0], numbers[1], numbers[2], numbers[3])
            var failure: String?
            do { try operation.run(in: String(words[0]), interruption: Interruption(nil, at: 0)) } catch {
                failure = "\(error)"
            }
            let count = crashrecorder_count()
            crashrecorder_set_fault(0, 0, 0, 0)
            try say(failure.map { "3 \(count) \($0)" } ?? "0 \(count)")
        }
    }

    private static func say(_ text: String) throws {
        let line = text.split(separator: "\n").joined(separator: " ")
        try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}

/// An operation on the stores of a directory.
private struct Operation {
    enum Kind: String {
        case convert, replace, migrate, migrateKeepingBackup, migrateThroughVersions, migrateInto, commit
        case commitWithHistory
    }

    /// The digests of `store` before and after the operation, and of `source`.
    ///
    /// `old` is a comma-separated list. `source` is `-` without a source store.
    struct Digests {
        let old: String
        let new: String
        let source: String
    }

    let kind: Kind
    let source: String
    let store: String

    init(_ name: String, source: String, store: String) throws {
        guard let kind = Kind(rawValue: name) else {
            throw StoreError(.invalidRequest, "unknown operation '\(name)'")
        }
        (self.kind, self.source, self.store) = (kind, source, store)
    }

    private func source(in directory: String) -> StoreLocation {
        StoreLocation(type: source, path: directory + "/source")
    }
    private func store(in directory: String) -> StoreLocation { StoreLocation(type: store, path: directory + "/store") }

    func run(in directory: String, interruption: Interruption) throws {
        let (source, store) = (source(in: directory), store(in: directory))
        let manager = MigrationManager()
        switch kind {
        case .convert:
            _ = try manager.convert(from: .location(source), to: .location(store), options: conversion(interruption))
        case .replace:
            try StoreRegistry.standard.type(named: store.type).replace(store, with: source, overwriting: true)
        case .migrate, .migrateKeepingBackup:
            let options = MigrationOptions(
                conversion: conversion(interruption)
            ).with { $0.keepsBackup = kind == .migrateKeepingBackup }
            let report = try manager.migrateInPlace(store, model: try CrashVersions.second(), options: options)
            // A migration of an SQLite store creates a new file only if a backup is kept.
            if kind == .migrate, store.type == "sqlite", report.path == .onePass {
                throw StoreError(
                    .internalInconsistency,
                    "the migration created a new file, which this case does not examine")
            }
        case .commit, .commitWithHistory:
            let text = ProcessInfo.processInfo.environment["CRASHLAB_LAST_TRANSACTION"] ?? ""
            guard let last = Int64(text) else {
                throw StoreError(.invalidRequest, "CRASHLAB_LAST_TRANSACTION is not a number")
            }
            let opened = try StoreRegistry.standard.open(store, options: StoreOptions(timeoutSeconds: 30))
            guard case .int(let number)? = try opened.metadata().userMetadata["transaction"] else {
                throw StoreError(.corrupted, "the store does not say which transaction was the last")
            }
            if number < last { try CrashVersions.commit(number + 1...last, to: opened) }
            try opened.close()
        case .migrateThroughVersions:
            _ = try manager.migrateInPlace(
                store, model: try CrashVersions.third(), options: throughVersions(interruption))
        case .migrateInto:
            _ = try manager.migrate(
                from: .location(source), to: .location(store), model: try CrashVersions.third(),
                options: throughVersions(interruption))
        }
    }

    private func conversion(_ interruption: Interruption) -> ConversionOptions {
        ConversionOptions(
            overwrites: true, timeoutSeconds: 30, cancellation: interruption.cancellation,
            onProgress: { _ in interruption.report() })
    }

    private func throughVersions(_ interruption: Interruption) throws -> MigrationOptions {
        var options = MigrationOptions(
            conversion: conversion(interruption), history: try CrashVersions.history(),
            policies: [
                "headings": { HeadingPolicy(interruption) }, "numbers": { NumberPolicy(interruption) },
            ])
        // With this limit, more than 16 runs of consecutive associations go to a file.
        options.associationByteCount = 0
        return options
    }

    /// Returns the problem with the stores of a directory: its kind, a colon and a description.
    ///
    /// Runs the operation again, except a completed replacement. Without a problem, returns `ok`
    /// and the file names.
    func check(_ directory: String, outcome what: Substring, digests: Digests) -> String {
        do {
            let found = try digest(of: store(in: directory), describedAs: "store")
            let old = digests.old.split(separator: ",").map(String.init)
            guard old.contains(found) || found == digests.new else {
                return "mixed: \(found) is neither \(digests.old) nor \(digests.new)"
            }
            if what == "1", found != digests.new {
                return "lost: the operation had succeeded, and the old store is there"
            }
            if what == "2", !old.contains(found) {
                return "changed: the operation had failed, and the new store is there"
            }
            // A completed replacement has moved the source away, so it cannot be repeated.
            if kind != .replace || old.contains(found) {
                if digests.source != "-" {
                    let source = try digest(of: source(in: directory), describedAs: "source")
                    guard source == digests.source else {
                        return "source: it holds \(source) and not \(digests.source)"
                    }
                }
                if let problem = again(in: directory, expecting: digests.new) { return problem }
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
            return "ok \(names.joined(separator: "/"))"
        } catch {
            return "\(error)"
        }
    }

    /// Repeats the operation, and returns a problem with the result, or nil.
    private func again(in directory: String, expecting new: String) -> String? {
        do {
            try run(in: directory, interruption: Interruption(nil, at: 0))
            let digest = try digest(of: store(in: directory), describedAs: "finished store")
            return digest == new ? nil : "again: the operation gave \(digest) when it was run again"
        } catch {
            return "again: the operation fails when it is run again: \(error)"
        }
    }

    /// Examines the structure of a store, and returns the digest of its content.
    ///
    /// The tally must equal a recorded tally.
    private func digest(of location: StoreLocation, describedAs noun: String) throws -> String {
        do {
            let store = try StoreRegistry.standard.open(location, options: StoreOptions(timeoutSeconds: 5))
            defer { try? store.close() }
            if let damage = try store.integrityFindings().first(where: { $0.severity == .damage }) {
                throw StoreError(.corrupted, "\(damage)")
            }
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            let tally = try snapshot.computeTally()
            if let recorded = try snapshot.recordedTally(), recorded != tally {
                throw StoreError(.corrupted, "the recorded tally differs from the content")
            }
            if kind == .commitWithHistory { try requireHistory(of: store, in: snapshot) }
            return "\(tally.digest)"
        } catch {
            throw Unusable(description: "unusable: the \(noun): \(error)")
        }
    }

    /// Throws unless the history has exactly the transactions that made the content.
    private func requireHistory(of store: any PersistentStore, in snapshot: any StoreSnapshot) throws {
        guard case .int(let count)? = try store.metadata().userMetadata["transaction"] else {
            throw StoreError(.corrupted, "the store does not say which transaction was the last")
        }
        let cursor = try snapshot.historyCursor(HistoryRequest())
        var number: Int64 = 0
        while let transaction = try cursor.nextWhole() {
            number += 1
            let inserted = transaction.changes.contains {
                $0.kind == .insert && $0.id == ObjectID("Track", key: number)
            }
            guard inserted, transaction.changes.contains(where: { $0.kind == .update }) == (number > 1) else {
                throw StoreError(.corrupted, "entry \(number) of the history has other changes: \(transaction)")
            }
        }
        guard number == count else {
            throw StoreError(.corrupted, "the history has \(number) transactions, and the store \(count)")
        }
    }

    private struct Unusable: Error, CustomStringConvertible { let description: String }
}
