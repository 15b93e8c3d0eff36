package import RoostCore
package import RoostJSONText

/// A writer of records as JSON text: one object on one line for each record.
///
/// The text contains every value exactly. If dates are in seconds, ``RecordTextReader`` restores
/// the record's bytes. An example: `{"id": 7, "version": 2, "title": "Blue"}`.
///
/// - The entity (if requested), the key and the version come first, then every property that is not
///   null, in the order of names.
/// - A number or a boolean is a JSON number or boolean. A double is its shortest exact text.
/// - Doubles for which JSON has no number are `"NaN"`, `"Infinity"`, `"-Infinity"` and
///   `"NaN:<bits>"`.
/// - A decimal is a string. By default, a date is its seconds since 2001-01-01.
/// - Binary data and the stored form of a transformable value are base64.
/// - A composite is an object of its elements.
/// - A to-one relationship is the key of its destination, or `"Entity/key"` if the destination has
///   subentities. Every object ID is `"Entity/key"`.
/// - The value of `relationship#order` is the object's position in the ordered inverse of
///   `relationship`.
/// - A property called `id`, `version` or `entity` has `#value` after its name.
///
/// Writing most values allocates memory only for the text.
package struct RecordTextWriter: Sendable {
    // Loops over members use spans, which avoid copies and reference counting.

    /// The precomputed data for writing an entity's records.
    final class Plan: Sendable {
        /// The beginning of an object ID: `"Track/`.
        let idPrefix: [UInt8]
        /// The beginning of a record that contains its entity: `{"entity": "Track", "id": `.
        let head: [UInt8]
        let members: [Member]
        /// The members in the form for ``RecordTextWriter/appendMembers(of:record:to:)``.
        let steps: [Step]
        /// The joined prefixes of all members.
        let prefixes: [UInt8]
        /// All elements of composites, with dotted paths as keys.
        let elements: [Element]

        init(_ name: EntityName, layout: RecordLayout, members: [Member], dates: DateForm) {
            var head = TextBuffer()
            head.append("{\"entity\": ")
            JSONText.append(name.text, to: &head)
            head.append(", \"id\": ")
            self.head = head.bytes
            var idPrefix = TextBuffer()
            JSONText.append(name.text, to: &idPrefix)
            idPrefix.removeLast(1)
            idPrefix.append(UInt8(ascii: "/"))
            self.idPrefix = idPrefix.bytes
            self.members = members
            elements = members.flatMap(Element.elements)
            var (steps, prefixes): ([Step], [UInt8]) = ([], [])
            for member in members {
                steps.append(Step(member, layout: layout, prefixStart: prefixes.count, dates: dates))
                prefixes += member.prefix
            }
            (self.steps, self.prefixes) = (steps, prefixes)
        }
    }

    /// A member as plain data, which is copied without reference counting.
    struct Step {
        /// The field's kind; `composite` for a date that is not written in seconds.
        ///
        /// The loop over steps writes dates only in seconds. ``RecordTextWriter/append(_:of:to:)``
        /// writes other dates and composites.
        let kind: RecordLayout.Field.Kind
        /// The bit of the field in the bitmap of nulls, and the offset of its byte.
        let nullBit: UInt8
        let nullOffset: Int
        let byteOffset: Int
        /// The offset of the slot that stores the end of the previous tail value; nil for the first
        /// tail value and for fixed sizes.
        let startOffset: Int?
        /// The offset of the tail, which contains the values of variable size.
        let tailOffset: Int
        let prefixStart: Int
        let prefixCount: Int

        init(_ member: Member, layout: RecordLayout, prefixStart: Int, dates: DateForm) {
            let field = member.field
            kind = field.kind == .date && dates != .seconds ? .composite : field.kind
            nullBit = 1 << UInt8(field.index & 7)
            nullOffset = RecordLayout.Header.bitmap + field.index >> 3
            byteOffset = field.byteOffset
            startOffset = field.index > layout.firstVariableField ? field.byteOffset - 4 : nil
            tailOffset = layout.fixedByteCount
            self.prefixStart = prefixStart
            prefixCount = member.prefix.count
        }
    }

    /// A property, or an element of a composite.
    struct Member: Sendable {
        let field: RecordLayout.Field
        /// The text before the value: `, "name": `.
        let prefix: [UInt8]
        let elements: [Member]

        init(_ field: RecordLayout.Field, key: String, elements: [Member]) {
            self.field = field
            self.elements = elements
            var prefix = TextBuffer()
            prefix.append(", ")
            JSONText.append(key, to: &prefix)
            prefix.append(": ")
            self.prefix = prefix.bytes
        }
    }

    /// An element of a null composite, written as a member of the record.
    struct Element: Sendable {
        let composite: RecordLayout.Field
        let member: Member

        init(_ member: Member, of composite: RecordLayout.Field) {
            self.composite = composite
            self.member = Member(member.field, key: member.field.name, elements: member.elements)
        }

        /// Returns the elements of a composite, recursively.
        static func elements(of member: Member) -> [Element] {
            member.elements.flatMap { [Element($0, of: member.field)] + elements(of: $0) }
        }
    }

    let plans: [Plan]
    let dates: DateForm

    /// Creates a writer; only texts with dates in seconds can be read back.
    package init(model: ManagedObjectModel, dates: DateForm = .seconds) {
        self.dates = dates
        plans = model.entities.map { entity in
            Plan(entity.name, layout: entity.layout, members: Self.members(of: entity.layout, below: nil), dates: dates)
        }
    }

    /// Returns the members directly below a composite or the record, ordered by name.
    private static func members(of layout: RecordLayout, below composite: RecordLayout.Field?) -> [Member] {
        let prefix = composite.map { $0.name + "." } ?? ""
        let fields = layout.fields.filter { field in
            field.name.hasPrefix(prefix) && !field.name.dropFirst(prefix.count).contains(".")
        }
        return fields.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }.map { field in
            Member(
                field, key: composite == nil ? RecordText.key(of: field) : String(field.name.dropFirst(prefix.count)),
                elements: field.kind == .composite ? members(of: layout, below: field) : [])
        }
    }

    /// Appends a record as an object, without a line break.
    ///
    /// - Throws: `corrupted`, naming the object, for invalid UTF-8, a decimal that is not
    ///   canonical, or a reference to an unknown entity. After an error the text is unchanged.
    package func append(_ record: RecordReader, entityKey: Bool = false, to text: inout TextBuffer) throws(StoreError) {
        let start = text.count
        let plan = plans[record.entityNumber]
        if entityKey { text.append(contentsOf: plan.head) } else { text.append("{\"id\": ") }
        JSONText.append(record.key, to: &text)
        text.append(", \"version\": ")
        JSONText.append(Int64(record.version), to: &text)
        do throws(StoreError) {
            try appendMembers(of: plan, record: record, to: &text)
            // A composite can be null although some of its elements are not.
            let elements = plan.elements
            let elementSpan = elements.span
            for index in elementSpan.indices where record.isNull(elementSpan[index].composite) {
                try append(elementSpan[index].member, of: record, to: &text)
            }
        } catch {
            text.removeLast(text.count - start)
            throw error
        }
        text.append(UInt8(ascii: "}"))
    }

    /// Appends a member with its comma and key; appends nothing for a null value.
    func append(_ member: borrowing Member, of record: RecordReader, to text: inout TextBuffer) throws(StoreError) {
        guard !record.isNull(member.field) else { return }
        text.append(contentsOf: member.prefix)
        guard member.field.kind == .composite else {
            return try appendValue(of: member.field, record: record, to: &text)
        }
        text.append(UInt8(ascii: "{"))
        let start = text.count
        let elements = member.elements
        let span = elements.span
        for index in span.indices { try append(span[index], of: record, to: &text) }
        // Remove the comma before the first element.
        if text.count > start { text.removeSubrange(start..<start + 2) }
        text.append(UInt8(ascii: "}"))
    }
}
