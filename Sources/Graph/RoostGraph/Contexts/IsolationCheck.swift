internal import Foundation
internal import RoostSystem

/// Stops a program that uses a context of a thread from another thread.
///
/// For clients in language mode 6 the compiler proves that contexts stay in their isolation. For
/// all others, and for wrappers that turn the proof off, this check finds the mistake when the
/// program runs. It is active in debug builds of Roost, and in release builds with the environment
/// variable `ROOST_CHECK_ISOLATION=1`. It knows the contexts that belong to a thread: the view
/// context and background contexts. Only what reads, changes for the first time, fetches or saves
/// is checked; accessors are not.
struct IsolationCheck {
    static let isActive: Bool = {
        #if DEBUG
            true
        #else
            ProcessInfo.processInfo.environment["ROOST_CHECK_ISOLATION"] == "1"
        #endif
    }()

    /// The name of the thread, for the message.
    let name: String
    private let thread = pthread_self()

    /// Notes the current thread.
    init(name: String) { self.name = name }

    /// Stops the program on any other thread.
    func check(_ context: String?) {
        guard pthread_equal(pthread_self(), thread) == 0 else { return }
        let message = """
            The context '\(context ?? "without a name")' belongs to \(name), and was used on another thread. \
            Objects stay with their context: pass the ID, and use it there in 'perform'. Building the program in \
            language mode 6 shows the place.

            """
        // An optimized build does not print the message of a failed precondition.
        FileHandle.standardError.write(Data(message.utf8))
        preconditionFailure(message)
    }
}
