import Foundation
import Roost
import RoostCore
import Testing

@testable import RoostCommand

@Suite("roost fetch")
struct FetchCommandTests {
    /// Creates a store of notes with texts that look like null, are wide, or contain control
    /// characters.
    private static func makeNotes(_ type: String, in place: Workplace) throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Note",
                attributes: [
                    .init("text", type: .string), .init("year", type: .integer16), .init("weight", type: .float),
                    .init("day", type: .date),
                    .init("blob", type: .binaryData),
                ],
                relationships: [.toOne("next", to: "Note")]),
            EntityDescription("Letter", superentity: "Note", attributes: [.init("stamp", type: .string)]),
        ])
        let store = try StoreRegistry.standard.create(
            StoreLocation(type: type, path: place.file("notes")), model: model)
        var changes = ChangeSet(model: model)
        let texts: [Value] = [
            "plain", "", .null, "NULL", "\"NULL\"", "日本語のとても長い文章です", "line\nbreak\u{1B}[31m", "a,b \"c\"", "👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦",
        ]
        for (index, text) in texts.enumerated() {
            var values: [String: Value] = ["text": text, "year": .int(Int64(2000 + index % 3))]
            if index == 0 {
                values["weight"] = .double(Double(Float(4.1)))
                values["day"] = .date(Date(timeIntervalSinceReferenceDate: 0.5))
                values["blob"] = .data(Data([1, 2, 3]))
                values["next"] = .objectID(ObjectID("Letter", key: 9))
            }
            try changes.insert(ObjectID(index == 8 ? "Letter" : "Note", key: Int64(index + 1)), values: values)
        }
        _ = try store.commit(changes)
        try store.close()
    }

    @Test(
        "a fetched table fits the terminal and distinguishes null, empty and control characters",
        arguments: Workplace.fileTypes
    )
    func table(type: String) throws {
        let place = try Workplace()
        try Self.makeNotes(type, in: place)
        let wide = try place.roost("fetch", "notes", "Note", "--select=id,text,weight,day,blob,next")
        #expect(wide.code == 0 && wide.errors == "")
        let firstLines: [String] = wide.output.split(separator: "\n").prefix(6).map(String.init)
        #expect(
            firstLines == [
                "id  text                        weight  day                     blob       next",
                " 1  plain                          4.1  2001-01-01T00:00:00.5Z  <3 bytes>  Letter/9",
                " 2                                NULL  NULL                    NULL       NULL",
                " 3  NULL                          NULL  NULL                    NULL       NULL",
                " 4  \"NULL\"                        NULL  NULL                    NULL       NULL",
                " 5  \"\"NULL\"\"                      NULL  NULL                    NULL       NULL",
            ])
        #expect(wide.output.contains("line␊break␛[31m") && !wide.output.contains("\u{1B}"))
        for columns in [1, 8, 20, 33, 60, 100] {
            let fitted = try place.roost(
                "fetch", "notes", "Note", "--select=id,text,year", through: ["/usr/bin/env", "COLUMNS=\(columns)"])
            let lines = fitted.output.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.count == 11)
            for line in lines { #expect(DisplayWidth.of(line) <= columns, "\(columns): \(line)") }
            #expect(lines.allSatisfy { !$0.hasSuffix(" ") })
        }
        let narrow = try place.roost(
            "fetch", "notes", "Note", "--select=text,id,year", through: ["/usr/bin/env", "COLUMNS=10"])
        #expect(narrow.output.contains("日本…"))
        #expect(narrow.errors.contains("no room for year"))
    }

    private func lines(_ arguments: String..., in place: Workplace) throws -> [String] {
        let run = try place.start(["fetch", "notes", "Note", "--format=csv"] + arguments).wait()
        #expect(run.code == 0 && run.errors == "", "\(run.errors)")
        return run.output.split(separator: "\n").map(String.init)
    }

    @Test("a fetch selects expressions, with and without names", arguments: Workplace.fileTypes)
    func expressions(type: String) throws {
        let place = try Workplace()
        try Self.makeNotes(type, in: place)
        #expect(
            try lines(
                "--select=id, year + 1 AS later, next.id AS target , 'a,b' AS \"x y\"", "--limit=1", in: place) == [
                    "id,later,target,x y", "1,2001,Letter/9,\"a,b\"",
                ])
        // A quote with an accent after it is still a quote.
        #expect(
            try lines("--select=year, '\u{301}' AS c, 'a,b' AS d", "--limit=1", in: place) == [
                "year,c,d", "2000,\u{301},\"a,b\"",
            ])
        #expect(
            try lines("--select=next.year AS y", "--limit=2", "--sort=-next.year", in: place) == ["y", "2002"])
        #expect(
            try lines("--select=id", "--sort=text[cd],-year", "--limit=3", in: place) == ["id", "3", "2", "5"])
        #expect(try lines("--select=5, SELF, TRUE", "--limit=1", in: place) == ["5,SELF,TRUE", "5,1,true"])
    }

    @Test("a fetch has one row for each group, with aggregates and conditions", arguments: Workplace.fileTypes)
    func groups(type: String) throws {
        let place = try Workplace()
        try Self.makeNotes(type, in: place)
        #expect(
            try lines("--select=year, count(id) AS n, max(weight)", "--group-by=year", "--sort=-year", in: place) == [
                "year,n,max(weight)", "2002,3,", "2001,3,", "2000,3,4.1",
            ])
        #expect(
            try lines(
                "--select=year AS y, count(id) AS n, max(day) AS latest", "--group-by=y",
                "--having=latest > '2001-01-01' AND n > 2", in: place) == [
                    "y,n,latest", "2000,3,2001-01-01T00:00:00.5Z",
                ])
        #expect(try lines("--select=count(text)", "--where=year = 2001", in: place) == ["count(text)", "3"])
        #expect(
            try lines(
                "--select=year, @count, @max.weight", "--group-by=year", "--having=@count > 2 AND @max.weight > 4",
                "--sort=-@count", in: place) == ["year,@count,@max.weight", "2000,3,4.1"])
    }

    @Test("an object ID in a row of CSV names its entity without escapes of JSON")
    func objectIDsInRows() throws {
        let place = try Workplace()
        let model = try ManagedObjectModel(entities: [
            EntityDescription("Note", attributes: [.init("about", type: .objectID)]), EntityDescription(#"A"b"#),
        ])
        let store = try StoreRegistry.standard.create(
            StoreLocation(type: "json", path: place.file("notes")), model: model)
        let target = ObjectID(#"A"b"#, key: 5)
        var changes = ChangeSet(model: model)
        try changes.insert(target, values: [:])
        try changes.insert(ObjectID("Note", key: 1), values: ["about": .objectID(target)])
        _ = try store.commit(changes)
        try store.close()
        #expect(
            try place.roost("fetch", "notes", "Note", "--select=about", "--distinct", "--format=csv").output
                == "about\n\"A\"\"b/5\"\n")
    }

    @Test("a fetch with --distinct prints and counts equal rows once", arguments: Workplace.fileTypes)
    func distinctRows(type: String) throws {
        let place = try Workplace()
        try Self.makeNotes(type, in: place)
        #expect(try lines("--select=year", "--distinct", "--offset=1", in: place) == ["year", "2001", "2002"])
        #expect(
            try place.roost("fetch", "notes", "Note", "--select=year, text", "--distinct", "--count").output == "9\n")
    }

    @Test("a column of a fetch can be named id, like the key", arguments: Workplace.fileTypes)
    func columnCalledID(type: String) throws {
        let place = try Workplace()
        try Self.makeNotes(type, in: place)
        #expect(
            try lines("--select=9 - year AS id", "--sort=id", "--limit=1", in: place) == ["id", "-1993"])
        #expect(
            try lines(
                "--select=year, 0 - year AS id", "--group-by=year", "--sort=-id", "--limit=1", in: place) == [
                    "year,id", "2000,-2000",
                ])
    }

    @Test("rows of a fetch are printed as a table and as JSON", arguments: Workplace.fileTypes)
    func formatsOfRows(type: String) throws {
        let place = try Workplace()
        try Self.makeNotes(type, in: place)
        let table = try place.roost("fetch", "notes", "Note", "--select=year, sum(weight)", "--group-by=year")
        #expect(
            table.output.split(separator: "\n").first == "year        sum(weight)"
                && table.output.contains("2001" + String(repeating: " ", count: 18) + "0"))
        let json = try place.roost(
            "fetch", "notes", "Note", "--select=min(text) AS t, next AS n, blob", "--group-by=next,blob", "--limit=1",
            "--format=json")
        #expect(json.output == "[\n{\"t\": \"plain\", \"n\": \"Letter/9\", \"blob\": \"AQID\"}\n]\n")
        #expect(
            try place.roost("fetch", "notes", "Note", "--select=text AS t", "--where=year = 1", "--format=json").output
                == "[]\n")
    }

    @Test(
        "the error for a wrong column or group of a fetch names the option or the wrong part",
        arguments: [
            (["--select=text, year +"], 2, "--select"), (["--select=id, yeer + 1"], 2, "At column 5 of '--select'"),
            (["--select='👩‍👩‍👧', yeer + 1"], 2, "At column 6 of '--select'"),
            (["--select=text, count(id)"], 2, "'text'"), (["--having=year > 1"], 2, "groups"),
            (["--select=count(id) AS n", "--group-by=year", "--having=n > 'x'"], 2, "count(SELF)"),
            (["--select=year AS "], 2, "'AS'"), (["--select=count(id), version"], 2, "'version'"),
            (["--group-by=yeer"], 2, "At column 1 of '--group-by'"),
            (["--select=year, @sum", "--group-by=year"], 2, "At column 7 of '--select'"),
            (["--select=year", "--group-by=@count"], 2, "At column 1 of '--group-by'"),
            (["--select=year", "--group-by=year", "--having=@sum.wait > 1"], 2, "At column 1 of '--having'"),
            (["--select=text AS a, year AS a"], 2, "two columns 'a'"),
            (["--group-by=year", "--sort=text"], 2, "'text'"), (["--distinct", "--id=1"], 2, "--id"),
            (["--sort=next.next"], 2, "no order"), (["--sort=text[q]"], 2, "text[q]"),
            (["--explain", "--id=1"], 2, "--id"),
        ] as [([String], Int32, String)])
    func wrongRows(arguments: [String], code: Int32, words: String) throws {
        let place = try Workplace()
        try Self.makeNotes("sqlite", in: place)
        let run = try place.start(["fetch", "notes", "Note"] + arguments).wait()
        run.expectError(code, containing: words)
        #expect(run.output == "")
    }

    @Test("count(*) in a fetch counts objects, alone and in groups", arguments: Workplace.fileTypes)
    func countOfObjects(type: String) throws {
        let place = try Workplace()
        try Self.makeNotes(type, in: place)
        #expect(try lines("--select=count(*)", in: place) == ["count(*)", "9"])
        #expect(
            try lines("--select=count(*) * 2 AS n, 'count(*)' AS t", in: place) == ["n,t", "18,count(*)"])
        #expect(
            try lines(
                "--select=year, COUNT( * ) AS n", "--group-by=year", "--having=count(*) > 2 AND year > 2000",
                "--sort=-year", in: place) == ["year,n", "2002,3", "2001,3"])
        try place.roost("fetch", "notes", "Note", "--select=count(*), yeer")
            .expectError(2, containing: "At column 11 of '--select'")
    }

    /// Creates a store of three notes in a folder, the first with two tags, the last with twelve.
    private static func makeTaggedNotes(_ type: String, in place: Workplace) throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Note", attributes: [.string("title")],
                relationships: [
                    .toMany("tags", to: "Tag", inverse: "notes", isOrdered: true),
                    .toOne("folder", to: "Folder", inverse: "notes"),
                ]),
            EntityDescription("Tag", relationships: [.toMany("notes", to: "Note", inverse: "tags")]),
            EntityDescription("Folder", relationships: [.toMany("notes", to: "Note", inverse: "folder")]),
        ])
        let store = try StoreRegistry.standard.create(
            StoreLocation(type: type, path: place.file("notes")), model: model)
        var changes = ChangeSet(model: model)
        try changes.insert(ObjectID("Folder", key: 1), values: [:])
        for key in Int64(1)...3 {
            try changes.insert(
                ObjectID("Note", key: key),
                values: ["title": .string("n\(key)"), "folder": .objectID(ObjectID("Folder", key: 1))])
        }
        for key in Int64(1)...12 { try changes.insert(ObjectID("Tag", key: key), values: [:]) }
        let tags = RelationshipName("Note", name: "tags")
        try changes.add(Link(1, 7, order: 1), to: tags)
        try changes.add(Link(1, 3, order: 2), to: tags)
        for key in Int64(1)...12 { try changes.add(Link(3, key, order: key), to: tags) }
        _ = try store.commit(changes)
        try store.close()
    }

    @Test("a fetch shows to-many relationships as keys, shortened in tables", arguments: Workplace.fileTypes)
    func manyObjects(type: String) throws {
        let place = try Workplace()
        try Self.makeTaggedNotes(type, in: place)
        func output(_ arguments: String...) throws -> String {
            let run = try place.start(["fetch", "notes"] + arguments).wait()
            #expect(run.code == 0 && run.errors == "", "\(run.errors)")
            return run.output
        }
        #expect(
            try output("Note", "--select=title,tags", "--format=jsonl", "--limit=2") == """
                {"title": "n1", "tags": [7, 3]}
                {"title": "n2", "tags": []}

                """)
        #expect(
            try output("Note", "--select=title,tags") == """
                title  tags
                n1     7, 3 (2)
                n2     (0)
                n3     1, 2, 3, 4, 5, 6, 7, 8, … (12)

                """)
        #expect(try output("Folder", "--select=notes", "--format=csv") == "notes\n\"[1, 2, 3]\"\n")
        #expect(
            try output("Note", "--select=id,tags", "--id=2", "--id=1", "--id=1", "--format=csv") == """
                id,tags
                2,[]
                1,"[7, 3]"
                1,"[7, 3]"

                """)
    }

    @Test("a fetch with --json prints the same as with --format=json")
    func jsonOption() throws {
        let place = try Workplace()
        try Self.makeNotes("sqlite", in: place)
        let json = try place.roost("fetch", "notes", "Note", "--json")
        #expect(try json.code == 0 && json.output == place.roost("fetch", "notes", "Note", "--format=json").output)
        #expect(try place.roost("fetch", "notes", "Note", "--json", "--count").output == "9\n")
        #expect(try place.roost("fetch", "notes", "Note", "--json", "--explain").output.hasPrefix("{"))
    }

    @Test("a fetch prints dates as text in CSV, as seconds in JSON, or as --dates says", arguments: Workplace.fileTypes)
    func dates(type: String) throws {
        let place = try Workplace()
        try Self.makeNotes(type, in: place)
        func first(_ arguments: String...) throws -> String {
            let run = try place.start(["fetch", "notes", "Note", "--limit=1"] + arguments).wait()
            #expect(run.code == 0 && run.errors == "", "\(run.errors)")
            return run.output
        }
        #expect(try first("--select=day", "--format=csv") == "day\n2001-01-01T00:00:00.5Z\n")
        #expect(try first("--select=day", "--format=csv", "--dates=seconds") == "day\n0.5\n")
        for select in [["--select=day"], ["--select=day AS d"], []] {
            let seconds = try place.start(["fetch", "notes", "Note", "--id=1", "--format=jsonl"]).wait().output
            #expect(seconds.contains("\"day\": 0.5"))
            let text = try place.start(
                ["fetch", "notes", "Note", "--limit=1", "--format=jsonl", "--dates=iso"] + select
            ).wait().output
            #expect(text.contains("\"2001-01-01T00:00:00.5Z\""), "\(text)")
        }
    }

    @Test("a fetch without results reports 0 objects or rows, and prints no column titles")
    func empty() throws {
        let place = try Workplace()
        try Self.makeNotes("sqlite", in: place)
        let nothing = try place.roost("fetch", "notes", "Note", "--where=year = 1")
        #expect(nothing.code == 0 && nothing.output == "" && nothing.errors == "roost: 0 objects\n")
        let rows = try place.roost("fetch", "notes", "Note", "--select=year AS y", "--where=year = 1")
        #expect(rows.code == 0 && rows.output == "" && rows.errors == "roost: 0 rows\n")
        let missing = try place.roost("fetch", "notes", "Note", "--id=99")
        #expect(missing.code == 1 && missing.output == "" && missing.errors == "roost: Note/p99 does not exist\n")
    }

    @Test(
        "dates as text are rounded to microseconds",
        arguments: [
            (-390163332.95500004, "1988-08-21T05:17:47.045Z"), (0.1 + 0.2, "2001-01-01T00:00:00.3Z"),
            (0, "2001-01-01T00:00:00Z"), (-0.0, "2001-01-01T00:00:00Z"), (0.999_999_9, "2001-01-01T00:00:01Z"),
            (-0.000_000_1, "2001-01-01T00:00:00Z"), (1.000_001, "2001-01-01T00:00:01.000001Z"),
            (-0.25, "2000-12-31T23:59:59.75Z"), (.infinity, nil), (.nan, nil), (1e15, nil),
        ] as [(Double, String?)])
    func shortDates(seconds: Double, text: String?) {
        #expect(DateText.shortText(seconds) == text)
    }

    @Test("--explain prints the predicate, the access and the order of a fetch", arguments: Workplace.fileTypes)
    func explain(type: String) throws {
        let place = try Workplace()
        try Self.makeNotes(type, in: place)
        let run = try place.roost("fetch", "notes", "Note", "--where=year = 2001", "--sort=text", "--explain")
        #expect(run.code == 0 && run.output.contains("year == 2001") && run.output.contains("sorts"))
        let json = try place.roost(
            "fetch", "notes", "Note", "--where=year = 2001", "--select=count(id)", "--explain", "--format=json")
        let plan = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect((plan["access"] as? [[String: Any]])?.isEmpty == false && plan["order"] as? String != nil)
    }

    @Test("--explain names the attribute on which an index would help", arguments: Workplace.fileTypes)
    func missingIndex(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "music", objects: 200)
        func plan(_ predicate: String) throws -> String {
            let run = try place.roost("fetch", "music", "Album", "--where=\(predicate)", "--explain")
            #expect(run.code == 0 && run.errors == "", "\(run.errors)")
            return run.output
        }
        // Album has an index on title, but not on barcode.
        let missing = try plan("barcode = 1")
        #expect(missing.hasSuffix("hint       an index on Album.barcode would help\n"), "\(missing)")
        for predicate in ["title = 'x'", "barcode != 1", "SELF = 5", "label.name LIKE '*x'", "TRUEPREDICATE"] {
            #expect(try !plan(predicate).contains("hint"), "\(predicate)")
        }
        let json = try place.roost("fetch", "music", "Album", "--where=barcode > 1", "--explain", "--json").json()
        #expect(json["missingIndex"] as? String == "Album.barcode")
    }

    private func ids(_ arguments: String..., in place: Workplace) throws -> [String] {
        let run = try place.start(["fetch", "notes", "Note", "--select=id", "--format=csv"] + arguments).wait()
        #expect(run.code == 0 && run.errors == "", "\(run.errors)")
        return run.output.split(separator: "\n").dropFirst().map(String.init)
    }

    @Test("a fetch sorts by properties, then by key, and limits the objects", arguments: Workplace.fileTypes)
    func sorting(type: String) throws {
        let place = try Workplace()
        try Self.makeNotes(type, in: place)
        #expect(try ids(in: place) == (1...9).map { "\($0)" })
        #expect(try ids("--sort=-year,text", in: place) == ["3", "6", "9", "2", "5", "8", "4", "7", "1"])
        #expect(try ids("--sort=year,id,text", "--limit=2", "--offset=1", in: place) == ["4", "7"])
        #expect(try ids("--limit=0", in: place) == [])
    }

    @Test("a fetch filters objects by null, text, numbers, dates and references", arguments: Workplace.fileTypes)
    func filtering(type: String) throws {
        let place = try Workplace()
        try Self.makeNotes(type, in: place)
        #expect(try ids("--where=text = NULL OR text = ''", in: place) == ["2", "3"])
        #expect(
            try ids("--where", "year IN {2001, 2002} AND NOT text BEGINSWITH 'a'", "--sort=-year", in: place) == [
                "3", "6", "9", "2", "5",
            ])
        #expect(try ids("--where=weight = 4.1", in: place) == ["1"])
        #expect(
            try ids("--where=next = 'Letter/9' AND day > '2001-01-01' AND day < '2001-01-01T00:00:01Z'", in: place)
                == ["1"])
        #expect(try ids("--where=SELF IN {2, 'Letter/9', 77}", in: place) == ["2", "9"])
    }

    @Test("a fetch with --id prints objects by their keys, and names missing ones", arguments: Workplace.fileTypes)
    func keys(type: String) throws {
        let place = try Workplace()
        try Self.makeNotes(type, in: place)
        #expect(try ids("--id=9", "--id", "2", "--id=9", in: place) == ["9", "2", "9"])
        #expect(try ids("--id=Note/9", "--id=Note/p2", in: place) == ["9", "2"])
        let missing = try place.roost("fetch", "notes", "Letter", "--id=9", "--id=1", "--format=jsonl", "--select=id")
        #expect(missing.code == 1 && missing.output == "{\"id\": 9}\n")
        #expect(missing.errors == "roost: Letter/p1 does not exist\n")
        #expect(try place.roost("fetch", "notes", "Note", "--id=1", "--id=55", "--count").output == "1\n")
    }

    @Test(
        "a fetch refuses an --id that is not a key of the entity",
        arguments: ["Letter/9", "Note/", "Note/p", "Note/pp2", "Note/0", "/9"])
    func wrongKeys(key: String) throws {
        let place = try Workplace()
        try Self.makeNotes("sqlite", in: place)
        try place.roost("fetch", "notes", "Note", "--id=\(key)").expectError(2, containing: "--id")
    }

    @Test("a fetch with --count counts objects up to a limit", arguments: Workplace.fileTypes)
    func counting(type: String) throws {
        let place = try Workplace()
        try Self.makeNotes(type, in: place)
        #expect(try place.roost("fetch", "notes", "Letter", "--count").output == "1\n")
        #expect(
            try place.roost("fetch", "notes", "Note", "--count", "--where=year = 2000", "--limit=2").output == "2\n")
    }

    @Test("a fetch prints the same exact values as JSON and as JSON lines", arguments: Workplace.fileTypes)
    func exactJSON(type: String) throws {
        let place = try Workplace()
        try Self.makeNotes(type, in: place)
        let json = try place.roost("fetch", "notes", "Note", "--format=json").output
        let list = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]])
        #expect(list.count == 9)
        #expect(list[0]["entity"] as? String == "Note" && list[0]["blob"] as? String == "AQID")
        #expect(list[1]["text"] as? String == "" && list[2]["text"] == nil)
        #expect(list[6]["text"] as? String == "line\nbreak\u{1B}[31m")
        let lines = try place.roost("fetch", "notes", "Note", "--format=jsonl").output.split(separator: "\n")
        let elements: [Substring] = json.split(separator: "\n").dropFirst().dropLast().map { line in
            line.hasSuffix(",") ? line.dropLast() : line
        }
        #expect(lines == elements)
        let selected = try place.roost("fetch", "notes", "Note", "--format=jsonl", "--select=text,year", "--limit=3")
            .output
        #expect(
            selected == """
                {"text": "plain", "year": 2000}
                {"text": "", "year": 2001}
                {"text": null, "year": 2002}

                """)
        #expect(try place.roost("fetch", "notes", "Note", "--format=json", "--where=FALSEPREDICATE").output == "[]\n")
    }

    @Test("a fetch as CSV distinguishes null from empty text, and quotes values", arguments: Workplace.fileTypes)
    func exactCSV(type: String) throws {
        let place = try Workplace()
        try Self.makeNotes(type, in: place)
        #expect(
            try place.roost("fetch", "notes", "Note", "--format=csv", "--select=id,text", "--id=2", "--id=3", "--id=8")
                .output
                == "id,text\n2,\"\"\n3,\n8,\"a,b \"\"c\"\"\"\n")
        #expect(
            try place.roost("fetch", "notes", "Letter", "--format=csv", "--limit=0").output
                == "id,blob,day,text,weight,year,next,stamp\n")
    }

    @Test(
        "a fetch explains a wrong argument in one line and prints no objects",
        arguments: [
            (["Nota"], 2, "did you mean 'Note'?"), (["Everything"], 2, "it has Letter, Note"),
            (["Note", "--where=yaer = 1"], 2, "did you mean 'year'?"), (["Note", "--where=year = "], 2, "column 8"),
            (["Note", "--where=year = 'x'"], 2, "'Note.year' (integer16)"),
            (["Note", "--select=txt"], 2, "did you mean 'text'?"),
            (["Note", "--select=a,,b"], 2, "one of them is empty"),
            (["Note", "--sort=id,txt"], 2, "did you mean 'text'?"), (["Note", "--select=txt", "--count"], 2, "text"),
            (["Note", "--select=txt", "--explain"], 2, "text"), (["Note", "--group-by=year", "--sort=id"], 2, "id"),
            (["Note", "--sort=txt"], 2, "did you mean 'text'?"), (["Note", "--sort=next"], 2, "cannot be sorted"),
            (["Note", "--sort=-id"], 2, "descending"), (["Note", "--format=cvs"], 2, "did you mean 'csv'?"),
            (["Note", "--sort=year DESC"], 2, "write --sort=-year"),
            (["Note", "--sort=text, year asc"], 2, "write --sort=year"),
            (["Note", "--json", "--format=csv"], 2, "leave one out"),
            (["Note", "--dates=iso"], 2, "needs '--format=json'"),
            (["Note", "--json", "--dates=is"], 2, "did you mean 'iso'?"),
            (["Note", "--limit=-1"], 2, "at least 0"), (["Note", "--id=0"], 2, "at least 1"),
            (["Note", "--id=1", "--where=year = 1"], 2, "leave out '--where'"),
            ([], 2, "needs an ENTITY; 'notes' has Letter, Note"),
        ] as [([String], Int32, String)])
    func refusals(arguments: [String], code: Int32, message: String) throws {
        let place = try Workplace()
        let type = try #require(Workplace.fileTypes.first)
        try Self.makeNotes(type, in: place)
        let result = try place.start(["fetch", "notes"] + arguments).wait()
        result.expectError(code, containing: message)
        #expect(result.output == "")
    }

    @Test("a fetch of thousands of objects prints each, and ends when its reader ends", arguments: Workplace.fileTypes)
    func manyBatches(type: String) throws {
        let place = try Workplace()
        try place.makeStore(type, named: "music", objects: 8000)
        let count = try #require(Int(try place.roost("fetch", "music", "Track", "--count").output.dropLast()))
        #expect(count > 3000)
        for format in ["jsonl", "csv", "table"] {
            let output = try place.roost("fetch", "music", "Track", "--format=\(format)", "--select=id,title").output
            #expect(output.split(separator: "\n").count == count + (format == "jsonl" ? 0 : 1), "\(format)")
        }
        let quick = try RunningCommand(
            ["/bin/sh", "-c", "'\(try #require(Workplace.program))' fetch music Track --format=csv | head -n 2"],
            in: place.path
        ).wait()
        #expect(quick.code == 0 && quick.errors == "")
    }
}
