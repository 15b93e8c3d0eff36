internal import Roost
internal import RoostCore
internal import RoostGraph
internal import RoostQuery

// Statements that change objects, each as one step that can be undone. A failed statement changes nothing. If only its
// output fails, its changes stay.

extension ShellSession {
    private struct Change {
        let id: ObjectID
        var values: [(name: String, value: Value)] = []
    }

    /// The number of objects that are read together.
    private static let changePartCount = 1024

    /// Runs `body` as one step; if `body` throws, its changes are undone.
    private func step(_ text: String, _ body: () throws -> Void) throws {
        guard !store.isReadOnly else {
            throw UsageError("the store was opened read-only, so nothing can be changed")
        }
        guard let undo else { return try body() }
        isChanging = true
        defer { isChanging = false }
        var failure: (any Error)?
        do throws(StoreError) {
            try undo.transaction(Self.name(ofStep: text), in: context) { () throws(StoreError) in
                do { try body() } catch {
                    failure = error
                    throw error as? StoreError ?? StoreError(.invalidRequest, "The statement failed.")
                }
            }
        } catch { throw failure ?? error }
    }

    /// Returns the name of an undo step: its statement in one short line.
    private static func name(ofStep text: String) -> String {
        let line = VisibleText.of(text)
        return line.count > 60 ? line.prefix(59) + "…" : line
    }

    // MARK: Insert

    func insert(_ name: ShellFragment, assignments: ShellFragment, text: String) throws -> ObjectID {
        let entity = try entity(name)
        var inserted: ManagedObject?
        try step(text) {
            let read = try self.assignments(assignments, of: entity, variablesFirst: true)
            let object = try UsageError.requesting { try context.insert(entity.name) }
            var change = Change(id: object.objectID)
            let snapshot = try context.snapshotWithChanges()
            let evaluators = try evaluators(read, entity: entity, snapshot: snapshot)
            var batch = RecordBatch(model: model)
            _ = try snapshot.record(with: object.objectID, into: &batch)
            try batch.forEachRecord { change = try self.change(of: $0, evaluators: evaluators) }
            try apply(change, members: read.members, to: object)
            inserted = object
        }
        guard let inserted else { throw StoreError(.internalInconsistency, "No object was inserted.") }
        note(inserted)
        let id = inserted.objectID
        try tell(
            id.key > 0
                ? "inserted \(id)" : "inserted an object of \(id.entity), which gets its key when it is committed")
        return id
    }

    private func entity(_ fragment: ShellFragment) throws -> ManagedObjectModel.Entity {
        do { return try StoreFetch.entity(fragment.text, model: model) } catch let error as UsageError {
            throw ShellSyntaxError(error.message, at: fragment.column)
        }
    }

    // MARK: Update

    func update(_ request: ShellStatement.Request, text: String) throws {
        guard let set = request.clauses[.set] else { return }
        var count = 0
        try step(text) {
            let (objects, ids) = try self.ids(request)
            try refuseAttribute(objects, request: request)
            let read = try assignments(set, of: objects.entity, variablesFirst: false)
            let snapshot = try context.snapshotWithChanges()
            // Expressions see the values before the statement.
            let changes = try changes(of: ids, assignments: read, entity: objects.entity, snapshot: snapshot)
            count = changes.count
            for start in stride(from: 0, to: changes.count, by: Self.changePartCount) {
                try FetchCancellation.check()
                let part = changes[start..<min(changes.count, start + Self.changePartCount)]
                let found = part.map { context.object(with: $0.id) }
                try context.load(found)
                for (change, object) in zip(part, found) { try apply(change, members: read.members, to: object) }
            }
        }
        try tell("updated \(Self.objects(count))")
    }

    private func refuseAttribute(_ objects: Objects, request: ShellStatement.Request) throws {
        guard let attribute = objects.attribute else { return }
        throw ShellSyntaxError(
            "'\(attribute)' is a value; leave out '.\(attribute)' to name objects", at: request.source.column)
    }

    /// Reads assignments; `variablesFirst` prefers a variable to a property of the same name.
    private func assignments(
        _ fragment: ShellFragment, of entity: ManagedObjectModel.Entity, variablesFirst: Bool
    ) throws -> ShellAssignments {
        let base = try snapshot()
        defer { base.close() }
        return try ShellAssignments(fragment, of: entity, in: model) { value in
            let isMarked = value.text.hasPrefix("$")
            guard let source = ShellSource(whole: isMarked ? String(value.text.dropFirst()) : value.text) else {
                return nil
            }
            var isKnown = variables[source.name] != nil
            if case .position? = source.steps.first?.step, model.entity(EntityName(source.name)) != nil {
                isKnown = true
            }
            let isProperty = entity.layout.field(source.name) != nil || entity.relationship(source.name) != nil
            guard isKnown && (isMarked || variablesFirst || !isProperty) || source.key != nil else { return nil }
            do {
                let objects = try resolve(source, snapshot: base)
                if let value = try self.value(of: objects, snapshot: base) { return .value(value) }
                guard let ids = objects.ids, objects.attribute == nil else {
                    throw ShellSyntaxError("the path has many values; name one object, as in a[0]", at: 0)
                }
                return .objects(ids)
            } catch let error as ShellSyntaxError {
                throw ShellSyntaxError(error.message, at: (error.column ?? 0) + value.column + (isMarked ? 1 : 0))
            }
        }
    }

    private func evaluators(
        _ assignments: ShellAssignments, entity: ManagedObjectModel.Entity, snapshot: any StoreSnapshot
    ) throws -> [(name: String, evaluator: ExpressionEvaluator)] {
        try assignments.targets.map { target in
            let compiled = try UsageError.reading {
                try CompiledExpression(target.expression, for: entity.name, model: model)
            }
            guard !compiled.isCollection else {
                throw UsageError("'\(target.name)' has one value, and its expression has many")
            }
            return (target.name, compiled.evaluator(over: snapshot.objectGraph()))
        }
    }

    private func changes(
        of ids: [ObjectID], assignments: ShellAssignments, entity: ManagedObjectModel.Entity,
        snapshot: any StoreSnapshot
    ) throws -> [Change] {
        let evaluators = try evaluators(assignments, entity: entity, snapshot: snapshot)
        var changes: [Change] = []
        changes.reserveCapacity(ids.count)
        let cursor = try snapshot.records(with: ids)
        var batch = RecordBatch(model: model)
        while try cursor.next(into: &batch) {
            try FetchCancellation.check()
            try batch.forEachRecord { changes.append(try change(of: $0, evaluators: evaluators)) }
        }
        return changes
    }

    private func change(
        of record: RecordReader, evaluators: [(name: String, evaluator: ExpressionEvaluator)]
    ) throws -> Change {
        var change = Change(id: record.id)
        let properties = BatchProperties(model.entities[record.entityNumber], in: model)
        for (name, evaluator) in evaluators {
            let value = try evaluator.value(of: record)
            try UsageError.reading {
                try properties.forEachField(of: value, for: try properties.property(name), owner: { "\(record.id)" }) {
                    change.values.append(($0.name, $1))
                }
            }
        }
        return change
    }

    private func apply(
        _ change: Change, members: [ShellAssignments.Members], to object: ManagedObject
    ) throws {
        for (name, value) in change.values {
            if case .objectID(let id) = value, object.entity.relationship(name) != nil {
                _ = try existing(id)
            }
            try UsageError.reading { try object.setValue(value, for: name) }
        }
        for member in members {
            let name = member.relationship.name.name
            let objects = try member.ids.map { try existing($0) }
            if member.relationship.isOrdered {
                var list = try object.orderedObjects(name)
                list.replaceSubrange(0..<list.count, with: objects)
            } else {
                var set = try object.objects(name)
                set.removeAll()
                set.formUnion(objects)
            }
        }
    }

    private func existing(_ id: ObjectID) throws -> ManagedObject {
        do throws(StoreError) { return try context.existingObject(with: id) } catch {
            throw error.code == .objectNotFound ? StoreError.objectMissing(id) : error
        }
    }

    // MARK: Delete

    func delete(_ request: ShellStatement.Request, text: String) throws {
        var (count, storedCount, cascaded) = (0, 0, 0)
        try step(text) {
            let (objects, ids) = try self.ids(request)
            try refuseAttribute(objects, request: request)
            let former = deletedCount
            for start in stride(from: 0, to: ids.count, by: Self.changePartCount) {
                try FetchCancellation.check()
                let part = ids[start..<min(ids.count, start + Self.changePartCount)].map { context.object(with: $0) }
                try context.load(part)
                for object in part where !object.isDeleted {
                    count += 1
                    // `deletedCount` does not include deleted new objects.
                    if !object.isInserted { storedCount += 1 }
                    context.delete(object)
                }
            }
            // Applies the delete rules, and throws their errors.
            _ = try context.snapshotWithChanges()
            cascaded = deletedCount - former - storedCount
        }
        let along = cascaded > 0 ? ", and \(Self.objects(cascaded)) by delete rules" : ""
        try tell("deleted \(Self.objects(count))\(along)")
    }

    private var deletedCount: Int { context.deletedObjects.count }

    // MARK: Undo

    func takeBack() throws {
        guard let undo, undo.canUndo else { throw UsageError("there is nothing to undo") }
        let name = undo.undoName ?? "the last change"
        undo.undo()
        try tell("undone: \(name)")
    }

    func redo() throws {
        guard let undo, undo.canRedo else { throw UsageError("there is nothing to redo") }
        let name = undo.redoName ?? "the change"
        undo.redo()
        try tell("done again: \(name)")
    }
}
