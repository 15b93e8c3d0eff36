internal import CTracks

/// The content of the workload.
///
/// Except for tags, C code that both sides share computes the content.
enum Tracks {
    static func albumCount(trackCount: Int) -> Int { Int(tracks_album_count(Int64(trackCount))) }

    /// Returns element `index` of a scattered sequence of numbers from 1 to `count`, with
    /// repetitions.
    static func randomKey(_ index: Int, count: Int) -> Int64 { tracks_random_key(UInt64(index), Int64(count)) }

    /// Returns element `index` of a permutation of the numbers from 1 to `count`.
    static func distinctKey(_ index: Int, count: Int) -> Int64 { tracks_distinct_key(UInt64(index), Int64(count)) }

    /// Returns element `index` of a scattered sequence of ranges of titles.
    ///
    /// A range includes `lower` and excludes `upper`.
    static func titleRange(_ index: Int, trackCount: Int) -> (lower: String, upper: String) {
        var lower = [CChar](repeating: 0, count: Int(TRACK_TITLE_LIMIT))
        var upper = lower
        // Both arrays have the required size, and the function ends both texts with a zero.
        tracks_title_range(UInt64(index), Int64(trackCount), &lower, &upper)
        func text(_ bytes: [CChar]) -> String {
            String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        return (text(lower), text(upper))
    }

    /// Returns the tags of the track with this number in ascending order: five different tags, if
    /// at least 29 tags exist.
    static func tags(of number: Int, tagCount: Int) -> [Int64] {
        let first = Int(randomKey(number, count: tagCount)) - 1
        return Set((0..<5).map { Int64((first + 7 * $0) % tagCount + 1) }).sorted()
    }

    static func tagTitle(_ number: Int) -> String { "Tag \(number)" }

    /// Returns the checksum of a track and one of its tags.
    ///
    /// The checksum of many pairs is the sum of their checksums.
    static func tagChecksum(track: Int64, tag: Int64) -> UInt64 {
        (UInt64(bitPattern: track) &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(bitPattern: tag)) &* 0x94D0_49BB_1331_11EB
    }

    /// Creates the track with this number, and returns its checksum.
    static func make(_ number: Int64, albumCount: Int, into value: inout track) -> UInt64 {
        track_make(number, Int64(albumCount), &value)
        return track_checksum(&value)
    }
}
