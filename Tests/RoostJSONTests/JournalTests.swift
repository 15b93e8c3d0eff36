import RoostJSON
