internal import Foundation
internal import RoostCore

extension ConformanceCheck {
    /// Values of every type at their limits.
    static let values: [ConformanceCheck] = [
        ConformanceCheck("values.integer16.extremes", "16-bit integers keep their extremes.") { bench in
            try roundTrip("i16", values: [.int(-32768), .int(-1), .int(0), .int(1), .int(32767)], on: bench)
        },
        ConformanceCheck("values.integer32.extremes", "32-bit integers keep their extremes.") { bench in
            try roundTrip(
                "i32", values: [.int(Int64(Int32.min)), .int(-1), .int(0), .int(1), .int(Int64(Int32.max))], on: bench)
        },
        ConformanceCheck(
            "values.integer64.extremes", "64-bit integers keep their extremes, and values that doubles cannot hold."
        ) { bench in
            let wide: Int64 = 9_007_199_254_740_993
            try roundTrip(
                "i64", values: [.min, .min + 1, -wide, -1, 0, 1, wide, .max - 1, .max].map { .int($0) }, on: bench)
        },
        ConformanceCheck("values.boolean", "Booleans are true, false or null, three different values.") { bench in
            try roundTrip("flag", values: [.bool(true), .null, .bool(false)], on: bench)
        },
        ConformanceCheck(
            "values.double.bits",
            "Doubles come back bit by bit: signed zeros, denormals, infinities, NaNs with their payloads."
        ) { bench in try roundTrip("dbl", values: extremeDoubles.map { .double($0) }, on: bench) },
        ConformanceCheck("values.float.bits", "Floats come back bit by bit, signalling NaNs included.") { bench in
            let bits: [UInt32] = [
                0, 0x8000_0000, 1, 0x8000_0001, 0x007F_FFFF, 0x0080_0000, 0x7F7F_FFFF, 0xFF7F_FFFF, 0x7F80_0000,
                0xFF80_0000,
                0x7FC0_0000, 0xFFC0_0000, 0x7F80_0001, 0xFFBF_FFFF, 0x7FC1_2345, 0x3DCC_CCCD, 0x3F80_0000,
            ]
            let store = try bench.create()
            let entity = try bench.model.requireEntity("Everything")
            let field = try entity.layout.requireField("flt")
            try store.change { changes in
                for (index, bits) in bits.enumerated() {
                    changes.inserts.beginRecord(entity.layout, key: Int64(index + 1), version: 1)
                    changes.inserts.setFloatBits(bits, for: field)
                    changes.inserts.endRecord()
                }
            }
            let stored = try bench.reopen(store).view { snapshot in
                try snapshot.objects(of: "Everything").map { $0.record.withReader { $0.floatBits(field) } }
            }
            try expectEqual(stored.map { String($0, radix: 16) }, bits.map { String($0, radix: 16) }, "the bits")
        },
        ConformanceCheck("values.decimal.digits", "Decimals keep every one of 38 digits, and their sign.") { bench in
            try roundTrip(
                "dec",
                values: try decimals([
                    "0", "1", "-1", "0.1", "-0.1", "99999999999999999999999999999999999999",
                    "-99999999999999999999999999999999999999",
                    "12345678901234567890.123456789012345678", "0.00000000000000000000000000000000000001",
                    "18446744073709551615", "18446744073709551616", "340282366920938463463374607431768211",
                    "9007199254740993", "1e10", "10", "100",
                ]), on: bench)
        },
        ConformanceCheck("values.decimal.exponents", "Decimals keep exponents from −128 to 127, and NaN.") { bench in
            try roundTrip(
                "dec",
                values: try decimals([
                    "1e127", "-1e127", "1e-128", "-1e-128", "99999999999999999999999999999999999999e127",
                    "99999999999999999999999999999999999999e-128", "7e100", "7e-100", "NaN",
                ]), on: bench)
        },
        ConformanceCheck("values.date.extremes", "Dates keep every bit, however distant or precise.") { bench in
            let seconds: [Double] =
                extremeDoubles + [
                    123_456_789.123_456_789, -978_307_200, 0.000_000_1, 1e-300, 63_113_904_000, -63_114_076_800,
                    0.1 + 0.2,
                    Double(bitPattern: 0x41BD_6F34_5411_1111),
                ]
            try roundTrip("day", values: seconds.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }, on: bench)
        },
        ConformanceCheck("values.string.empty-and-null", "An empty string is not null.") { bench in
            try roundTrip(
                "str", values: [.string(""), .null, .string(" "), .string("null"), .string("NULL")], on: bench)
        },
        ConformanceCheck("values.string.nul", "Strings may contain U+0000 anywhere.") { bench in
            try roundTrip(
                "str", values: ["\u{0}", "a\u{0}b", "\u{0}\u{0}", "end\u{0}", "\u{0}start", "a"].map { .string($0) },
                on: bench)
        },
        ConformanceCheck(
            "values.string.planes", "Strings keep characters of every plane of Unicode, noncharacters included."
        ) { bench in
            var strings = ["\u{1}\u{7F}\u{80}\u{7FF}\u{800}", "\u{D7FF}\u{E000}\u{FFFE}\u{FFFF}\u{FEFF}"]
            for plane in UInt32(0)...16 {
                for offset in [UInt32(0x21), 0xFFFD, 0xFFFF] {
                    if let scalar = Unicode.Scalar(plane << 16 | offset) { strings.append("<\(scalar)>") }
                }
            }
            strings.append("👩‍👩‍👧‍👦🏳️‍🌈 שלום العربية ไทย 漢字 𝔘𝔫𝔦𝔠𝔬𝔡𝔢")
            try roundTrip("str", values: strings.map { .string($0) }, on: bench)
        },
        ConformanceCheck(
            "values.string.not-normalized", "Strings are kept by code point: composed and decomposed forms stay apart."
        ) {
            bench in
            try roundTrip(
                "str", values: ["\u{E9}", "e\u{301}", "\u{212B}", "\u{C5}", "A\u{30A}", "ﬁ", "fi"].map { .string($0) },
                on: bench)
        },
        ConformanceCheck(
            "values.string.looks-like-syntax", "Strings that look like a query language or markup are just strings."
        ) { bench in
            try roundTrip(
                "str",
                values: [
                    "'; DROP TABLE Track; --", "\"", "\\", "%_?*[a]", "$1 ?1 :name @x", "{\"a\": [1]}", "<!-- ]]>",
                    "0x41", "1e5", "007", "\r\n\t",
                ].map { .string($0) }, on: bench)
        },
        ConformanceCheck("values.string.long", "A string of a megabyte comes back whole.") { bench in
            try roundTrip(
                "str", values: [.string(String(repeating: "0123456789abcdé✓", count: 1 << 16)), "short"], on: bench)
        },
        ConformanceCheck("values.data.empty-and-null", "Empty data are not null.") { bench in
            try roundTrip("blob", values: [.data(Data()), .null, .data(Data([0])), .data(Data([0, 0]))], on: bench)
        },
        ConformanceCheck("values.data.every-byte", "Data keep every byte in every position.") { bench in
            try roundTrip(
                "blob",
                values: [.data(Data(0...255)), .data(Data((0...255).reversed())), .data(Data([0xFF, 0, 0xFF]))],
                on: bench)
        },
        ConformanceCheck("values.data.large", "A mebibyte of data comes back whole.") { bench in
            var random = SeededGenerator(seed: 7)
            let large = Data((0..<(1 << 20)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
            try roundTrip("blob", values: [.data(large), .data(Data([1])), .data(large.dropLast())], on: bench)
        },
        ConformanceCheck("values.uuid", "UUIDs keep all 16 bytes.") { bench in
            let ids = [
                "00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
                "00000000-0000-0000-0000-000000000001",
                "80000000-0000-0000-0000-000000000000", "01234567-89AB-CDEF-FEDC-BA9876543210",
            ]
            try roundTrip(
                "ident", values: try ids.map { .uuid(try require(UUID(uuidString: $0), "a UUID")) }, on: bench)
        },
        ConformanceCheck("values.uri", "URIs keep their text, even if no URL parser would accept it.") { bench in
            try roundTrip(
                "link",
                values: [
                    "", "https://example.org/ä?q=1#f", "http://[::1", "x-roost://a/b/p1", "not a url at all",
                    "file:///a%20b", "HTTP://EXAMPLE.org",
                ]
                .map { .uri($0) }, on: bench)
        },
        ConformanceCheck("values.transformable", "The stored form of a transformable value keeps its bytes.") { bench in
            try roundTrip(
                "coded", values: [.data(Data()), .data(Data("bplist00".utf8)), .data(Data(0...255))], on: bench)
        },
        ConformanceCheck(
            "values.object-id", "Object-ID attributes keep entity and key, whether or not the object exists."
        ) { bench in
            try roundTrip(
                "oid",
                values: [
                    ObjectID("Everything", key: 1), ObjectID("Dog", key: 1), ObjectID("Robot", key: .max),
                    ObjectID("Tag", key: 77),
                ].map {
                    .objectID($0)
                },
                on: bench)
        },
        ConformanceCheck(
            "values.composite.nested",
            "Composites keep their elements, nested ones too. A null composite differs from a composite of nulls."
        ) { bench in
            try roundTrip(
                "place",
                values: [
                    .composite([:]), .null, .composite(["street": "", "number": 0]), .composite(["number": .int(-5)]),
                    .composite(["position": .composite([:])]),
                    .composite([
                        "street": "a\u{0}b", "number": .int(Int64(Int32.max)),
                        "position": .composite(["north": .double(-0.0), "east": .double(.infinity)]),
                    ]),
                    .composite(["position": .composite(["east": .double(.leastNonzeroMagnitude)])]),
                ], on: bench)
        },
        ConformanceCheck(
            "values.all-together",
            "An object with a value in every attribute comes back whole, and so does an object without values."
        ) {
            bench in
            let store = try bench.create()
            let full = try fullValues(seed: 3)
            try store.change { changes in
                try changes.insert(ObjectID("Everything", key: 1), values: full)
                try changes.insert(ObjectID("Everything", key: 2), values: [:])
                try changes.insert(ObjectID("Indexed", key: 1), values: full)
            }
            try bench.reopen(store).view { snapshot in
                let objects = try snapshot.objects(of: "Everything")
                try expectEqual(objects.map(\.values), [full, [:]], "the values")
                try expectEqual(
                    try snapshot.objects(of: "Indexed").map(\.values), [full], "the values of the indexed entity")
            }
        },
        ConformanceCheck(
            "values.sizes", "Records with sizes near page and buffer limits come back whole and in order."
        ) { bench in
            let store = try bench.create()
            let sizes = [
                0, 1, 7, 100, 400, 499, 510, 1000, 2000, 2030, 4000, 4060, 4096, 8192, 16_000, 65_535, 65_536, 70_000,
                300_000,
            ]
            try store.change { changes in
                for (index, size) in sizes.enumerated() {
                    let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ index) })
                    try changes.insert(ObjectID("Everything", key: Int64(index + 1)), values: ["blob": .data(data)])
                }
            }
            try bench.reopen(store).view { snapshot in
                let objects = try snapshot.objects(of: "Everything")
                let found = objects.map { object in
                    if case .data(let data)? = object.values["blob"] { data.count } else { -1 }
                }
                try expectEqual(found, sizes, "the sizes")
                for (index, object) in objects.enumerated() {
                    guard case .data(let data)? = object.values["blob"] else { continue }
                    let good = data.enumerated().allSatisfy {
                        $0.element == UInt8(truncatingIfNeeded: $0.offset &* 31 &+ index)
                    }
                    try expect(good, "the bytes of \(object.id) are the written bytes")
                }
            }
        },
    ]

    /// Doubles that storage formats may alter.
    static let extremeDoubles: [Double] = [
        0, -0.0, 1, -1, 0.1, -0.1, .pi, 1.0 / 3, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .leastNormalMagnitude,
        .leastNormalMagnitude.nextDown, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .ulpOfOne, 0x1p53, 0x1p63,
        -0x1p63,
        .infinity, -.infinity, .nan, -.nan, Double(bitPattern: 0x7FF0_0000_0000_0001),
        Double(bitPattern: 0xFFF7_FFFF_FFFF_FFFF),
        Double(bitPattern: 0x7FF8_0000_DEAD_BEEF), Double(bitPattern: 0xFFFF_FFFF_FFFF_FFFF),
    ]

    static func decimals(_ texts: [String]) throws -> [Value] {
        try texts.map { .decimal(try require(DecimalNumber(utf8: $0.utf8), "the decimal \($0)").decimal) }
    }

    /// Returns a value for every attribute of `Everything`.
    static func fullValues(seed: UInt64) throws -> [String: Value] {
        var random = SeededGenerator(seed: seed)
        return SampleGraph.randomValues(
            for: try ConformanceModel.standard.get().requireEntity("Everything"), using: &random, nullOneIn: nil)
    }

    /// Stores each value in its own object, and reads it by a scan, by ID and by a fetch.
    ///
    /// Repeats the reads after reopening the store, and after moving each value to another object.
    static func roundTrip(_ attribute: String, values: [Value], on bench: Workbench) throws {
        var store = try bench.create()
        var expected = RecordBatch(model: bench.model)
        let ids = values.indices.map { ObjectID("Everything", key: Int64($0 + 1)) }
        for (id, value) in zip(ids, values) { try expected.append(id, version: 1, values: [attribute: value]) }
        var changes = ChangeSet(model: bench.model)
        changes.inserts = expected
        _ = try store.commit(changes)

        func compare(_ expected: RecordBatch, when: String) throws {
            let wanted = (0..<expected.count).map { StoredObject(expected.record(at: $0)) }
            try store.view { snapshot in
                for (found, way) in [
                    (try snapshot.objects(of: "Everything"), "scanned"),
                    (try snapshot.objects(with: ids), "read by ID"),
                    (try snapshot.objects(FetchRequest("Everything")), "fetched"),
                ] {
                    try expectEqual(found.map(\.id), ids, "the IDs \(when), \(way)")
                    for (index, (found, wanted)) in zip(found, wanted).enumerated() {
                        // Comparing a long text scalar by scalar is slow without the optimizer; its
                        // bytes are compared anyway.
                        if wanted.record.bytes.count < 65_536 {
                            try expectEqual(
                                found.values[attribute] ?? .null, wanted.values[attribute] ?? .null,
                                "value number \(index) \(when), \(way)")
                        }
                        try expectEqual(
                            found.record.bytes, wanted.record.bytes,
                            "the bytes of value number \(index) \(when), \(way)")
                    }
                }
            }
        }
        try compare(expected, when: "after the insert")
        store = try bench.reopen(store)
        try compare(expected, when: "after reopening")

        var updates = ChangeSet(model: bench.model)
        var updated = RecordBatch(model: bench.model)
        for (index, id) in ids.enumerated() {
            let value = values[(index + 1) % values.count]
            try updates.update(id, version: 1, values: [attribute: value])
            try updated.append(id, version: 2, values: [attribute: value])
        }
        _ = try store.commit(updates)
        try compare(updated, when: "after the update")
        store = try bench.reopen(store)
        try compare(updated, when: "after the update and reopening")
    }
}
