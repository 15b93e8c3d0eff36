internal import CXXHash
internal import RoostCore

/// A table of unique keys, numbered from 0 in the order of their insertion.
struct KeyTable {
    /// A random seed, so that no data can be crafted to make all keys collide.
    private static let seed = UInt64.random(in: .min ... .max)

    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    private var hashes: [UInt64] = []
    /// A hash table of key numbers with linear probing; −1 marks a free place.
    private var places = [Int32](repeating: -1, count: 64)

    var count: Int { ends.count }

    mutating func insert(_ key: [UInt8]) -> (number: Int, isNew: Bool) {
        let hash = key.withUnsafeBytes { XXH3_64bits_withSeed($0.baseAddress, $0.count, Self.seed) }
        var place = Int(truncatingIfNeeded: hash) & (places.count - 1)
        while places[place] >= 0 {
            let number = Int(places[place])
            if hashes[number] == hash, isKey(number, key: key) { return (number, false) }
            place = (place + 1) & (places.count - 1)
        }
        places[place] = Int32(truncatingIfNeeded: count)
        bytes.append(contentsOf: key)
        ends.append(bytes.count)
        hashes.append(hash)
        if count * 2 > places.count { grow() }
        return (count - 1, true)
    }

    private func isKey(_ number: Int, key: [UInt8]) -> Bool {
        let start = number == 0 ? 0 : ends[number - 1]
        guard ends[number] - start == key.count else { return false }
        return bytes.withUnsafeBytes { bytes in
            key.withUnsafeBytes { key in
                PredicateOperand.order(UnsafeRawBufferPointer(rebasing: bytes[start..<ends[number]]), key) == 0
            }
        }
    }

    private mutating func grow() {
        places = [Int32](repeating: -1, count: places.count * 2)
        for (number, hash) in hashes.enumerated() {
            var place = Int(truncatingIfNeeded: hash) & (places.count - 1)
            while places[place] >= 0 { place = (place + 1) & (places.count - 1) }
            places[place] = Int32(truncatingIfNeeded: number)
        }
    }
}
