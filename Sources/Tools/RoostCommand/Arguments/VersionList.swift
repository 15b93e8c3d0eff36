internal import Foundation
internal import Roost

/// The arguments that name versions in a bundle of models.
enum VersionList {
    /// Returns the mapping models given by `--mapping`, as FILE or FILE@FROM..TO.
    static func mappings(_ arguments: ParsedArguments) throws -> [String] {
        let texts = arguments.allValues("mapping")
        for text in texts {
            guard let versions = ModelFile.splitVersion(text).version else { continue }
            guard versions.components(separatedBy: "..").count == 2 else {
                throw UsageError("cannot read the versions of the mapping model '\(text)'; write FILE@FROM..TO")
            }
        }
        return texts
    }

    /// Returns the versions given by `--versions`, in the given order.
    ///
    /// Commas separate names. A comma in a name is doubled.
    static func order(_ arguments: ParsedArguments) throws -> [String] {
        let names = arguments.allValues("versions").flatMap { text in
            // A NUL, which no name contains, replaces a doubled comma during the split.
            text.replacingOccurrences(of: ",,", with: "\u{0}").split(separator: ",", omittingEmptySubsequences: false)
                .map { $0.replacingOccurrences(of: "\u{0}", with: ",") }
        }
        guard !names.contains("") else {
            throw UsageError("--versions has an empty name; write the names of versions, separated by commas")
        }
        guard names.isEmpty || names.count > 1 else {
            throw UsageError("--versions names one version; give at least two versions, oldest first")
        }
        return names
    }
}

extension CommandOption {
    static let versions = CommandOption(
        "versions", value: "A,B,C",
        help: "The order in which versions were made, if the derived order is wrong; versions can be left out.")
}
