/// A random number generator (SplitMix64) whose numbers depend only on the seed.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns a number in `0..<limit`; the limit must be positive.
    package mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    /// Returns one of the elements; the list must not be empty.
    package mutating func pick<T>(_ list: [T]) -> T { list[below(list.count)] }

    /// Returns true once in `n` calls on average.
    package mutating func oneIn(_ n: Int) -> Bool { below(n) == 0 }
}
