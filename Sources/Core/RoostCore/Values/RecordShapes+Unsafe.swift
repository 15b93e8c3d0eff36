/// The data for checking the structure of records, by entity number.
///
/// Belongs to a built model. Every record that is read needs it, so it holds plain numbers: reading
/// it costs no reference counting.
@usableFromInline
final class RecordShapes: @unchecked Sendable {
    // Proof of Sendable: the shapes are written in `init`, before the object is shared, and freed
    // in `deinit`.

    /// One entity's records.
    @usableFromInline
    struct Shape {
        @usableFromInline let fieldCount: Int
        @usableFromInline let fixedByteCount: Int
        /// The offset of the first tail field's slot; the slots of tail fields lie side by side up
        /// to the tail.
        @usableFromInline let firstVariableByteOffset: Int
        /// The number of the root of the entity's hierarchy.
        @usableFromInline let root: Int
        // SAFETY: `layouts` holds it as long as there are shapes.
        @usableFromInline unowned(unsafe) let layout: RecordLayout
    }

    @usableFromInline let shapes: UnsafeMutableBufferPointer<Shape>
    private let layouts: [RecordLayout]

    init(_ entities: [ManagedObjectModel.Entity]) {
        layouts = entities.map(\.layout)
        shapes = .allocate(capacity: entities.count)
        _ = shapes.initialize(
            from: entities.map { entity in
                let layout = entity.layout
                return Shape(
                    fieldCount: layout.fields.count, fixedByteCount: layout.fixedByteCount,
                    firstVariableByteOffset: layout.firstVariableField < layout.fields.count
                        ? layout.fields[layout.firstVariableField].byteOffset : layout.fixedByteCount,
                    root: entity.root, layout: layout)
            })
    }

    deinit { shapes.deallocate() }
}

extension ManagedObjectModel.Resolved {
    /// The shape of an entity's records; the number of a record that follows another model is a
    /// mistake of the program.
    @inlinable
    func shape(_ entity: Int) -> RecordShapes.Shape {
        precondition(entity < shapes.count, "the record follows another model than the batch or reader it is in")
        return shapes[entity]
    }
}
