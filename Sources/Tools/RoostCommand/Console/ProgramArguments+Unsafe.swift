/// The command line as the system gives it.
enum ProgramArguments {
    /// What the program was called with, without its name.
    ///
    /// Swift's own list has other characters in the place of what is not UTF-8, which then would be
    /// looked for, or stored.
    static func read() throws(UsageError) -> [String] {
        var arguments: [String] = []
        // SAFETY: the system gives `argc` pointers, which stay as long as the process.
        for (number, bytes) in UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
            .enumerated()
        where number > 0 {
            guard let bytes, let argument = String(validatingCString: bytes) else {
                throw UsageError("argument \(number) is not UTF-8; write it in that encoding")
            }
            arguments.append(argument)
        }
        return arguments
    }
}
