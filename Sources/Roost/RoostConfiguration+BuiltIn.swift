public import RoostCore
public import RoostStores

extension RoostConfiguration {
    /// Finds, reads and checks the configuration.
    ///
    /// - Parameters:
    ///   - file: The path of the file; nil to search for it.
    ///   - workingDirectory: The directory where the search begins; nil for the process's
    ///     directory. `file` and paths in environment variables are relative to this directory.
    ///   - environment: The environment variables; nil for the variables of the process.
    ///   - registry: The store types that the configuration may name.
    /// - Throws: Only `invalidConfiguration`, for an unreadable or invalid file or an invalid
    ///   `ROOST_STORE`. The error lists every problem of a file with its key, line and column.
    public init(
        file: String? = nil, workingDirectory: String? = nil, environment: [String: String]? = nil,
        registry: StoreRegistry = .standard
    ) throws(StoreError) {
        try self.init(
            file: file, workingDirectory: workingDirectory, environment: environment, registry: registry,
            readModel: { (path) throws(StoreError) in try ModelFile.read(path, registry: registry).model })
    }
}
