#if Interactive
    internal import RoostCore
    internal import RoostGraph
    internal import RoostJSONText

    /// The changes that the page makes, one object at a time.
    struct ObjectChanges {
        /// The objects that a deletion removes.
        private struct Deletion: Sendable {
            var counts: [EntityName: Int] = [:]
            /// A text that identifies the objects and their versions.
            var state: String

            init(_ context: ManagedObjectContext) {
                var sum: UInt64 = 0xCBF2_9CE4_8422_2325
                let objects = context.deletedObjects.map { "\($0.objectID) \($0.version)" }.sorted()
                for byte in objects.joined(separator: "\n").utf8 { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
                state = "\(objects.count)-\(String(sum, radix: 16))"
                for object in context.deletedObjects { counts[object.entity.name, default: 0] += 1 }
            }
        }

        let viewed: ViewedStore
        let editor: StoreEditor

        private func object(_ id: ObjectID) throws -> JSONNode { try ObjectView(viewed: viewed, id: id).answer() }

        func insert(_ entity: ManagedObjectModel.Entity, body: [UInt8]) throws -> HTTPResponse {
            guard !entity.isAbstract else {
                throw ViewerError(
                    .badRequest, message: "'\(entity.name)' is abstract: insert an object of one of its subentities.")
            }
            let edit = try ObjectEdit(body, entity: entity, model: viewed.model)
            // The save gives the object its permanent ID.
            let id = try editor.change(
                "New \(entity.name)",
                by: { context in
                    let object = try context.insert(entity.name)
                    try edit.apply(to: object, in: context)
                    return object
                }, saved: { $0.objectID })
            return HTTPResponse(.created, json: try object(id))
        }

        /// Updates the values of an object, unless the object changed since the page read it.
        func update(_ id: ObjectID, body: [UInt8]) throws -> HTTPResponse {
            let record = try viewed.read {
                try viewed.record(id, entity: try viewed.entity(id.entity.text), snapshot: $0)
            }
            let edit = try ObjectEdit(body, entity: try viewed.entity(record.id.entity.text), model: viewed.model)
            guard let version = edit.version else {
                throw ViewerError(
                    .badRequest, message: "The body needs the number 'version' that the object was read with.")
            }
            do {
                try editor.change("Edit \(id.entity) \(id.key)") { context in
                    let object = try Self.object(record.id, version: version, in: context)
                    try edit.apply(to: object, in: context)
                }
            } catch {
                throw try conflict(error, id: id)
            }
            return HTTPResponse(json: try object(id))
        }

        /// Deletes an object, and the objects that its delete rules delete.
        ///
        /// If `isTrial` is true, only counts the objects. `shown` is the state that a trial
        /// returned, or nil to accept any state.
        ///
        /// - Throws: A conflict if the object's version is not `version`, or if the objects to
        ///   delete or their versions have changed since the trial; errors of delete rules.
        func delete(_ id: ObjectID, version: UInt32, shown: String?, isTrial: Bool) throws -> HTTPResponse {
            let record = try viewed.read {
                try viewed.record(id, entity: try viewed.entity(id.entity.text), snapshot: $0)
            }
            let remove: @Sendable (ManagedObjectContext) throws -> Deletion = { context in
                let object = try Self.object(record.id, version: version, in: context)
                context.delete(object)
                context.processPendingChanges()
                if let error = context.pendingError { throw error }
                return Deletion(context)
            }
            let deletion: Deletion
            do {
                if isTrial {
                    deletion = try editor.attempt { context in
                        let deletion = try remove(context)
                        try context.validateChanges()
                        return deletion
                    }
                } else {
                    deletion = try editor.change("Delete \(id.entity) \(id.key)") { context in
                        let deletion = try remove(context)
                        guard shown == nil || shown == deletion.state else {
                            throw StoreError(
                                .conflict, "The objects to delete have changed. Review them, then delete again.")
                        }
                        return deletion
                    }
                }
            } catch {
                throw try conflict(error, id: id)
            }
            return HTTPResponse(
                json: JSONNode([
                    "deleted": JSONNode(
                        list: deletion.counts.sorted { $0.key < $1.key }.map { entity, count in
                            JSONNode(["entity": JSONNode(entity.text), "count": JSONNode(count)])
                        }), "state": JSONNode(deletion.state), "undo": viewed.undo,
                ]))
        }

        /// Undoes or redoes a step.
        ///
        /// - Throws: A conflict if no such step exists, the revision is outdated, or another
        ///   program changed an object.
        func undo(redoing: Bool, body: [UInt8]) throws -> HTTPResponse {
            let node: JSONNode
            do { node = try JSONNode(body) } catch {
                throw ViewerError(.badRequest, message: "The body is not JSON: \(error)")
            }
            let revision = node["revision"]?.integer
            guard revision != nil || node["revision"] == nil else {
                throw ViewerError(.badRequest, message: "'revision' must be a number.")
            }
            try editor.undo(redoing: redoing, revision: revision)
            return HTTPResponse(json: JSONNode(["undo": viewed.undo]))
        }

        /// Returns an object, or throws `conflict` if its version is not `version`.
        private static func object(
            _ id: ObjectID, version: UInt32, in context: ManagedObjectContext
        ) throws -> ManagedObject {
            let object = try context.existingObject(with: id)
            guard object.version == version else {
                throw StoreError(
                    .conflict,
                    "\(id) has changed: you read version \(version), but the current version is \(object.version).")
            }
            return object
        }

        /// Returns a ``ViewerError``, which contains the object's current state after a conflict.
        private func conflict(_ error: any Error, id: ObjectID) throws -> ViewerError {
            var error = ViewerError(any: error)
            guard error.status == .conflict else { return error }
            // The object may no longer exist.
            error.current = try? object(id)
            return error
        }
    }
#endif
