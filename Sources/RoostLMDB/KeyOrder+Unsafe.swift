internal import CLMDB

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// LMDB's own order of keys, by bytes, for short keys without a call for each comparison.
///
/// A search compares some twenty keys, and nearly all keys have fewer than 16 bytes. The order is the one LMDB has without this, so
/// every program reads the file alike.
enum KeyOrder {
    /// Has the keys of a database compared by this; before anything is read, in the transaction that opened it.
    static func set(_ transaction: OpaquePointer?, _ database: MDB_dbi) -> CInt {
        mdb_set_compare(transaction, database) { left, right in
            guard let left, let right else { return 0 }
            return KeyOrder.order(UnsafeRawBufferPointer(left.pointee), UnsafeRawBufferPointer(right.pointee))
        }
    }

    /// Negative, zero or positive as `left` comes before, equals or comes after `right`.
    ///
    /// Two words, the second of which overlaps the first, are all bytes of a key of up to 16 that both have: where the first words
    /// are equal, what overlaps is too.
    static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> CInt {
        let common = min(left.count, right.count)
        // SAFETY: nothing is read from `common` on, and both have as many bytes.
        let order =
            switch common {
            case 4...8: words(left, right, common, as: UInt32.self)
            case 9...16: words(left, right, common, as: UInt64.self)
            default: bytes(left, right, common)
            }
        return order != 0 ? order : CInt(truncatingIfNeeded: (left.count - right.count).signum())
    }

    @inline(__always)
    private static func words<Word: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
        _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, _ count: Int, as type: Word.Type
    ) -> CInt {
        var (a, b) = (left.loadUnaligned(as: type), right.loadUnaligned(as: type))
        if a == b {
            let last = count - MemoryLayout<Word>.size
            a = left.loadUnaligned(fromByteOffset: last, as: type)
            b = right.loadUnaligned(fromByteOffset: last, as: type)
            if a == b { return 0 }
        }
        return Word(bigEndian: a) < Word(bigEndian: b) ? -1 : 1
    }

    @inline(__always)
    private static func bytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer, _ count: Int) -> CInt {
        guard count > 0, let a = left.baseAddress, let b = right.baseAddress else { return 0 }
        return memcmp(a, b, count)
    }
}
