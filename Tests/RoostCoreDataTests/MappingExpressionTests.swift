import Foundation
import Roost
import RoostAppleModels
import RoostCore
import RoostCoreData
import RoostMigration
import Testing

@Suite("Archived expressions in mapping models")
struct MappingExpressionTests {
    private typealias Sample = MappingImportSample

    @Test("an archived constant of each class is imported")
    func constants() throws {
        #expect(try Sample.expression { $0.constant(.bool(true)) } == .constant(.bool(true)))
        #expect(try Sample.expression { $0.constant(.int(-3)) } == .constant(.int(-3)))
        #expect(try Sample.expression { $0.constant(.real(1.5)) } == .constant(.double(1.5)))
        #expect(try Sample.expression { $0.constant(.string("ä")) } == .constant(.string("ä")))
        #expect(try Sample.expression { $0.constant(.data([1, 2])) } == .constant(.data(Data([1, 2]))))
        #expect(try Sample.expression { $0.constant(object: .uid(0)) } == .constant(.null))
        #expect(
            try Sample.expression { $0.constant(object: $0.writer.object("NSDate", fields: [("NS.time", .real(8))])) }
                == .constant(.date(Date(timeIntervalSinceReferenceDate: 8))))
        #expect(
            try Sample.expression {
                $0.constant(
                    object: $0.writer.object(
                        "NSUUID", fields: [("NS.uuidbytes", .data([UInt8](repeating: 7, count: 16)))]))
            } == .constant(.uuid(#require(UUID(uuidString: "07070707-0707-0707-0707-070707070707")))))
        #expect(
            try Sample.expression { $0.constant(object: $0.writer.list([$0.writer.string("a"), .uid(0)])) }
                == .aggregate([.constant(.string("a")), .constant(.null)]))
    }

    @Test("archived variables, key paths and lists are imported")
    func keyPaths() throws {
        #expect(try Sample.expression { $0.variable("entityPolicy") } == .variable("entityPolicy"))
        #expect(
            try Sample.expression { $0.keyPath("country.name", of: $0.variable("source")) } == .source("country.name"))
        #expect(
            try Sample.expression { $0.keyPath("name", of: $0.keyPath("country", of: $0.variable("source"))) }
                == .source("country.name"))
        #expect(
            try Sample.expression {
                $0.function("valueForKey:", of: $0.variable("source"), arguments: [$0.constant(.string("name"))])
            }
                == .source("name"))
        #expect(
            try Sample.expression {
                $0.writer.object(
                    "NSAggregateExpression", fields: [("NSCollection", $0.writer.list([$0.constant(.int(1))]))])
            }
                == .aggregate([.constant(.int(1))]))
    }

    @Test("archived functions, casts and set operations are imported")
    func functions() throws {
        let celsius = try Sample.expression { archive in
            let fahrenheit = archive.keyPath("temperature", of: archive.variable("source"))
            let difference = archive.function("from:subtract:", arguments: [fahrenheit, archive.constant(.real(32))])
            return archive.function("divide:by:", arguments: [difference, archive.constant(.real(1.8))])
        }
        #expect(try celsius == FetchRequest.Expression(format: "($source.temperature - 32.0) / 1.8"))
        #expect(
            try Sample.expression {
                $0.function(
                    "convert:", of: $0.variable("entityPolicy"), arguments: [$0.keyPath("x", of: $0.variable("source"))]
                )
            } == .policy("convert:", .source("x")))
        #expect(
            try Sample.expression {
                $0.function(
                    "castObject:toType:",
                    arguments: [$0.keyPath("x", of: $0.variable("source")), $0.constant(.string("NSString"))])
            } == .cast(.source("x"), .string))
        #expect(
            try Sample.expression {
                $0.writer.object(
                    "NSSetExpression",
                    fields: [
                        ("NSExpressionType", .int(5)), ("NSLeftExpression", $0.keyPath("a", of: $0.variable("source"))),
                        ("NSRightExpression", $0.keyPath("b", of: $0.variable("source"))),
                    ])
            } == .setOperation(.union, .source("a"), .source("b")))
    }

    @Test(
        "an archived SUBQUERY is imported, whether its variable is a name or an expression", arguments: [true, false])
    func subqueries(isName: Bool) throws {
        let found = try Sample.expression { archive in
            let tracks = archive.keyPath("tracks", of: archive.variable("source"))
            let long = archive.comparison(
                archive.keyPath("length", of: archive.variable("t")), type: 2, to: archive.constant(.int(600)))
            let named = archive.comparison(
                archive.keyPath("name", of: archive.variable("t")), type: 8, to: archive.constant(.string("a")),
                options: ("NSOptions", 3))
            let variable = isName ? archive.writer.string("t") : archive.variable("t")
            return archive.keyPath(
                "@count",
                of: archive.subquery(
                    of: tracks, variable: variable, predicate: archive.compound(1, members: [long, named])))
        }
        #expect(
            try found
                == FetchRequest.Expression(
                    format: "SUBQUERY($source.tracks, $t, $t.length > 600 AND $t.name BEGINSWITH[cd] 'a').@count"))
    }

    @Test("an archived TERNARY is imported with its compound condition")
    func conditions() throws {
        let chosen = try Sample.expression { archive in
            let missing = archive.comparison(
                archive.keyPath("rating", of: archive.variable("source")), type: 4,
                to: archive.constant(object: .uid(0)))
            let bad = archive.compound(
                0,
                members: [
                    archive.comparison(
                        archive.keyPath("tags.name", of: archive.variable("source")), type: 99,
                        to: archive.constant(.string("x")), modifier: 2, options: ("NSFlags", 1))
                ])
            let never = archive.writer.object("NSFalsePredicate", fields: [])
            return archive.ternary(
                archive.compound(2, members: [missing, bad, never]), whenTrue: archive.constant(.int(0)),
                whenFalse: archive.keyPath("rating", of: archive.variable("source")))
        }
        #expect(
            try chosen
                == FetchRequest.Expression(
                    format:
                        "TERNARY($source.rating == nil OR NOT ANY $source.tags.name CONTAINS[c] 'x' OR FALSEPREDICATE, 0, $source.rating)"
                ))
    }

    @Test(
        "the operator number of an archived comparison selects the imported operator",
        arguments: [
            (0, "<"), (1, "<="), (2, ">"), (3, ">="), (4, "=="), (5, "!="), (6, "MATCHES"), (7, "LIKE"),
            (8, "BEGINSWITH"), (9, "ENDSWITH"), (10, "IN"), (99, "CONTAINS"),
        ] as [(Int64, String)])
    func comparisons(number: Int64, symbol: String) throws {
        let found = try Sample.expression { archive in
            let condition = archive.comparison(
                archive.keyPath("a", of: archive.variable("source")), type: number,
                to: archive.keyPath("b", of: archive.variable("source")))
            return archive.ternary(condition, whenTrue: archive.constant(.int(1)), whenFalse: archive.constant(.int(2)))
        }
        #expect(
            try found == FetchRequest.Expression(format: "TERNARY($source.a \(symbol) $source.b, 1, 2)"))
    }

    @Test("an archived BETWEEN with the modifier ALL is imported")
    func between() throws {
        let between = try Sample.expression { archive in
            let limits = archive.writer.object(
                "NSAggregateExpression",
                fields: [("NSCollection", archive.writer.list([archive.constant(.int(1)), archive.constant(.int(9))]))])
            let condition = archive.comparison(
                archive.keyPath("a", of: archive.variable("source")), type: 100, to: limits, modifier: 1)
            return archive.ternary(condition, whenTrue: archive.constant(.int(1)), whenFalse: archive.constant(.int(2)))
        }
        #expect(
            try between == FetchRequest.Expression(format: "TERNARY(ALL $source.a BETWEEN {1, 9}, 1, 2)"))
    }

    // MARK: Refusals

    private func message(_ make: (inout ExpressionArchive) -> TestPlist) throws -> String {
        let error = try failure { try Sample.expression(make) }
        #expect(error.code == .invalidMappingModel)
        #expect(error.message.hasPrefix("X/xcmapping.xml:6: entity mapping 'NoteToNote', attribute 'title': "))
        return error.message
    }

    private func conditionMessage(
        _ make: @escaping (inout ExpressionArchive) -> TestPlist
    ) throws -> String {
        try message { $0.ternary(make(&$0), whenTrue: $0.constant(.int(1)), whenFalse: $0.constant(.int(2))) }
    }

    @Test("an archived expression without a counterpart is refused with file, line, mapping and reason")
    func untranslatable() throws {
        #expect(
            try message {
                $0.function("uppercaseString", of: $0.keyPath("x", of: $0.variable("source")), arguments: [])
            }
            .contains("function 'uppercaseString'"))
        #expect(
            try message { $0.function("sourceContext", of: $0.variable("manager"), arguments: []) }
                .contains("function 'sourceContext' of $manager"))
        #expect(try message { $0.function("random", arguments: []) }.contains("function 'random'"))
        #expect(try message { $0.function("now", arguments: [], of: "NSDate") }.contains("of class NSDate"))
        #expect(
            try message { $0.writer.object("NSBlockExpression", fields: []) }.contains(
                "an expression of class NSBlockExpression"))
        #expect(
            try message { $0.writer.object("NSFetchRequestExpression", fields: [("NSExpressionType", .int(50))]) }
                .contains(
                    "FETCH, which looks through a whole store, has no counterpart"))
        #expect(try message { $0.writer.object("NSSubqueryExpression", fields: []) }.contains("incomplete"))
        #expect(try message { $0.writer.object("NSTernaryExpression", fields: []) }.contains("incomplete"))
        #expect(
            try message { $0.constant(object: $0.writer.object("NSColor", fields: [])) }.contains(
                "a constant of class NSColor")
        )
        #expect(try message { $0.writer.object("NSVariableExpression", fields: []) }.contains("incomplete"))
    }

    @Test("an archived condition without a counterpart is refused")
    func untranslatableConditions() throws {
        #expect(
            try conditionMessage { $0.writer.object("NSBlockPredicate", fields: []) }.contains(
                "a predicate of class NSBlock"))
        #expect(
            try conditionMessage { $0.comparison($0.variable("source"), type: 11, to: $0.constant(.int(1))) }
                .contains("a comparison that calls a method"))
        #expect(
            try conditionMessage { $0.comparison($0.variable("source"), type: 77, to: $0.constant(.int(1))) }.contains(
                "of type 77"))
        #expect(try conditionMessage { $0.compound(0, members: []) }.contains("incomplete"))
        #expect(try conditionMessage { $0.writer.object("NSComparisonPredicate", fields: []) }.contains("incomplete"))
    }

    @Test("an archived expression that contains itself is refused")
    func circularExpression() throws {
        let circle = try failure {
            try Sample.expression { archive in
                let place = archive.writer.reserve()
                return archive.writer.object(
                    "NSAggregateExpression", fields: [("NSCollection", archive.writer.list([place]))], at: place)
            }
        }
        #expect(circle.code == .limitExceeded)
    }

    @Test("an archived expression that unfolds to a trillion parts is refused")
    func unfoldingExpression() throws {
        let bomb = try failure {
            try Sample.expression { archive in
                var node = archive.constant(.int(1))
                for _ in 0..<40 {
                    node = archive.writer.object(
                        "NSAggregateExpression", fields: [("NSCollection", archive.writer.list([node, node]))])
                }
                return node
            }
        }
        #expect(bomb.code == .limitExceeded)
    }

    // MARK: Damage

    private func refusal(of file: MappingFileText) -> StoreError? {
        do throws(StoreError) {
            _ = try CoreDataMappingReader.read(xml: file.bytes, file: "damaged")
            return nil
        } catch {
            return error
        }
    }

    /// Every byte of an expression's archive is changed in two ways, and the archive is truncated
    /// at every length.
    @Test("a damaged archived expression is imported or refused with its attribute's name")
    func damagedArchives() throws {
        var archive = ExpressionArchive()
        let root = archive.function(
            "destinationInstancesForEntityMappingNamed:sourceInstances:", of: archive.variable("manager"),
            arguments: [
                archive.constant(.string("NoteToNote")), archive.keyPath("notes", of: archive.variable("source")),
            ])
        let bytes = archive.writer.archive(root)
        var refused = 0
        func attempt(_ damaged: [UInt8]) {
            var file = MappingFileText()
            let data = Data(damaged).base64EncodedString()
            let title = file.attribute("title", attributes: [("valueexpressiondata", data)])
            file.entity(from: "Note", to: "Note", number: 1, attributeMappings: [title])
            guard let error = refusal(of: file) else { return }
            refused += 1
            #expect([.invalidMappingModel, .limitExceeded].contains(error.code))
            #expect(error.message.contains("attribute 'title'"), "\(error)")
        }
        for index in bytes.indices {
            for mask: UInt8 in [0x01, 0xF0] {
                var damaged = bytes
                damaged[index] ^= mask
                attempt(damaged)
            }
            attempt(Array(bytes[..<index]))
        }
        #expect(refused > bytes.count / 2)
    }
}
