public import Roost

extension PersistentContainer {
    /// Opens the configured store; by default, `notes.sqlite` in the working directory.
    public static func notes(_ configuration: RoostConfiguration? = nil) throws(StoreError) -> PersistentContainer {
        let configuration = if let configuration { configuration } else { try RoostConfiguration() }
        do throws(StoreError) {
            // Throws an error if neither 'roost.json' nor ROOST_STORE names a store.
            _ = try configuration.storeDescription()
        } catch  where error.code == .notFound {
            return try PersistentContainer(.sqlite("notes.sqlite"), model: NotesModel.model, types: NotesModel.types)
        }
        return try PersistentContainer(
            configuration: configuration, model: NotesModel.model, types: NotesModel.types)
    }
}
