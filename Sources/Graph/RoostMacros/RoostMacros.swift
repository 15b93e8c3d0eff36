#if Macros
    internal import RoostExpansion

    /// The program that the compiler runs to expand the macros of `RoostModels`.
    @main
    enum RoostMacros {
        static func main() {
            var conversation = PluginConversation()
            // A compiler that ends the conversation closes the pipe.
            while let request = PluginPipe.read() {
                guard PluginPipe.write(conversation.reply(to: request)) else { return }
            }
        }
    }
#else
    /// The program if the trait `Macros` is disabled.
    ///
    /// The program then does nothing.
    @main
    enum RoostMacros {
        static func main() {}
    }
#endif
