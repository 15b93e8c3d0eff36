// Finds functions with an unlabeled parameter after the first. Also finds open, public and package functions, and
// requirements of public and package protocols, with more than five parameters. Scripts/lint runs this program.
//
// A trailing closure and a variadic parameter need no label. The program also finds functions of more than 60 lines,
// unless their comment says that they are hot, and files of more than 600 lines.
import Foundation

/// The names of the first two parameters, for functions that need no labels because labels would
/// only lengthen the call.
let pairs: Set<[String]> = [
    ["key", "value"], ["code", "message"], ["status", "message"],
    // Two values of the same kind that are compared, combined or exchanged.
    ["left", "right"], ["first", "second"], ["a", "b"], ["old", "new"],
]

/// Functions with other clear pairs, and functions that look like the expectations of test
/// frameworks.
let exceptions: Set<String> = [
    // The ID of a check and its sentence.
    "ConformanceCheck.swift: init(_:_:on:needs:_:)", "GraphCheck.swift: init(_:_:_:needs:_:)",
    "GraphCheck.swift: init(waiting:_:_:needs:_:)", "ReadingChecks.swift: reading(_:_:needs:isReadOnly:_:)",
    // An expectation, and the message of a failure.
    "Expectations.swift: expect(_:_:otherwise:)", "Expectations.swift: expectEqual(_:_:_:)",
    "Expectations.swift: require(_:_:)", "RowChecks.swift: expect(_:_:_:)", "RowChecks.swift: expectTrue(_:_:_:)",
    "QueryLane.swift: expect(_:_:_:)",
    "Tutorial.swift: check(_:_:line:)",
    // An expectation of tests, and the comment of its failures.
    "KeptLogTests.swift: expect(_:file:log:_:)", "LeftoverLogTests.swift: expectRefusal(file:log:_:)",
    // A key and its value. The function's name describes them.
    "JSONMembers.swift: add(_:_:)", "JSONNode.swift: init(_:_:)", "JSONNode.swift: init(_:_:keyOffset:)",
    // The two ends of a link.
    "LinkBatch.swift: init(_:_:order:inverseOrder:)",
    // A path, and other names that its file may have.
    "StoreFile+Names.swift: hasOtherNames(_:_:)",
]
let roots = ["Sources", "Conformance", "Examples", "Tests", "Benchmarks"]

/// Returns the source with spaces instead of comments and strings, so that offsets stay the same.
func code(_ text: String) -> [UInt8] {
    var bytes = Array(text.utf8)
    func blank(_ range: Range<Int>) { for place in range where bytes[place] != 10 { bytes[place] = 32 } }
    let (slash, star, quote, backslash) = (UInt8(ascii: "/"), UInt8(ascii: "*"), UInt8(ascii: "\""), UInt8(ascii: "\\"))
    var place = 0
    func begins(_ wanted: [UInt8], at place: Int) -> Bool { bytes[place...].starts(with: wanted) }
    while place < bytes.count {
        let start = place
        if begins([slash, slash], at: place) {
            while place < bytes.count, bytes[place] != 10 { place += 1 }
        } else if begins([slash, star], at: place) {
            while place < bytes.count, !begins([star, slash], at: place) { place += 1 }
            place = min(place + 2, bytes.count)
        } else if begins([quote, quote, quote], at: place) {
            place += 3
            while place < bytes.count, !begins([quote, quote, quote], at: place) { place += 1 }
            place = min(place + 3, bytes.count)
        } else if bytes[place] == quote {
            place += 1
            while place < bytes.count, bytes[place] != quote, bytes[place] != 10 {
                place += bytes[place] == backslash ? 2 : 1
            }
            place = min(place + 1, bytes.count)
        } else {
            place += 1
            continue
        }
        blank(start..<place)
    }
    return bytes
}

/// Returns the parts of a parameter list, split at the commas that are not in brackets.
func parameters(_ text: Substring) -> [Substring] {
    var (parts, depth, start): ([Substring], Int, Substring.Index) = ([], 0, text.startIndex)
    var before: Character = " "
    for place in text.indices {
        switch text[place] {
        case "(", "[", "{": depth += 1
        // Counts `<` as a bracket in `Array<Int>`, but not in `1 << 20`.
        case "<" where before.isLetter: depth += 1
        case ")", "]", "}": depth -= 1
        case ">" where before != "-" && depth > 0: depth -= 1
        case "," where depth == 0:
            parts.append(text[start..<place])
            start = text.index(after: place)
        default: break
        }
        before = text[place]
    }
    parts.append(text[start...])
    return parts.filter { !$0.allSatisfy(\.isWhitespace) }
}

/// Returns the bodies of the public and package protocols in a source.
func protocolBodies(_ text: String) -> [Range<String.Index>] {
    text.matches(of: #/\b(?:public|package)\s+protocol\s[^{]*\{/#).map { match in
        var (depth, end) = (1, match.range.upperBound)
        while end < text.endIndex, depth > 0 {
            if text[end] == "{" { depth += 1 } else if text[end] == "}" { depth -= 1 }
            end = text.index(after: end)
        }
        return match.range.upperBound..<end
    }
}

/// Returns the label and the name of a parameter, which are equal if it has no separate label.
func words(_ parameter: Substring) -> (label: String, name: String) {
    let words = parameter.prefix { $0 != ":" }.split(whereSeparator: \.isWhitespace).map(String.init)
    return (words.first ?? "?", words.last ?? "?")
}

func violations(in path: String) throws -> [String] {
    let text = String(decoding: code(try String(contentsOfFile: path, encoding: .utf8)), as: UTF8.self)
    // Only modifiers come before a declaration on its line.
    let declaration =
        #/(?m)^[ ]*((?:@?[A-Za-z]\w*(?:\([^()\n]*\))?\s+)*)(?:func\s+([A-Za-z_]\w*)|(init)[?!]?)\s*(?:<[^(]*>)?\(/#
    let protocols = protocolBodies(text)
    var found: [String] = []
    for match in text.matches(of: declaration) {
        var (depth, end) = (1, match.range.upperBound)
        while end < text.endIndex, depth > 0 {
            if text[end] == "(" { depth += 1 } else if text[end] == ")" { depth -= 1 }
            if depth > 0 { end = text.index(after: end) }
        }
        let given = parameters(text[match.range.upperBound..<end])
        let (labels, names) = (given.map { words($0).label }, given.map { words($0).name })
        let unlabeled = given.indices.dropFirst().filter { index in
            guard labels[index] == "_" else { return false }
            let isClosure = index == given.count - 1 && given[index].contains("->")
            return !isClosure && !given[index].contains("...")
        }
        // A protocol's requirement has no access modifier, because it has the access of the protocol.
        let modifiers = match.output.1.split(whereSeparator: \.isWhitespace)
        let isOpen =
            modifiers.contains { ["open", "public", "package"].contains($0) }
            || protocols.contains { $0.contains(match.range.lowerBound) }
        guard !unlabeled.isEmpty || isOpen && labels.count > 5 else { continue }
        let name = match.output.2 ?? match.output.3 ?? "?"
        let function = "\(name)(\(labels.map { $0 + ":" }.joined()))"
        let file = path.split(separator: "/").last ?? ""
        let isPair =
            exceptions.contains("\(file): \(function)")
            || unlabeled == [1] && labels[0] == "_" && pairs.contains(Array(names.prefix(2)))
        // The standard library's collections have `swapAt(_:_:)`, so the name is allowed.
        if isPair || name == "swapAt", labels.count <= 5 { continue }
        found.append("\(path): \(function)")
    }
    return found
}

/// Returns the number of lines of the function whose parameters end at `parameters`, or nil if the
/// function has no body.
func lineCount(in text: String, after parameters: String.Index) -> Int? {
    guard let start = text[parameters...].firstIndex(of: "{") else { return nil }
    let between = text[parameters..<start]
    guard !between.contains("}"), !between.contains("\n\n"), !between.contains(#/\b(?:func|var|let|case|init)\b/#)
    else {
        return nil
    }
    var (depth, end, lines) = (1, text.index(after: start), between.count { $0 == "\n" } + 1)
    while end < text.endIndex, depth > 0 {
        switch text[end] {
        case "{": depth += 1
        case "}": depth -= 1
        case "\n": lines += 1
        default: break
        }
        end = text.index(after: end)
    }
    return lines
}

/// Returns the files and functions that are too long.
func lengths(in path: String) throws -> [String] {
    let source = try String(contentsOfFile: path, encoding: .utf8)
    let text = String(decoding: code(source), as: UTF8.self)
    var found: [String] = []
    let fileLines = text.count { $0 == "\n" }
    if fileLines > 600 { found.append("\(path): \(fileLines) lines") }
    let sourceLines = source.split(separator: "\n", omittingEmptySubsequences: false)
    for match in text.matches(
        of: #/(?m)^[ ]*(?:@?[A-Za-z]\w*(?:\([^()\n]*\))?\s+)*(?:func\s+([^\s(<]+)|(init)[?!]?)\s*(?:<[^(]*>)?\(/#)
    {
        var (depth, end) = (1, match.range.upperBound)
        while end < text.endIndex, depth > 0 {
            if text[end] == "(" { depth += 1 } else if text[end] == ")" { depth -= 1 }
            end = text.index(after: end)
        }
        guard let lines = lineCount(in: text, after: end), lines > 60 else { continue }
        let line = text[..<match.range.lowerBound].count { $0 == "\n" }
        let comment = sourceLines[..<line].reversed().prefix { $0.contains("//") || $0.contains("@") }
        if comment.contains(where: { $0.contains("hot") }) { continue }
        found.append("\(path): \(match.output.1 ?? match.output.2 ?? "?") has \(lines) lines")
    }
    return found
}

func main() throws -> Int32 {
    var (found, long): ([String], [String]) = ([], [])
    for root in roots {
        guard let files = FileManager.default.enumerator(atPath: root) else { continue }
        for case let file as String in files where file.hasSuffix(".swift") && !file.contains(".build/") {
            found += try violations(in: "\(root)/\(file)")
            long += try lengths(in: "\(root)/\(file)")
        }
    }
    for line in found.sorted() { print("More than five parameters, or one without a label after the first: \(line)") }
    for line in long.sorted() { print("More than 60 lines in a function, or 600 in a file: \(line)") }
    return found.isEmpty && long.isEmpty ? 0 : 1
}

do { exit(try main()) } catch {
    FileHandle.standardError.write(Data("parameters: \(error)\n".utf8))
    exit(1)
}
