internal import Roost
internal import RoostCore
internal import RoostQuery

/// The assignments of `update a set plays = plays + 1, title = "x"`, for objects of one entity.
struct ShellAssignments {
    struct Target {
        let name: String
        let expression: FetchRequest.Expression
    }

    /// The objects that an assignment gives to a to-many relationship.
    struct Members {
        let relationship: ManagedObjectModel.Relationship
        let ids: [ObjectID]
    }

    private(set) var targets: [Target] = []
    private(set) var members: [Members] = []

    /// Reads assignments, separated by commas.
    ///
    /// `reference` returns nil for a value that is not a reference.
    ///
    /// - Throws: `ShellSyntaxError` with the position of the mistake; errors of `reference`.
    init(
        _ fragment: ShellFragment, of entity: ManagedObjectModel.Entity, in model: ManagedObjectModel,
        reference: (_ value: ShellFragment) throws -> Reference?
    ) throws {
        guard !fragment.isEmpty else { return }
        let parts: [ListOption.Part]
        do { parts = try ListOption(fragment.text, option: "set").parts } catch let error as UsageError {
            throw ShellSession.located(error.message, clause: fragment)
        }
        var names: Set<String> = []
        for part in parts {
            let assignment = ShellFragment(part.text, column: fragment.column + part.column)
            if let (name, value) = Self.split(assignment), let found = try reference(value) {
                guard names.insert(name).inserted else {
                    throw ShellSyntaxError("'\(name)' is set twice", at: assignment.column)
                }
                try add(name, reference: found, of: entity, assignment: assignment)
                continue
            }
            var request = BatchUpdateRequest(entity.name, set: [:])
            do throws(StoreError) { try request.set(part.text, model: model) } catch {
                throw ShellSession.located(RoostTool.line(error.message), clause: assignment)
            }
            for (name, expression) in request.values {
                guard names.insert(name).inserted else {
                    throw ShellSyntaxError("'\(name)' is set twice", at: assignment.column)
                }
                try Self.check(name, of: entity, in: model, assignment: assignment)
                targets.append(Target(name: name, expression: expression))
            }
        }
    }

    /// The meaning of a value such as `a[0].artist`.
    enum Reference {
        case value(Value)
        case objects([ObjectID])
    }

    private mutating func add(
        _ name: String, reference: Reference, of entity: ManagedObjectModel.Entity, assignment: ShellFragment
    ) throws {
        if let relationship = entity.relationship(name), relationship.isToMany {
            switch reference {
            case .objects(let ids): members.append(Members(relationship: relationship, ids: ids))
            case .value(.objectID(let id)): members.append(Members(relationship: relationship, ids: [id]))
            case .value(.null): members.append(Members(relationship: relationship, ids: []))
            case .value: throw ShellSyntaxError("'\(name)' takes objects, not a value", at: assignment.column)
            }
            return
        }
        guard case .value(let value) = reference else {
            throw ShellSyntaxError(
                "'\(name)' takes one object; name it by its position, as in a[0]", at: assignment.column)
        }
        targets.append(Target(name: name, expression: .constant(value)))
    }

    private static func check(
        _ name: String, of entity: ManagedObjectModel.Entity, in model: ManagedObjectModel, assignment: ShellFragment
    ) throws(ShellSyntaxError) {
        if let relationship = entity.relationship(name), relationship.isToMany {
            throw ShellSyntaxError(
                "'\(entity.name).\(name)' has many objects; set it to a variable, as in \(name) = a",
                at: assignment.column)
        }
        do throws(StoreError) { _ = try BatchProperties(entity, in: model).property(name) } catch {
            throw ShellSyntaxError(RoostTool.line(error.message), at: assignment.column)
        }
    }

    /// Returns the name and the value of an assignment, or nil for a text without `=`.
    private static func split(_ assignment: ShellFragment) -> (name: String, value: ShellFragment)? {
        let text = ShellText(assignment.text)
        guard let equals = text.characters.indices.first(where: { text.isOutside[$0] && text.characters[$0] == "=" })
        else { return nil }
        let value = text.fragment(equals + 1..<text.count)
        return (
            text.fragment(0..<equals).text, ShellFragment(value.text, column: value.column + assignment.column)
        )
    }
}
