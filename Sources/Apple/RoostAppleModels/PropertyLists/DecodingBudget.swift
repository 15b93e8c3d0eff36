internal import RoostCore

/// A limit on the objects and bytes that are read from a file's property lists and archives.
///
/// A small archive can refer to one text or list many times.
package final class DecodingBudget {
    /// The limits, far above the needs of real models.
    ///
    /// An object that is read several times counts each time.
    enum Limit {
        /// The limit for texts and data.
        static let bytes = 16 << 20
        /// The limit for objects and members.
        static let members = 2_000_000
    }

    package init() {}

    private(set) var byteCount = 0
    private(set) var memberCount = 0

    /// Counts the bytes of a text or of data before copying.
    func take(bytes count: Int, of file: String) throws(StoreError) {
        guard count <= Limit.bytes - byteCount else {
            throw StoreError(
                .limitExceeded,
                "\(file) unfolds to more than \(Limit.bytes) bytes of text and data; it is not read.")
        }
        byteCount += count
    }

    /// Counts an object, or the members of a collection, before reading.
    func take(members count: Int, of file: String) throws(StoreError) {
        guard count <= Limit.members - memberCount else {
            throw StoreError(.limitExceeded, "\(file) unfolds to more than \(Limit.members) parts; it is not read.")
        }
        memberCount += count
    }
}
