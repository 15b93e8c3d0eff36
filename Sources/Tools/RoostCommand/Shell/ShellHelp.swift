/// A command for the shell itself, such as `.help`.
struct ShellCommand {
    let name: String
    let usage: String
    let summary: String

    static let all = [
        ShellCommand(name: ".entities", usage: "", summary: "List the entities and how many objects each has."),
        ShellCommand(name: ".schema", usage: "[ENTITY]", summary: "List the properties of an entity, or of all."),
        ShellCommand(
            name: ".mode", usage: "[table|json|jsonl|csv]", summary: "Choose how objects are printed (default: table)."),
        ShellCommand(name: ".read", usage: "FILE", summary: "Run the statements of a file; the first error ends them."),
        ShellCommand(name: ".help", usage: "[TOPIC]", summary: "Show this list, or the help of a topic."),
        ShellCommand(name: ".quit", usage: "", summary: "End the shell. Asks first if changes are not committed."),
    ]
}

enum ShellHelp {
    /// A kind of statement, or another subject of the help.
    struct Topic {
        let name: String
        let usage: String
        let summary: String
        let text: String
    }

    static let topics: [Topic] = [
        Topic(
            name: "fetch",
            usage:
                "[fetch] OBJECTS [where PREDICATE] [sort KEYS] [limit N] [offset N] [select LIST]",
            summary: "Print objects.",
            text: """
                The clauses are the options of 'roost fetch' with the same names, in any order. group-by LIST, having PREDICATE and
                distinct are clauses, too. The word 'fetch' can be left out.

                  fetch Album where title CONTAINS[c] 'rock' sort -title limit 10
                  Track where album = $a[0] select name, milliseconds / 1000 AS seconds
                  Track select 'album.title', count(id) AS n group-by album.title sort -n limit 3

                In a predicate, $a is the objects of the variable a: album IN $a.
                """),
        Topic(
            name: "objects", usage: "Album | Album/5 | a | a[0] | a[0].artist.name | a.tracks",
            summary: "Name objects.",
            text: """
                An entity names all its objects, Album/5 the object with the key 5, and a variable the objects that it holds.
                [0] takes the first of them. A relationship is followed from one object or from all, in order and without
                duplicates. An attribute at the end prints its values.
                """),
        Topic(
            name: "let", usage: "let NAME = [fetch] OBJECTS [where PREDICATE] | let NAME = insert ENTITY",
            summary: "Assign objects to a variable.",
            text: """
                A variable holds keys, not values: objects are read each time, so changes appear, and deleted objects do not.

                  let a = fetch Album where artist.name = 'AC/DC'
                  let t = a.tracks where milliseconds > 300000
                """),
        Topic(
            name: "count", usage: "count OBJECTS [where PREDICATE]", summary: "Print the number of objects.",
            text: "  count Track where genre.name = 'Rock'"),
        Topic(
            name: "explain", usage: "explain [fetch] OBJECTS [where PREDICATE]",
            summary: "Show how the store finds objects.",
            text: "Prints the plan of 'roost fetch --explain'.\n\n  explain fetch Track where name BEGINSWITH 'A'"),
        Topic(
            name: "insert", usage: "insert ENTITY [NAME = VALUE, ...]", summary: "Insert an object.",
            text: """
                Values are written as in predicates: text in quotes, numbers, dates as text. An object is a variable with a
                position, a path, or ENTITY/KEY. A to-many relationship takes a variable.

                  insert Album title = 'Blue', artist = a[0].artist
                  let n = insert Artist name = 'Joni Mitchell'
                """),
        Topic(
            name: "update", usage: "update OBJECTS set NAME = VALUE, ... [where PREDICATE]", summary: "Set properties.",
            text: """
                Expressions see each object as it was before: a = b, b = a exchanges two values. If a property and a variable
                have the same name, the name means the property; $a means the variable.

                  update a set title = 'Blue'
                  update Track set unitPrice = unitPrice * 1.1 where album IN $a
                """),
        Topic(
            name: "delete", usage: "delete OBJECTS [where PREDICATE]", summary: "Delete objects, by the delete rules.",
            text: "  delete a[0]\n  delete Track where milliseconds < 1000"),
        Topic(
            name: "undo", usage: "undo | redo", summary: "Undo a statement, or do it again.",
            text: """
                The last \(ShellSession.undoLimit) statements since the last commit can be undone.
                """),
        Topic(
            name: "commit", usage: "changes | commit | rollback",
            summary: "Show, write or give up the uncommitted changes.",
            text: """
                Nothing is written before 'commit', which writes everything or nothing: it checks the rules of the model, and
                lists each failure. If another program changed an object meanwhile, nothing is overwritten: the commit says
                which, and the changes stay. 'rollback' gives them up and shows what the store has.
                """),
        Topic(
            name: "lines", usage: "", summary: "Lines, comments, keys.",
            text: """
                A statement ends with the line, unless a bracket or a quote is open. A semicolon separates statements of one
                line. A line that begins with -- or # is a comment. Tab completes words, the arrow keys and Ctrl-R find
                earlier statements. A statement that begins with a blank is not remembered. Ctrl-C gives up what is typed,
                or stops a statement that runs. Ctrl-D ends the shell.
                """),
    ]

    static var overview: String {
        var table = TextTable([("", .leading), ("", .leading)])
        for topic in topics { table.append([topic.name, topic.summary]) }
        for command in ShellCommand.all {
            table.append(["\(command.name)\(command.usage.isEmpty ? "" : " ")\(command.usage)", command.summary])
        }
        return table.description.drop(while: \.isNewline) + "\n\nWrite .help and a word of the first column for more."
    }

    static func text(_ topic: Topic) -> String {
        let usage = topic.usage.isEmpty ? "" : "Usage: \(topic.usage)\n\n"
        return "\(topic.summary)\n\n\(usage)\(topic.text)"
    }

    /// The usage lines of the topics, for the help of `roost shell`.
    static var statements: String {
        let shown = topics.filter { !$0.usage.isEmpty }
        let width = shown.map(\.name.count).max() ?? 0
        return shown.map { topic in
            "\(topic.name)\(String(repeating: " ", count: width - topic.name.count))  \(topic.usage)"
        }.joined(separator: "\n")
    }
}
