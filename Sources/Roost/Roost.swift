@_exported public import RoostCore
