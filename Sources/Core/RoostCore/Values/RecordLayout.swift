/// The positions of the values in one entity's records.
///
/// RECORD-FORMAT.md specifies the format.
///
/// A record consists of a header, a bitmap of nulls, one slot per field, and a tail with the bytes
/// of strings and data. Reading a field is O(1). Compatible models have the same layouts.
public final class RecordLayout: Sendable {
    /// The position and type of one value in a record.
    public struct Field: Sendable, Hashable {
        /// The type of value in a field's slot.
        public enum Kind: UInt8, Sendable, CaseIterable {
            /// A decimal, 20 bytes: mantissa (16 bytes), exponent (2), sign (1), and a byte that is
            /// always 0.
            ///
            /// The sign is 1 for a negative number, 2 for NaN, and 0 for any other number.
            case decimal
            /// A UUID, 16 bytes in the order of its text.
            case uuid
            /// An object-ID attribute, 12 bytes: key (8), entity number (4).
            case objectID
            /// A to-one relationship to an entity with subentities, 12 bytes as in ``objectID``.
            case polymorphicReference
            /// Any other to-one relationship, 8 bytes: the key.
            case reference
            /// The place of the object in the ordered inverse of a to-one relationship, 8 bytes.
            ///
            /// The field's name is the relationship's name followed by `#order`.
            case order
            /// 8 bytes.
            case integer64
            /// 8 bytes.
            case double
            /// Seconds since 2001-01-01 as a double, 8 bytes.
            case date
            /// 4 bytes.
            case integer32
            /// 4 bytes.
            case float
            /// 2 bytes.
            case integer16
            /// 1 byte, 0 or 1.
            case boolean
            /// No bytes; the bit in the bitmap shows whether the composite itself is null.
            case composite
            /// UTF-8 in the tail.
            ///
            /// The slot of any tail field has 4 bytes: the offset in the tail where the field ends.
            case string
            /// A URI's text in the tail.
            case uri
            /// Bytes in the tail.
            case data
            /// The encoded bytes of a transformable value in the tail.
            case transformable

            @usableFromInline package var width: Int {
                switch self {
                case .decimal: 20
                case .uuid: 16
                case .objectID, .polymorphicReference: 12
                case .reference, .order, .integer64, .double, .date: 8
                case .integer32, .float, .string, .uri, .data, .transformable: 4
                case .integer16: 2
                case .boolean: 1
                case .composite: 0
                }
            }

            /// Whether the value's bytes are in the tail.
            @usableFromInline package var isVariable: Bool { rawValue >= Kind.string.rawValue }
        }

        /// The property's name, the dotted path of a composite's element, or `relationship#order`.
        public let name: String
        /// The type of value in the slot.
        public let kind: Kind
        /// The field's position in ``RecordLayout/fields``, which is also its bit in the bitmap.
        public let index: Int
        /// The offset of the slot from the start of the record.
        @usableFromInline package let byteOffset: Int
        /// The number of the destination entity, for references.
        @usableFromInline package let destination: Int?
        /// The number of the relationship, for references and orders.
        package let relationship: Int?
    }

    /// A field before its position is computed.
    struct Draft {
        var name: String
        var kind: Field.Kind
        var destination: Int?
        var relationship: Int?

        static func precedes(_ left: Draft, _ right: Draft) -> Bool {
            if left.kind != right.kind { return left.kind.rawValue < right.kind.rawValue }
            return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
    }

    /// Byte offsets of the header's parts.
    @usableFromInline package enum Header {
        /// The checksum, 8 bytes.
        @inlinable package static var checksum: Int { 0 }
        /// The version counter, 4 bytes.
        @inlinable package static var version: Int { 8 }
        /// The entity number, 2 bytes.
        @inlinable package static var entity: Int { 12 }
        /// The number of fields, 2 bytes.
        @inlinable package static var fieldCount: Int { 14 }
        /// The bitmap: bit *i* mod 8 of byte *i* / 8 is set if field *i* is null.
        @inlinable package static var bitmap: Int { 16 }
    }

    @inlinable package static var maximumByteCount: Int { 1 << 30 }

    /// The entity's name.
    public let entity: EntityName
    package let entityNumber: Int
    /// The fields in the order of their slots: by kind, then by the bytes of their names.
    public let fields: [Field]
    /// The number of bytes before the tail.
    package let fixedByteCount: Int
    /// The index of the first tail field; without tail fields, the number of fields.
    package let firstVariableField: Int
    let hasComposites: Bool
    /// A record in which every field is null.
    @usableFromInline package let template: [UInt8]
    private let indexByName: [String: Int]

    /// Creates a layout from drafts in the order of ``Draft/precedes(_:_:)``.
    init(entity: EntityName, entityNumber: Int, sortedDrafts sorted: [Draft]) {
        let bitmapByteCount = (sorted.count + 7) / 8
        var offset = Header.bitmap + bitmapByteCount
        var fields: [Field] = []
        for (index, draft) in sorted.enumerated() {
            fields.append(
                Field(
                    name: draft.name, kind: draft.kind, index: index, byteOffset: offset,
                    destination: draft.destination, relationship: draft.relationship))
            offset += draft.kind.width
        }
        self.entity = entity
        self.entityNumber = entityNumber
        self.fields = fields
        fixedByteCount = offset
        firstVariableField = fields.firstIndex { $0.kind.isVariable } ?? fields.count
        hasComposites = fields.contains { $0.kind == .composite }
        indexByName = Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.index) })

        var template = [UInt8](repeating: 0, count: offset)
        template[Header.entity] = UInt8(truncatingIfNeeded: entityNumber)
        template[Header.entity + 1] = UInt8(truncatingIfNeeded: entityNumber >> 8)
        template[Header.fieldCount] = UInt8(truncatingIfNeeded: fields.count)
        template[Header.fieldCount + 1] = UInt8(truncatingIfNeeded: fields.count >> 8)
        for index in fields.indices { template[Header.bitmap + index / 8] |= 1 << UInt8(index % 8) }
        self.template = template
    }

    /// Returns the field with this name, or nil.
    public func field(_ name: String) -> Field? { indexByName[name].map { fields[$0] } }

    /// Returns the field with this name.
    ///
    /// - Throws: `unknownProperty` if the entity has no such field.
    public func requireField(_ name: String) throws(StoreError) -> Field {
        guard let field = field(name) else {
            let hint = nearestName(to: name, among: fields.map(\.name)).map { "; did you mean '\($0)'?" } ?? "."
            throw StoreError(.unknownProperty, "Entity '\(entity)' has no stored property '\(name)'\(hint)")
        }
        return field
    }

    package static func orderFieldName(of relationship: String) -> String { relationship + "#order" }
}
