public import RoostCore

/// Writes records as JSON text: one object on one line for each.
///
/// The text holds every value exactly; ``RecordTextReader`` makes the same bytes of it. `{"id": 7, "version": 2, "title": "Blue"}`:
/// key and version come first, then every property that is not null, in the order of the model's names. Numbers and booleans
/// are JSON's own, a double is its shortest exact text; `"NaN"`, `"Infinity"`, `"-Infinity"` and `"NaN:<bits>"` are what JSON's
/// numbers cannot say. A decimal is a string of all its digits, a date its seconds since 2001-01-01, binary data and the stored
/// form of a transformable value base64, a composite an object of its elements. A to-one relationship is the key of its
/// destination, or `"Entity/key"` where the destination has subentities, as is every object ID; the place in an ordered inverse
/// is `relationship#order`. A property called `id`, `version` or `entity` is written as `id#value` and so on.
///
/// Names are resolved once, when the writer is made; nothing is allocated per record but what the text itself needs.
public struct RecordTextWriter: Sendable {
    /// What an entity's records consist of.
    struct Plan: Sendable {
        /// `"Track/`, to begin an object ID.
        var idPrefix: [UInt8]
        var members: [Member]
    }

    /// A property, or an element of a composite, with its text up to the value.
    struct Member: Sendable {
        var field: RecordLayout.Field
        /// `, "name": `, as a member of the record or of the composite.
        var prefix: [UInt8]
        /// The same with the dotted path, for an element whose composite is null; empty for anything else.
        var pathPrefix: [UInt8]
        /// The elements of a composite.
        var elements: [Member]
    }

    let plans: [Plan]

    /// Makes a writer of the records of a model.
    public init(model: ManagedObjectModel) {
        plans = model.entities.map { entity in
            var idPrefix: [UInt8] = []
            JSONText.append(entity.name.text, to: &idPrefix)
            idPrefix[idPrefix.count - 1] = UInt8(ascii: "/")
            return Plan(idPrefix: idPrefix, members: Self.members(of: entity.layout, below: nil))
        }
    }

    /// The fields directly below a composite, or of the record itself, by name.
    private static func members(of layout: RecordLayout, below composite: RecordLayout.Field?) -> [Member] {
        let prefix = composite.map { $0.name + "." } ?? ""
        let fields = layout.fields.filter { field in
            field.name.hasPrefix(prefix) && !field.name.dropFirst(prefix.count).contains(".")
        }
        return fields.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }.map { field in
            let isElement = composite != nil
            let key = isElement ? String(field.name.dropFirst(prefix.count)) : RecordText.key(of: field)
            return Member(
                field: field, prefix: memberPrefix(key), pathPrefix: isElement ? memberPrefix(field.name) : [],
                elements: field.kind == .composite ? members(of: layout, below: field) : [])
        }
    }

    private static func memberPrefix(_ key: String) -> [UInt8] {
        var text = Array(", ".utf8)
        JSONText.append(key, to: &text)
        text.append(contentsOf: ": ".utf8)
        return text
    }

    /// Appends one record as an object, without a line break.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - entityKey: Whether the object begins with `"entity": "<name>"`.
    ///   - text: What is appended to.
    /// - Throws: Code `corrupted`, naming the object, for a value that no text can hold: invalid UTF-8, a decimal that is not
    ///   canonical, a reference to an entity that does not exist. The text is as it was then.
    public func append(_ record: RecordReader, entityKey: Bool = false, to text: inout [UInt8]) throws(StoreError) {
        let start = text.count
        let plan = plans[record.entityNumber]
        if entityKey {
            text.append(contentsOf: "{\"entity\": ".utf8)
            text.append(contentsOf: plan.idPrefix.dropLast())
            text.append(contentsOf: "\", \"id\": ".utf8)
        } else {
            text.append(contentsOf: "{\"id\": ".utf8)
        }
        JSONText.append(record.key, to: &text)
        text.append(contentsOf: ", \"version\": ".utf8)
        JSONText.append(Int64(record.version), to: &text)
        do throws(StoreError) {
            for member in plan.members { try append(member, of: record, to: &text) }
        } catch {
            text.removeLast(text.count - start)
            throw error
        }
        text.append(UInt8(ascii: "}"))
    }

    /// Appends a member with the comma and the key before it, or nothing where it has no value.
    func append(
        _ member: Member, of record: RecordReader, isPath: Bool = false, to text: inout [UInt8]
    ) throws(StoreError) {
        let field = member.field
        if field.kind == .composite, record.isNull(field) {
            // Elements may have values all the same; they go by their paths then.
            for element in member.elements { try append(element, of: record, isPath: true, to: &text) }
            return
        }
        guard !record.isNull(field) else { return }
        text.append(contentsOf: isPath ? member.pathPrefix : member.prefix)
        guard field.kind == .composite else { return try appendValue(of: field, record, to: &text) }
        text.append(UInt8(ascii: "{"))
        let start = text.count
        for element in member.elements { try append(element, of: record, to: &text) }
        // The first element has no comma before it.
        if text.count > start { text.removeSubrange(start..<start + 2) }
        text.append(UInt8(ascii: "}"))
    }
}
