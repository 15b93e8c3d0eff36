import Foundation
import Roost
import Testing

@testable import RoostCommand

#if Interactive
    @Suite("The shell on a terminal", .enabled(if: Terminal.isAvailable, "setsid is missing"), .serialized)
    struct ShellTerminalTests {
        private func start(_ place: Workplace) throws -> Terminal {
            let terminal = try Terminal(["shell", "store"], in: place)
            try terminal.expect("roost> ")
            return terminal
        }

        @Test("the shell on a terminal edits lines by whole characters", arguments: ["sqlite", "json"])
        func editing(type: String) throws {
            let place = try ShellSample.make(type)
            let terminal = try start(place)
            // The cursor moves left of the last two characters, then Backspace deletes the emoji.
            try terminal.type("insert Artist name = 'ü€😀b'\u{1B}[D\u{1B}[D\u{7F}c\r")
            try terminal.expect("inserted Artist/p")
            try terminal.expect("roost (1 changed)> ")
            try terminal.type("commit\r")
            try terminal.expect("committed: 1 inserted")
            try terminal.expect("roost> ")
            try terminal.type("\u{4}")
            #expect(try terminal.end() == 0, "\(terminal.shown)")
            let found = try place.roost(
                "fetch", "store", "Artist", "--sort=-name", "--limit=1", "--select=name", "--format=csv")
            #expect(found.output == "name\nü€cb\n")
        }

        @Test(
            "the shell on a terminal completes statements, entities, paths and commands", arguments: ["sqlite", "json"])
        func completion(type: String) throws {
            let place = try ShellSample.make(type)
            let terminal = try start(place)
            try terminal.type("let some = fe\tAl\twh\tartist.na\t = 'Joni'\r")
            try terminal.expect("some = 2 objects of Album")
            try terminal.type("some[0].ar\t.\t")
            try terminal.expect("albums  name    rank")
            try terminal.type("na\t\r")
            try terminal.expect("Joni\r\n")
            try terminal.expect("> ")
            try terminal.type(".sc\tTa\t\r")
            try terminal.expect("word")
            try terminal.expect("> ")
            try terminal.type(".quit\r")
            #expect(try terminal.end() == 0, "\(terminal.shown)")
        }

        @Test("the shell recalls statements of the last session from a private file", arguments: ["sqlite"])
        func history(type: String) throws {
            let place = try ShellSample.make(type)
            let first = try start(place)
            try first.type("count Album where (title != 'a'\r")
            try first.expect("...> ")
            try first.type(")\r")
            try first.expect("3\r\n")
            try first.expect("> ")
            try first.type(" count Artist\r")
            try first.expect("2\r\n")
            try first.expect("> ")
            try first.type("\u{4}")
            #expect(try first.end() == 0, "\(first.shown)")
            #expect(try place.bytes("state/roost/shell-history") == Data("count Album where (title != 'a'\\n)\n".utf8))
            let attributes = try FileManager.default.attributesOfItem(atPath: place.file("state/roost/shell-history"))
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let second = try start(place)
            try second.type("\u{1B}[A\r")
            try second.expect("3\r\n")
            try second.expect("> ")
            try second.type("\u{4}")
            #expect(try second.end() == 0, "\(second.shown)")
        }

        @Test("Ctrl-C in the shell ends a line or a fetch and keeps the changes", arguments: ["sqlite", "json"])
        func interruption(type: String) throws {
            let place = try Workplace()
            try place.makeStore(type, named: "store", objects: 8000)
            let terminal = try start(place)
            try terminal.type("delete (")
            try terminal.type("\u{3}")
            try terminal.expect("^C")
            try terminal.expect("roost> ")
            try terminal.type("update Artist/1 set name = 'changed'\r")
            try terminal.expect("roost (1 changed)> ")
            // The fetch waits when the terminal's buffer is full, so it cannot end before the test
            // reads.
            try terminal.type("fetch Track\r")
            try terminal.expect("title")
            try terminal.type("\u{3}")
            try terminal.expect("interrupted")
            try terminal.expect("roost (1 changed)> ")
            try terminal.type("count Artist where name = 'changed'\r")
            try terminal.expect("1\r\n")
            try terminal.expect("> ")
            try terminal.type("\u{4}")
            try terminal.expect("Give the changes up? [y/N]")
            try terminal.type("\r")
            try terminal.expect("roost (1 changed)> ")
            try terminal.type("\u{4}")
            try terminal.expect("Give the changes up? [y/N]")
            try terminal.type("y\r")
            #expect(try terminal.end() == 0, "\(terminal.shown)")
        }

        @Test("the shell prints ^ under the position of an error, and continues")
        func places() throws {
            let place = try ShellSample.make("json")
            let terminal = try start(place)
            try terminal.type("Album where title = 'ü界' AND yaer = 1\r")
            try terminal.expect("\r\n  Album where title = 'ü界' AND yaer = 1\r\n")
            try terminal.expect(String(repeating: " ", count: 2 + 30) + "^\r\n")
            try terminal.expect("did you mean 'year'?")
            try terminal.type("count Album\r")
            try terminal.expect("3\r\n")
            try terminal.expect("> ")
            try terminal.type(".quit\r")
            #expect(try terminal.end() == 0, "\(terminal.shown)")
        }

        @Test("the shell reports a conflict, and a rollback shows the other program's changes")
        func conflict() throws {
            let place = try ShellSample.make("sqlite")
            let (one, other) = (try start(place), try start(place))
            try one.type("update Album/1 set title = 'One'\r")
            try one.expect("updated 1 object")
            try other.type("update Album/1 set title = 'Other'; commit\r")
            try other.expect("committed: 1 updated")
            try one.type("commit\r")
            try one.expect("Album/p1 was changed by another program: title")
            try one.expect("roost (1 changed)> ")
            try one.type("rollback\r")
            try one.expect("roost> ")
            try one.type("update Album/1 set plays = 7; commit; Album/1\r")
            try one.expect("committed: 1 updated")
            try one.expect("Other")
            for terminal in [one, other] {
                try terminal.type(".quit\r")
                #expect(try terminal.end() == 0, "\(terminal.shown)")
            }
        }
    }
#endif

@Suite("History of the shell")
struct ShellHistoryTests {
    @Test("the shell's history keeps multiline statements, and only a limited number of statements")
    func entries() throws {
        let place = try Workplace()
        let path = place.file("a/b/history")
        let history = ShellHistory(path)
        let statements = ["one (\n)", "back\\slash \\n", "two", "two", " blank", ""]
        #expect(statements.map { history.append($0) } == [true, true, true, false, false, false])
        #expect(ShellHistory(path).entries == ["one (\n)", "back\\slash \\n", "two"])
        let many = (0..<3 * ShellHistory.entryLimit).map { "statement \($0)\n" }.joined()
        try place.write(Data(many.utf8), to: "a/b/history")
        let last = ShellHistory(path)
        #expect(last.entries.count == ShellHistory.entryLimit && last.entries.last == "statement 14999")
        #expect(try place.bytes("a/b/history").count { $0 == 10 } == ShellHistory.entryLimit)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.file("a/b")) == ["history"])
    }

    @Test("a shell history that is too large is read from its end")
    func largeFile() throws {
        let place = try Workplace()
        try place.write(Data((0..<100).map { "statement \($0)\n" }.joined().utf8), to: "history")
        let history = ShellHistory(place.file("history"), byteLimit: 50)
        #expect(history.entries == ["statement 97", "statement 98", "statement 99"])
        #expect(history.problem == nil)
    }

    @Test("a shell history is shortened even if a process with the same ID left its temporary file")
    func temporaryFile() throws {
        let place = try Workplace()
        let many = (0..<3 * ShellHistory.entryLimit).map { "statement \($0)\n" }.joined()
        try FileManager.default.createDirectory(atPath: place.file("a"), withIntermediateDirectories: false)
        try place.write(Data(many.utf8), to: "a/history")
        let number = ProcessInfo.processInfo.processIdentifier
        try place.write(Data("rest".utf8), to: "a/history.\(number)")
        #expect(ShellHistory(place.file("a/history")).problem == nil)
        #expect(try place.bytes("a/history").count { $0 == 10 } == ShellHistory.entryLimit)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.file("a")) == ["history"])
    }

    @Test("a shell history that cannot be read or written reports a problem instead of failing")
    func problems() throws {
        let place = try Workplace()
        try place.write(Data(), to: "file")
        #expect(ShellHistory(place.file("file/history")).problem?.contains("Not a directory") == true)
        try FileManager.default.createSymbolicLink(atPath: place.file("link"), withDestinationPath: place.file("file"))
        #expect(ShellHistory(place.file("link")).problem != nil)
        #expect(ShellHistory(nil).append("a"))
        #expect(ShellHistory.path(["XDG_STATE_HOME": "/s"]) == "/s/roost/shell-history")
        #expect(ShellHistory.path(["HOME": "/h", "XDG_STATE_HOME": "s"]) == "/h/.local/state/roost/shell-history")
        #expect(ShellHistory.path([:]) == nil)
    }
}
