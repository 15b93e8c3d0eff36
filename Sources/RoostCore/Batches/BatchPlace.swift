/// Where an object is, whatever entity it is named by: the number of its root entity and its key.
struct BatchPlace: Hashable, Comparable {
    let root: Int
    let key: Int64

    static func < (left: Self, right: Self) -> Bool {
        left.root != right.root ? left.root < right.root : left.key < right.key
    }
}

extension ManagedObjectModel {
    /// The place of the object with this ID; throws `unknownEntity`.
    func place(of id: ObjectID) throws(StoreError) -> BatchPlace {
        BatchPlace(root: try requireEntity(id.entity).root, key: id.key)
    }
}
