internal import Foundation
internal import Roost
internal import RoostCore
internal import RoostFiles

enum FileCandidates {
    /// The endings of model bundles, which are directories but are completed like files.
    private static let bundles = [".xcdatamodeld", ".xcdatamodel", ".momd"]

    /// Returns the paths that begin with `word`, sorted.
    ///
    /// Directories end with a slash. Companion files of stores are left out. Hidden files are
    /// included only if the word's last part begins with a period.
    static func files(
        _ word: String, onlyDirectories: Bool = false, expandsHome: Bool = true
    ) -> [Completer.Candidate] {
        let slash = word.lastIndex(of: "/")
        let directory = slash.map { String(word[...$0]) } ?? ""
        let name = slash.map { word[word.index(after: $0)...] } ?? word[...]
        var place = directory.isEmpty ? "." : directory
        // Like shells, this uses only the variable `HOME`.
        if expandsHome, place.hasPrefix("~/"), let home = ProcessInfo.processInfo.environment["HOME"] {
            place = home + place.dropFirst()
        }
        guard let entries = try? FileManager.default.contentsOfDirectory(atPath: place) else { return [] }
        let names = Set(entries)
        let companions = StoreRegistry.standard.companionSuffixes + [StoreLock.suffix]
        return entries.sorted().compactMap { entry in
            guard
                !companions.contains(where: { entry.hasSuffix($0) && names.contains(String(entry.dropLast($0.count))) })
            else { return nil }
            // The output has one line for each candidate, so names with control characters are left
            // out.
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
