/// A verifier of records that are read from storage.
///
/// Verification uses no reference counting and allocates no memory. The caller must retain the
/// model while the verifier and its readers are used.
@usableFromInline  // Otherwise other modules cannot inline the methods.
package struct RecordVerifier {
    // SAFETY: the caller retains the model.
    @usableFromInline unowned(unsafe) let model: ManagedObjectModel.Resolved
    @usableFromInline let shapes: UnsafeMutableBufferPointer<RecordShapes.Shape>
    @usableFromInline let root: Int
    @usableFromInline let comparesChecksums: Bool

    /// A flaw of a record; the cases are in the order of the checks.
    @usableFromInline
    enum Flaw {
        case header, unknownEntity, otherFields, overlap, length, checksum, otherHierarchy
    }

    /// Creates a verifier for records of one hierarchy.
    ///
    /// Pass false for `comparesChecksums` only for bytes that cannot have changed since they were
    /// copied from a batch.
    @inlinable
    package init(model: ManagedObjectModel, root: Int, comparesChecksums: Bool = true) {
        self.model = model.resolved
        shapes = model.resolved.shapes
        self.root = root
        self.comparesChecksums = comparesChecksums
    }

    /// Returns a reader of a record after checking its structure, checksum and hierarchy.
    ///
    /// - Throws: `corrupted`, always naming the object. If the record's entity is unknown or in
    ///   another hierarchy, the error names the root entity.
    /// - Complexity: O(bytes).
    @inlinable @inline(__always)
    package func record(_ bytes: UnsafeRawBufferPointer, key: Int64) throws(StoreError) -> RecordReader {
        // Errors are rare, so `error(_:key:)` may compute the flaw again.
        guard flaw(bytes, key: key) == nil else { throw error(bytes, key: key) }
        return RecordReader(unchecked: bytes, key: key, resolved: model)
    }

    @inlinable @inline(__always)
    func flaw(_ bytes: UnsafeRawBufferPointer, key: Int64) -> Flaw? {
        if let flaw = Self.structuralFlaw(bytes, shapes: shapes) { return flaw }
        if comparesChecksums {
            let stored = RecordReader.load(bytes, offset: RecordLayout.Header.checksum, as: UInt64.self)
            let version = RecordReader.load(bytes, offset: RecordLayout.Header.version, as: UInt32.self)
            guard RecordHash.content(of: bytes, key: key) == stored ^ RecordHash.versionMask(version) else {
                return .checksum
            }
        }
        // The structure is valid, so the model has this entity.
        let entity = Int(RecordReader.load(bytes, offset: RecordLayout.Header.entity, as: UInt16.self))
        return shapes[entity].root == root ? nil : .otherHierarchy
    }

    /// Returns the first flaw that could make reading exceed the bytes; nil if the structure is
    /// valid.
    @inlinable @inline(__always)
    static func structuralFlaw(
        _ bytes: UnsafeRawBufferPointer, shapes: UnsafeMutableBufferPointer<RecordShapes.Shape>
    ) -> Flaw? {
        guard bytes.count >= RecordLayout.Header.bitmap, bytes.count <= RecordLayout.maximumByteCount else {
            return .header
        }
        let entity = Int(RecordReader.load(bytes, offset: RecordLayout.Header.entity, as: UInt16.self))
        guard entity < shapes.count else { return .unknownEntity }
        let shape = shapes[entity]
        guard
            Int(RecordReader.load(bytes, offset: RecordLayout.Header.fieldCount, as: UInt16.self)) == shape.fieldCount,
            bytes.count >= shape.fixedByteCount
        else { return .otherFields }
        var end: UInt32 = 0
        var offset = shape.firstVariableByteOffset
        while offset < shape.fixedByteCount {
            let next = RecordReader.load(bytes, offset: offset, as: UInt32.self)
            guard next >= end else { return .overlap }
            end = next
            offset &+= 4
        }
        return shape.fixedByteCount &+ Int(end) == bytes.count ? nil : .length
    }

    @usableFromInline @inline(never)
    func error(_ bytes: UnsafeRawBufferPointer, key: Int64) -> StoreError {
        let flaw = flaw(bytes, key: key) ?? .checksum
        let model = ManagedObjectModel(resolved: model)
        let rootName = model.entities[root].name
        guard flaw != .otherHierarchy else {
            return StoreError(
                .corrupted, "The record of \(rootName)/p\(key) is damaged: its entity is of another hierarchy.",
                damagedObject: ObjectID(rootName, key: key))
        }
        let error = Self.error(flaw, bytes: bytes, key: key, model: model)
        return error.damagedObject == nil ? error.naming(damagedObject: ObjectID(rootName, key: key)) : error
    }

    static func error(
        _ flaw: Flaw, bytes: UnsafeRawBufferPointer, key: Int64, model: ManagedObjectModel
    ) -> StoreError {
        let (isNamed, reason) =
            switch flaw {
            case .header where bytes.count > RecordLayout.maximumByteCount:
                (false, "it is longer than a record can be")
            case .header: (false, "it is shorter than its header")
            case .unknownEntity: (false, "it names an entity that the model does not have")
            case .otherFields: (true, "its fields are not those of its entity")
            case .overlap: (true, "its values overlap")
            case .length: (true, "its length is not that of its values")
            case .checksum: (true, "its checksum does not match its bytes")
            case .otherHierarchy: (true, "its entity is of another hierarchy")
            }
        guard isNamed else { return RecordReader.damaged(key: key, entity: nil, reason: reason) }
        let entity = Int(RecordReader.load(bytes, offset: RecordLayout.Header.entity, as: UInt16.self))
        return RecordReader.damaged(key: key, entity: model.entities[entity].name, reason: reason)
    }
}
