internal import Roost

print("roost")
