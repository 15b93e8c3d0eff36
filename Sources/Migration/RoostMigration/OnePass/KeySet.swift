internal import RoostCore

/// A set of keys that are added in ascending order.
///
/// Each aligned block of 64 possible keys takes sixteen bytes if the set contains any of them.
struct KeySet: Sendable {
    /// The blocks that are not empty, in ascending order, as keys divided by 64.
    private var places: [Int64] = []
    /// A bit mask for each block, with a bit for each key.
    private var bits: [UInt64] = []

    /// Adds a key that is not less than any previous key.
    mutating func append(_ key: Int64) {
        let (place, bit) = (key >> 6, UInt64(1) << UInt64(key & 63))
        if places.last == place {
            bits[bits.count - 1] |= bit
        } else {
            places.append(place)
            bits.append(bit)
        }
    }

    func contains(_ key: Int64) -> Bool {
        let place = key >> 6
        var (low, high) = (0, places.count)
        while low < high {
            let middle = low + (high - low) / 2
            if places[middle] < place { low = middle + 1 } else { high = middle }
        }
        return low < places.count && places[low] == place && bits[low] & (1 << UInt64(key & 63)) != 0
    }
}
