// Finds open, public and package functions, and requirements of such protocols, with too many
// parameters, for Scripts/lint.
//
// A function has at most one unlabeled parameter, the first, and at most five in all. A trailing
// closure and a variadic parameter need no label.
import Foundation

/// Functions whose first two parameters are a pair that labels would only lengthen.
let pairs: Set<String> = [
    // A code and its message.
    "StoreError.swift: init(_:_:damagedObject:underlying:)", "SystemFailure.swift: init(_:_:)",
    // A key and its value.
    "JSONMembers.swift: add(_:_:)", "JSONNode.swift: init(_:_:)", "JSONNode.swift: init(_:_:keyOffset:)",
    "ExternalSorter+Unsafe.swift: append(_:_:in:)", "SortedEntries+Unsafe.swift: append(_:_:in:)",
    "OrderedKeyValueStorage.swift: insert(_:_:in:)", "OrderedKeyValueStorage.swift: append(_:_:in:)",
    "OrderedKeyValueStorage.swift: put(_:_:in:)",
    // Two of one kind: what is compared, or the two ends of a link.
    "LinkBatch.swift: init(_:_:order:inverseOrder:)", "RecordAgreement+Unsafe.swift: holds(_:_:)",
    "StoreFile+Checks+Unsafe.swift: sameFile(_:_:)", "StoreFile+Names.swift: hasOtherNames(_:_:)",
    "RecordSortOrder.swift: precedes(_:_:)", "StandardTextOrder+Unsafe.swift: order(_:_:)",
    // A requirement of the standard library's collections.
    "OrderedToMany.swift: swapAt(_:_:)",
    "StoreComparison.swift: diff(_:_:limit:trustingDigests:cancellation:)",
]
let roots = ["Sources", "Conformance", "Examples"]

/// Returns the source without comments and texts, at the same positions.
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

/// Returns the parts of a list of parameters between the commas outside brackets.
func parameters(_ text: Substring) -> [Substring] {
    var (parts, depth, start): ([Substring], Int, Substring.Index) = ([], 0, text.startIndex)
    var before: Character = " "
    for place in text.indices {
        switch text[place] {
        case "(", "[", "{": depth += 1
        // `Array<Int>`, not `1 << 20`.
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

func violations(in path: String) throws -> [String] {
    let text = String(decoding: code(try String(contentsOfFile: path, encoding: .utf8)), as: UTF8.self)
    let declaration =
        #/\b(?:open|public|package)\s+(?:[a-z]+\s+)*?(?:func\s+([A-Za-z_]\w*)|(init)[?!]?)\s*(?:<[^(]*>)?\(/#
    // A requirement has the access of its protocol, without a word of its own.
    let requirement = #/\b(?:func\s+([A-Za-z_]\w*)|(init)[?!]?)\s*(?:<[^(]*>)?\(/#
    let protocols = protocolBodies(text)
    let matches =
        text.matches(of: declaration)
        + text.matches(of: requirement).filter { match in
            protocols.contains { $0.contains(match.range.lowerBound) }
        }
    var found: [String] = []
    for match in matches {
        var (depth, end) = (1, match.range.upperBound)
        while end < text.endIndex, depth > 0 {
            if text[end] == "(" { depth += 1 } else if text[end] == ")" { depth -= 1 }
            if depth > 0 { end = text.index(after: end) }
        }
        let given = parameters(text[match.range.upperBound..<end])
        let labels = given.map { parameter in
            // Attributes occur in types only, after the colon.
            parameter.split(whereSeparator: { $0.isWhitespace || $0 == ":" }).first.map(String.init) ?? "?"
        }
        let unlabeled = given.indices.dropFirst().filter { index in
            guard labels[index] == "_" else { return false }
            let isClosure = index == given.count - 1 && given[index].contains("->")
            return !isClosure && !given[index].contains("...")
        }
        guard labels.count > 5 || !unlabeled.isEmpty else { continue }
        let name = match.output.1 ?? match.output.2 ?? "?"
        let function = "\(name)(\(labels.map { $0 + ":" }.joined()))"
        let file = path.split(separator: "/").last ?? ""
        if pairs.contains("\(file): \(function)"), labels.count <= 5 { continue }
        found.append("\(path): \(function)")
    }
    return found
}

func main() throws -> Int32 {
    var found: [String] = []
    for root in roots {
        guard let files = FileManager.default.enumerator(atPath: root) else { continue }
        for case let file as String in files where file.hasSuffix(".swift") && !file.contains(".build/") {
            found += try violations(in: "\(root)/\(file)")
        }
    }
    for line in found.sorted() { print("More than five parameters, or an unlabeled one after the first: \(line)") }
    return found.isEmpty ? 0 : 1
}

do { exit(try main()) } catch {
    FileHandle.standardError.write(Data("parameters: \(error)\n".utf8))
    exit(1)
}
