/// A source of random numbers that a seed determines.
public protocol CampaignRandom {
    /// The next 64 bits.
    mutating func next() -> UInt64
}

extension CampaignRandom {
    /// Returns a number below `limit`, which must be positive.
    public mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
    mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }
}

/// The generator of random numbers for one file of a campaign.
///
/// It depends only on a seed and the number of the file.
public struct TrialRandom: CampaignRandom {
    private var state: UInt64

    /// Creates the generator of one trial.
    public init(seed: UInt64, number: Int) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(truncatingIfNeeded: number) &* 0xD6E8_FEB8_6659_FD93
        _ = next()
    }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// A kind of damage to a file.
public enum Mutation: String, CaseIterable, Sendable {
    case oneBit, severalBits, oneByte, zeros, randomBytes, truncation, growth, exchangedPages, copiedPage, zeroedSector
    case insertedBytes, deletedBytes, extremeNumber

    /// Returns a changed copy of a sound file; most changes aim at live bytes.
    ///
    /// - Parameters:
    ///   - good: The sound file.
    ///   - live: Its live bytes.
    ///   - mark: Bytes that identify cells, for example cells with property lists. If a cell
    ///     contains the mark, about half of the changes aim at such cells.
    ///   - random: The generator that chooses the change.
    /// - Returns: The changed file, the mutation, and whether a live byte changed.
    public static func apply(
        to good: [UInt8], live: LiveBytes, mark: [UInt8]? = nil, using random: inout some CampaignRandom
    ) -> (bytes: [UInt8], mutation: Mutation, hitsLive: Bool) {
        while true {
            let mutation = allCases[random.below(allCases.count)]
            let bytes = mutation.changed(good, live: live, mark: mark, using: &random)
            if bytes != good { return (bytes, mutation, live.areHit(in: bytes, of: good)) }
        }
    }

    /// Appends random bytes, zeros or the beginning of the file.
    private static func grow(_ bytes: inout [UInt8], with good: [UInt8], using random: inout some CampaignRandom) {
        let count = 1 + random.below(20_000)
        switch random.below(3) {
        case 0: bytes += (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        case 1: bytes += [UInt8](repeating: 0, count: count)
        default: bytes += good.prefix(count)
        }
    }

    private func changed(
        _ good: [UInt8], live: LiveBytes, mark: [UInt8]?, using random: inout some CampaignRandom
    ) -> [UInt8] {
        var bytes = good
        func aim(_ random: inout some CampaignRandom) -> Int {
            if let mark, random.oneIn(2), let position = live.position(inCellWith: mark, of: good, using: &random) {
                return position
            }
            return random.oneIn(5) ? random.below(good.count) : live.position(using: &random)
        }
        func run(atMost most: Int, using random: inout some CampaignRandom) -> Range<Int> {
            let start = aim(&random)
            // Short runs are as likely as long ones.
            let count = 1 + random.below(1 << (1 + random.below(most.bitWidth - most.leadingZeroBitCount - 1)))
            return start..<min(good.count, start + count)
        }
        let pageSize = 4096
        func page(_ random: inout some CampaignRandom) -> Range<Int> {
            let start = aim(&random) / pageSize * pageSize
            return start..<min(good.count, start + pageSize)
        }
        switch self {
        case .oneBit: bytes[aim(&random)] ^= 1 << UInt8(random.below(8))
        case .severalBits:
            for _ in 0..<(2 + random.below(63)) { bytes[aim(&random)] ^= 1 << UInt8(random.below(8)) }
        case .oneByte: bytes[aim(&random)] = UInt8(truncatingIfNeeded: random.next())
        case .zeros: for index in run(atMost: 4096, using: &random) { bytes[index] = 0 }
        case .randomBytes:
            for index in run(atMost: 4096, using: &random) { bytes[index] = UInt8(truncatingIfNeeded: random.next()) }
        case .truncation:
            let end = random.oneIn(2) ? aim(&random) : random.below(good.count) / pageSize * pageSize
            bytes.removeSubrange(end...)
        case .growth: Self.grow(&bytes, with: good, using: &random)
        case .exchangedPages:
            let (a, b) = (page(&random), page(&random))
            guard a.count == b.count else { break }
            bytes.replaceSubrange(a, with: good[b])
            bytes.replaceSubrange(b, with: good[a])
        case .copiedPage:
            let (a, b) = (page(&random), page(&random))
            if a.count == b.count { bytes.replaceSubrange(a, with: good[b]) }
        case .zeroedSector:
            let start = aim(&random) / 512 * 512
            for index in start..<min(good.count, start + 512) { bytes[index] = 0 }
        case .insertedBytes:
            let count = 1 + random.below(64)
            bytes.insert(
                contentsOf: (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }, at: aim(&random))
        case .deletedBytes:
            let start = aim(&random)
            bytes.removeSubrange(start..<min(good.count, start + 1 + random.below(64)))
        case .extremeNumber:
            let (start, count) = (aim(&random), [1, 2, 4, 8][random.below(4)])
            let extremes: [(first: UInt8, rest: UInt8)] = [(0, 0), (0xFF, 0xFF), (0x7F, 0xFF), (0x80, 0), (0, 1)]
            let (first, rest) = extremes[random.below(extremes.count)]
            for index in start..<min(good.count, start + count) { bytes[index] = index == start ? first : rest }
        }
        return bytes
    }
}
