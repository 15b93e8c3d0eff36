internal import Foundation
internal import RoostSystem

/// A check that stops a program if it uses a context outside of its isolation.
///
/// For clients in language mode 6, the compiler proves that contexts stay in their isolation. This
/// check finds mistakes at run time in other clients, and in wrappers that disable the compiler's
/// check. It is active in debug builds of Roost, and in release builds with the environment
/// variable `ROOST_CHECK_ISOLATION=1`.
///
/// The check covers the view context, background contexts and the contexts of attached actors. It
/// covers fetches, inserts, deletes, saves, merges, the first change of an object and reads of
/// faults, but no other access to properties.
struct IsolationCheck {
    static let isActive: Bool = {
        #if DEBUG
            true
        #else
            ProcessInfo.processInfo.environment["ROOST_CHECK_ISOLATION"] == "1"
        #endif
    }()

    private enum Owner {
        /// The main actor.
        ///
        /// Threads are not compared, because on some platforms jobs of the main actor do not run on
        /// the main thread.
        case mainActor
        /// A thread, and its name for the error message.
        case thread(pthread_t, name: String)
    }

    private let owner: Owner

    private init(owner: Owner) { self.owner = owner }

    /// A check that only the main actor uses the context.
    static var mainActor: IsolationCheck { IsolationCheck(owner: .mainActor) }

    /// Returns a check that only the current thread uses the context.
    static func currentThread(_ name: String) -> IsolationCheck {
        IsolationCheck(owner: .thread(pthread_self(), name: name))
    }

    /// Stops the program if the caller runs outside of the context's isolation.
    func check(_ context: String?) {
        switch owner {
        case .mainActor:
            MainActor.preconditionIsolated(Self.message(context, owner: "the main actor"))
        case .thread(let thread, let name):
            guard pthread_equal(pthread_self(), thread) == 0 else { return }
            let message = Self.message(context, owner: name)
            // An optimized build does not print the message of a failed precondition.
            FileHandle.standardError.write(Data("\(message)\n".utf8))
            preconditionFailure(message)
        }
    }

    private static func message(_ context: String?, owner: String) -> String {
        """
        The context '\(context ?? "without a name")' belongs to \(owner), and was used outside of it. \
        Pass an object's ID to another context, and fetch the object there. In language mode 6, the compiler \
        reports the place.
        """
    }
}
