internal import Foundation
internal import Roost
internal import RoostCore
internal import RoostFiles

/// Files whose paths begin like a word.
enum FileCandidates {
    /// Bundles of models are directories that count as files.
    private static let bundles = [".xcdatamodeld", ".xcdatamodel", ".momd"]

    /// The files and directories; directories end with a slash, hidden ones show only when the word
    /// asks for them.
    ///
    /// - Parameters:
    ///   - word: The path as far as it was typed.
    ///   - onlyDirectories: Whether files are left out.
    ///   - expandsHome: Whether `~/` is the user's home.
    /// - Returns: Paths that begin as `word` does, sorted.
    static func files(
        _ word: String, onlyDirectories: Bool = false, expandsHome: Bool = true
    ) -> [Completer.Candidate] {
        let slash = word.lastIndex(of: "/")
        let directory = slash.map { String(word[...$0]) } ?? ""
        let name = slash.map { word[word.index(after: $0)...] } ?? word[...]
        var place = directory.isEmpty ? "." : directory
        // As shells do, which go by the variable alone.
        if expandsHome, place.hasPrefix("~/"), let home = ProcessInfo.processInfo.environment["HOME"] {
            place = home + place.dropFirst()
        }
        // A directory that cannot be read has no candidates.
        guard let entries = try? FileManager.default.contentsOfDirectory(atPath: place) else { return [] }
        let names = Set(entries)
        let companions = StoreRegistry.standard.companionSuffixes + [StoreLock.suffix]
        return entries.sorted().compactMap { entry in
            // What stands beside a store is not meant.
            guard
                !companions.contains(where: { entry.hasSuffix($0) && names.contains(String(entry.dropLast($0.count))) })
            else { return nil }
            // The answer has one line for each.
            guard entry.hasPrefix(name), !entry.hasPrefix(".") || name.hasPrefix("."),
                !entry.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
            else { return nil }
            var isDirectory: ObjCBool = false
            guard FileManager.default.fileExists(atPath: "\(place)/\(entry)", isDirectory: &isDirectory) else {
                return nil
            }
            guard isDirectory.boolValue, !bundles.contains(where: entry.hasSuffix) else {
                return onlyDirectories ? nil : Completer.Candidate(text: directory + entry)
            }
            return Completer.Candidate(text: "\(directory)\(entry)/")
        }
    }
}
