internal import Foundation
internal import Roost
internal import RoostCore

/// The stores in a directory, for the error message if a directory is given instead of a store.
struct StoresInDirectory {
    /// The maximum number of files that are examined.
    private static let fileCount = 1000

    /// The end of the message, or nil if no stores are found at the path.
    let sentence: String?

    init(_ path: String) {
        let registry = StoreRegistry.standard
        let files = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        let paths = files.sorted().prefix(Self.fileCount).map {
            path == "." ? $0 : path.hasSuffix("/") ? path + $0 : "\(path)/\($0)"
        }
        let stores = paths.filter { path in registry.all.contains { $0.recognizes(fileAt: path) } }
        switch stores.count {
        case 0: sentence = nil
        case 1: sentence = "the store in it is \(stores[0])"
        default: sentence = "the stores in it are \(listed(stores))"
        }
    }
}
