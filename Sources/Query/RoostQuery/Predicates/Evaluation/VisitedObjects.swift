internal import RoostCore

/// A set of objects from which a path was already followed, each with the step of the path.
///
/// The set contains at most a million elements, in at most 32 MiB. Paths from further objects are
/// followed each time.
final class VisitedObjects {
    private struct Place {
        var key: Int64 = 0
        var step: Int32 = 0
        /// The round in which the place was last used; 0 for none.
        var round: UInt32 = 0
    }

    private let mostPlaces: Int
    /// A hash table; at most half full, so every search ends at a free place.
    private var places = [Place](repeating: Place(), count: 64)
    private var takenCount = 0
    private var round: UInt32 = 0

    init(mostPlaces: Int = 1 << 21) { self.mostPlaces = mostPlaces }

    /// Starts a round, with no objects in the set.
    func begin() {
        takenCount = 0
        round &+= 1
        guard round == 0 else { return }
        // After an overflow, round numbers repeat, so places of earlier rounds would appear to be in use.
        places = [Place](repeating: Place(), count: places.count)
        round = 1
    }

    /// Records that a path was followed from an object at a step; returns false if this was already
    /// recorded.
    func insert(_ key: Int64, at step: Int) -> Bool {
        let (found, isTaken) = position(of: key, step: step)
        guard !isTaken else { return false }
        if takenCount * 2 >= places.count {
            guard places.count < mostPlaces else { return true }
            grow()
            return insert(key, at: step)
        }
        places[found] = Place(key: key, step: Int32(truncatingIfNeeded: step), round: round)
        takenCount += 1
        return true
    }

    private func position(of key: Int64, step: Int) -> (Int, isTaken: Bool) {
        var bits = (UInt64(bitPattern: key) ^ UInt64(truncatingIfNeeded: step) << 48) &* 0x9E37_79B9_7F4A_7C15
        bits ^= bits >> 32
        var position = Int(truncatingIfNeeded: bits) & (places.count - 1)
        while places[position].round == round {
            if places[position].key == key, places[position].step == Int32(truncatingIfNeeded: step) {
                return (position, true)
            }
            position = (position + 1) & (places.count - 1)
        }
        return (position, false)
    }

    private func grow() {
        let old = places
        places = [Place](repeating: Place(), count: 2 * old.count)
        for place in old where place.round == round {
            places[position(of: place.key, step: Int(place.step)).0] = place
        }
    }
}
