package import RoostCore
package import RoostJSONText

/// Links as JSON text: `[source, target]`, `[source, target, place]` or
/// `[source, target, place, inverse place]`.
///
/// The place is ``Link/order``, and the inverse place is ``Link/inverseOrder``. Trailing places
/// that are 0 are omitted.
package enum LinkText {
    package static func append(_ link: Link, to text: inout TextBuffer) {
        text.append(UInt8(ascii: "["))
        JSONText.append(link.source, to: &text)
        appendNext(link.target, to: &text)
        if link.order != 0 || link.inverseOrder != 0 { appendNext(link.order, to: &text) }
        if link.inverseOrder != 0 { appendNext(link.inverseOrder, to: &text) }
        text.append(UInt8(ascii: "]"))
    }

    private static func appendNext(_ number: Int64, to text: inout TextBuffer) {
        text.append(", ")
        JSONText.append(number, to: &text)
    }

    /// Reads the rest of a link.
    ///
    /// The reader must be at the link's `[`. On return, it is at the link's `]`.
    ///
    /// - Throws: The reader's errors; ``JSONTokenReader/errorCode`` for an invalid link.
    package static func read(
        from reader: inout JSONTokenReader, of relationship: ManagedObjectModel.Relationship
    ) throws(StoreError) -> Link {
        guard reader.token == .beginArray else { throw reader.mismatch("a link of '\(relationship.name)', an array,") }
        var link = Link(0, 0)
        var count = 0
        while try reader.nextElement() {
            guard count < 4 else {
                throw reader.error("a link of '\(relationship.name)' has at most two keys and two places")
            }
            guard let number = reader.integer else {
                throw reader.integerMismatch("a whole number of 64 bits in a link of '\(relationship.name)'")
            }
            guard count > 1 || number > 0 else {
                throw reader.error("a key in a link of '\(relationship.name)' is below 1")
            }
            switch count {
            case 0: link.source = number
            case 1: link.target = number
            case 2:
                guard number == 0 || relationship.isOrdered else {
                    throw reader.error("'\(relationship.name)' is not ordered, so its links have no place")
                }
                link.order = number
            default:
                guard number == 0 || relationship.inverseIsOrdered else {
                    throw reader.error(
                        "the inverse of '\(relationship.name)' is not ordered, so a link has no inverse place")
                }
                link.inverseOrder = number
            }
            count += 1
        }
        guard count > 1 else { throw reader.error("a link of '\(relationship.name)' needs two keys") }
        return link
    }
}
