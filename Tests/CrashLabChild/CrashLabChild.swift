import CrashRecorder
import Foundation
import Roost
import RoostConformance
import RoostCore
import RoostMigration

/// The process whose changes of files the crash lab records, and the one that looks at what a power cut would have left.
///
/// `CrashLabChild run <operation> <directory> <source type> <store type>` makes `store` another store, as `CrashLab` says, writes the
/// mark `ack` when that is done, and at the end `calls <n>` to standard output: how many calls a fault could have met. `check` with
/// the operation, both types and the digests before and after reads lines `<0|1> <directory>`, 1 where the operation had said that it
/// succeeded, and answers each with `ok <names>`, divided by slashes, or with what is wrong. `works` says 1 where calls can be recorded.
@main
struct CrashLabChild {
    static func main() {
        registerBuiltInStores()
        let arguments = CommandLine.arguments
        do {
            switch (arguments.dropFirst().first, arguments.count) {
            case ("works", 2): try say("\(crashrecorder_works())")
            case ("run", 6):
                defer { try? say("calls \(crashrecorder_count())") }
                try Operation(Array(arguments.dropFirst(2))).run(in: arguments[3])
                crashrecorder_mark("ack")
            case ("check", 7):
                let operation = try Operation([arguments[2], "", arguments[3], arguments[4]])
                while let line = readLine() {
                    let isAcknowledged = line.hasPrefix("1 ")
                    try say(
                        operation.check(
                            String(line.dropFirst(2)), isAcknowledged, old: arguments[5], new: arguments[6]))
                }
            default: throw StoreError(.invalidRequest, "usage: CrashLabChild works | run … | check …")
            }
        } catch {
            FileHandle.standardError.write(Data("CrashLabChild: \(error)\n".utf8))
            exit(3)
        }
    }

    private static func say(_ text: String) throws {
        let line = text.split(separator: "\n").joined(separator: " ")
        try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}

/// What is done to the stores of a directory.
private struct Operation {
    enum Kind: String { case convert, replace, migrate, migrateKeepingBackup }

    let kind: Kind
    let source: String
    let store: String

    /// The operation of arguments: its name, a directory, the types of the source and of the store.
    init(_ arguments: [String]) throws {
        guard let kind = Kind(rawValue: arguments[0]) else {
            throw StoreError(.invalidRequest, "unknown operation '\(arguments[0])'")
        }
        (self.kind, source, store) = (kind, arguments[2], arguments[3])
    }

    private func source(in directory: String) -> StoreURL { StoreURL(type: source, path: directory + "/source") }
    private func store(in directory: String) -> StoreURL { StoreURL(type: store, path: directory + "/store") }

    func run(in directory: String) throws {
        let (source, store) = (source(in: directory), store(in: directory))
        switch kind {
        case .convert:
            _ = try MigrationManager().convert(
                from: .url(source), to: .url(store), options: ConversionOptions(overwrites: true, timeoutSeconds: 5))
        case .replace:
            try StoreRegistry.shared.type(named: store.type).replace(store, with: source, overwriting: true)
        case .migrate, .migrateKeepingBackup:
            let options = MigrationOptions(
                conversion: ConversionOptions(timeoutSeconds: 5), keepsBackup: kind == .migrateKeepingBackup)
            let report = try MigrationManager().migrateInPlace(store, model: try Self.nextModel(), options: options)
            // The new file of such a store is what keeping a backup makes.
            if kind == .migrate, store.type == "sqlite", report.path == .onePass {
                throw StoreError(.internalInconsistency, "nobody looks at migrations in one transaction")
            }
        }
    }

    /// The model of `CrashWorkload` with an attribute and an entity more.
    private static func nextModel() throws -> ManagedObjectModel {
        var entities = try CrashWorkload.model.entityDescriptions
        guard let track = entities.firstIndex(where: { $0.name == "Track" }) else {
            throw StoreError(.internalInconsistency, "the workload has no tracks")
        }
        entities[track].attributes.append(.string("subtitle", isOptional: true, default: "none"))
        entities.append(EntityDescription("Review", attributes: [.string("text")]))
        return try ManagedObjectModel(entities: entities)
    }

    /// Says what is wrong with the stores of a directory, beginning with its kind and a colon; or runs the operation and names what is
    /// there then.
    func check(_ directory: String, _ isAcknowledged: Bool, old: String, new: String) -> String {
        do {
            let found = try digest(of: store(in: directory), "store")
            guard found == old || found == new else { return "mixed: \(found) is neither \(old) nor \(new)" }
            if isAcknowledged, found != new { return "lost: the operation had succeeded, and the old store is there" }
            let source = source(in: directory)
            switch kind {
            // A store that was moved is where it was until the other one is gone.
            case .replace where found == new: break
            case .convert, .replace:
                let digest = try digest(of: source, "source")
                guard digest == new else { return "source: it holds \(digest) and not \(new)" }
                if let problem = again(directory, new) { return problem }
            case .migrate, .migrateKeepingBackup:
                if let problem = again(directory, new) { return problem }
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
            return "ok \(names.joined(separator: "/"))"
        } catch {
            return "\(error)"
        }
    }

    /// Runs the operation once more; says what is wrong with what it comes to.
    private func again(_ directory: String, _ new: String) -> String? {
        do {
            try run(in: directory)
            let digest = try digest(of: store(in: directory), "finished store")
            return digest == new ? nil : "again: the operation came to \(digest) when it was run again"
        } catch {
            return "again: the operation fails when it is run again: \(error)"
        }
    }

    /// The digest of all that a store holds, which agrees with what it has recorded, after its structure was examined.
    private func digest(of url: StoreURL, _ noun: String) throws -> String {
        do {
            let store = try StoreRegistry.shared.open(url, options: StoreOptions(timeoutSeconds: 5))
            defer { try? store.close() }
            if let damage = try store.integrityFindings().first(where: { $0.severity == .damage }) {
                throw StoreError(.corrupted, "\(damage)")
            }
            let snapshot = try store.snapshot()
            defer { snapshot.close() }
            let tally = try snapshot.computeTally()
            if let recorded = try snapshot.recordedTally(), recorded != tally {
                throw StoreError(.corrupted, "its tally is not what is there")
            }
            return "\(tally.digest)"
        } catch {
            throw Unusable(description: "unusable: the \(noun): \(error)")
        }
    }

    private struct Unusable: Error, CustomStringConvertible { let description: String }
}
