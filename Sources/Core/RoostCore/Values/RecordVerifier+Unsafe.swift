/// Checks records as they are read from a storage, one after the other.
///
/// Checking a record counts no references and makes nothing but the reader it returns. The model
/// must be held by the caller as long as the verifier and its readers are used.
@usableFromInline  // Without it other modules of the package call what is inlinable, for each record.
package struct RecordVerifier {
    // SAFETY: the caller holds the model, see above.
    @usableFromInline unowned(unsafe) let model: ManagedObjectModel.Resolved
    // Of the model, which never changes them.
    @usableFromInline let shapes: UnsafeMutableBufferPointer<RecordShapes.Shape>
    @usableFromInline let root: Int
    @usableFromInline let comparesChecksums: Bool

    /// A flaw of a record, in the order in which flaws are looked for.
    @usableFromInline
    enum Flaw {
        case header, unknownEntity, otherFields, overlap, length, checksum, otherHierarchy
    }

    /// A verifier of records of one hierarchy.
    ///
    /// - Parameters:
    ///   - model: The model whose layouts apply.
    ///   - root: The number of the hierarchy's root.
    ///   - comparesChecksums: Whether checksums are compared with the bytes. Without it only the
    ///     structure is checked, which is enough for bytes that cannot have changed since a batch
    ///     was made of them.
    @inlinable
    package init(model: ManagedObjectModel, root: Int, comparesChecksums: Bool = true) {
        self.model = model.resolved
        shapes = model.resolved.shapes
        self.root = root
        self.comparesChecksums = comparesChecksums
    }

    /// Returns a reader of a record after checking its structure, checksum and hierarchy.
    ///
    /// - Throws: Code `corrupted`, always naming the object: by the hierarchy's root if its own
    ///   entity is unknown.
    /// - Complexity: O(bytes).
    @inlinable @inline(__always)
    package func record(_ bytes: UnsafeRawBufferPointer, key: Int64) throws(StoreError) -> RecordReader {
        // A flaw is looked for again to describe it: few records are damaged, and all are read.
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
        // The structure is right, so the entity is one of the model's.
        let entity = Int(RecordReader.load(bytes, offset: RecordLayout.Header.entity, as: UInt16.self))
        return shapes[entity].root == root ? nil : .otherHierarchy
    }

    /// Returns a flaw that would make reading leave the bytes: lengths and ends that do not fit
    /// together, another entity's fields.
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
