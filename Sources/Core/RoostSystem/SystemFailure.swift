/// A failed system call, for modules that do not depend on RoostCore.
///
/// RoostCore converts this error to a `StoreError` with the code of the same name.
package struct SystemFailure: Error, Hashable, Sendable {
    /// The kinds of failure, for programs.
    package enum Code: Sendable {
        /// The disk, or a quota, is full.
        case noSpace
        /// The system reported an input or output error.
        case ioFailure
        /// The system is out of threads, memory or handles.
        case outOfResources
    }

    /// The kind of failure, for programs.
    package let code: Code
    /// The problem and its remedy, for people.
    package let message: String

    /// Creates an error.
    package init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }
}
