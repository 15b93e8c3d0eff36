internal import Foundation
internal import Roost
internal import RoostCore

/// The stores in a directory that was given instead of a store, for the error message.
struct StoresInDirectory {
    /// The maximum number of examined files.
    private static let fileCount = 1000

    /// The end of the message, or nil without stores.
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
