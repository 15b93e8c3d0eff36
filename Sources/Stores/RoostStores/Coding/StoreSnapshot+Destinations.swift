package import RoostCore

extension StoreSnapshot {
    /// Returns the IDs of an object's destinations in a to-many relationship, in the relationship's
    /// order.
    ///
    /// - Complexity: O(*n*) in the destinations. If their entity has subentities, the record of
    ///   each destination is read to find its entity.
    package func destinations(
        of relationship: ManagedObjectModel.Relationship, from id: ObjectID
    ) throws(StoreError) -> [ObjectID] {
        let destination = model.entities[relationship.destination]
        var ids: [ObjectID] = []
        let links = try links(of: relationship.name, from: id)
        var batch = LinkBatch(relationship: relationship.number)
        while try links.next(into: &batch) {
            for link in batch.links { ids.append(ObjectID(destination.name, key: link.target)) }
        }
        guard destination.hasSubentities, !ids.isEmpty else { return ids }
        var found: [ObjectID] = []
        found.reserveCapacity(ids.count)
        let records = try records(with: ids)
        var objects = RecordBatch(model: model)
        while try records.next(into: &objects) {
            for index in 0..<objects.count { found.append(objects.id(at: index)) }
        }
        return found
    }
}
