internal import Foundation
package import RoostCore

/// The directory of the generated files of a model.
///
/// The directory may contain other files. The first line of each generated file contains
/// the model file's name.
package struct GeneratedFolder {
    /// A difference between a directory and the generated files.
    package struct Finding: Sendable, Hashable, CustomStringConvertible {
        package enum Kind: String, Sendable {
            case stale
            case missing
            /// A file that the model no longer generates.
            case superfluous
        }

        package let kind: Kind
        package let name: String
        /// The kind and the name: `stale: Album+Generated.swift`.
        package var description: String { "\(kind.rawValue): \(name)" }
        /// The change that removes the difference: `wrote Album+Generated.swift`.
        package var writtenDescription: String { "\(kind == .superfluous ? "removed" : "wrote") \(name)" }
    }

    let path: String
    let source: String

    /// Prepares to check or write the files that are generated from the model file `source`.
    package init(at path: String, source: String) {
        self.path = path
        self.source = source
    }

    /// Compares the directory with `files`, without writing.
    ///
    /// If the directory does not exist, all files are missing.
    ///
    /// - Returns: The differences, sorted by file name.
    /// - Throws: `ioFailure` or `permissionDenied` if the directory or a file cannot be read.
    package func findings(_ files: [ModelCode.File]) throws(StoreError) -> [Finding] {
        var findings: [Finding] = []
        for file in files {
            guard let text = try contents(of: file.name) else {
                findings.append(Finding(kind: .missing, name: file.name))
                continue
            }
            if text != Data(file.text.utf8) { findings.append(Finding(kind: .stale, name: file.name)) }
        }
        let expected = Set(files.map(\.name))
        let firstLine = Data((ModelCode.firstLine(source: source) + "\n").utf8)
        for name in try names() where name.hasSuffix(".swift") && !expected.contains(name) {
            guard try contents(of: name)?.starts(with: firstLine) == true else { continue }
            findings.append(Finding(kind: .superfluous, name: name))
        }
        return findings.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Writes missing and stale files, and removes superfluous files.
    ///
    /// Creates the directory if necessary. A file that is up to date keeps its modification date,
    /// so that it is not recompiled.
    ///
    /// - Returns: The differences that were removed.
    /// - Throws: `alreadyExists`, before any change of a file, if a file to write exists, is not
    ///   empty and was not generated; `ioFailure` or `permissionDenied`, after which earlier
    ///   changes remain.
    package func write(_ files: [ModelCode.File]) throws(StoreError) -> [Finding] {
        try access("create") {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        let findings = try findings(files)
        for finding in findings where finding.kind == .stale {
            let old = try contents(of: finding.name) ?? Data()
            guard old.isEmpty || old.starts(with: ModelCode.marker.utf8) else {
                throw StoreError(
                    .alreadyExists,
                    "Cannot write '\(path)/\(finding.name)': the file is not generated. Move it away, or generate into another directory."
                )
            }
        }
        for finding in findings {
            let location = url(finding.name)
            if finding.kind == .superfluous {
                try access("remove", name: finding.name) { try FileManager.default.removeItem(at: location) }
            } else if let file = files.first(where: { $0.name == finding.name }) {
                try access("write", name: file.name) { try Data(file.text.utf8).write(to: location) }
            }
        }
        return findings
    }

    private func url(_ name: String) -> URL {
        URL(fileURLWithPath: path, isDirectory: true).appendingPathComponent(name, isDirectory: false)
    }

    private func names() throws(StoreError) -> [String] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try access("read") { try FileManager.default.contentsOfDirectory(atPath: path) }
    }

    private func contents(of name: String) throws(StoreError) -> Data? {
        let location = url(name)
        guard FileManager.default.fileExists(atPath: location.path) else { return nil }
        return try access("read", name: name) { try Data(contentsOf: location) }
    }

    private func access<Result>(
        _ verb: String, name: String? = nil, _ body: () throws -> Result
    ) throws(StoreError) -> Result {
        do { return try body() } catch {
            let place = name.map { "\(path)/\($0)" } ?? path
            let code = (error as? CocoaError)?.code
            let isDenied = code == .fileWriteNoPermission || code == .fileReadNoPermission
            throw StoreError(
                isDenied ? .permissionDenied : .ioFailure,
                "Cannot \(verb) '\(place)': \(error.localizedDescription) Check the path and its permissions.",
                underlying: error)
        }
    }
}
