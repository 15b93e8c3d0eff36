#if Interactive
    internal import RoostCore
    internal import RoostJSONText
    internal import RoostStores

    final class ViewedStore: Sendable {
        /// The name in addresses.
        let name: String
        /// The name for people.
        let title: String
        let store: Store
        let lists = ObjectLists()
        /// The editor, or nil for a store that is only read.
        let editor: StoreEditor?

        init(_ store: Store, name: String, title: String, allowsChanges: Bool) throws(StoreError) {
            (self.store, self.name, self.title) = (store, name, title)
            editor = allowsChanges && !store.isReadOnly ? try StoreEditor(store) : nil
        }

        var model: ManagedObjectModel { store.model }

        func read<Result>(_ body: (any StoreSnapshot) throws -> Result) throws -> Result {
            let snapshot = try store.persistentStore.snapshot()
            defer { snapshot.close() }
            return try body(snapshot)
        }

        func entity(_ name: String) throws(ViewerError) -> ManagedObjectModel.Entity {
            // Names are compared as texts: an `EntityName` for each requested name would stay in memory.
            if let entity = model.entities.first(where: { $0.name.text == name }) { return entity }
            let hint =
                nearestName(to: name, among: model.entities.map(\.name.text)).map { " Did you mean '\($0)'?" } ?? ""
            throw ViewerError(.notFound, message: "The model of \(title) has no entity '\(name)'.\(hint)")
        }

        func id(_ entity: ManagedObjectModel.Entity, key: String) throws(ViewerError) -> ObjectID {
            guard let number = Int64(key), number > 0 else {
                throw ViewerError(
                    .notFound, message: "'\(key)' is not the key of an object; keys are positive numbers.")
            }
            return ObjectID(entity.name, key: number)
        }

        /// Returns the record of an object, which must have the given entity or a subentity.
        func record(
            _ id: ObjectID, entity: ManagedObjectModel.Entity, snapshot: any StoreSnapshot
        ) throws -> Record {
            var batch = RecordBatch(model: model)
            guard try snapshot.record(with: id, into: &batch), batch.count == 1,
                entity.includes(batch.entityNumber(at: 0))
            else { throw ViewerError(.notFound, message: "\(id) does not exist.") }
            return batch.record(at: 0)
        }

        /// Returns the number of objects of each entity, by entity number, excluding subentities.
        func counts(_ snapshot: any StoreSnapshot) throws(StoreError) -> [Int] {
            if let tally = try snapshot.recordedTally() { return tally.entities.map(\.count) }
            var counts: [Int] = []
            for entity in model.entities {
                let request = FetchRequest(entity.name).with { $0.includesSubentities = false }
                counts.append(entity.isAbstract ? 0 : try snapshot.count(request))
            }
            return counts
        }

        /// Returns the number of objects of an entity and its subentities.
        func count(_ entity: ManagedObjectModel.Entity, snapshot: any StoreSnapshot) throws(StoreError) -> Int {
            guard let tally = try snapshot.recordedTally() else { return try snapshot.count(FetchRequest(entity.name)) }
            return entity.selfAndSubentities.reduce(0) { $0 + tally.entities[$1].count }
        }

        var undo: JSONNode {
            editor?.undoState
                ?? JSONNode([
                    "canUndo": JSONNode(false), "canRedo": JSONNode(false), "undoName": .null, "redoName": .null,
                ])
        }
    }
#endif
