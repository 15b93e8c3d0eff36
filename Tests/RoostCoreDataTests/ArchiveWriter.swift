/// A property list that tests make, with the UIDs that only archives have.
indirect enum TestPlist {
    case bool(Bool)
    case int(Int64)
    /// An integer of sixteen bytes.
    case wide(high: Int64, low: Int64)
    case real(Double)
    case string(String)
    case data([UInt8])
    case date(Double)
    case uid(Int)
    case array([TestPlist])
    case dict([(String, TestPlist)])

    /// The binary form, without sharing of equal objects.
    var binary: [UInt8] {
        var objects: [[UInt8]] = []
        func big(_ value: UInt64, byteCount count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (count - 1 - $0))) }
        }
        func head(_ marker: UInt8, count: Int) -> [UInt8] {
            count < 15 ? [marker << 4 | UInt8(count)] : [marker << 4 | 15, 0x12] + big(UInt64(count), byteCount: 4)
        }
        func add(_ value: TestPlist) -> Int {
            let number = objects.count
            objects.append([])
            switch value {
            case .bool(let flag): objects[number] = [flag ? 9 : 8]
            case .int(let integer): objects[number] = [0x13] + big(UInt64(bitPattern: integer), byteCount: 8)
            case .wide(let high, let low):
                objects[number] =
                    [0x14] + big(UInt64(bitPattern: high), byteCount: 8) + big(UInt64(bitPattern: low), byteCount: 8)
            case .real(let double): objects[number] = [0x23] + big(double.bitPattern, byteCount: 8)
            case .date(let double): objects[number] = [0x33] + big(double.bitPattern, byteCount: 8)
            case .data(let bytes): objects[number] = head(4, count: bytes.count) + bytes
            case .uid(let uid): objects[number] = [0x81] + big(UInt64(uid), byteCount: 2)
            case .string(let text):
                objects[number] =
                    text.utf8.allSatisfy { $0 < 0x80 }
                    ? head(5, count: text.utf8.count) + Array(text.utf8)
                    : head(6, count: text.utf16.count) + text.utf16.flatMap { big(UInt64($0), byteCount: 2) }
            case .array(let members):
                let numbers = members.map(add)
                objects[number] = head(10, count: members.count) + numbers.flatMap { big(UInt64($0), byteCount: 2) }
            case .dict(let members):
                let keys = members.map { add(.string($0.0)) }
                let values = members.map { add($0.1) }
                objects[number] =
                    head(13, count: members.count) + (keys + values).flatMap { big(UInt64($0), byteCount: 2) }
            }
            return number
        }
        _ = add(self)
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            bytes += object
        }
        let table = bytes.count
        bytes += offsets.flatMap { big(UInt64($0), byteCount: 4) }
        return bytes + [0, 0, 0, 0, 0, 0, 4, 2] + big(UInt64(objects.count), byteCount: 8) + big(0, byteCount: 8)
            + big(UInt64(table), byteCount: 8)
    }
}

/// A writer of keyed archives like those in which Core Data stores its models.
struct ArchiveWriter {
    private var objects: [TestPlist] = [.string("$null")]
    private var classes: [String: TestPlist] = [:]

    /// Reserves a place for an object in a reference cycle.
    mutating func reserve() -> TestPlist {
        objects.append(.string(""))
        return .uid(objects.count - 1)
    }

    mutating func add(_ value: TestPlist) -> TestPlist {
        objects.append(value)
        return .uid(objects.count - 1)
    }

    mutating func string(_ text: String) -> TestPlist { add(.string(text)) }

    mutating func object(_ className: String, fields: [(String, TestPlist)], at place: TestPlist? = nil) -> TestPlist {
        let known =
            classes[className]
            ?? add(.dict([("$classname", .string(className)), ("$classes", .array([.string(className)]))]))
        classes[className] = known
        let value = TestPlist.dict([("$class", known)] + fields)
        if case .uid(let number)? = place {
            objects[number] = value
            return .uid(number)
        }
        return add(value)
    }

    mutating func list(_ members: [TestPlist], className: String = "NSArray") -> TestPlist {
        object(className, fields: [("NS.objects", .array(members))])
    }

    mutating func dictionary(_ members: [(String, TestPlist)]) -> TestPlist {
        let keys = members.map { string($0.0) }
        return object(
            "NSMutableDictionary", fields: [("NS.keys", .array(keys)), ("NS.objects", .array(members.map(\.1)))])
    }

    /// Adds an `NSKnownKeysDictionary1`, in which nil is an empty slot.
    mutating func knownKeys(_ members: [(String, TestPlist?)]) -> TestPlist {
        let token = string("__empty_slot__")
        let keys = members.map { string($0.0) }
        let keyList = list(keys)
        let mapping = object(
            "NSKnownKeysMappingStrategy1",
            fields: [("keys", keyList), ("length", .int(Int64(members.count))), ("version", .int(1))])
        let values = list(members.map { $0.1 ?? token })
        return object(
            "NSKnownKeysDictionary1",
            fields: [("searchMapping", mapping), ("values", values), ("emptyToken", token), ("version", .int(1))])
    }

    func archive(_ root: TestPlist) -> [UInt8] {
        TestPlist.dict([
            ("$version", .int(100_000)), ("$archiver", .string("NSKeyedArchiver")), ("$top", .dict([("root", root)])),
            ("$objects", .array(objects)),
        ]).binary
    }
}

/// Encodes bytes as raw DEFLATE without compression: stored blocks (RFC 1951 §3.2.4).
func deflateStored(_ bytes: [UInt8]) -> [UInt8] {
    var packed: [UInt8] = []
    var rest = bytes[...]
    repeat {
        let block = rest.prefix(60_000)
        rest = rest.dropFirst(block.count)
        let (low, high) = (UInt8(block.count & 0xFF), UInt8(block.count >> 8))
        packed += [rest.isEmpty ? 1 : 0, low, high, ~low, ~high] + block
    } while !rest.isEmpty
    return packed
}
