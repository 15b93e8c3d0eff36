import Foundation
import RoostCore
import Testing

@testable import RoostKeyValue

@Suite("Index key encodings")
struct IndexKeyEncodingTests {
    private func bytes(_ body: (inout [UInt8]) -> Void) -> [UInt8] {
        var bytes: [UInt8] = []
        body(&bytes)
        return bytes
    }

    /// Expects that any two encodings sort like their values.
    private func expectOrder<T>(of values: [T], encode: (T) -> [UInt8], precedes: (T, T) -> Bool) {
        let encoded = values.map(encode)
        for (i, a) in values.enumerated() {
            for (j, b) in values.enumerated() {
                #expect(encoded[i].lexicographicallyPrecedes(encoded[j]) == precedes(a, b), "\(a) and \(b)")
            }
        }
    }

    @Test("index keys of integers sort as numbers")
    func sortsIntegers() {
        var generator = SeededGenerator(1)
        let values =
            [.min, .min + 1, -256, -255, -1, 0, 1, 255, 256, .max - 1, .max]
            + (0..<60).map { _ in Int64.random(in: .min ... .max, using: &generator) }
        expectOrder(of: values, encode: { value in bytes { IndexKeyEncoding.append(value, to: &$0) } }, precedes: <)
    }

    @Test("index keys of doubles sort as numbers, with NaN last and one key for both zeros")
    func sortsDoubles() {
        var generator = SeededGenerator(2)
        var values: [Double] = [
            -.infinity, -.greatestFiniteMagnitude, -1.5, -.leastNonzeroMagnitude, -0.0, 0.0, .leastNonzeroMagnitude,
            1, 1.5, .greatestFiniteMagnitude, .infinity,
        ]
        for _ in 0..<60 {
            let value = Double(bitPattern: UInt64.random(in: .min ... .max, using: &generator))
            if !value.isNaN { values.append(value) }
        }
        func encode(_ value: Double) -> [UInt8] { bytes { IndexKeyEncoding.append(value, to: &$0) } }
        expectOrder(of: values, encode: encode, precedes: <)
        #expect(encode(-0.0) == encode(0.0))
        #expect(encode(.nan) == encode(-.nan))
        #expect(encode(.infinity).lexicographicallyPrecedes(encode(.nan)))
    }

    @Test("index keys of decimals of every size and sign sort as numbers")
    func sortsDecimals() throws {
        var generator = SeededGenerator(3)
        var values = try [
            "0", "-1", "1", "10", "9.99", "10.01", "1e127", "-1e127", "1e-128", "-1e-128", "NaN",
            "99999999999999999999999999999999999999", "99999999999999999999999999999999999998",
        ]
        .map { try #require(DecimalNumber(utf8: $0.utf8)) }
        for _ in 0..<60 {
            let mantissa = UInt128.random(in: 0..<1_000_000, using: &generator)
            values.append(
                try #require(
                    DecimalNumber(
                        isNegative: Bool.random(using: &generator), mantissa: mantissa,
                        exponent: Int.random(in: -6...6, using: &generator))))
        }
        expectOrder(of: values, encode: { value in bytes { IndexKeyEncoding.append(value, to: &$0) } }, precedes: <)
    }

    @Test("index keys of text and data sort by bytes, whatever bytes follow them")
    func sortsText() {
        var generator = SeededGenerator(4)
        var values: [[UInt8]] = [
            [], [0], [0, 0], [0, 1], [0, 255], [1], [1, 0], [255], [255, 255], [97], [97, 0], [97, 98],
        ]
        for _ in 0..<60 {
            values.append(
                (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                    [0, 1, 97, 254, 255].randomElement(using: &generator) ?? 0
                })
        }
        for suffix in [[UInt8](), [0], [255, 255]] {
            expectOrder(
                of: values,
                encode: { value in
                    bytes { bytes in value.withUnsafeBytes { IndexKeyEncoding.append(escaping: $0, to: &bytes) } }
                        + suffix
                },
                precedes: { $0.lexicographicallyPrecedes($1) })
        }
    }

    @Test("index keys of each type sort with null first, or reversed if descending")
    func sortsFields() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Thing",
                attributes: [
                    AttributeDescription("int", type: .integer16), AttributeDescription("text", type: .string),
                    AttributeDescription("date", type: .date), AttributeDescription("flag", type: .boolean),
                    AttributeDescription("uuid", type: .uuid), AttributeDescription("float", type: .float),
                ])
        ])
        let entity = try model.requireEntity("Thing")
        let ordered: [(String, [Value])] = [
            ("int", [.null, -5, 0, 7]), ("text", [.null, "", "a", "é", "中", "😀"]), ("flag", [.null, false, true]),
            (
                "date",
                [
                    .null, .date(Date(timeIntervalSinceReferenceDate: -1)),
                    .date(Date(timeIntervalSinceReferenceDate: 2)),
                ]
            ),
            ("float", [.null, -2.5, 0.5]),
            (
                "uuid",
                [
                    .null, .uuid(UUID(uuid: (0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))),
                    .uuid(UUID(uuid: (255, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))),
                ]
            ),
        ]
        for (name, values) in ordered {
            let field = try entity.layout.requireField(name)
            var batch = RecordBatch(model: model)
            for (index, value) in values.enumerated() {
                try batch.append(ObjectID("Thing", key: Int64(index + 1)), values: [name: value])
            }
            for isAscending in [true, false] {
                let keys = (0..<batch.count).map { index in
                    bytes { bytes in
                        batch.withRecord(at: index) { record in
                            _ = IndexKeyEncoding.append(
                                field, of: record, isAscending: isAscending, model: model, to: &bytes)
                        }
                    }
                }
                let sorted = keys.sorted { $0.lexicographicallyPrecedes($1) }
                #expect(sorted == (isAscending ? keys : keys.reversed()), "\(name)")
            }
        }
    }

    @Test("each shortened unique key has the maximum length, and no index key is longer", arguments: [64, 100, 511])
    func limitsKeyLength(limit: Int) {
        var key = StorageKey()
        for count in 0...600 {
            let values = [UInt8](repeating: 7, count: count)
            let isWhole = IndexKeyEncoding.makeUniqueKey(
                constraint: 3, values: values, object: 9, limit: limit, into: &key)
            #expect(isWhole == (count + 1 < limit) && key.count <= limit && (isWhole || key.count == limit))
            IndexKeyEncoding.makeIndexKey(index: 3, values: values, object: 9, limit: limit, into: &key)
            #expect(key.count <= limit)
        }
    }

    @Test("places in keys sort as numbers")
    func sortsPlaces() {
        expectOrder(
            of: [Int64.min, -256, -1, 0, 1, 255, 256, .max],
            encode: { place in
                var key = StorageKey()
                key.append(place: place)
                // An object's key follows each place, and place 0 has no bytes.
                key.append(key: 1)
                return key.bytes
            }, precedes: <)
    }
}
