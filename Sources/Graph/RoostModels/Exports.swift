#if Macros
    // A program that declares its models in Swift only needs to import this module.
    @_exported public import Roost
#endif
