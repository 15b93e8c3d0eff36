internal import RoostCore
internal import RoostQuery

/// A source of object keys in batches.
protocol KeySource: AnyObject {
    /// Replaces `keys` with the next keys; returns false at the end and in all later calls.
    func next(into keys: inout [Int64]) throws(StoreError) -> Bool
}

/// A source that finds all its keys in the first call.
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
            // After an error that names a damaged object, a caller may continue. Without all keys, this fetch cannot.
            throw error.withoutDamagedObject
        }
        return !keys.isEmpty
    }
}
