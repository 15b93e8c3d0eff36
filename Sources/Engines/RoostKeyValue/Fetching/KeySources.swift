internal import RoostCore
internal import RoostQuery

/// Keys of objects, some at a time.
protocol KeySource: AnyObject {
    /// Replaces `keys` by the next ones; false at the end and ever after.
    func next(into keys: inout [Int64]) throws(StoreError) -> Bool
}

/// Keys that are all known, found when the first are asked for.
final class ListedKeys: KeySource {
    private var find: (() throws(StoreError) -> [Int64])?

    init(_ find: @escaping () throws(StoreError) -> [Int64]) { self.find = find }

    func next(into keys: inout [Int64]) throws(StoreError) -> Bool {
        keys = []
        guard let find else { return false }
        self.find = nil
        do throws(StoreError) {
            keys = try find()
        } catch {
            // The damaged object is not part of the result. The fetch needs all keys, so it cannot
            // continue after the error.
            throw error.withoutDamagedObject
        }
        return !keys.isEmpty
    }
}
