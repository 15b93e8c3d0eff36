/// The parts of a model's layouts that are needed to check and read records, by entity number.
///
/// Access uses no reference counting, which would slow down every read of a record.
@usableFromInline
final class RecordShapes: @unchecked Sendable {
    // Proof of Sendable: the shapes are written only in `init`, before the object is shared, and
    // freed only in `deinit`.

    @usableFromInline
    struct Shape {
        @usableFromInline let fieldCount: Int
        @usableFromInline let fixedByteCount: Int
        /// The offset of the first tail field's slot.
        ///
        /// The slots of tail fields are adjacent and directly precede the tail.
        @usableFromInline let firstVariableByteOffset: Int
        /// The number of the hierarchy's root entity.
        @usableFromInline let root: Int
        // SAFETY: `layouts` retains the layout as long as the shapes exist.
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
    /// Returns the shape of an entity's records; traps if the model has no such entity.
    @inlinable
    func shape(_ entity: Int) -> RecordShapes.Shape {
        precondition(entity < shapes.count, "the model of the record is not the model of its batch or reader")
        return shapes[entity]
    }
}
