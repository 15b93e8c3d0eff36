internal import Foundation

/// The folder of real models and stores outside the package.
///
/// Tests that need it are skipped if it is missing.
package enum CorpusFolder {
    /// `ROOST_CORPUS`, or `../shared/corpus` relative to the package.
    package static let path: String = {
        if let path = ProcessInfo.processInfo.environment["ROOST_CORPUS"], !path.isEmpty { return path }
        var location = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { location.deleteLastPathComponent() }
        return location.appendingPathComponent("shared/corpus").standardizedFileURL.path
    }()

    /// The Chinook database, or nil if it is missing.
    package static let chinook: String? = {
        let database = path + "/lerocha+chinook-database/ChinookDatabase/DataSources/Chinook_Sqlite.sqlite"
        return FileManager.default.fileExists(atPath: database) ? database : nil
    }()
}
