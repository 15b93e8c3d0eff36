import Roost
import RoostGraph

enum UndoSample {
    /// Creates a store in memory, and a context on it with an undo stack.
    static func make(
        _ model: ManagedObjectModel? = nil, types: [any ManagedObjectClass.Type] = Music.types
    ) throws -> (PersistentContainer, ManagedObjectContext, UndoStack) {
        let container = try PersistentContainer(.memory, model: try model ?? Music.model(), types: types)
        let context = container.makeContext("undo")
        let undo = UndoStack()
        context.undo = undo
        return (container, context, undo)
    }
}
