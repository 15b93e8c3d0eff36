/// The place of an object in a store: the number of its root entity, and its key.
@usableFromInline
package struct ObjectPlace: Hashable, Comparable, Sendable {
    @usableFromInline package let root: Int
    @usableFromInline package let key: Int64

    @inlinable
    package init(root: Int, key: Int64) { (self.root, self.key) = (root, key) }

    /// Compares places in the order of the records in a store.
    @inlinable
    package static func < (left: Self, right: Self) -> Bool {
        left.root != right.root ? left.root < right.root : left.key < right.key
    }
}

extension ManagedObjectModel {
    /// Returns the place of the object with this ID.
    ///
    /// The ID may have any entity of the object's hierarchy.
    package func place(of id: ObjectID) throws(StoreError) -> ObjectPlace {
        ObjectPlace(root: try requireEntity(id.entity).root, key: id.key)
    }

    @inlinable
    package func place(of batch: RecordBatch, at index: Int) -> ObjectPlace {
        ObjectPlace(root: entities[batch.entityNumber(at: index)].root, key: batch.key(at: index))
    }
}
