import Foundation
import Roost
import Testing

@testable import RoostCommand

/// A small store of music for the tests of the shell.
enum ShellSample {
    private static let model = """
        {"formatVersion": 1, "entities": {
          "Artist": {
            "attributes": {"name": {"type": "string", "isOptional": false}, "rank": {"type": "integer16"}},
            "relationships": {"albums": {"destination": "Album", "inverse": "artist", "deleteRule": "cascade"}},
            "uniquenessConstraints": [["name"]]},
          "Album": {
            "attributes": {
              "title": {"type": "string", "isOptional": false}, "year": {"type": "integer16"},
              "plays": {"type": "integer32", "defaultValue": 0}},
            "relationships": {
              "artist": {"destination": "Artist", "inverse": "albums", "maxCount": 1},
              "tags": {"destination": "Tag", "inverse": "albums"}}},
          "Tag": {
            "attributes": {"word": {"type": "string"}, "limit": {"type": "integer16"}},
            "relationships": {"albums": {"destination": "Album", "inverse": "tags", "deleteRule": "deny"}}}}}
        """

    private static let content = """
        insert Artist name = 'Joni'; insert Artist name = 'Nina'
        insert Album title = 'Blue', year = 1971, artist = Artist[0]
        insert Album title = 'Hejira', year = 1976, artist = Artist[0]
        insert Album title = 'Pastel', year = 1965, artist = Artist[1]
        let a = Album where year > 1970
        insert Tag word = 'folk', limit = 3, albums = a
        commit
        """

    static func make(_ type: String) throws -> Workplace {
        let place = try Workplace()
        let model = try ManagedObjectModel(document: Array(model.utf8))
        try StoreRegistry.standard.create(StoreLocation(type: type, path: place.file("store")), model: model).close()
        let result = try place.shell(content)
        try #require(result.code == 0 && result.errors.isEmpty, "\(result)")
        return place
    }
}

@Suite("Scripts of the shell")
struct ShellTests {
    private static let types = Workplace.fileTypes

    @Test("statements of a shell script can use variables, positions and relationships", arguments: types)
    func reading(type: String) throws {
        let place = try ShellSample.make(type)
        let result = try place.shell(
            """
            .mode csv
            let a = fetch Album where year > 1970 sort -year
            a select title
            a[1].title
            a[0].artist.name
            a.artist select name
            a.artist.albums sort title select title
            a where year < 1975 select title
            Tag.albums.artist.name
            count a; count Album where artist IN $a.artist
            fetch Album where artist = $a[0].artist AND year < $a[0].year select title
            Album select artist.name AS who, count(id) AS n group-by artist.name sort who
            """)
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(
            result.output == """
                title
                Hejira
                Blue
                title
                Blue
                name
                Joni
                name
                Joni
                title
                Blue
                Hejira
                title
                Blue
                name
                Joni
                2
                2
                title
                Blue
                who,n
                Joni,2
                Nina,1

                """)
    }

    @Test("a shell script sees its changes before the commit writes them", arguments: types)
    func changing(type: String) throws {
        let place = try ShellSample.make(type)
        let result = try place.shell(
            """
            .mode csv
            let a = Album where year > 1970
            update a set plays = plays + 1, title = uppercase(title)
            update Album set year = plays, plays = year where title = 'BLUE'
            let n = insert Album title = 'New', artist = a[0].artist, year = 1970 + 1
            Album where artist.name = 'Joni' sort title select title, year, plays
            delete a[1]
            count Album
            commit
            Album sort title select title, year, plays
            """)
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(
            result.output == """
                title,year,plays
                BLUE,1,1971
                HEJIRA,1976,1
                New,1971,0
                3
                title,year,plays
                BLUE,1,1971
                New,1971,0
                Pastel,1965,0

                """)
        let found = try place.roost("fetch", "store", "Album", "--select=title", "--sort=title", "--format=csv")
        #expect(found.output == "title\nBLUE\nNew\nPastel\n")
        #expect(try place.roost("check", "store").code == 0)
    }

    @Test("a shell script undoes and redoes statements one by one", arguments: types)
    func undo(type: String) throws {
        let place = try ShellSample.make(type)
        let result = try place.shell(
            """
            .mode csv
            update Album set year = 2000
            delete Artist where name = 'Joni'
            undo
            count Album where year = 2000
            undo; count Album where year = 2000
            redo; redo; count Album
            undo; undo
            changes
            """)
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(result.output == "3\n0\n1\nnothing is changed\n")
    }

    @Test("a shell script applies the delete rule cascade at once", arguments: types)
    func cascade(type: String) throws {
        let place = try ShellSample.make(type)
        let result = try place.shell("delete Artist where name = 'Joni'\nchanges\ncommit\n.entities\n")
        #expect(result.code == 0, "\(result)")
        #expect(result.output.contains("deleted 1 object, and 2 objects by delete rules"))
        #expect(result.output.contains("committed: ") && result.output.contains("Album         1\n"), "\(result)")
    }

    @Test("a shell script applies the delete rule deny at the commit", arguments: types)
    func deny(type: String) throws {
        let place = try ShellSample.make(type)
        let result = try place.shell("delete Tag\ncommit\ncount Tag\n")
        #expect(result.code == 3 && result.errors.contains("Tag/p1 cannot be deleted while Album/p2"), "\(result)")
        #expect(try place.roost("fetch", "store", "Tag", "--count").output == "1\n")
    }

    @Test("a failed commit in a shell script lists each failure and writes nothing", arguments: types)
    func validation(type: String) throws {
        let place = try ShellSample.make(type)
        let result = try place.shell("update Album set title = NULL\ninsert Artist\ncommit\n")
        #expect(result.code == 3, "\(result)")
        for id in ["Album/p1", "Album/p2", "Album/p3", "Artist/p"] {
            #expect(result.errors.contains("of \(id)"), "\(id) \(result.errors)")
        }
        #expect(result.errors.contains("the changes of 4 objects were not committed"))
        let unique = try place.shell("insert Artist name = 'Nina'\ncommit\n")
        #expect(unique.code == 3 && unique.errors.contains("name"), "\(unique)")
        #expect(try place.roost("fetch", "store", "Artist", "--count").output == "2\n")
    }

    @Test("a failing statement changes nothing, names its line and ends the shell script", arguments: types)
    func failing(type: String) throws {
        let place = try ShellSample.make(type)
        let result = try place.shell(
            "-- a comment\nupdate Album set year = 10 * year where year < 1966\n\nupdate Album set plays = plays + 1\n"
                + "update Album\n set year = 1\ninsert Tag word = 'never'\ncommit\n")
        #expect(result.code == 2, "\(result)")
        #expect(
            result.errors == """
                roost: line 5, column 13: 'set' is missing, as in update Track set plays = plays + 1
                roost: the changes of 3 objects were not committed and are lost; the store is unchanged since the last commit

                """)
        // The new value fits the first objects, but not the last one.
        let overflow = try place.shell("update Album sort year set year = 16 * year + 1200; commit\n")
        #expect(overflow.code == 2 && overflow.errors.contains("line 1"), "\(overflow)")
        #expect(
            try place.roost("fetch", "store", "Album", "--select=year", "--format=csv").output
                == "year\n1971\n1976\n1965\n")
    }

    @Test("a shell script that ends without a commit exits with 1", arguments: types)
    func uncommitted(type: String) throws {
        let place = try ShellSample.make(type)
        let result = try place.shell("delete Album/3\n")
        result.expectError(1, containing: "the changes of 1 object were not committed")
        #expect(try place.shell("delete Album/3\nrollback\n").code == 0)
        #expect(try place.shell("delete Album/3\n.quit\nfoo\n").code == 1)
        #expect(try place.roost("fetch", "store", "Album", "--count").output == "3\n")
    }

    @Test(
        "the error for a wrong statement of a shell script names the line and, where possible, a column and a hint",
        arguments: [
            ("fetch Albm", 2, "column 7: ", "did you mean 'Album'?"),
            ("fetsh Album", 2, "column 1: ", "did you mean 'fetch'?"),
            ("fetch Album whre year = 1", 2, "column 13: ", "did you mean 'where'?"),
            ("fetch Album where yaer = 1", 2, "column 19: ", "did you mean 'year'?"),
            ("fetch Album where year > 'x'", 2, "column 26: ", ""),
            ("fetch Album where year = 1 AND", 2, "column 31: ", ""),
            ("fetch Album sort yaer", 2, "column 18: ", "did you mean 'year'?"),
            ("fetch Album select tilte", 2, "column 20: ", "did you mean 'title'?"),
            ("fetch Album limit x", 2, "column 19: ", "whole number"),
            ("fetch Album limit 1 limit 2", 2, "column 21: ", "twice"),
            ("fetch Album where artist = $b", 2, "column 28: ", "unknown variable 'b'"),
            ("a = fetch Album", 2, "column 3: ", "let a = fetch"),
            ("let a = Album.title", 2, "column 9: ", "leave out '.title'"),
            ("let Album = Album", 2, "", "choose another name"),
            ("Album[3]", 2, "column 6: ", "0 to 2"),
            ("Album[x]", 2, "column 7: ", "a position"),
            ("Album.tilte", 2, "column 7: ", "did you mean 'title'?"),
            ("insert Album titel = 'x'", 2, "column 14: ", "did you mean 'title'?"),
            ("insert Album title = 'x', title = 'y'", 2, "column 27: ", "twice"),
            // A character of five code points counts as one.
            ("insert Album title = '👩‍👩‍👧', yaer = 1", 2, "column 27: ", "did you mean 'year'?"),
            ("fetch Album select '👩‍👩‍👧', yaer + 1", 2, "column 25: ", "did you mean 'year'?"),
            ("insert Album title = 5", 2, "column 22: ", "quotes"),
            ("update Album/1 set artist = Artist/99", 3, "", "Artist/p99 does not exist"),
            ("update Album/1 set tags = 'x'", 2, "column 27: ", "an object"),
            ("update Album set artist = Artist", 2, "", ""),
            ("commit now", 2, "column 8: ", "nothing is expected"),
            ("undo", 2, "", "nothing to undo"),
            (".scheme", 2, "column 1: ", "did you mean '.schema'?"),
            (".mode jsn", 2, "column 7: ", "did you mean 'json'?"),
            (".read nothing", 3, "", "No such file"),
            ("fetch Album where title = 'x", 2, "", "not closed"),
            ("Album; Album; Albm", 2, "column 15: ", "did you mean 'Album'?"),
        ] as [(String, Int32, String, String)])
    func mistakes(statement: String, code: Int32, column: String, hint: String) throws {
        let place = try ShellSample.make("json")
        let result = try place.shell("\(statement)\n")
        result.expectError(code, containing: hint)
        #expect(result.errors.contains("line 1\(column.isEmpty ? "" : ", ")\(column)"), "\(result.errors)")
        #expect(!result.errors.contains("--"), "\(result.errors)")
    }

    @Test("'distinct' can precede other clauses of a shell's fetch")
    func distinctFirst() throws {
        let place = try ShellSample.make("json")
        let result = try place.shell(".mode csv\nAlbum distinct select artist.name AS who sort -who")
        #expect(result.code == 0 && result.output == "who\nNina\nJoni\n", "\(result)")
        let refused = try place.shell("Album distinct title")
        #expect(refused.code != 0 && refused.errors.contains("'distinct' takes no text"), "\(refused)")
    }

    @Test("a property named like a clause works in a shell script")
    func clauseNames() throws {
        let place = try ShellSample.make("sqlite")
        let result = try place.shell(
            """
            .mode csv
            Tag where limit > 1 and limit < 9 limit 1 select limit, word
            update Tag set limit = limit + 1 where limit = 3
            Tag sort limit select limit
            """)
        #expect(result.code == 1 && result.output == "limit,word\n3,folk\nlimit\n4\n", "\(result)")
    }

    @Test("a shell script reads other files, whose errors name file and line", arguments: types)
    func files(type: String) throws {
        let place = try ShellSample.make(type)
        try place.write(Data("let x = Album\n.read inner\n".utf8), to: "outer")
        try place.write(Data("count x\n\nfoo\n".utf8), to: "inner")
        let result = try place.shell("\n.read outer\ncount x\n")
        result.expectError(2, containing: "line 2: outer:2: inner:3, column 1: 'foo' is not a statement")
        #expect(result.output == "x = 3 objects of Album\n3\n")
        try place.write(Data(".read self\n".utf8), to: "self")
        try place.shell(".read self\n").expectError(2, containing: "deep")
    }

    @Test("the shell prints control characters as visible symbols", arguments: types)
    func hostile(type: String) throws {
        let place = try ShellSample.make(type)
        let result = try place.shell(
            "insert Artist name = 'a\u{1B}[31m\u{202E}b'\nArtist sort -name select name\nchanges\nundo\n")
        #expect(result.code == 0, "\(result)")
        #expect(!result.output.contains("\u{1B}") && !result.output.contains("\u{202E}"), "\(result.output)")
        #expect(result.output.contains("a␛[31m<U+202E>b"), "\(result.output)")
    }

    @Test("the shell with --read-only reads but refuses changes", arguments: types)
    func readOnly(type: String) throws {
        let place = try ShellSample.make(type)
        let result = try place.shell("count Album\nupdate Album set year = 1\n", options: "--read-only")
        #expect(result.output == "3\n")
        result.expectError(2, containing: "line 2: the store was opened read-only")
        try place.shell("insert Tag\n", on: "store", options: "--read-only").expectError(2, containing: "read-only")
    }

    @Test("the shell does not overwrite what another program changed", arguments: ["sqlite", "lmdb"])
    func conflict(type: String) throws {
        let place = try ShellSample.make(type)
        let (run, input) = try place.startShell()
        try input.write(contentsOf: Data("update Album/1 set title = 'Mine'\n".utf8))
        try run.waitForOutput(lines: 1)
        let other = try place.roost("update", "store", "Album", "--set=title = 'Theirs'", "--where=SELF = 1", "--yes")
        try #require(other.code == 0, "\(other)")
        try input.write(contentsOf: Data("commit\n".utf8))
        try input.close()
        let result = try run.wait()
        #expect(
            result.code == 3 && result.errors.contains("Album/p1 was changed by another program: title"), "\(result)")
        #expect(result.errors.contains("line 2: another program changed"), "\(result)")
        let found = try place.roost("fetch", "store", "Album", "--id=1", "--select=title", "--format=csv")
        #expect(found.output == "title\nTheirs\n")
    }

    @Test("a statement of the shell sees earlier commits of another program", arguments: ["sqlite", "lmdb"])
    func fresh(type: String) throws {
        let place = try ShellSample.make(type)
        let (run, input) = try place.startShell()
        // Later statements must read from the store, although the uncommitted change keeps objects in memory.
        try input.write(contentsOf: Data("update Album set plays = 1\nundo\nupdate Album/3 set plays = 5\n".utf8))
        try run.waitForOutput(lines: 3)
        let other = try place.roost("update", "store", "Album", "--set=title = 'Theirs'", "--where=SELF = 1", "--yes")
        try #require(other.code == 0, "\(other)")
        try input.write(contentsOf: Data("Album/1.title\nupdate Album/1 set year = 1\ncommit\n".utf8))
        try input.close()
        let result = try run.wait()
        #expect(
            result.code == 0 && result.output.contains("Theirs") && result.output.contains("committed"), "\(result)")
        let found = try place.roost("fetch", "store", "Album", "--select=title,year,plays", "--format=csv")
        #expect(found.output == "title,year,plays\nTheirs,1,0\nHejira,1976,0\nPastel,1965,5\n")
    }

    @Test("the shell exits with 0 when the reader of its results ends", arguments: types)
    func closedPipe(type: String) throws {
        let place = try ShellSample.make(type)
        try place.write(Data(String(repeating: "Album\n", count: 3000).utf8), to: "many")
        let run = try place.start(
            ["shell", "store"], through: ["/bin/sh", "-c", "(\"$@\" < many; echo $? > code) | head -n 1", "sh"])
        let result = try run.wait()
        #expect(result.errors.isEmpty, "\(result)")
        #expect(try place.bytes("code") == Data("0\n".utf8))
    }

    @Test("the shell refuses a statement of 10 MB with a short message, and does not read one of 20 MB")
    func sizes() throws {
        let place = try ShellSample.make("sqlite")
        let long = String(repeating: "x", count: 10_000_000)
        let large = try place.shell("insert Artist name = '\(long)'\n")
        #expect(large.code == 2 && large.errors.utf8.count < 10_000, "\(large.errors.prefix(300))")
        let tooLarge = try place.shell("insert Artist name = '\(long)\(long)'\n")
        #expect(tooLarge.code == 3 && tooLarge.errors.contains("has more than"), "\(tooLarge.errors.prefix(300))")
    }

    @Test("the shell runs the lines before a line that is not UTF-8, and refuses that line")
    func encoding() throws {
        let place = try ShellSample.make("sqlite")
        try place.write(Data("count Album\nfetch \u{FF}".utf8.dropLast(2)) + Data([0xFF, 0x0A]), to: "bytes")
        let result = try place.start(
            ["shell", "store"], input: try FileHandle(forReadingFrom: URL(fileURLWithPath: place.file("bytes")))
        ).wait()
        #expect(result.output == "3\n" && result.code == 3 && result.errors.contains("not UTF-8"), "\(result)")
    }

    @Test("the shell lists entities, properties, plans and help", arguments: types)
    func describing(type: String) throws {
        let place = try ShellSample.make(type)
        let result = try place.shell(
            ".entities\n.schema Album\nexplain fetch Album where year > 1970\n.mode\n.help let\n")
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        for text in [
            "Album         3\n", "title     string", "artist    Artist", "[Tag]", "inverse albums", "year", "table\n",
            "Usage: let NAME",
        ] { #expect(result.output.contains(text), "\(text): \(result.output)") }
    }
}
