internal import RoostCore
internal import RoostQuery

extension ShellSession {
    struct Objects {
        /// The entity of the objects, or one of its superentities.
        var entity: ManagedObjectModel.Entity
        /// The objects, or nil for all objects of the entity.
        var ids: [ObjectID]?
        /// The attribute at the end of the source, if any.
        var attribute: String?
    }

    private static let partCount = 4096

    /// Finds the objects of a source, or throws `ShellSyntaxError` with the wrong step's position.
    func resolve(_ source: ShellSource, snapshot: any StoreSnapshot) throws -> Objects {
        var objects = try start(source)
        for (number, (step, column)) in source.steps.enumerated() {
            switch step {
            case .position(let position):
                let ids = try objects.ids ?? allIDs(of: objects.entity, snapshot: snapshot)
                guard position < ids.count else {
                    let range = ids.isEmpty ? "the list is empty" : "positions are 0 to \(ids.count - 1)"
                    throw ShellSyntaxError("no object has the position \(position); \(range)", at: column)
                }
                objects.ids = [ids[position]]
            case .name(let name):
                guard let relationship = objects.entity.relationship(name) else {
                    let rest = source.steps[number...].map(\.step)
                    objects.attribute = try attribute(rest, of: objects.entity, column: column)
                    return objects
                }
                let ids = try objects.ids ?? allIDs(of: objects.entity, snapshot: snapshot)
                objects.ids = try follow(relationship, from: ids, snapshot: snapshot)
                objects.entity = model.entities[relationship.destination]
            }
        }
        return objects
    }

    private func start(_ source: ShellSource) throws -> Objects {
        if let variable = variables[source.name] {
            guard source.key == nil else {
                throw ShellSyntaxError(
                    "'\(source.name)' is a variable; write \(source.name)[0] for its first object", at: source.column)
            }
            return Objects(entity: variable.entity, ids: variable.ids)
        }
        let entity: ManagedObjectModel.Entity
        do { entity = try StoreFetch.entity(source.name, model: model) } catch let error as UsageError {
            let hint = nearestName(to: source.name, among: variables.keys.sorted())
            throw ShellSyntaxError(
                hint.map { "unknown variable or entity '\(source.name)'; did you mean '\($0)'?" } ?? error.message,
                at: source.column)
        }
        return Objects(entity: entity, ids: source.key.map { [ObjectID(entity.name, key: $0)] })
    }

    private func attribute(
        _ steps: [ShellSource.Step], of entity: ManagedObjectModel.Entity, column: Int
    ) throws -> String {
        var names: [String] = []
        for step in steps {
            guard case .name(let name) = step else {
                throw ShellSyntaxError("'\(entity.name).\(names.joined(separator: "."))' is not a list", at: column)
            }
            names.append(name)
        }
        let name = names.joined(separator: ".")
        guard entity.layout.field(name) != nil || ["id", "entity", "version"].contains(name) else {
            let known = entity.layout.fields.map(\.name) + entity.relationships.map(\.name.name)
            throw ShellSyntaxError(
                "Entity '\(entity.name)' has no property '\(name)'\(entity.hint(forUnknown: name, among: known))",
                at: column + 1)
        }
        return name
    }

    func allIDs(of entity: ManagedObjectModel.Entity, snapshot: any StoreSnapshot) throws -> [ObjectID] {
        try snapshot.objectIDs(FetchRequest(entity.name))
    }

    /// Returns each related object once, in the order of the given objects.
    private func follow(
        _ relationship: ManagedObjectModel.Relationship, from ids: [ObjectID], snapshot: any StoreSnapshot
    ) throws(StoreError) -> [ObjectID] {
        let destination = model.entities[relationship.destination].name
        var found: [ObjectID] = []
        var known: Set<Int64> = []
        guard relationship.isToMany else {
            let cursor = try snapshot.records(with: ids)
            var batch = RecordBatch(model: model)
            while try cursor.next(into: &batch) {
                try FetchCancellation.check()
                batch.forEachRecord { record in
                    guard let field = record.layout.field(relationship.name.name),
                        let (entity, key) = record.reference(field), known.insert(key).inserted
                    else { return }
                    let isExact = entity < model.entities.count
                    found.append(ObjectID(isExact ? model.entities[entity].name : destination, key: key))
                }
            }
            return found
        }
        var links = LinkBatch(relationship: relationship.number)
        for start in stride(from: 0, to: ids.count, by: Self.partCount) {
            try FetchCancellation.check()
            let part = Array(ids[start..<min(ids.count, start + Self.partCount)])
            let cursor = try snapshot.links(of: relationship.name, from: part)
            while try cursor.next(into: &links) {
                for link in links.links where known.insert(link.target).inserted {
                    found.append(ObjectID(destination, key: link.target))
                }
            }
        }
        return found
    }
}
