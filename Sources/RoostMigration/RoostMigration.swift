internal import RoostCore
