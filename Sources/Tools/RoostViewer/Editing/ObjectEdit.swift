#if Interactive
    internal import Foundation
    internal import RoostCore
    internal import RoostGraph
    internal import RoostImport
    internal import RoostJSONText

    /// Values that a request gives to the properties of an object.
    struct ObjectEdit: Sendable {
        private enum Change: Sendable {
            case value(Value)
            case objects(adding: [ObjectID], removing: [ObjectID])
            /// All members in order.
            ///
            /// If `seen` is not nil, the current members must have these keys.
            case order([ObjectID], seen: [Int64]?)
        }

        private let changes: [(name: String, change: Change)]
        /// The version that the user saw, or nil if the body has none.
        let version: UInt32?

        /// Reads the JSON body of a request.
        ///
        /// - Throws: A ``ViewerError``, which lists all invalid values.
        init(_ body: [UInt8], entity: ManagedObjectModel.Entity, model: ManagedObjectModel) throws(ViewerError) {
            let node: JSONNode
            do { node = try JSONNode(body) } catch {
                throw ViewerError(.badRequest, message: "The body is not JSON: \(error)")
            }
            version = node["version"]?.integer.flatMap { UInt32(exactly: $0) }
            guard case .object(let members)? = node["values"]?.content else {
                throw ViewerError(.badRequest, message: "The body needs an object 'values'.")
            }
            var changes: [(String, Change)] = []
            var failures: [ViewerError.Failure] = []
            for member in members {
                do throws(ViewerError) {
                    changes.append(
                        (member.key, try Self.change(member.key, node: member.value, entity: entity, model: model)))
                } catch {
                    failures.append(.init(property: member.key, message: error.message))
                }
            }
            guard failures.isEmpty else {
                var error = ViewerError(.unprocessable, code: "invalidValue", message: failures[0].message)
                error.failures = failures
                throw error
            }
            self.changes = changes
        }

        private static func change(
            _ name: String, node: JSONNode, entity: ManagedObjectModel.Entity, model: ManagedObjectModel
        ) throws(ViewerError) -> Change {
            if let relationship = entity.relationship(name) {
                let destination = model.entities[relationship.destination]
                if let set = node["set"]?.elements {
                    let seen = node["was"]?.elements?.compactMap(\.integer)
                    return .order(try ids(set, of: name, entity: destination, model: model), seen: seen)
                }
                if node["add"] != nil || node["remove"] != nil {
                    return .objects(
                        adding: try ids(node["add"]?.elements ?? [], of: name, entity: destination, model: model),
                        removing: try ids(node["remove"]?.elements ?? [], of: name, entity: destination, model: model))
                }
                if case .null = node.content { return .value(.null) }
                return .value(.objectID(try id(node, of: name, entity: destination, model: model)))
            }
            let property: BatchProperties.Property
            do throws(StoreError) { property = try BatchProperties(entity, in: model).property(name) } catch {
                throw ViewerError(error)
            }
            let field: RecordLayout.Field
            switch property {
            case .field(let found), .toOne(let found, _): field = found
            case .composite:
                throw ViewerError(
                    .badRequest, message: "'\(name)' is a composite; set its elements, each by its path.")
            }
            if case .null = node.content { return .value(.null) }
            guard let text = node.text,
                let value = Self.value(text, field: field, model: model)
            else {
                throw ViewerError(
                    .badRequest, message: "'\(name)' needs \(CellFormat.expectation(of: field.kind)).")
            }
            return .value(value)
        }

        /// Returns the value that a text gives to a field.
        ///
        /// The page writes a date without an ISO 8601 form as seconds since 2001-01-01.
        private static func value(_ text: String, field: RecordLayout.Field, model: ManagedObjectModel) -> Value? {
            if let value = Array(text.utf8).withUnsafeBytes({ CellFormat().value($0, for: field, in: model) }) {
                return value
            }
            guard field.kind == .date, let seconds = Double(text), seconds.isFinite else { return nil }
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        }

        private static func ids(
            _ nodes: [JSONNode], of property: String, entity: ManagedObjectModel.Entity, model: ManagedObjectModel
        ) throws(ViewerError) -> [ObjectID] {
            var ids: [ObjectID] = []
            for node in nodes { ids.append(try id(node, of: property, entity: entity, model: model)) }
            return ids
        }

        private static func id(
            _ node: JSONNode, of property: String, entity: ManagedObjectModel.Entity, model: ManagedObjectModel
        ) throws(ViewerError) -> ObjectID {
            // Names are compared as texts: an `EntityName` for each requested name would stay in memory.
            let name = node["entity"]?.text ?? entity.name.text
            guard let key = node["key"]?.integer, key > 0,
                let own = model.entities.first(where: { $0.name.text == name }), entity.includes(own.number)
            else {
                throw ViewerError(.badRequest, message: "'\(property)' needs an object of \(entity.name).")
            }
            return ObjectID(own.name, key: key)
        }

        // MARK: Applying

        /// Applies the values to an object.
        ///
        /// - Throws: Errors of setting a value; `conflict` if a relationship does not have the
        ///   members and the order that the user saw; a ``ViewerError`` for a missing object.
        func apply(to object: ManagedObject, in context: ManagedObjectContext) throws {
            for (name, change) in changes {
                switch change {
                case .value(let value):
                    if case .objectID(let id) = value { _ = try Self.existing(id, property: name, context: context) }
                    try Self.set(value, at: name.split(separator: ".").map(String.init)[...], of: object)
                case .objects(let adding, let removing):
                    try Self.change(name, of: object, adding: adding, removing: removing, context: context)
                case .order(let ids, let seen):
                    if let seen { try Self.requireMembers(seen, name: name, of: object) }
                    try Self.set(name, of: object, to: ids, context: context)
                }
            }
        }

        /// Throws `conflict` if a relationship does not have the members that the user saw.
        ///
        /// An ordered relationship must also have the same order.
        private static func requireMembers(_ seen: [Int64], name: String, of object: ManagedObject) throws {
            let isOrdered = object.entity.relationship(name)?.isOrdered ?? false
            let keys =
                isOrdered
                ? try object.orderedObjects(name).map(\.objectID.key)
                : try object.objects(name).map(\.objectID.key).sorted()
            guard keys == (isOrdered ? seen : seen.sorted()) else {
                throw StoreError(.conflict, "'\(name)' of \(object.objectID) was changed meanwhile.")
            }
        }

        /// Returns the object with an ID, or throws an error that names the property.
        private static func existing(
            _ id: ObjectID, property: String, context: ManagedObjectContext
        ) throws -> ManagedObject {
            do throws(StoreError) { return try context.existingObject(with: id) } catch {
                guard error.code == .objectNotFound else { throw error }
                var refusal = ViewerError(.unprocessable, code: "objectNotFound", message: "\(id) does not exist.")
                refusal.failures = [.init(property: property, message: refusal.message)]
                throw refusal
            }
        }

        /// Sets an attribute, a to-one relationship, or an element of a composite.
        ///
        /// If the composite is null, it is created.
        private static func set(_ value: Value, at path: ArraySlice<String>, of object: ManagedObject) throws {
            guard let name = path.first else { return }
            guard path.count > 1 else { return try object.setValue(value, for: name) }
            let whole = replacing(path.dropFirst(), of: try object.value(name), with: value)
            try object.setValue(whole, for: name)
        }

        /// Returns a composite with the element at a path replaced.
        private static func replacing(_ path: ArraySlice<String>, of composite: Value, with value: Value) -> Value {
            guard let name = path.first else { return value }
            var elements: [String: Value] = [:]
            if case .composite(let present) = composite { elements = present }
            elements[name] = replacing(path.dropFirst(), of: elements[name] ?? .null, with: value)
            return .composite(elements)
        }

        /// Replaces the members of a relationship.
        private static func set(
            _ name: String, of object: ManagedObject, to ids: [ObjectID], context: ManagedObjectContext
        ) throws {
            let members = try ids.map { try existing($0, property: name, context: context) }
            if object.entity.relationship(name)?.isOrdered ?? false {
                var list = try object.orderedObjects(name)
                list.replaceSubrange(list.startIndex..<list.endIndex, with: members)
            } else {
                var set = try object.objects(name)
                set.formIntersection(members)
                set.formUnion(members)
            }
        }

        private static func change(
            _ name: String, of object: ManagedObject, adding: [ObjectID], removing: [ObjectID],
            context: ManagedObjectContext
        ) throws {
            let new = try adding.map { try existing($0, property: name, context: context) }
            let old = removing.map { context.object(with: $0) }
            if object.entity.relationship(name)?.isOrdered ?? false {
                var list = try object.orderedObjects(name)
                for object in old { list.remove(object) }
                for object in new { list.append(object) }
            } else {
                var set = try object.objects(name)
                for object in old { set.remove(object) }
                for object in new { set.insert(object) }
            }
        }
    }
#endif
