// Writes or compares the lists of public declarations, for Scripts/api.
//
// A list has one line for each declaration of a module, in sorted order. If `Roost` exports a type
// of another module, the list of `Roost` contains only the type's name. The list of the other
// module has the members.
//
// The counts exclude cases of enumerations, requirements of protocols, and members that come from a
// protocol.
import Foundation

/// The maximum number of public declarations in all modules.
///
/// Only new features may increase the number. So far, RoostGraph increased it by 285, opening
/// containers by 3, undo, children and observation by 29, and fetched results by 44. Histories
/// increased it by 57, notices by 7, and RoostModels by 54 for expansions of `@Model`.
let mostDeclarations = 1695

struct Problem: Error, CustomStringConvertible { let description: String }

struct Declarations {
    var lines: Set<String> = []
    var counted = 0
}

func declarations(of module: String, in directory: String) throws -> Declarations {
    var result = Declarations()
    var (symbols, conforming): ([String: [String: Any]], Set<String>) = ([:], [])
    let names = try FileManager.default.contentsOfDirectory(atPath: directory)
    // Extensions of other modules' types are in separate files, `Module@Other.symbols.json`.
    for name in names where name == "\(module).symbols.json" || name.hasPrefix("\(module)@") {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\(name)"))
        guard let graph = try JSONSerialization.jsonObject(with: data) as? [String: Any],
            let found = graph["symbols"] as? [[String: Any]],
            let relationships = graph["relationships"] as? [[String: Any]]
        else { throw Problem(description: "\(name) is not a symbol graph") }
        for symbol in found {
            guard let identifier = (symbol["identifier"] as? [String: Any])?["precise"] as? String else {
                throw Problem(description: "\(name) has a symbol without identifier")
            }
            if !identifier.contains("::SYNTHESIZED::") { symbols[identifier] = symbol }
        }
        for relationship in relationships {
            guard let source = relationship["source"] as? String, let kind = relationship["kind"] as? String else {
                throw Problem(description: "\(name) has a relationship without source")
            }
            if kind == "requirementOf" || kind == "optionalRequirementOf" || relationship["sourceOrigin"] != nil {
                conforming.insert(source)
            }
        }
    }
    for (identifier, symbol) in symbols {
        guard let path = symbol["pathComponents"] as? [String],
            let kind = (symbol["kind"] as? [String: Any])?["identifier"] as? String,
            let fragments = symbol["declarationFragments"] as? [[String: Any]]
        else { throw Problem(description: "\(identifier) has no declaration") }
        let text = fragments.compactMap { $0["spelling"] as? String }.joined()
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        result.lines.insert("\(path.joined(separator: ".")): \(line)")
        if kind != "swift.enum.case", !conforming.contains(identifier) { result.counted += 1 }
    }
    return result
}

/// Returns the names of the types that `Roost` exports from other modules.
func exportedTypes() throws -> [String] {
    let path = "Sources/Roost/Exports.swift"
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let names = text.split(separator: "\n").filter { $0.hasPrefix("@_exported ") }.compactMap {
        $0.split(separator: " ").last
    }
    if names.isEmpty { throw Problem(description: "\(path) exports nothing") }
    return names.map { "\($0): exported" }
}

func main() throws -> Int32 {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard arguments.count >= 4 else { throw Problem(description: "usage: api.swift GRAPHS LISTS MODE MODULES...") }
    let (graphs, lists, isWriting) = (arguments[0], arguments[1], arguments[2] == "--write")
    var (total, status): (Int, Int32) = (0, 0)
    for module in arguments[3...] {
        var found = try declarations(of: module, in: graphs)
        if module == "Roost" { found.lines.formUnion(try exportedTypes()) }
        total += found.counted
        print("\(module): \(found.counted) declarations, \(found.lines.count) lines")
        let path = "\(lists)/\(module).txt"
        if isWriting {
            try FileManager.default.createDirectory(atPath: lists, withIntermediateDirectories: true)
            let text = found.lines.sorted().joined(separator: "\n") + "\n"
            try text.write(toFile: path, atomically: false, encoding: .utf8)
            continue
        }
        let known = Set(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init))
        for line in known.subtracting(found.lines).sorted() { print("- \(module) \(line)") }
        for line in found.lines.subtracting(known).sorted() { print("+ \(module) \(line)") }
        if known != found.lines {
            print("\(path) differs; describe the change in CHANGELOG.md, then run Scripts/api --write.")
            status = 1
        }
    }
    print("all: \(total) of at most \(mostDeclarations) declarations")
    if total > mostDeclarations { status = 1 }
    return status
}

do { exit(try main()) } catch {
    FileHandle.standardError.write(Data("api: \(error)\n".utf8))
    exit(1)
}
