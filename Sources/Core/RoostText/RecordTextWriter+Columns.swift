internal import RoostCore
internal import RoostJSONText

extension RecordTextWriter {
    /// Appends the value of a field that is not null; a composite is an object of its elements.
    func appendWhole(
        _ field: RecordLayout.Field, record: RecordReader, to text: inout TextBuffer
    ) throws(StoreError) {
        guard field.kind == .composite else { return try appendValue(of: field, record: record, to: &text) }
        guard let member = Self.member(field, among: plans[record.entityNumber].members) else { return }
        let start = text.count
        try append(member, of: record, to: &text)
        text.removeSubrange(start..<start + member.prefix.count)
    }

    /// Returns the member for a field, at any depth of composites.
    private static func member(_ field: RecordLayout.Field, among members: [Member]) -> Member? {
        for member in members {
            if member.field == field { return member }
            guard field.name.hasPrefix(member.field.name + ".") else { continue }
            if let found = Self.member(field, among: member.elements) { return found }
        }
        return nil
    }
}
