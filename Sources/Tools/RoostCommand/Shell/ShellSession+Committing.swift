internal import Roost
internal import RoostCore
internal import RoostGraph
internal import RoostText

// Statements about uncommitted changes.

extension ShellSession {
    private static let listedChangeCount = 50
    private static let listedFailureCount = 100

    /// Commits all changes; after an error, all stay pending.
    func commit() throws {
        guard context.hasChanges else { return try tell("nothing to commit") }
        let counts = Self.counts(written)
        do {
            try Interruption.shared.committing { () throws(StoreError) in try context.save() }
        } catch {
            for reason in reasons(error).prefix(Self.listedFailureCount) { console.printError(reason) }
            guard error.code == .conflict else { throw error }
            throw error.withMessage(
                "another program changed the same objects, so nothing was committed; 'rollback' gives up the changes, and shows the state of the store"
            )
        }
        replaceKeys()
        context.undo?.removeAll()
        try tell("committed: \(counts)")
    }

    /// Discards all changes and all objects of the context.
    func rollback() throws {
        let counts = context.hasChanges ? Self.counts(written) : nil
        context.rollback()
        context.reset()
        forgetNewObjects()
        try tell(counts.map { "given up: \($0)" } ?? "nothing to give up")
    }

    /// The objects that the next commit writes, each with the kind of its change.
    private var written: [(object: ManagedObject, change: String)] {
        var objects: [(object: ManagedObject, change: String)] = []
        context.forEachWrittenObject { object in
            objects.append((object, object.isInserted ? "inserted" : object.isDeleted ? "deleted" : "updated"))
        }
        return objects
    }

    /// Returns a summary such as `2 inserted, 1 deleted`.
    private static func counts(_ changes: [(object: ManagedObject, change: String)]) -> String {
        let counts = ["inserted", "updated", "deleted"].map { change in (changes.count { $0.change == change }, change)
        }
        let some = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return some.isEmpty ? "no difference" : some.joined(separator: ", ")
    }

    private func reasons(_ error: StoreError) -> [String] {
        guard error.code == .conflict else { return BatchRun.reasons(error) }
        return error.conflicts.map { conflict in
            guard let current = conflict.current else { return "\(conflict.id) was deleted by another program" }
            let theirs = current.values()
            guard let object = context.registeredObject(for: conflict.id),
                let base = try? object.committedValues()
            else { return "\(conflict.id) was changed by another program" }
            let names = Set(theirs.keys).union(base.keys).filter { theirs[$0] != base[$0] }.sorted()
            let what = names.isEmpty ? "" : ": \(names.joined(separator: ", "))"
            return "\(conflict.id) was changed by another program\(what)"
        }
    }

    // MARK: The list of changes

    func printChanges() throws {
        let objects = written
        guard !objects.isEmpty else { return try console.print("nothing is changed") }
        var table = TextTable([("object", .leading), ("change", .leading), ("property", .leading), ("value", .leading)])
        let sorted = objects.sorted {
            ($0.object.objectID.entity, $0.object.objectID.key) < ($1.object.objectID.entity, $1.object.objectID.key)
        }
        for (object, change) in sorted.prefix(Self.listedChangeCount) {
            let lines = try lines(of: object)
            for (number, line) in (lines.isEmpty ? [("", "")] : lines).enumerated() {
                table.append([number == 0 ? "\(object.objectID)" : "", number == 0 ? change : "", line.0, line.1])
            }
        }
        try console.print(table.description)
        let rest = sorted.count - Self.listedChangeCount
        try console.print((rest > 0 ? "and \(Self.objects(rest)) more\n" : "") + Self.counts(objects))
    }

    /// Returns each changed property of an object with a text such as `1 → 2`.
    ///
    /// If only relationships changed, one line says so.
    private func lines(of object: ManagedObject) throws -> [(String, String)] {
        guard !object.isDeleted else { return [] }
        let values = object.changedValues()
        let old = object.isInserted ? [:] : try object.committedValues()
        var lines = values.sorted { $0.key < $1.key }.map { name, value in
            let type = object.entity.attribute(name)?.type
            let before = object.isInserted ? "" : "\(text(old[name] ?? .null, type: type)) → "
            return (name, before + text(value, type: type))
        }
        if values.isEmpty, !object.isInserted { lines.append(("", "relationships")) }
        return lines
    }

    private func text(_ value: Value, type: AttributeType?) -> String {
        let writer = ValueRowWriter(
            columns: [""], types: [type], namesEntity: [true], model: model, format: OutputFormat(.table, dates: .iso))
        return DisplayWidth.fitted(writer.cell(value, column: 0, byteLimit: 1024).text, columns: 60)
    }
}
